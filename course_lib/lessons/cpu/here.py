"""The reader's loops beside ikj, timed on this computer: blocks of 16 × 16 and of 64 × 64, rows of 1024 floats and longer ones."""

import re

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.lessons.cpu.variants import LARGE, PADDED
from course_lib.plots import Table
from course_lib.run.turns import aligned, in_turns, prepared
from course_lib.unwritten import is_unwritten, missing

ROUNDS, BUDGET_S = 5, 0.02              # seconds for a call in a round: one sample, where it takes longer
SIZES = (16, 64)                        # rows and columns of a block


def with_sizes(mine: str) -> dict[str, str]:
    """Return the reader's loops with b = 16 and with b = 64, by name; as they are, where no line sets b."""
    sets_b = re.compile(r"\bconst int b = \d+;")
    return {f"your loops, b = {b}": sets_b.sub(f"const int b = {b};", mine) for b in SIZES} if sets_b.search(mine) else {"your loops": mine}


def measured(mine: str) -> Table | None:
    """Time ikj and the reader's loops, with blocks of both sizes, in turns on this computer; print why when that cannot be.

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
    programs, lengths = {"ikj": "gemm_ikj"} | with_sizes(mine), (LARGE, PADDED)
    try:
        calls = {(name, ld): prepared(program, [aligned(LARGE, LARGE, ld, seed) for seed in range(3)])
                 for ld in lengths for name, program in programs.items()}
    except CourseError as error:
        print(f"Nothing is timed here: {error}.")
        return None
    found = in_turns(list(calls.values()), rounds=ROUNDS, budget_s=BUDGET_S)
    ms = {key: f"{1e3 * times.median:.3g} ms" for key, times in zip(calls, found, strict=True)}
    rows = [(name, *(ms[name, ld] for ld in lengths)) for name in programs]
    caption = f"{LARGE} × {LARGE} matrices, one thread of this computer ({toolchain.cpu_name()}), the middle one of {ROUNDS} times"
    return Table(("", *(f"rows of {ld} floats" for ld in lengths)), rows, caption)

