"""Machine instructions of a step along K: of the course's kernel for every UNROLL, and of the reader's own."""

from functools import cache
from math import floor

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.plots import Table, linked_code
from course_lib.run import resolve
from course_lib.toolchain import WholeStep, inner_loop, whole_step

KERNEL, TILE, FACTORS = "sgemm_unrolled", 16, (1, 2, 4, 8, 16)
PRAGMA = "#pragma unroll UNROLL\n"
KINDS = ("multiply-adds", "loads from shared memory", "the loop over k itself", "once per tile")


@cache
def step(factor: int) -> WholeStep:
    """Return the step along K of the course's kernel with tiles of 16 × 16."""
    found = whole_step(KERNEL, TILE=TILE, UNROLL=factor)
    assert found is not None                         # the kernel has tiles, of known depth
    return found


def two_decimals(value: float) -> str:
    """Write a number with two decimals at most; halves go up, as in the picture.

    >>> two_decimals(5.0), two_decimals(1.9375), two_decimals(0.625)
    ('5', '1.94', '0.63')
    """
    return f"{floor(100 * value + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


def by_factor() -> Table:
    """Return a table of what the instructions of a step are there for, per multiply-add, for every UNROLL."""
    rows = [(factor, *map(two_decimals, step(factor).shares().values()), two_decimals(step(factor).per_multiply_add)) for factor in FACTORS]
    return Table(("UNROLL", *KINDS, "all"), rows, f"Machine instructions per multiply-add: {KERNEL}, tiles of 16 × 16, code for sm_90")


def innermost(kernel: str) -> int:
    """Return how many multiply-adds stand in the innermost loop of the machine code that the compiler makes of a kernel's text.

    Raises
    ------
    CourseError
        When no loop of its machine code multiplies and adds.
    """
    return inner_loop(resolve(kernel)).multiply_adds


def variants() -> dict[str, str]:
    """Return texts of the course's kernel whose loop over k is written in several styles."""
    text = kernels.get(KERNEL).source
    if PRAGMA not in text:
        raise CourseError(f"{KERNEL} no longer has the loop that this lesson changes")
    return {"plain loop": text.replace(PRAGMA, ""), "plain loop, #pragma unroll 16": text.replace("UNROLL\n        for", "16\n        for"),
            "plain loop, #pragma unroll 4": text.replace("UNROLL\n        for", "4\n        for"),
            "plain loop, #pragma unroll 1": text.replace("UNROLL\n        for", "1\n        for")}


def row_of(name: str, text: str, own: list[str]) -> tuple[str, ...]:
    """Return a row of `beside`."""
    code = [i.text for i in linked_code(text).sass]
    found = whole_step(resolve(text), per_tile=TILE)
    per = two_decimals(found.per_multiply_add) if found else "not known"
    return (name, str(innermost(text)), per, "yes" if code == own else "no")


def beside(kernel: str, name: str = "your kernel") -> Table:
    """Return a table of a reader's kernel beside other texts of the same loop.

    Parameters
    ----------
    kernel
        CUDA text of a product with tiles of 16 × 16, one thread per element of C.
    """
    own = [i.text for i in linked_code(kernel).sass]
    rows = [(*row_of(name, kernel, own)[:3], ""), *(row_of(label, text, own) for label, text in variants().items())]
    header = ("the loop over k", "multiply-adds in the innermost loop", "instructions per multiply-add", "the same machine code as yours")
    return Table(header, rows, "What the compiler makes of several texts: tiles of 16 × 16, code for sm_90")
