"""Exercises: what a kernel must do (`part`), the check (`check`), and the way from solutions/ to exercises/.

`classroom.generate` and `classroom.preprocessors` serve nbgrader and are imported only by those who need it. The names below are imported
when they are first used, as every process in the sandbox imports this package, too, and needs none of them.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.check.case import Case
    from course_lib.check.finding import Finding
    from course_lib.grading.judge.checks import check
    from course_lib.grading.judge.function_spec import FunctionSpec
    from course_lib.grading.judge.loops_spec import LoopsSpec
    from course_lib.grading.judge.spec import Gate, Spec
    from course_lib.grading.judge.verdict import NotPassedError, Verdict
    from course_lib.grading.registry import all_parts, part

__all__ = ["Case", "Finding", "FunctionSpec", "Gate", "LoopsSpec", "NotPassedError", "Spec", "Verdict", "all_parts", "check", "part"]
_MODULES = {
    "course_lib.check.case": ("Case",),
    "course_lib.check.finding": ("Finding",),
    "course_lib.grading.judge.checks": ("check",),
    "course_lib.grading.judge.function_spec": ("FunctionSpec",),
    "course_lib.grading.judge.loops_spec": ("LoopsSpec",),
    "course_lib.grading.judge.spec": ("Gate", "Spec"),
    "course_lib.grading.judge.verdict": ("NotPassedError", "Verdict"),
    "course_lib.grading.registry": ("all_parts", "part"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return globals().setdefault(name, getattr(importlib.import_module(module), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
