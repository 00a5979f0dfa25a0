"""Exercises: what a kernel must do (`part`), the check (`check`), and the way from solutions/ to exercises/.

`generate` and `preprocessors` serve nbgrader and are imported only by those who need it.
"""

from course_lib.check.case import Case
from course_lib.check.finding import Finding
from course_lib.grading.judge.checks import check
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.grading.judge.spec import Gate, Spec
from course_lib.grading.judge.verdict import NotPassedError, Verdict
from course_lib.grading.registry import all_parts, part

__all__ = ["Case", "Finding", "FunctionSpec", "Gate", "LoopsSpec", "NotPassedError", "Spec", "Verdict", "all_parts", "check", "part"]
