"""Every part of every exercise by name."""

import difflib
import functools
import importlib
import pkgutil
from typing import Any

from course_lib.errors import CourseError
from course_lib.grading import exercises
from course_lib.grading.judge.checks import AnySpec


@functools.cache
def all_parts() -> dict[tuple[str, str], AnySpec]:
    """Return the specs of all exercises, in order: (exercise, part) -> spec."""
    modules = sorted(module.name for module in pkgutil.iter_modules(exercises.__path__))
    specs = (spec for name in modules for spec in importlib.import_module(f"{exercises.__name__}.{name}").PARTS)
    return {(spec.exercise, spec.part): spec for spec in specs}


def part(exercise: Any, name: Any) -> AnySpec:
    """Return the spec of one part of an exercise.

    Raises
    ------
    CourseError
        Names the exercises, or the parts, that there are.

    >>> print(part("04_tiling", "tile"))
    Part 2: tile for any size (kernel `tiled`)
      global sectors loaded per multiply-add: the starter stands at 0.1250, 0.0156 is achievable, at most 0.0200 passes
    """
    found = all_parts()
    if isinstance(exercise, str) and isinstance(name, str) and (exercise, name) in found:
        return found[exercise, name]
    names = list(dict.fromkeys(known for known, _ in found))
    if exercise not in names:
        raise CourseError(f"there is no exercise {exercise!r}{_close(exercise, names)}", exercise=exercise)
    names = [part for known, part in found if known == exercise]
    raise CourseError(f"exercise {exercise} has no part {name!r}{_close(name, names)}", exercise=exercise, part=name)


def _close(name, names):
    found = difflib.get_close_matches(str(name), names, n=1)
    return f": did you mean {found[0]!r}?" if found else f": there is {', '.join(map(repr, names))}"
