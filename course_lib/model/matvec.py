"""The columns of Koppelman's tables: a constant M x N matrix times S vectors of float32, timed.

Source of everything here: Koppelman, homework on `vtx-xform-size`, Program Output. He counts a fused multiply-add as one
operation ("GF"), where the rest of the course counts two.
"""

from collections.abc import Mapping

from course_lib.arch import Device
from course_lib.model.inputs import InputError

FLOAT = 4              # bytes
SECTOR = 32            # bytes
MIBION = 1 << 20       # his word for 2^20 vectors


def _seconds(seconds):
    if not seconds > 0:
        raise InputError(f"the time is {seconds!r}, but it is a positive number of seconds")
    return seconds


def gigafmas(seconds: float, S: int = MIBION, M: int = 16, N: int = 16) -> float:
    """Return his GF: S M N multiply-adds over the time, in 10^9 a second.

    >>> round(gigafmas(2598e-6), 2)
    103.32
    """
    return S * M * N / _seconds(seconds) / 1e9


def gigabytes(seconds: float, S: int = MIBION, M: int = 16, N: int = 16) -> float:
    """Return his GB/s: every input read and every output written once, 4 S (M + N) bytes, in 10^9 a second.

    >>> round(gigabytes(2598e-6), 2)
    51.66
    """
    return FLOAT * S * (M + N) / _seconds(seconds) / 1e9


def write_rate(seconds: float, S: int = MIBION, M: int = 16) -> float:
    """Return the rate at which the output alone is written, 4 S M bytes, in 10^9 bytes a second.

    >>> round(write_rate(24520e-6), 1)
    2.7
    """
    return FLOAT * S * M / _seconds(seconds) / 1e9


def instructions_per_fma(instructions: int, S: int = MIBION, M: int = 16, N: int = 16) -> float:
    """Return his I/F: executed instructions of threads over the multiply-adds that are needed.

    >>> instructions_per_fma(2 * 16 * 16, S=1)
    2.0
    """
    return instructions / (S * M * N)


def least_instructions_per_fma(M: int = 16, N: int = 16) -> float:
    """Return the I/F of a kernel that only loads, multiplies and stores: 1 + 1/M + 1/N.

    >>> least_instructions_per_fma(), least_instructions_per_fma(8, 8)
    (1.125, 1.25)
    """
    return (M * N + M + N) / (M * N)


def request_utilisation(useful_bytes: int, moved_bytes: int) -> float:
    """Return the share of what load requests move that the kernel asked for.

    >>> request_utilisation(4, 32), request_utilisation(16, 32)
    (0.125, 0.5)
    """
    if not 0 <= useful_bytes <= moved_bytes or not moved_bytes:
        raise InputError(f"{useful_bytes!r} useful bytes of {moved_bytes!r} is no share")
    return useful_bytes / moved_bytes


def times_ideal(gigabytes_per_s: float, seconds: float, S: int = MIBION, N: int = 16) -> float:
    """Return what was read at this rate, over the 4 S N bytes of the input: Problem 1's evidence.

    Beside an L2 cache that helps not at all, DRAM and L2 would show the same number; beside one that keeps every sector
    until it is used up, DRAM shows 1. `mxv_o_per_thd` with 32 warps, "p mode": the multiprocessors read 8.1 times the
    input, an eighth of each sector being used, and DRAM delivers it 1.1 times.

    >>> [round(times_ideal(rate, 5364e-6), 1) for rate in (101.8, 14.1)]
    [8.1, 1.1]
    """
    return gigabytes_per_s * 1e9 * _seconds(seconds) / (FLOAT * S * N)


def surplus(gigabytes_per_s: float, seconds: float, times: int = 1, S: int = MIBION, N: int = 16) -> float:
    """Return the part of a reading rate that is left when the input has been read so many times, in 10^9 bytes a second.

    In Koppelman's "p mode" DRAM is read at 4.6 to 15.1 GB/s and the L2 at 23.7 to 107.8. Beyond once and beyond 8 times:

    >>> [round(surplus(rate, us * 1e-6), 1) for us, rate in ((24520, 4.6), (12458, 7.3), (5065, 15.1), (5364, 14.1))]
    [1.9, 1.9, 1.9, 1.6]
    >>> [round(surplus(rate, us * 1e-6, times=8), 1) for us, rate in ((24520, 23.7), (12458, 45.0), (5065, 107.8), (5364, 101.8))]
    [1.8, 1.9, 1.8, 1.7]
    """
    return gigabytes_per_s - times * FLOAT * S * N / _seconds(seconds) / 1e9


def times_wanted(row: Mapping[str, int]) -> dict[str, tuple[float, ...]]:
    """Return how often the wanted bytes passed each level: {"read": (requests, L2, DRAM), "write": (requests, L2, DRAM)}.

    Wanted are 4 S N bytes to read and 4 S M to write; requests ask for whole sectors, and one that two requests ask for counts twice.

    Parameters
    ----------
    row
        As for `counted_columns`.

    >>> from course_lib.data import readings
    >>> (row,) = readings("vectors").find(kernel="mxv_g_only", warps=32)
    >>> {kind: [round(times, 1) for times in levels] for kind, levels in times_wanted(row).items()}
    {'read': [8.0, 1.0, 1.3], 'write': [8.0, 7.9, 1.0]}
    """
    wanted = {"read": FLOAT * row["S"] * row["N"], "write": FLOAT * row["S"] * row["M"]}
    moved = {"read": (SECTOR * row["load_sectors"], SECTOR * row["l2_sectors_read"], row["dram_bytes_read"]),
             "write": (SECTOR * row["store_sectors"], SECTOR * row["l2_sectors_written"], row["dram_bytes_written"])}
    return {kind: tuple(bytes_ / wanted[kind] for bytes_ in moved[kind]) for kind in wanted}


def constant_seconds(words: int, device: Device) -> float:
    """Return the time that constant memory needs for so many words, were it one word of 4 bytes a cycle for each multiprocessor.

    A model: no document gives this rate. Lanes that ask for one word together count as one, lanes that ask for different
    words count one by one. `mxv_o_per_thd` asks 2^19 times (a warp for two vectors) for 16 words in 16 rows:

    >>> from course_lib.arch import device
    >>> round(1e6 * constant_seconds(2**19 * 16 * 16, device("H200")))
    514
    """
    return words / device.sms / (device.clock_mhz * 1e6)


def counted_columns(row: Mapping[str, int]) -> dict[str, float]:
    """Return the columns of his launch table and of his "p mode" from what a profiler counted.

    Parameters
    ----------
    row
        Of `course_lib.data.readings("vectors")`: S, M, N, nanoseconds, thread_instructions, load_sectors, l2_sectors_read and
        l2_sectors_written (32 bytes each), dram_bytes_read and dram_bytes_written.

    Returns
    -------
    us, GF, GB/s, I/F, load efficiency (0 to 1; a sector that two requests ask for counts twice), and the rates between L2 and
    multiprocessors and between DRAM and L2 in 10^9 bytes a second.

    >>> from course_lib.data import readings
    >>> (row,) = readings("vectors").find(kernel="mxv_vls", warps=32)
    >>> {name: round(value, 2) for name, value in counted_columns(row).items()}["load efficiency"]
    1.0
    """
    seconds, sizes = _seconds(row["nanoseconds"]) * 1e-9, {name: row[name] for name in "SMN"}
    rates = {"L2 read": SECTOR * row["l2_sectors_read"], "L2 write": SECTOR * row["l2_sectors_written"],
             "DRAM read": row["dram_bytes_read"], "DRAM write": row["dram_bytes_written"]}
    return {
        "us": seconds * 1e6, "GF": gigafmas(seconds, **sizes), "GB/s": gigabytes(seconds, **sizes),
        "I/F": instructions_per_fma(row["thread_instructions"], **sizes),
        "load efficiency": request_utilisation(FLOAT * row["S"] * row["N"], SECTOR * row["load_sectors"]),
    } | {name: moved / seconds / 1e9 for name, moved in rates.items()}


def staged_bytes(threads: int, floats: int) -> int:
    """Return the shared memory of a block that keeps `floats` of each thread there.

    4 of each thread in `mxv_vls`, a chunk of 8 and one of padding in `mxv_sh`, one in `mxv_sh_ochunk`.

    >>> [staged_bytes(1024, floats) for floats in (4, 8 + 1, 1)]
    [16384, 36864, 4096]
    """
    return FLOAT * threads * floats


def bar(gigabytes_per_s: float, device: Device, width: int = 40) -> str:
    """Return stars, `width` of them at the bandwidth of the device.

    >>> from course_lib.arch import device
    >>> bar(22, device("Quadro M2200"))
    '*********'
    """
    return "*" * max(0, int(width * gigabytes_per_s / device.bandwidth_gb_s))
