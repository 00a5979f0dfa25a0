"""Check an answer against the spec of its part: the one way in, for students' notebooks and for grading.

    >>> from course_lib.grading import check, part
    >>> check('extern "C" __global__ void tiled(int M) {}', part("04_tiling", "tile")).findings[0].kind
    'entry'

Nothing here depends on time. With the default engine the answer runs in this process; grading passes one that runs it elsewhere
and hands back numbers, which are compared here.
"""

from course_lib.grading.judge.engine import Here
from course_lib.grading.judge.function_check import check_function
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.kernel_check import check_kernel
from course_lib.grading.judge.loops_check import check_loops
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.grading.judge.spec import Spec
from course_lib.unwritten import is_unwritten, text_of

_CHECKS = {Spec: check_kernel, FunctionSpec: check_function, LoopsSpec: check_loops}


def check(answer, spec, *, seed=None, engine=None):
    """Check an answer.

    Parameters
    ----------
    answer : str or callable
        CUDA C text for a kernel; C text of loops; for a Python part the function itself, or the text that defines it.
    spec : Spec, LoopsSpec or FunctionSpec
        What it must be; `course_lib.grading.part(exercise, name)` has them.
    seed : int, optional
        Draws other numbers, and inputs more. Default: the inputs that everyone sees.
    engine : object, optional
        Compiles, launches and calls, as `course_lib.grading.judge.engine.Here` does.

    Returns
    -------
    Verdict
        `passed` when every input gives the right result without hazards, and every gate is passed.
    """
    if is_unwritten(answer):                     # a kernel that does not compile: its text fails here, with the compiler's words
        answer = text_of(answer)
    return _CHECKS[type(spec)](answer, spec, seed, engine or Here())
