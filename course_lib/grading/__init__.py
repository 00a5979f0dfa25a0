"""Exercises: what a kernel must do (`part`), the check (`check`), and the way from solutions/ to exercises/.

`generate` and `preprocessors` serve nbgrader and are imported only by those who need it.
"""

from course_lib.check.case import Case
from course_lib.check.finding import Finding
from course_lib.grading.checks import check
from course_lib.grading.exercises import PARTS, part
from course_lib.grading.spec import Gate, Spec
from course_lib.grading.verdict import NotPassedError, Verdict

__all__ = ["PARTS", "Case", "Finding", "Gate", "NotPassedError", "Spec", "Verdict", "check", "part"]
