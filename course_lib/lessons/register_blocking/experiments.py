"""Experiments recorded on an H200 that change one thing: the wavefronts of shared memory, or the warps of a multiprocessor."""

from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.data import Record
from course_lib.lessons.register_blocking.counts import KERNEL, wavefronts
from course_lib.model import occupancy
from course_lib.model.rounds import SCHEDULERS, rounds
from course_lib.plots import Table
from course_lib.run import footprint
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED, N_PROFILED = 4096, 256, 1024
PADS = ((4, 8), (8, 0))        # of sgemm_padded, with tiles of 32 × 32: the same code, other bank conflicts
PAIR = ("sgemm_block", "sgemm_ilp")
EXECUTED = "smsp__inst_executed.sum"


def recorded_seconds(kernel: str, parameters: dict[str, int]) -> float:
    """Return the recorded time at N = 4096 of lesson 06's kernel with these parameters, or of a kernel of the pair, which needs none."""
    if parameters:
        return data.load("padding").find(kernel, N_TIMED, parameters=parameters)[0].seconds
    return float(data.in_turns(kernel)["median_s"])


def padded(pad: int) -> tuple[str, dict[str, int]]:
    """Return lesson 06's kernel with tiles of 32 × 32 and this padding."""
    return "sgemm_padded", {"TILE": 32, "PAD": pad}


def fewer_wavefronts() -> Table:
    """Return a table of pairs of kernels: what changes from the first to the second, and how the time changes."""
    rows = []
    for pads in PADS:
        first, second = (evaluate(*at_counted(padded(pad)), backend="sim") for pad in pads)
        factors = second.count("sectors") / first.count("sectors"), second.counters[EXECUTED] / first.counters[EXECUTED]
        rows.append(_row(f"lesson 06's kernel, PAD {pads[0]} → {pads[1]}", padded(pads[0]), padded(pads[1]), factors))
    first, second = (data.readings("traffic").find(kernel=kernel, N=N_PROFILED)[0] for kernel in PAIR)
    factors = second["l1_sectors_read"] / first["l1_sectors_read"], second["instructions"] / first["instructions"]
    rows.append(_row("sgemm_block → sgemm_ilp", (PAIR[0], {}), (PAIR[1], {}), factors))
    header = ("what is changed", "warps per multiprocessor", "load sectors", "instructions", "wavefronts", "time",
              "ms more, from the wavefronts alone", "ms more, recorded")
    return Table(header, rows, f"Times at N = {N_TIMED}, {data.load('padding').label}, of the last row {data.readings('together').date}; "
                 f"counts simulated at N = {N_COUNTED}, but sectors and instructions of the last row by a profiler at N = {N_PROFILED}")


def one_or_four() -> Table:
    """Return a table of two recorded kernels with the same tile of C: one output per thread, and a column of four."""
    rows = []
    for name, kernel in zip(("sgemm_block: 1 output", "sgemm_ilp: 4 in a column"), PAIR, strict=True):
        counted = evaluate(*at_counted((kernel, {})), backend="sim")
        sectors = counted.count("sectors") / N_COUNTED**3
        rows.append((name, footprint(kernel).occupancy.warps, sectors, wavefronts(counted), 1e3 * recorded_seconds(kernel, {})))
    (_, *first), (_, *second) = rows
    said: list[tuple[Any, ...]] = [
        (name, warps, f"{sectors:.4f}", f"{waves:.3f}", f"{time:.1f}") for name, warps, sectors, waves, time in rows]
    said.append(("second, in times the first", *(f"{b / a:.2f}" for a, b in zip(first, second, strict=True))))
    header = ("kernel", "warps per multiprocessor", "load sectors per multiply-add",
              "wavefronts, loads and stores, per multiply-add of a warp", "ms")
    told = [data.in_turns(kernel) for kernel in PAIR]
    return Table(header, said, f"Tiles of 32 × 32; N = {N_TIMED}, {data.readings('together').label}, {data.spread(told)}, to "
                 f"{data.clocks(told)}; sectors and wavefronts simulated at N = {N_COUNTED}, warps modelled for H200")


def at_counted(kernel: tuple[str, dict[str, int]]) -> tuple[str, int, dict[str, int]]:
    """Return what `evaluate` takes to count a kernel."""
    return kernel[0], N_COUNTED, kernel[1]


def _row(name: str, before: tuple[str, dict[str, Any]], after: tuple[str, dict[str, Any]], factors: tuple[float, float]) -> tuple[str, ...]:
    both = (before, after)
    alone = [milliseconds(wavefronts(evaluate(*at_counted(kernel), backend="sim"))) for kernel in both]
    warps = [footprint(kernel, **tile).occupancy.warps for kernel, tile in both]
    times = [1e3 * recorded_seconds(kernel, tile) for kernel, tile in both]
    changes = (*factors, alone[1] / alone[0], times[1] / times[0])
    return (name, f"{warps[0]} → {warps[1]}", *(f"×\N{NO-BREAK SPACE}{factor:.2f}" for factor in changes),
            f"{alone[1] - alone[0]:+.1f}".replace("-", "−"), f"{times[1] - times[0]:+.1f}".replace("-", "−"))


def milliseconds(waves: float) -> float:
    """Return how long shared memory is busy at N = 4096 with so many wavefronts per multiply-add of a warp.

    One per cycle and multiprocessor, at the GPU's highest clock.
    """
    return 1e3 * waves * N_TIMED**3 / WARP / (DEFAULT_DEVICE.sms * 1e6 * DEFAULT_DEVICE.clock_mhz)


def times_by_warps(n: int = N_TIMED) -> dict[int, dict[int, float]]:
    """Return milliseconds by outputs per thread and warps per multiprocessor: the same code each time, with shared memory that nobody uses.

    Of several recordings with equally many warps it is the one whose blocks take the most shared memory, as at the other numbers of warps.
    """
    found: dict[int, dict[int, float]] = {}
    for record in sorted(data.load("outputs").find(KERNEL, n), key=lambda r: (r.parameters["TM"], -r.dynamic_shared)):
        found.setdefault(record.parameters["TM"] * record.parameters["TN"], {}).setdefault(crowd(record)[0], 1e3 * record.seconds)
    return found


def time_with(outputs: int, warps: int) -> float:
    """Return the recorded milliseconds with so many outputs per thread and warps per multiprocessor, rounded as in the chart.

    >>> time_with(outputs=1, warps=64)
    17.0
    """
    return round(times_by_warps()[outputs][warps], 1)


def crowd(record: Record) -> tuple[int, int]:
    """Return the warps of a multiprocessor with this recording's blocks, and the bytes of shared memory that these blocks take."""
    parameters: dict[str, Any] = record.parameters
    taken = footprint(record.kernel, **parameters)
    shared = record.dynamic_shared + taken.resources.static_shared_bytes
    fits = occupancy(DEFAULT_DEVICE, taken.threads, taken.resources.registers, shared)
    return fits.warps, shared * fits.blocks


def picture_beside_recording() -> Table:
    """Return a table of the picture's model and of a microbenchmark on an H200 with one word of shared memory per multiply-add.

    The microbenchmark (`micro_fma_shared`) is a chain of multiply-adds, each with an operand from shared memory. Its loads do not wait for
    a round to end.
    """
    rows = []
    for row in data.readings("micro").find(kernel="micro_fma_shared"):
        warps, rest = divmod(row["threads"], 32 * SCHEDULERS)
        if rest or not warps:
            continue
        seen = rounds(warps, 4, 4, start=1280, cycles=1600)
        rows.append((warps, f"{seen.multiply_adds / seen.cycles:.1%}", f"{1 / (SCHEDULERS * row['per_warp']):.1%}"))
    header = ("warps per scheduler", "picture, 2 × 2 outputs", "microbenchmark")
    return Table(header, rows, "Cycles in which a scheduler starts a multiply-add, with one word of shared memory per multiply-add; "
                 f"microbenchmark {data.readings('micro').label}")
