"""Corrections by hand: who changed which points, when and why. `grading/corrections.csv` only grows, and no grader writes to it.

A correction stands beside the graded result and is applied wherever results are read, so that grading anew never undoes one. The newest
for a part, or for a whole exercise, counts.
"""

import csv
import os
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.normalise import questions
from course_lib.grading.classroom.results import PartResult, Result


@dataclass(frozen=True)
class Correction:
    """A line of the file; an empty `part` means the whole exercise, empty `points` that the graded points count again."""

    when: str
    by: str
    student: str
    exercise: str
    part: str
    points: str
    why: str


HEADER = [field.name for field in fields(Correction)]


def correct(classroom: Classroom, exercise: str, student: str, part: str, points: float | None, why: str, by: str) -> Correction:
    """Add a correction and return it.

    Parameters
    ----------
    part
        Of the exercise; "" for all of it.
    points
        What it is worth now; None: what grading gives.
    why, by
        The reason, which the student reads, and who decided.

    Raises
    ------
    CourseError
        For a student whom neither the roster nor a submission names, a part that the exercise does not have, points that it cannot be
        worth, or a missing reason or name.
    """
    asked = {question.part: question.points for question in questions(classroom.released(exercise))}
    known = classroom.roster().keys() | set(classroom.submitted(exercise))
    most = sum(asked.values()) if not part else asked.get(part)
    if student not in known:
        raise CourseError(f"nobody is called {student!r} here, neither on grading/roster.csv nor in grading/submitted")
    if most is None:
        raise CourseError(f"{exercise} has no part {part!r}: it has {', '.join(asked)}; without --part the whole exercise is meant")
    if points is not None and not 0 <= points <= most:
        raise CourseError(f"{points:g} points are not possible: {part or exercise} is worth 0 to {most:g}")
    if not why.strip() or not by.strip():
        raise CourseError("a correction needs a reason and a name: --why 'the gate was too strict' --by 'N. N.'")
    made = Correction(datetime.now(UTC).isoformat(timespec="seconds"), " ".join(by.split()), student, exercise, part,
                      "" if points is None else f"{points:g}", " ".join(why.split()))
    _append(classroom.folder / "corrections.csv", made)
    return made


def _append(path, made):
    """Write one line at the end in one step, so that two instructors do not mix theirs."""
    new = not path.exists()
    try:
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([HEADER] * new + [astuple(made)])
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CourseError(f"{path} cannot be written ({error.strerror}): nothing was corrected") from error


def corrections(classroom: Classroom) -> Iterator[Correction]:
    """Yield every correction, oldest first.

    Raises
    ------
    CourseError
        When the file cannot be read, naming the line.
    """
    path = classroom.folder / "corrections.csv"
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="") as file:
        for number, line in enumerate(csv.reader(file), 1):
            if line == HEADER:
                continue
            if len(line) != len(HEADER) or not _is_points(line[HEADER.index("points")]):
                raise CourseError(f"grading/corrections.csv, line {number}, is no correction: {','.join(HEADER)}")
            yield Correction(*line)


def _is_points(text):
    try:
        return not text or float(text) >= 0
    except ValueError:
        return False


def newest(classroom: Classroom, exercise: str) -> Mapping[str, dict[str, Correction]]:
    """Return student -> part ("" for the whole exercise) -> the correction that counts."""
    found: dict[str, dict[str, Correction]] = {}
    for correction in corrections(classroom):
        if correction.exercise == exercise:
            found.setdefault(correction.student, {})[correction.part] = correction
    return found


def corrected(result: Result, mine: Mapping[str, Correction]) -> Result:
    """Return a result with a student's corrections applied, each told in a note."""
    counting = {part: correction for part, correction in mine.items() if correction.points}
    if not counting:
        return result
    parts = [_changed(part, counting.get(part["part"])) for part in result["parts"]]
    points = float(counting[""].points) if "" in counting else sum(part["points"] for part in parts)
    graded = {part["part"]: part["points"] for part in result["parts"]} | {"": result["points"]}
    notes = [f"{part or 'all'}: {correction.points} points instead of {graded.get(part, 0):g}, by {correction.by}, {correction.when[:10]}: "
             f"{correction.why}" for part, correction in counting.items()]
    return {**result, "parts": parts, "points": points, "notes": [*result["notes"], *notes]}


def _changed(part: PartResult, correction: Correction | None) -> PartResult:
    return part if correction is None else {**part, "points": float(correction.points)}


def by_hand(student: str, exercise: str, maximum: float, mine: Mapping[str, Correction]) -> Result | None:
    """Return the result of a student of whom nothing was graded, when a correction for the whole exercise gives points; or None."""
    if not (mine.get("") and mine[""].points):
        return None
    return corrected({"student": student, "exercise": exercise, "key": "by hand", "graded": mine[""].when, "points": 0, "maximum": maximum,
                      "problem": "", "notes": [], "parts": []}, {"": mine[""]})
