"""Check an answer against the spec of its part, in students' notebooks as in grading.

    >>> from course_lib.grading import check, part
    >>> check('extern "C" __global__ void tiled(int M) {}', part("04_tiling", "tile")).findings[0].kind
    'entry'

Nothing here depends on time. With the default engine the answer runs in this process; grading passes one that runs it elsewhere
and returns numbers, which are compared here.
"""

from collections.abc import Callable
from typing import Any

from course_lib.check.checking import demand_seed
from course_lib.check.finding import Finding
from course_lib.errors import CourseError
from course_lib.grading.judge.engine import Engine, Here
from course_lib.grading.judge.function_check import check_function
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.kernel_check import check_kernel
from course_lib.grading.judge.loops_check import check_loops
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.grading.judge.spec import Spec
from course_lib.grading.judge.verdict import Verdict
from course_lib.unwritten import is_unwritten, text_of

AnySpec = Spec | LoopsSpec | FunctionSpec
_CHECKS: dict[type, Callable[[Any, Any, int | None, Engine], Verdict]] = {
    Spec: check_kernel, FunctionSpec: check_function, LoopsSpec: check_loops}


def check(answer: Any, spec: AnySpec, *, seed: int | None = None, engine: Engine | None = None) -> Verdict:
    """Check an answer.

    Parameters
    ----------
    answer
        CUDA C text for a kernel; C text of loops; for a Python part the function itself, or the text that defines it.
    spec
        What it must be; `course_lib.grading.part(exercise, name)` has them.
    seed
        Draws other numbers, and inputs more. Default: the inputs that everyone sees.
    engine
        Compiles, launches and calls. Default: `course_lib.grading.judge.engine.Here`.

    Returns
    -------
    Verdict
        `passed` when every input gives the right result without hazards, and every gate is passed.

    Raises
    ------
    CourseError
        When `spec` is no part, or `seed` no whole number.
    """
    if is_unwritten(answer):                     # a kernel that does not compile: its text fails here, with the compiler's words
        answer = text_of(answer)
    if type(spec) not in _CHECKS:
        raise CourseError("check takes an answer and the part that it is for, check(answer, part(\"04_tiling\", \"tile\")): "
                          f"{spec!r:.60} is no part")
    if seed is not None:
        demand_seed(seed)
    if type(spec) is not FunctionSpec and not isinstance(answer, str):
        what = f"a {type(answer).__name__}" if answer is not None else "None"
        return Verdict(spec.title, False, (Finding("entry", f"{spec.entry} must be the text that its cell keeps under this name: run that "
                                                            f"cell, and give check the name without quotes. This is {what}"),))
    return _CHECKS[type(spec)](answer, spec, seed, engine or Here())
