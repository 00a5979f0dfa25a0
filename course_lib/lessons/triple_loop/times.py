"""What orders of the triple loop take on a CPU: measured here, recorded, and as the slides have it."""

from typing import Any

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.explorables.orders import FLOAT, LINE_BYTES
from course_lib.lessons.triple_loop.turns import SIZES, SMALL, TIMED, Size, Spread, in_turns, prepared
from course_lib.model import lee
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import Table
from course_lib.run import count_lines, run_cpu
from course_lib.toolchain import cpu_name, no_compiler
from course_lib.widgets.compute import inputs

COUNTED, LINES = 1024, 768            # for the scoreboard: N, and lines of the cache
BUDGET_S, ROUNDS = 0.03, 5            # of each program in a round, in seconds
INNERMOST = ("jki", "kji", "ijk", "jik", "ikj", "kij")     # the orders, pairs with the same innermost loop together


def gflops(N: int, seconds: float) -> float:
    """Return 10⁹ floating-point operations per second of a product of N × N matrices that took `seconds`.

    >>> gflops(1000, 2.0)
    1.0
    """
    return 2 * N**3 / seconds / 1e9


def _changes(size: Size) -> tuple[str, str, int, str]:
    """Return the cells that describe the matrices of a row."""
    M, N, K = size.M, size.N, size.K
    what = f"all {N} × {N}" if M == N == K else f"A {M} × {K}, B {K} × {N}"
    memory = FLOAT * (M * K + K * size.ldb + M * N)
    return what + ", B padded" * (size.ldb > N), f"{memory / 1024:,.0f}", K, f"{FLOAT * size.ldb:,}"


def _most(*spreads: Spread) -> str:
    """Return by how much the slowest round of any program was above its fastest."""
    return max(spreads, key=lambda spread: spread.worst / spread.best).percent


CHANGES = ("matrices", "KiB in all", "products per sum", "bytes from one row of B to the next")


def measured(mine: str) -> Any:
    """Time gemm_ijk and the reader's loops on this machine, in turns, on matrices that differ in one thing from row to row.

    Without a C compiler, or with loops that cannot be timed, the table is one sentence.
    """
    len(mine)                                    # loops that are not written yet say so
    missing = no_compiler()
    if missing:
        return Table(("",), [], f"Nothing is timed here, and nothing below needs it: {missing}.")
    try:
        calls = [prepared(program, size) for size in SIZES for program in ("gemm_ijk", mine)]
    except CourseError as error:
        return Table(("",), [], f"Nothing is timed here: {error}.")
    found = in_turns(calls, rounds=ROUNDS, budget_s=BUDGET_S)
    rows = []
    for size, theirs, ours in zip(SIZES, found[::2], found[1::2], strict=True):
        speeds = (f"{size.flops / spread.best / 1e9:.2f}" for spread in (theirs, ours))
        rows.append((*_changes(size), *speeds, f"{theirs.best / ours.best:.1f}", _most(theirs, ours)))
    header = (*CHANGES, "ijk, GFLOP/s", "your loops, GFLOP/s", "times faster", f"{ROUNDS} rounds differ by up to")
    return Table(header, rows, f"the fastest of {ROUNDS} rounds, measured on {cpu_name()}")


def six() -> Table:
    """Time plain Python and, where there is a C compiler, the six orders in C, in turns, at N = 120 and N = 128."""
    A, B, _ = inputs(SMALL[0].M, SMALL[0].N, SMALL[0].K)
    python = SMALL[0].flops / run_cpu("python_ijk", A, B, budget_s=BUDGET_S).time.low_s / 1e9
    rows = [("python_ijk", f"{python:.3f}", "", "")]
    if not no_compiler():
        names = [f"gemm_{order}" for order in INNERMOST]
        found = in_turns([prepared(name, size) for size in SMALL for name in names], rounds=ROUNDS, budget_s=BUDGET_S)
        for name, small, power in zip(names, found[:len(names)], found[len(names):], strict=True):
            speeds = (f"{size.flops / spread.best / 1e9:.2f}" for size, spread in zip(SMALL, (small, power), strict=True))
            rows.append((name, *speeds, _most(small, power)))
    header = ("program", *(f"GFLOP/s, N = {size.N}" for size in SMALL), f"{ROUNDS} rounds differ by up to")
    return Table(header, rows, f"one thread, the fastest of {ROUNDS} rounds, measured on {cpu_name()}")


def row(order: str, size: Size) -> dict[str, Any]:
    """Return what `python -m tools record orders` recorded of an order."""
    found, = data.readings("cpu_orders").find(what="program", kernel=f"gemm_{order}", M=size.M, N=size.N, K=size.K, ldb=size.ldb)
    return found


def speed(order: str, size: Size) -> float:
    """Return the recorded GFLOP/s of an order, of its fastest round."""
    return size.flops / row(order, size)["best_s"] / 1e9


def one_at_a_time() -> Table:
    """Return the recorded speeds of ijk for the matrices of `measured`, and what each change costs."""
    rows, before = [], None
    for size in SIZES:
        found, now = row("ijk", size), speed("ijk", size)
        rows.append((*_changes(size), f"{now:.2f}", f"{size.flops / found['median_s'] / 1e9:.2f}", f"{before / now:.1f}" if before else ""))
        before = now
    header = (*CHANGES, "ijk, GFLOP/s", "in the middle round", "times slower than the row above")
    return Table(header, rows, f"the fastest of {row('ijk', SIZES[0])['rounds']} rounds, {data.readings('cpu_orders').label}")


def recorded(kernel: str, N: int, name: str = "lee_cpu") -> float:
    """Return the recorded seconds of a program."""
    return data.load(name).find(kernel, N)[0].median_s


def worked_out(order: str, N: int = COUNTED) -> float:
    """Return the lines per multiply-add of ijk or ikj on N × N matrices, for a cache that holds neither a column nor a matrix.

    ijk fetches a line of B for each multiply-add, and a line of A for 16 of them, because the column of B has pushed out the row of A. ikj
    fetches a line of B for 16 of them, and A once. Each of them fetches C once: a line for 16 N multiply-adds.

    >>> f"{worked_out('ijk'):.4f} {worked_out('ikj'):.4f}"
    '1.0626 0.0626'
    """
    floats = LINE_BYTES // FLOAT
    once = 1 / (floats * N)
    return {"ijk": 1 + 1 / floats + once, "ikj": 1 / floats + 2 * once}[order]


def scoreboard() -> Table:
    """Return lines per multiply-add and recorded times of ijk and ikj, on two CPUs, and with rows of B that are no power of two apart."""
    padded, plain = TIMED
    lines = [worked_out(order) for order in ("ijk", "ikj")]
    rows = [("lines per multiply-add, worked out", f"{plain.ldb:,}", *(f"{value:.4f}" for value in lines), f"{lines[0] / lines[1]:.1f}")]
    first, here = data.load("cpu_steps"), data.readings("cpu_orders")
    seconds = [recorded(f"gemm_{order}", COUNTED, "cpu_steps") for order in ("ijk", "ikj")]
    speeds = [f"{gflops(COUNTED, value):.2f}" for value in seconds]
    rows.append((f"seconds, {first.device}", f"{plain.ldb:,}", *(f"{value:.3f}" for value in seconds), f"{seconds[0] / seconds[1]:.1f}"))
    rows.append((f"GFLOP/s, {first.device}", f"{plain.ldb:,}", *speeds, ""))
    for size in (plain, padded):
        times = [row(order, size)["best_s"] for order in ("ijk", "ikj")]
        rows.append((f"seconds, {here.device}", f"{size.ldb:,}", *(f"{value:.3f}" for value in times), f"{times[0] / times[1]:.1f}"))
    header = (f"{COUNTED:,} × {COUNTED:,} matrices", "floats from one row of B to the next", "ijk", "ikj", "ijk : ikj")
    rounds = row("ijk", plain)["rounds"]
    timed = f"{first.label} (medians), and {here.label} (the fastest of {rounds} rounds)"
    return Table(header, rows, f"{timed}; lines for a cache of {LINES} lines")


def columns() -> Table:
    """Return how many lines of a column a cache of 48 KiB can hold whose sets have twelve places each, and what that makes ijk fetch."""
    cache, rows = CacheShape(48 * 1024, ways=12), []
    for N, ldb in ((120, 120), (127, 127), (128, 128), (128, 129)):
        size = Size.square(N, ldb)
        A, B, _ = size.matrices()
        lines = count_lines("gemm_ijk", A, B, cache=cache).per_multiply_add
        rows.append((N, ldb, FLOAT * ldb, min(N, cache.column(4 * ldb)), f"{lines:.4f}"))
    header = ("N", "floats from one row of B to the next", "bytes", "lines of a column that fit", "lines per multiply-add, ijk")
    return Table(header, rows, "a cache of 48 KiB, 12-way, simulated")


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
