"""What the class's folder says: for each exercise and part who passed, what was found, marks, and who has not begun.

Nothing is graded here. With a roster the class is who stands on it; without one, who submitted anything.
"""

import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from course_lib.errors import CourseError
from course_lib.grading.classroom import variants
from course_lib.grading.classroom.corrections import Correction, by_hand, corrected, corrections
from course_lib.grading.classroom.folders import Classroom, read_notebook
from course_lib.grading.classroom.generate import generate
from course_lib.grading.classroom.late import lateness
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.classroom.results import PartResult, Result, read_result
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.overview.misconceptions import BY_HAND, DRAWN, NUMBER, UNTOUCHED
from course_lib.grading.registry import all_parts

Kind = TypeVar("Kind", str, tuple[str, str])
_DRAWN_ONLY = "passed on every input of the exercise, but not on those drawn for grading"      # as classroom/judging.py tells it


@dataclass(frozen=True)
class PartView:
    """A part of an exercise: its title, how many passed it, and of the others how many showed which kind of finding."""

    part: str
    title: str
    passed: int
    findings: Counter[str]


@dataclass(frozen=True)
class ExerciseView:
    """An exercise in the class.

    Attributes
    ----------
    name
        "04_tiling".
    when
        When it is due; without that the middle one of the submissions, or None.
    submitted, graded
        Ids of students.
    marks
        Id -> the share of the points that counts, with lateness and corrections.
    """

    name: str
    when: datetime | None
    submitted: frozenset[str]
    marks: Mapping[str, float]
    parts: tuple[PartView, ...]

    @property
    def graded(self) -> int:
        """Return how many have a result."""
        return len(self.marks)


@dataclass(frozen=True)
class ClassView:
    """A class: id -> name or "", its exercises in the order of time, how many submissions are of nobody in the class, damaged results."""

    students: Mapping[str, str]
    exercises: tuple[ExerciseView, ...]
    others: int = 0
    damaged: tuple[str, ...] = ()
    has_roster: bool = True

    @cached_property
    def not_begun(self) -> tuple[str, ...]:
        """Return the ids of those who have submitted nothing at all."""
        begun = frozenset[str]().union(*(exercise.submitted for exercise in self.exercises))
        return tuple(student for student in self.students if student not in begun)


def by_count(found: Counter[Kind]) -> list[tuple[Kind, int]]:
    """Return what was counted, the most frequent first and equals by name: an order that says nothing of who came first.

    >>> by_count(Counter("bba"))
    [('b', 2), ('a', 1)]
    """
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def read_class(classroom: Classroom) -> ClassView:
    """Read roster, submissions, results and corrections.

    Raises
    ------
    CourseError
        Where roster, class.toml or corrections cannot be read. A damaged result is left out and named.
    """
    roster = classroom.roster()
    names = list(dict.fromkeys(name for name, _ in all_parts()))
    results, damaged = _results(classroom, names)
    submitted = {name: set(classroom.submitted(name)) | results[name].keys() for name in names}
    everybody = set().union(*submitted.values())
    students = {student: entry.name for student, entry in roster.items()} or dict.fromkeys(sorted(everybody), "")
    used = [name for name in names if submitted[name] or classroom.due(name)]
    starters = _starters(classroom, [name for name in used if results[name]])
    views = [_exercise(classroom, name, submitted[name] & students.keys(),
                       {student: result for student, result in results[name].items() if student in students}, starters.get(name, {}))
             for name in used]
    views.sort(key=lambda view: (view.when is None, view.when.timestamp() if view.when else 0, view.name))
    others = sum(len(found - students.keys()) for found in submitted.values())
    return ClassView(students, tuple(views), others, tuple(damaged), bool(roster))


def _results(classroom: Classroom, names: Iterable[str]) -> tuple[dict[str, dict[str, Result]], list[str]]:
    """Return exercise -> student -> result, with corrections by hand, and a sentence for each that is damaged."""
    found: dict[str, dict[str, Result]] = {name: {} for name in names}
    damaged = []
    for file in sorted((classroom.folder / "results").glob("*/*.json")):
        if file.stem in found:
            try:
                result = read_result(file)
            except CourseError as error:
                damaged.append(str(error))
                continue
            if result["key"]:                            # without a key the grader broke, which is nobody's result
                found[file.stem][file.parent.name] = result
    changes: dict[tuple[str, str], dict[str, Correction]] = {}
    for correction in corrections(classroom):
        changes.setdefault((correction.exercise, correction.student), {})[correction.part] = correction
    for (exercise, student), mine in changes.items():
        if exercise in found:
            before = found[exercise].get(student)
            after = corrected(before, mine) if before else by_hand(student, exercise, _maximum(classroom, exercise), mine)
            if after:
                found[exercise][student] = after
    return found, damaged


def _maximum(classroom, exercise):
    return sum(question.points for question in questions(classroom.released(exercise)))


def _starters(classroom: Classroom, names: list[str]) -> dict[str, dict[str, str]]:
    """Return exercise -> part -> the text that students start from, of the class's variant."""
    if not names or classroom.variant == variants.FIRST:
        return {name: _texts(read_notebook(classroom.root / "exercises", name)) for name in names}
    with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
        generate(classroom.root, folder, classroom.variant)            # all in one process of nbgrader's
        return {name: _texts(read_notebook(Path(folder), name)) for name in names}


def _texts(released):
    return answers(released, questions(released)).texts


def _exercise(classroom: Classroom, name: str, submitted: set[str], results: Mapping[str, Result],
              starters: Mapping[str, str]) -> ExerciseView:
    late = lateness(classroom, name, submitted)
    timed = [found.submitted.timestamp() for found in late.values() if found.submitted and found.submitted.tzinfo]
    middle = datetime.fromtimestamp(statistics.median_low(timed)).astimezone() if timed else None
    marks = {student: result["points"] / result["maximum"] * (late[student].factor if student in late else 1)
             for student, result in results.items() if result["maximum"]}
    return ExerciseView(name, classroom.due(name) or middle, frozenset(submitted), marks, _parts(name, results.values(), starters))


def _parts(exercise, results, starters):
    """Return the parts in the order in which the exercise asks for them."""
    specs = all_parts()
    outcomes: dict[str, Counter[str]] = {}
    for result in results:
        for part in result["parts"]:
            kind = _outcome(part, starters.get(part["part"]), isinstance(specs.get((exercise, part["part"])), FunctionSpec))
            outcomes.setdefault(part["part"], Counter())[kind] += 1
    return tuple(PartView(part, specs[exercise, part].title if (exercise, part) in specs else part, found[""],
                          Counter({kind: count for kind, count in found.items() if kind}))
                 for part, found in outcomes.items())


def _outcome(part: PartResult, starter: str | None, function: bool) -> str:
    """Return "" for a part that is passed, by the check or by a correction, and else the kind of what was found."""
    if part["points"] >= part["maximum"]:
        return ""
    if part["passed"]:
        return BY_HAND
    if starter is not None and part["text"].strip() == starter.strip():
        return UNTOUCHED
    if _DRAWN_ONLY in part["told"].partition("\n")[0]:
        return DRAWN
    return NUMBER if function and part["kind"] == "wrong" else part["kind"]
