"""What orders of the triple loop take on a CPU: measured here, recorded, and as the slides have it."""

from typing import Any

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.kernels.cpu import ORDERS
from course_lib.model import lee
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import Table, cpu_table
from course_lib.run import count_lines, run_cpu
from course_lib.toolchain import no_compiler
from course_lib.widgets.compute import inputs
from course_lib.widgets.cpu_sliders import count_order

MEASURED = (48, 512)                  # the first fits into the first cache of any CPU of today, 3 · 48² floats are 27 KiB
COUNTED, CACHE = 128, 4096            # for the scoreboard: N, and bytes of the cache
TIMED, SMALL = 1024, 128
BUDGET_S = 0.3


def gflops(N: int, seconds: float) -> float:
    """Return 10⁹ floating-point operations per second of a product of N × N matrices that took `seconds`.

    >>> gflops(1000, 2.0)
    1.0
    """
    return 2 * N**3 / seconds / 1e9


def measured(mine: str) -> Any:
    """Time gemm_ijk and the reader's loops on this machine, on matrices that fit into a small cache and on larger ones.

    Without a C compiler the table is one sentence.
    """
    missing = no_compiler()
    if missing:
        len(mine)                                # loops that are not written yet say so
        return Table(("",), [], f"Nothing is timed here, and nothing below needs it: {missing}.")
    rows = []
    for N in MEASURED:
        A, B, _ = inputs(N, N, N)
        theirs, ours = (run_cpu(program, A, B, budget_s=BUDGET_S) for program in ("gemm_ijk", mine))
        rows.append((f"{N} × {N}", f"{theirs.gflops:.2f}", f"{ours.gflops:.2f}", f"{ours.gflops / theirs.gflops:.1f}"))
    return Table(("matrices", "ijk, GFLOP/s", "your loops, GFLOP/s", "times faster"), rows, ours.label)


def six() -> Table:
    """Time plain Python and, where there is a C compiler, the six orders in C, on matrices of 128 × 128."""
    A, B, _ = inputs(SMALL, SMALL, SMALL)
    programs = ("python_ijk",) if no_compiler() else ("python_ijk", *(f"gemm_{order}" for order in ORDERS))
    return cpu_table(sorted((run_cpu(name, A, B, budget_s=BUDGET_S) for name in programs), key=lambda result: result.gflops))


def recorded(kernel: str, N: int, name: str = "lee_cpu") -> float:
    """Return the recorded seconds of a program."""
    return data.load(name).find(kernel, N)[0].median_s


def scoreboard() -> Table:
    """Return lines per multiply-add and recorded time of ijk and ikj."""
    rows = []
    for order in ("ijk", "ikj"):
        seconds = recorded(f"gemm_{order}", TIMED, "cpu_steps")
        lines = count_order(order, COUNTED, CACHE).per_multiply_add
        rows.append((order, f"{lines:.4f}", f"{seconds:.3f}", f"{gflops(TIMED, seconds):.2f}"))
    header = ("order", "lines per multiply-add, simulated", "seconds", "GFLOP/s")
    timed, counted = f"{TIMED} × {TIMED} matrices, {data.load('cpu_steps').label}", f"for N = {COUNTED} and a cache of {CACHE // 64} lines"
    return Table(header, rows, f"{timed}; lines {counted}")


def columns() -> Table:
    """Return how many lines of a column a cache of 32 KiB can hold whose lines have eight places each, and what that makes ijk fetch."""
    cache, rows = CacheShape(32 * 1024, ways=8), []
    for N in (120, 127, 128):
        A, B, _ = inputs(N, N, N)
        lines = count_lines("gemm_ijk", A, B, cache=cache).per_multiply_add
        rows.append((N, 4 * N, min(N, cache.column(4 * N)), f"{lines:.4f}"))
    header = ("N", "bytes from one row to the next", "lines of a column that fit", "lines per multiply-add, ijk")
    return Table(header, rows, "a cache of 32 KiB, 8-way, simulated")


def slides() -> Table:
    """Return the slides' times of the triple loop beside ours, how they grow, and how many lines of a column fit into the second cache."""
    theirs = LEE_CPU.column("CPU")
    ours = {record.N: record.median_s for record in data.load("lee_cpu").find("gemm_ijk")}
    grown, caches = [lee.growth(times) for times in (theirs, ours)], [CacheShape(size * 2**20, ways=16) for size in (2, 8)]
    rows = []
    for N in theirs:
        cells = [(theirs, N, "g"), (grown[0], N, ".3g"), (ours, N, ".3g"), (grown[1], N, ".3g")]
        rows.append((N, *(format(times[n], kind) if n in times else "" for times, n, kind in cells),
                     *(f"{min(N, cache.column(4 * N)):,}" for cache in caches)))
    header = ("N", "slides", "times as long", "ours, s", "times as long", "lines of a column that fit in 2 MiB", "in 8 MiB")
    return Table(header, rows, f"ijk. Ours: {data.load('lee_cpu').label}. Last columns: a 16-way cache, modelled")
