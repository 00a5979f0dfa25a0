"""The machine code between two readings of the clock: what a microbenchmark really times."""

from course_lib.errors import CourseError
from course_lib.toolchain.compiled import Compiled
from course_lib.toolchain.sass import SassInstruction, sass


def between_clocks(compiled: Compiled | bytes) -> tuple[SassInstruction, ...]:
    """Return the machine instructions between the last two readings of the clock, in the order of the text.

    Parameters
    ----------
    compiled
        Of a text with one kernel.

    Raises
    ------
    CourseError
        When the clock is read less than twice.

    >>> from course_lib.toolchain import compile_cuda
    >>> text = 'extern "C" __global__ void k(long long* t) { long long a = clock64(); t[0] = clock64() - a; }'
    >>> between_clocks(compile_cuda(text))
    ()
    """
    code = sass(compiled)
    clocks = [at for at, one in enumerate(code) if one.base in ("CS2R", "S2UR", "S2R") and "CLOCK" in one.text]
    if len(clocks) < 2:
        raise CourseError(f"the clock is read {len(clocks)} times in this machine code: read it before the chain and after it, with "
                          "clock64(), and store both readings")
    return code[clocks[-2] + 1:clocks[-1]]
