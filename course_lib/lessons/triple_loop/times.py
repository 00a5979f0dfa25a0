"""What orders of the triple loop take on a CPU: measured here, recorded, and as the slides have it."""

from collections import Counter
from typing import Any

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.explorables.orders import FLOAT
from course_lib.lessons.triple_loop.pictures import Panel, steps_picture, times_picture
from course_lib.lessons.triple_loop.sizes import LAYOUTS, SHOWN, SIZES, SMALL, TIMED, Size
from course_lib.model import lee
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import Picture, Table
from course_lib.run import run_cpu
from course_lib.run.turns import RoundTimes, in_turns, prepared
from course_lib.toolchain import cpu_family, cpu_name, no_compiler
from course_lib.widgets.compute import inputs

BUDGET_S, ROUNDS = 0.03, 3            # of each program in a round, in seconds
INNERMOST = ("jki", "kji", "ijk", "jik", "ikj", "kij")     # the orders, pairs with the same innermost loop together


def _most(*spreads: RoundTimes) -> str:
    """Return by how much the slowest round of any program was above its fastest."""
    return max(spreads, key=lambda spread: spread.worst / spread.best).percent


def recorded_cpu(name: str = "cpu_orders") -> str:
    """Return the name of a recorded CPU with the numbers that tell it from others of the same name."""
    found, = data.readings(name).find(what="conditions")
    return f"{found['cpu']} (family {found['family']}, model {found['model']})"


def this_cpu() -> str:
    """Return the name of this computer's CPU; where it has no number, which many CPUs share, with those of its family and model."""
    name, found = cpu_name(), cpu_family()
    return name if any(map(str.isdigit, name)) or not found else f"{name} (family {found[0]}, model {found[1]})"


def of_recording() -> Panel:
    """Return the recorded nanoseconds per multiply-add of ijk and ikj."""
    bars = {order: tuple(2 / speed(order, size) for size in SHOWN) for order in ("ijk", "ikj")}
    return Panel(f"recorded\n{recorded_cpu()}", bars)


def measured(mine: str) -> Picture:
    """Draw the recorded times of ijk and ikj and, measured on this machine in turns, those of ijk, ikj and the reader's loops.

    Without a C compiler, or with loops that cannot be timed, the second half is one sentence.
    """
    len(mine)                                    # loops that are not written yet say so
    return times_picture([of_recording(), _here(mine)], [f"{size.M} × {size.N}" for size in SHOWN])


def _here(mine: str) -> Panel:
    """Return this machine's nanoseconds per multiply-add, or why there are none."""
    title, programs = f"measured on this computer\n{this_cpu()}", {"ijk": "gemm_ijk", "ikj": "gemm_ikj", "your loops": mine}
    missing = no_compiler()
    if missing:
        return Panel(title, {}, f"Nothing is timed here, and nothing below needs it: {missing}.")
    try:
        calls = [prepared(program, size.matrices()) for size in SHOWN for program in programs.values()]
    except CourseError as error:
        return Panel(title, {}, f"Nothing is timed here: {error}.")
    found = in_turns(calls, rounds=ROUNDS, budget_s=BUDGET_S)
    bars = {name: tuple(2e9 * spread.best / size.flops for size, spread in zip(SHOWN, found[number::len(programs)], strict=True))
            for number, name in enumerate(programs)}
    return Panel(title, bars, f"the fastest of {ROUNDS} rounds, which differ by up to {_most(*found)}")


def six() -> Table:
    """Time plain Python and, where there is a C compiler, the six orders in C, in turns, at N = 120 and N = 128."""
    A, B, _ = inputs(SMALL[0].M, SMALL[0].N, SMALL[0].K)
    timing = run_cpu("python_ijk", A, B, budget_s=BUDGET_S).time
    assert timing is not None                        # `run_cpu` measures unless told not to
    python = SMALL[0].flops / timing.low_s / 1e9
    rows: list[tuple[str, ...]] = [("python_ijk", f"{python:.3f}", "", "")]
    if not no_compiler():
        names = [f"gemm_{order}" for order in INNERMOST]
        found = in_turns([prepared(name, size.matrices()) for size in SMALL for name in names], rounds=ROUNDS, budget_s=BUDGET_S)
        for name, small, power in zip(names, found[:len(names)], found[len(names):], strict=True):
            speeds = (f"{size.flops / spread.best / 1e9:.2f}" for size, spread in zip(SMALL, (small, power), strict=True))
            rows.append((name, *speeds, _most(small, power)))
    header = ("program", *(f"GFLOP/s, N = {size.N}" for size in SMALL), f"{ROUNDS} rounds differ by up to")
    return Table(header, rows, f"one thread, the fastest of {ROUNDS} rounds, measured on {this_cpu()}")


def row(order: str, size: Size) -> dict[str, Any]:
    """Return what `python -m tools record orders` recorded of an order."""
    found, = data.readings("cpu_orders").find(what="program", kernel=f"gemm_{order}", M=size.M, N=size.N, K=size.K, ldb=size.ldb)
    return found


def speed(order: str, size: Size) -> float:
    """Return the recorded GFLOP/s of an order, of its fastest round."""
    return size.flops / row(order, size)["best_s"] / 1e9


def steps() -> list[tuple[str, float, str]]:
    """Return the recorded seconds of ikj and ijk at N = 1024, and what changes from each to the next: the padding or the order."""
    padded, plain = TIMED
    four = (("ikj", plain, "padding"), ("ikj", padded, "order"), ("ijk", padded, "no padding"), ("ijk", plain, ""))
    return [(order + (", padding" if size is padded else ""), row(order, size)["best_s"], change) for order, size, change in four]


def scoreboard() -> Picture:
    """Draw what takes ikj to the time of ijk, step by step."""
    rounds = row("ijk", TIMED[1])["rounds"]
    note = f"recorded on {recorded_cpu()}, {data.readings('cpu_orders').date}; the fastest of {rounds} rounds"
    return steps_picture(steps(), f"seconds, {TIMED[1].N:,} × {TIMED[1].N:,} matrices", note)


def apart() -> list[tuple[str, float, str]]:
    """Return the seconds of ikj and ijk on the other recorded CPU, and what changes from each to the next."""
    padded, plain = (size.ldb for size in TIMED)
    taken = {(r["kernel"], r["ldb"]): r["best_s"] for r in data.readings("cpu_apart").find(what="program")}
    five = (("ikj", padded, "no vectors"), ("ikj, no vectors", padded, "order"), ("ijk, no vectors", padded, "vectors"),
            ("ijk", padded, "no padding"), ("ijk", plain, ""))
    return [(name.replace(",", ", padding,") if "," in name else name + ", padding" * (ldb == padded), taken[name, ldb], change)
            for name, ldb, change in five]


def split() -> Picture:
    """Draw what takes ikj to the time of ijk on the other recorded CPU, where both ran without vectors, too."""
    found = data.readings("cpu_apart")
    note = f"recorded on {recorded_cpu('cpu_apart')}, {found.date}; the fastest of {found.find(what='program')[0]['rounds']} rounds"
    return steps_picture(apart(), f"seconds, {TIMED[1].N:,} × {TIMED[1].N:,} matrices, all rows of B equal", note, order=(0, 3))


def fits() -> Table:
    """Return how many lines of a column of B compete for one set of the recorded CPU's first two caches, and the recorded times of ijk."""
    caches = [CacheShape(1024 * found["kib"], ways=found["ways"]) for found in data.readings("cpu_orders").find(what="cache")[:2]]
    rows = []
    for size in (*SIZES[1:], *TIMED):
        most = (max(Counter(FLOAT * size.ldb * row // cache.line % cache.sets for row in range(size.K)).values()) for cache in caches)
        rows.append((f"{size.N:,}", f"{FLOAT * size.ldb:,}", *(f"{lines:,}" for lines in most), f"{2 / speed('ijk', size):.3f}"))
    first, second = (f"{cache.ways} fit" for cache in caches)
    header = ("lines of a column of B", "bytes from one row of B to the next", f"lines per set, first-level cache ({first})",
              f"lines per set, second-level cache ({second})", "ijk, ns per multiply-add")
    return Table(header, rows, f"lines: worked out; times: recorded on {recorded_cpu()}")


def waits() -> Table:
    """Return the recorded seconds of ijk, and of ijk in four steps with one sum and with four, for three layouts of B."""
    found = data.readings("cpu_apart")
    programs = {"ijk": "ijk", "one sum": "four steps, one sum", "four sums": "four steps, four sums"}
    taken = {(r["kernel"], r["ldb"]): r for r in found.find(what="program")}
    rows = [(f"{ldb:,} floats apart" if ldb else "all in the same 64 lines", *(f"{taken[name, ldb]['best_s']:.2f}" for name in programs))
            for ldb in LAYOUTS]
    size, rounds = TIMED[1], taken["ijk", 0]["rounds"]
    differ = 100 * (max(taken[name, ldb]["worst_s"] / taken[name, ldb]["best_s"] for name in programs for ldb in LAYOUTS) - 1)
    timed = f"recorded on {recorded_cpu('cpu_apart')}, {found.date} (the fastest of {rounds} rounds, which differ by up to {differ:.0f} %)"
    return Table(("the rows of B begin", *programs.values()), rows,
                 f"{size.M:,} × {size.N:,} matrices, all rows of B equal; seconds, {timed}")


def slides() -> Table:
    """Return the slides' times of the triple loop beside ours, how they grow, and how many lines of a column fit into the second cache."""
    theirs = LEE_CPU.column("CPU")
    ours = {record.N: record.seconds for record in data.load("lee_cpu").find("gemm_ijk")}
    grown, caches = [lee.growth(times) for times in (theirs, ours)], [CacheShape(size * 2**20, ways=16) for size in (2, 8)]
    rows = []
    for N in theirs:
        cells = [(theirs, N, "g"), (grown[0], N, ".3g"), (ours, N, ".3g"), (grown[1], N, ".3g")]
        rows.append((N, *(format(times[n], kind) if n in times else "" for times, n, kind in cells),
                     *(f"{min(N, cache.column(4 * N)):,}" for cache in caches)))
    header = ("N", "slides", "times as long", "ours, s", "times as long", "lines of a column that fit in 2 MiB", "in 8 MiB")
    return Table(header, rows, f"ijk. Ours: {data.load('lee_cpu').label}. Last columns: sets of 16 lines, worked out")
