"""Exercises: what a kernel must do (`part`), the check (`check`), and the way from solutions/ to exercises/.

`generate` and `preprocessors` serve nbgrader and are imported only by those who need it.
"""

from course_lib.grading.checks import check
from course_lib.grading.exercises import PARTS, part
from course_lib.grading.spec import Case, Gate, Spec
from course_lib.grading.verdict import Finding, NotPassedError, Verdict

__all__ = ["PARTS", "Case", "Finding", "Gate", "NotPassedError", "Spec", "Verdict", "check", "part"]
