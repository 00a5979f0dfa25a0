"""Exercises: what a kernel must do (`part`), the check (`check`), and the way from solutions/ to exercises/.

`generate` and `preprocessors` serve nbgrader and are imported only by those who need it.
"""

from course_lib.check.case import Case
from course_lib.check.finding import Finding
from course_lib.grading.checks import check
from course_lib.grading.exercises import all_parts, part
from course_lib.grading.function_spec import FunctionSpec
from course_lib.grading.loops_spec import LoopsSpec
from course_lib.grading.spec import Gate, Spec
from course_lib.grading.verdict import NotPassedError, Verdict

__all__ = ["Case", "Finding", "FunctionSpec", "Gate", "LoopsSpec", "NotPassedError", "Spec", "Verdict", "all_parts", "check", "part"]
