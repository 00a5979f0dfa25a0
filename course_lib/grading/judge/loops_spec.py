"""What loops for the CPU must do: an operation, inputs, and how many cache lines they may fetch."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from course_lib.check.case import Case
from course_lib.check.loops import Loops
from course_lib.check.operation import Tile
from course_lib.grading.judge.spec import Gate, Reading
from course_lib.model.cache_lines import MATRICES, CacheShape

if TYPE_CHECKING:                     # it imports this module
    from course_lib.grading.judge.loops_check import LoopsRun

LINES = "cache lines fetched per multiply-add"


@dataclass(frozen=True)
class LoopsSpec:
    """A part whose answer is loops in C with A(i, k), B(k, j), C(i, j), which add to a C that holds beta C already.

    Attributes
    ----------
    entry
        What the answer's cell is called, `%%c NAME`.
    cases
        The tile, which is {} -> inputs, from plain to hard.
    gate_case
        {} -> the input on which lines are counted.
    cache
        The cache that they are counted in.
    drawn
        ({}, generator) -> further inputs for grading.
    gate_drawn
        ({}, generator) -> one more input of the gates for grading, of sizes that only the seed knows.
    """

    exercise: str
    part: str
    title: str
    entry: str
    operation: Loops = field(repr=False)
    cases: Callable[[Tile], tuple[Case, ...]] = field(repr=False)
    gate_case: Callable[[Tile], Case] = field(repr=False)
    cache: CacheShape
    gates: tuple[Gate, ...] = ()
    drawn: Callable[[Tile, np.random.Generator], Iterable[Case]] = field(default=lambda tile, rng: drawn_sizes(rng), repr=False)
    gate_drawn: Callable[[Tile, np.random.Generator], Case] | None = field(default=None, repr=False)
    tile: ClassVar[tuple[str, ...]] = ()            # no number of the text decides how it is launched

    def __str__(self) -> str:
        counted = f"  counted for {self.gate_case({})}; {self.cache}"
        return "\n".join([f"{self.title} (loops `{self.entry}`)", *(f"  {gate}" for gate in self.gates), counted])


def lines_per_work(run: "LoopsRun", work: float) -> Reading:
    """Read the cache lines that loops fetch for each multiply-add; a gate's `read`."""
    fetched = run.count.fetched
    words = ", ".join(f"{name} {fetched[name]}" for name in MATRICES)
    return Reading(sum(fetched.values()) / work, f"lines of {words} / {work} multiply-adds", run.count.by_line)


def loop_cases(tile: Tile | None = None) -> tuple[Case, ...]:
    """Return inputs whose sizes are no friends of any block: whole lines of 16 floats, one more, one less, primes, rows and columns."""
    return (
        Case("square", 32, 32, 32),             # where swapped and transposed show for what they are
        Case("rectangular, whole lines", 16, 48, 32),
        Case("alpha and beta", 24, 24, 24, alpha=1.5, beta=-0.5),
        Case("padded rows", 20, 12, 28, alpha=-2.0, beta=0.25, pad=5),
        Case("K one more than a line", 16, 16, 17),
        Case("N one more than two lines", 16, 33, 16),
        Case("M one more than a line", 17, 16, 16),
        Case("all one less than a line", 15, 15, 15),
        Case("a single element", 1, 1, 1),
        Case("a row times a matrix", 1, 17, 37, alpha=0.5, beta=2.0),
        Case("a matrix times a column", 17, 1, 3, pad=1),
        Case("primes, padded, alpha and beta", 37, 53, 29, alpha=1.5, beta=-0.5, pad=3),
        Case("many rows", 67, 19, 23),
        Case("a long sum and many columns", 11, 71, 73),
    )


def drawn_lines(*ranges: tuple[int, int], whole: bool = True) -> Callable[[Tile, np.random.Generator], Case]:
    """Return how an input to count lines on is drawn: M, N, K of so many lines of 16 floats, from the first number to the second.

    Where they are not `whole`, some floats of one more line follow, or none.
    """
    def draw(tile: Tile, rng: np.random.Generator) -> Case:
        M, N, K = (16 * int(rng.integers(least, most + 1)) + (0 if whole else int(rng.integers(16))) for least, most in ranges)
        return Case("counters, of a drawn size", M, N, K, alpha=float(np.float32(rng.uniform(0.5, 2))))

    return draw


def drawn_sizes(rng: np.random.Generator, most: int = 70) -> tuple[Case, ...]:
    """Return three inputs of sizes that only the generator's seed knows."""
    cases = []
    for number in range(3):
        M, N, K = (int(size) for size in rng.integers(1, most + 1, 3))
        alpha, beta = (float(x) for x in rng.uniform(-2, 2, 2).astype("float32"))
        cases.append(Case(f"drawn input {number + 1}", M, N, K, alpha, beta if number else 0.0, int(rng.integers(0, 7))))
    return tuple(cases)
