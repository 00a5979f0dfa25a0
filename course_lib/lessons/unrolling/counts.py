"""Machine instructions of a step along K: of the course's kernel for every UNROLL, and of the reader's own."""

from functools import cache

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.plots import linked_code
from course_lib.plots.machine_code import two_decimals
from course_lib.run import resolve
from course_lib.toolchain import WholeStep, whole_step

KERNEL, TILE, FACTORS = "sgemm_unrolled", 16, (1, 2, 4, 8, 16)
PRAGMA = "#pragma unroll UNROLL\n"
PLAIN = "the plain loop"


@cache
def step(factor: int) -> WholeStep:
    """Return the step along K of the course's kernel with tiles of 16 × 16."""
    found = whole_step(KERNEL, TILE=TILE, UNROLL=factor)
    assert found is not None                         # the kernel has tiles, of known depth
    return found


def step_of(kernel: str) -> WholeStep:
    """Return the step along K of a kernel's text, with tiles that are 16 deep.

    Raises
    ------
    CourseError
        When its machine code has no loop along K over whole tiles.
    """
    found = whole_step(resolve(kernel), per_tile=TILE)
    if found is None:
        raise CourseError("this kernel has no loop along K over whole tiles of 16, so nobody knows its instructions per multiply-add")
    return found


def per_multiply_add(kernel: str) -> float:
    """Return the machine instructions of a kernel's text per multiply-add, of a whole step along K, with two decimals."""
    return float(two_decimals(step_of(kernel).per_multiply_add))


def variants() -> dict[str, str]:
    """Return the course's kernel with a plain loop over k, and with one that is unrolled by four."""
    text = kernels.get(KERNEL).source
    if PRAGMA not in text:
        raise CourseError(f"{KERNEL} no longer has the loop that this lesson changes")
    return {PLAIN: text.replace(PRAGMA, ""), "#pragma unroll 4": text.replace(PRAGMA, "#pragma unroll 4\n")}


def same_code(one: str, other: str) -> bool:
    """Tell whether the compiler makes the same machine code of two texts."""
    first, second = ([i.text for i in linked_code(text).sass] for text in (one, other))
    return first == second
