"""The reader's loops beside ikj, timed on this computer: blocks of 16 × 16 and of 64 × 64, rows of 1024 floats and longer ones."""

import re
from typing import Any

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.lessons.cpu.crowding import PROGRAMS
from course_lib.lessons.cpu.recorded import N, recording
from course_lib.lessons.cpu.variants import LARGE, PADDED
from course_lib.plots import Table
from course_lib.run.turns import aligned, in_turns, prepared
from course_lib.unwritten import is_unwritten, missing

ROUNDS, BUDGET_S = 5, 0.02              # seconds for a call in a round: one sample, where it takes longer
SIZES = (16, 64)                        # rows and columns of a block


def with_sizes(mine: str) -> dict[int | str, tuple[str, str]]:
    """Return (name, loops) of the reader's loops with b = 16 and with b = 64, by b; as they are, where no line sets b."""
    sets_b = re.compile(r"\bconst int b = \d+;")
    if not sets_b.search(mine):
        return {"": ("your loops", mine)}
    return {b: (f"your loops, b = {b}", sets_b.sub(f"const int b = {b};", mine)) for b in SIZES}


def numbered(name: str, family: str, model: str) -> str:
    """Return the name of a CPU with the numbers that tell it from others of the same name."""
    return f"{name}, family {family}, model {model}"


def recorded_cpu() -> str:
    """Return the name of the recorded CPU."""
    found, = recording().find(what="conditions")
    return numbered(found["cpu"], found["family"], found["model"])


def this_cpu() -> str:
    """Return the name of this computer's CPU, with its numbers where Linux tells them."""
    family = toolchain.cpu_family()
    return numbered(toolchain.cpu_name(), *family) if family else toolchain.cpu_name()


def spread(seconds: tuple[float, float, float]) -> str:
    """Write the fastest, the middle and the slowest time: the middle one first.

    >>> spread((0.0451, 0.0462, 0.0616))
    '46.2 ms (45.1 to 61.6)'
    """
    best, median, worst = (f"{1e3 * value:.3g}" for value in seconds)
    return f"{median} ms ({best} to {worst})"


def recorded(program: int | str, ld: int) -> str:
    """Return what was recorded of a program of `PROGRAMS`, as `spread` writes it, or nothing."""
    kernel, parameters = PROGRAMS.get(program, ("", None))
    found: tuple[dict[str, Any], ...] = recording().find(what="program", kernel=kernel, N=N, ld=ld, parameters=parameters or {})
    return spread((found[0]["best_s"], found[0]["median_s"], found[0]["worst_s"])) if found else ""


def measured(mine: str) -> Table | None:
    """Time ikj and the reader's loops, with blocks of both sizes, in turns on this computer, and put the recorded times beside them.

    Prints why when it cannot be done.

    Raises
    ------
    NotWritten
        When the cell is still blank.
    """
    if is_unwritten(mine):
        raise missing(mine)
    if why := toolchain.no_compiler():
        print(f"Nothing is timed here, and nothing below needs it: {why}.")
        return None
    programs, lengths = {"ikj": ("ikj", "gemm_ikj")} | with_sizes(mine), (LARGE, PADDED)
    try:
        calls = {(key, ld): prepared(program, [aligned(LARGE, LARGE, ld, seed) for seed in range(3)])
                 for ld in lengths for key, (_, program) in programs.items()}
    except CourseError as error:
        print(f"Nothing is timed here: {error}.")
        return None
    taken = in_turns(list(calls.values()), rounds=ROUNDS, budget_s=BUDGET_S)
    here = {key: spread((times.best, times.median, times.worst)) for key, times in zip(calls, taken, strict=True)}
    rows = [(name, *(cell for ld in lengths for cell in (here[key, ld], recorded(key, ld)))) for key, (name, _) in programs.items()]
    rounds = recording().find(what="conditions")[0]["rounds"]
    caption = (f"{LARGE} × {LARGE} matrices, by the floats per row; one thread. Measured: {this_cpu()}, the middle one of {ROUNDS} times. "
               f"Recorded: {recorded_cpu()}, the middle one of {rounds}. In brackets the fastest and the slowest")
    header = [f"{ld} floats, {where}" for ld in lengths for where in ("measured", "recorded")]
    return Table(("", *header), rows, caption)
