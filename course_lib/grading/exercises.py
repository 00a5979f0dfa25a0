"""Every part of every exercise by name."""

import difflib

from course_lib.errors import CourseError
from course_lib.grading import tiling

PARTS = {(spec.exercise, spec.part): spec for spec in tiling.PARTS}


def part(exercise, name):
    """Return the spec of one part of an exercise.

    Raises
    ------
    CourseError
        Names the exercises, or the parts, that there are.

    >>> print(part("04_tiling", "tile"))
    Part 2: tile for any size (kernel `tiled`)
      global sectors loaded per multiply-add: the starter stands at 0.1250, 0.0156 is achievable, at most 0.0200 passes
    """
    if (exercise, name) in PARTS:
        return PARTS[exercise, name]
    exercises = list(dict.fromkeys(known for known, _ in PARTS))
    if exercise not in exercises:
        raise CourseError(f"there is no exercise {exercise!r}{_close(exercise, exercises)}", exercise=exercise)
    names = [part for known, part in PARTS if known == exercise]
    raise CourseError(f"exercise {exercise} has no part {name!r}{_close(name, names)}", exercise=exercise, part=name)


def _close(name, names):
    found = difflib.get_close_matches(str(name), names, n=1)
    return f": did you mean {found[0]!r}?" if found else f": there is {', '.join(map(repr, names))}"
