"""What loops for the CPU must do: an operation, inputs, and how many cache lines they may fetch."""

from collections.abc import Callable
from dataclasses import dataclass, field

from course_lib.check.case import Case
from course_lib.grading.judge.spec import Gate, Reading
from course_lib.model.cache_lines import MATRICES, CacheShape

LINES = "cache lines fetched per multiply-add"


@dataclass(frozen=True)
class LoopsSpec:
    """A part whose answer is loops in C with A(i, k), B(k, j), C(i, j), which add to a C that holds beta C already.

    Attributes
    ----------
    exercise, part, title : str
    entry : str
        What the answer's cell is called, `%%c NAME`.
    operation : object
        What is computed, as `course_lib.check.loops.Loops`.
    cases : callable
        tile, which is {} -> inputs, from plain to hard.
    gate_case : callable
        {} -> the input on which lines are counted.
    cache : CacheShape
        The cache that they are counted in.
    gates : tuple of Gate
    drawn : callable
        ({}, NumPy generator) -> further inputs for grading.
    """

    exercise: str
    part: str
    title: str
    entry: str
    operation: object = field(repr=False)
    cases: Callable = field(repr=False)
    gate_case: Callable = field(repr=False)
    cache: CacheShape
    gates: tuple[Gate, ...] = ()
    drawn: Callable = field(default=lambda tile, rng: drawn_sizes(rng), repr=False)
    tile = ()                       # no number of the text decides how it is launched

    def __str__(self):
        counted = f"  counted for {self.gate_case({})}; {self.cache}"
        return "\n".join([f"{self.title} (loops `{self.entry}`)", *(f"  {gate}" for gate in self.gates), counted])


def lines_per_work(run, work):
    """Read the cache lines that loops fetch for each multiply-add; a gate's `read`."""
    fetched = run.count.fetched
    words = ", ".join(f"{name} {fetched[name]}" for name in MATRICES)
    return Reading(sum(fetched.values()) / work, f"lines of {words} / {work} multiply-adds", run.count.by_line)


def loop_cases(tile=None):
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


def drawn_sizes(rng, most=70):
    """Return three inputs of sizes that only the generator's seed knows."""
    cases = []
    for number in range(3):
        M, N, K = (int(size) for size in rng.integers(1, most + 1, 3))
        alpha, beta = (float(x) for x in rng.uniform(-2, 2, 2).astype("float32"))
        cases.append(Case(f"drawn input {number + 1}", M, N, K, alpha, beta if number else 0.0, int(rng.integers(0, 7))))
    return tuple(cases)
