"""Loops in blocks: whether the reader's are right, and how many cache lines they fetch; counted, and from the formula."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from course_lib.check.case import Case
from course_lib.check.finding import Finding
from course_lib.check.loops import Loops
from course_lib.grading import Verdict
from course_lib.grading import check as judge
from course_lib.grading.judge.engine import Here
from course_lib.grading.judge.loops_check import run_loops
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.model.cache_lines import MATRICES, CacheShape, Steps, blocked_steps, count_steps, loop_steps
from course_lib.plots import Table
from course_lib.unwritten import is_unwritten, missing

N, CACHE = 128, 4096                    # of the prediction: rows and columns, bytes of the cache
SIDE, BLOCK = 64, 16                    # of the matrices on which `check` counts: in smaller ones 16 columns of B would fit; of a block
FLOATS_PER_LINE, FLOAT = 16, 4
OPERATION = Loops()


@dataclass(frozen=True)
class Lines:
    """The cache lines that loops fetched for N × N matrices; `fetched` has them for "A", "B" and "C"."""

    N: int
    cache: CacheShape
    fetched: dict[str, int]

    @property
    def total(self) -> int:
        """Return the lines of all three matrices."""
        return sum(self.fetched.values())

    @property
    def per_multiply_add(self) -> float:
        """Return the lines of all three matrices for each multiply-add."""
        return self.total / self.N**3


def whole_blocks(tile: Mapping[str, int] | None = None) -> tuple[Case, ...]:
    """Return inputs whose sizes blocks of 1, 2, 4, 8 or 16 divide: the lesson leaves the ends of a matrix to the exercise."""
    return (Case("square", 32, 32, 32), Case("wide", 16, 48, 32), Case("high", 48, 32, 64), Case("padded rows", 32, 16, 48, pad=5))


def name_of(loops: str) -> str:
    """Return the name that a cell `%%c NAME` gave its loops, as a heading.

    >>> name_of("// %%c blocked"), name_of("C(i, j) = 0;")
    ('blocked', 'Your loops')
    """
    named = re.match(r"// %%c (\w+)", loops)
    return named[1] if named else "Your loops"


def spec_of(case: Case, cache: int, title: str = "Your loops") -> LoopsSpec:
    """Return what `check` and `count` want of loops."""
    return LoopsSpec("02_cpu", "lesson", title, "loops", OPERATION, whole_blocks, lambda tile: case, CacheShape(cache))


def check(loops: str) -> Verdict:
    """Try loops on four inputs, whose sizes are multiples of 16, and say what is wrong, or that they are not in blocks; needs no compiler.

    Loops in other blocks than the lesson counts pass, and are told so.

    Parameters
    ----------
    loops
        What `%%c` has made of a cell: loops with A(i, k), B(k, j), C(i, j), which add to a C that is full of zeros.

    Raises
    ------
    NotWritten
        When the cell is still blank.
    """
    if is_unwritten(loops):
        raise missing(loops)
    verdict = judge(loops, spec_of(Case("counted", N, N, N), CACHE, name_of(loops)))
    return _in_blocks(loops, verdict) if verdict.passed else verdict


def _in_blocks(loops: str, verdict: Verdict) -> Verdict:
    """Return the verdict on right loops, which do not pass when they fetch more than half as many lines as ikj."""
    found, told = count(loops, SIDE), count_blocks(BLOCK, SIDE)
    if found == told:
        return verdict
    if 2 * found.total <= count_order("ikj", SIDE).total:
        message = (f"Right, but not the b or the order of blocks that the next section counts. Take b = {BLOCK}, and go through all blocks "
                   "of k before the next block of C: k0 in the third loop")
        return replace(verdict, findings=(*verdict.findings, Finding("other blocks", message, severity="warning")))
    often = found.total / told.total
    message = (f"Right, but not in blocks that fit a cache. On {SIDE} × {SIDE} matrices, with a cache of {CACHE // 1024} KiB, these loops "
               f"fetch {often:.1f} times as many cache lines as loops in blocks of {BLOCK} × {BLOCK}. Cut i, j and k into blocks: "
               "three loops go from block to block, and three inside them through one block")
    return replace(verdict, passed=False, findings=(Finding("not blocked", message),))


def count(loops: str, N: int = N, cache: int = CACHE) -> Lines:
    """Run loops on N × N matrices, and count the lines that they fetch into a cache of so many bytes.

    Raises
    ------
    SimtError
        For an index outside a matrix, or loops that do not end.
    """
    case = Case("counted", N, N, N)
    spec = spec_of(case, cache)
    return Lines(N, spec.cache, run_loops(loops, OPERATION.trial(case), spec, Here()).count.fetched)


@functools.cache
def count_order(order: str, N: int = N, cache: int = CACHE) -> Lines:
    """Count the lines of the three loops in an order such as "ikj"."""
    return _counted(loop_steps(order, N, N, N), N, cache)


@functools.cache
def count_blocks(block: int, N: int = N, cache: int = CACHE) -> Lines:
    """Count the lines of the six loops, with blocks of so many rows and columns."""
    return _counted(blocked_steps(N, N, N, block, block, block), N, cache)


def _counted(steps: Steps, N: int, cache: int) -> Lines:
    fetched = count_steps(steps, [(N, N, N)] * 3, FLOAT, CacheShape(cache))
    return Lines(N, CacheShape(cache), dict(zip(MATRICES, fetched, strict=True)))


def lines_per_multiply_add(block: int, N: int) -> Fraction:
    """Return the lines for each multiply-add, when the blocks fit and their rows are whole lines.

    A and B: 2 b² elements, 16 to a line, for b³ multiply-adds. C: each line once.

    >>> lines_per_multiply_add(16, 128)
    Fraction(17, 2048)
    """
    return Fraction(2, FLOATS_PER_LINE * block) + Fraction(1, FLOATS_PER_LINE * N)


def beside_ikj(lines: Lines) -> Table:
    """Return a table of the lines that loops fetch, beside those of the order ikj."""
    plain = count_order("ikj", lines.N, lines.cache.size)
    pairs = [(f"lines of {name}", plain.fetched[name], lines.fetched[name]) for name in MATRICES]
    pairs.append(("all lines", plain.total, lines.total))
    rows = [(name, f"{before:,}", f"{after:,}", f"{before / after:.3g}") for name, before, after in pairs]
    rows.append(("lines per multiply-add", f"{plain.per_multiply_add:.4f}", f"{lines.per_multiply_add:.4f}", ""))
    caption = f"{lines.N} × {lines.N} matrices, a cache of {lines.cache.size // 1024} KiB: lines fetched, counted in a model of a cache"
    return Table(("", "ikj, without blocks", "your loops", "ikj ÷ yours"), rows, caption)
