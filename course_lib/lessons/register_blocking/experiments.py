"""Experiments recorded on an H200 that change one thing: the wavefronts of shared memory, or the warps of a multiprocessor."""

from typing import Any

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.data import Record
from course_lib.lessons.register_blocking.counts import KERNEL, wavefronts
from course_lib.model import occupancy
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
    header = ("from the first kernel to the second", "load sectors", "instructions", "wavefronts", "time")
    return Table(header, rows, f"Times at N = {N_TIMED}, {data.load('padding').label}, of the last row {data.readings('together').date}; "
                 f"counts simulated at N = {N_COUNTED}, but sectors and instructions of the last row by a profiler at N = {N_PROFILED}")


def at_counted(kernel: tuple[str, dict[str, int]]) -> tuple[str, int, dict[str, int]]:
    """Return what `evaluate` takes to count a kernel."""
    return kernel[0], N_COUNTED, kernel[1]


def _row(name: str, before: tuple[str, dict[str, Any]], after: tuple[str, dict[str, Any]], factors: tuple[float, float]) -> tuple[str, ...]:
    both = (before, after)
    waves = [wavefronts(evaluate(*at_counted(kernel), backend="sim")) for kernel in both]
    times = [recorded_seconds(kernel, tile) for kernel, tile in both]
    return (name, *(f"×\N{NO-BREAK SPACE}{factor:.2f}" for factor in (*factors, waves[1] / waves[0], times[1] / times[0])))


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
