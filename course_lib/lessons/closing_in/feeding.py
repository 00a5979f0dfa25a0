"""What feeds a multiply-add: the counts of lesson 15's kernels, and the times that were recorded of them."""

from functools import cache
from typing import Any, NamedTuple

from course_lib import data
from course_lib.arch import WARP, device
from course_lib.bench.closing import CLOCK_N, steps
from course_lib.kernels import Kernel, UserKernel
from course_lib.plots import Table
from course_lib.run import RunResult, kernel_reads, run
from course_lib.toolchain import shortest_path
from course_lib.widgets.compute import inputs

N = CLOCK_N                                 # of the recorded times
COUNTED, DEPTH = 256, 64                    # rows and columns of C, and K, of the products that the simulator counts
SCHEDULERS = 4
OUTPUTS = 64                                # of a thread, in all kernels that are counted here
NAMES = {
    "sgemm_2d_tile": "lesson 08, 8 × 8 outputs", "sgemm_vectorized": "sgemm_vectorized", "sgemm_prefetched": "sgemm_prefetched",
    "fed": "yours: lanes in squares", "wide": "one piece of 8 × 8", "plain": "four pieces, lanes in rows",
    "fed_there_and_back": "yours, products there and back"}
SCORED = ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_prefetched", "fed")
SHARED_OUT = "sgemm_stream_k"               # with another tile for each N
HEADER = ("kernel", "wavefronts of loads", "shared memory, at least", "scheduler, at least")


class Cycles(NamedTuple):
    """The cycles of a scheduler for one k, 64 multiply-adds of its warp, that each part needs at least, and those that were recorded."""

    issue: float
    shared: float
    registers: float
    recorded: float


@cache
def counted(name: str) -> RunResult:
    """Return the simulated launch of a recorded kernel whose counts are used here: whole tiles only."""
    return launch(steps()[name], **row(name)["parameters"])


def launch(kernel: Kernel, **parameters: Any) -> RunResult:
    """Simulate a product of 256 × 256 elements with K = 64."""
    A, B, _ = inputs(COUNTED, COUNTED, DEPTH)
    return run(kernel, A, B, backend="sim", **parameters)


def row(name: str, n: int = N) -> dict[str, Any]:
    """Return the recorded row of a kernel at a size."""
    found, = data.readings("closing").find(kernel=name, N=n)
    return found


def wavefronts_per_k(name: str) -> int:
    """Return how many wavefronts a warp of a recorded kernel needs for the loads of 64 multiply-adds, one k of 8 × 8 outputs.

    >>> wavefronts_per_k("sgemm_2d_tile")
    16
    """
    return _per_k(counted(name))


def wavefronts_of(kernel: str) -> int:
    """Return the same of a reader's kernel, as CUDA text."""
    return _per_k(launch(UserKernel.from_source(kernel)))


def _per_k(result):
    return round(OUTPUTS * WARP * result.count("wavefronts", "load") / (COUNTED**2 * DEPTH))


def instructions_per_k(name: str) -> float:
    """Return the instructions of a warp for one k, on the way through the machine code that inner tiles take."""
    loads = counted(name).count("requests") * WARP / (COUNTED**2 * DEPTH)
    return OUTPUTS * shortest_path(steps()[name], loads).per_multiply_add


@cache
def cycles(name: str) -> Cycles:
    """Return what each part needs for one k, in cycles of one scheduler, and what was recorded at N = 4096."""
    waves = counted(name).count("wavefronts", "load") + counted(name).count("wavefronts", "store")
    shared = SCHEDULERS * OUTPUTS * WARP * waves / (COUNTED**2 * DEPTH)
    return Cycles(instructions_per_k(name), shared, OUTPUTS * kernel_reads(steps()[name]).step.per_multiply_add, recorded_cycles(name))


def recorded_cycles(name: str) -> float:
    """Return the recorded cycles of each scheduler for one k of a warp, as if all schedulers of the GPU worked all the time."""
    found = row(name)
    return OUTPUTS * found["median_s"] * 1e6 * found["clock_mhz"] * device("H200").sms * SCHEDULERS / (N**3 / WARP)


def one_change(*names: str, reads: bool = False) -> Table:
    """Return a table of kernels: the cycles that they need for one k at least, and those that were recorded.

    Parameters
    ----------
    *names
        As in the recording "closing".
    reads
        Show the cycles in which registers are read, too.
    """
    rows = [(*_needs(name), *([f"{cycles(name).registers:.0f}"] * reads), *_recorded(name)) for name in names]
    return Table((*HEADER, *(["register reads, at least"] * reads), "recorded", "ms"), rows, _caption())


def _needs(name):
    return NAMES[name], wavefronts_per_k(name), f"{cycles(name).shared:.0f}", f"{instructions_per_k(name):.0f}"


def _recorded(name):
    return f"{cycles_per_k(name)}", f"{1e3 * row(name)['median_s']:.2f}"


def _caption():
    return ("Cycles for each k: shared memory has 4 for each wavefront, of loads and of stores, and a scheduler one for each instruction. "
            f"Recorded: N = {N}, at {row('fed')['clock_mhz']} MHz, {data.readings('closing').label.removeprefix('recorded ')}")


def gained(before: str, after: str, n: int = N) -> float:
    """Return by how many percent one recorded kernel is faster than another, rounded to one decimal."""
    return round(100 * (row(before, n)["median_s"] / row(after, n)["median_s"] - 1), 1)


def cycles_per_k(name: str) -> int:
    """Return the recorded cycles of a scheduler for one k of its warp, 64 multiply-adds, at N = 4096."""
    return round(recorded_cycles(name))


def scoreboard() -> Table:
    """Return the lesson's kernels with what 64 multiply-adds of a warp's lanes need at least, and their recorded speed at N = 4096."""
    rows: list[tuple[Any, ...]] = [(*_needs(name), *_recorded(name)) for name in SCORED]
    rows += [(SHARED_OUT, wavefronts_per_k(SHARED_OUT), "", "", *_recorded(SHARED_OUT)),
             ("NVIDIA's library, cuBLAS", "", "", "", *_recorded("cuBLAS"))]
    shares = [f"{100 * row(name)['ratio']:.0f} %" for name in (*SCORED, SHARED_OUT, "cuBLAS")]
    return Table((*HEADER, "recorded", "ms", "of cuBLAS"), [(*cells, share) for cells, share in zip(rows, shares, strict=True)], _caption())
