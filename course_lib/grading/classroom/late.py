"""How late a submission is, and what that costs: by `[due]`, `[extension.STUDENT]` and `[late]` in grading/class.toml.

    [due]
    04_tiling = 2030-11-20T23:59:00+01:00
    [extension.ada]
    04_tiling = 2030-11-27T23:59:00+01:00
    [late]
    grace_minutes = 15
    per_day = 0.1       # of the points, for each day begun
    at_most = 0.5       # later than that costs no more
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.times import stored, zone_of
from course_lib.grading.registry import all_parts

_RULES = {"grace_minutes": 7 * 24 * 60, "per_day": 1, "at_most": 1}       # the settings of [late], and the most that each may be


@dataclass(frozen=True)
class Late:
    """When something was due and when it came, in the class's time zone, hours late, and the factor that its points keep.

    `rule` is what class.toml says of late work, in words; `extended` says that this student has a due time of their own, and `closes` when
    a submission begins to cost something.
    """

    due: datetime | None = None
    submitted: datetime | None = None
    hours: float = 0
    factor: float = 1
    rule: str = ""
    extended: bool = False
    closes: datetime | None = None

    @property
    def words(self) -> str:
        """Return in a sentence how late it is, what that costs and by which rule; "" when it is in time or was not due.

        >>> Late(hours=25, factor=0.8, rule="10 % less for each day begun").words
        '25.0 hours late: 80 % of the points count (10 % less for each day begun).'
        """
        return f"{_duration(self.hours)} late: {100 * self.factor:g} % of the points count ({self.rule})." if self.hours else ""


def lateness(classroom: Classroom, exercise: str, students: Iterable[str]) -> Mapping[str, Late]:
    """Return how late each student's submission of an exercise is.

    Raises
    ------
    CourseError
        When class.toml has a rule that cannot be meant, or an extension for nobody, for no exercise or to an earlier time.
    """
    zone, due = zone_of(classroom), classroom.due(exercise)
    rules, extensions = classroom.table("late"), classroom.table("extension")
    _demand_rules(rules)
    students = list(students)
    _demand_extensions(classroom, extensions, students)
    found = {}
    for student in students:
        mine = extensions.get(student, {}).get(exercise, due)
        time = stored(classroom.submission(student, exercise).with_name("timestamp.txt"))
        hours = max(0, (time - mine).total_seconds() / 3600) if time and mine else 0
        closes = mine + timedelta(minutes=rules.get("grace_minutes", 0)) if mine else None
        found[student] = Late(mine and mine.astimezone(zone), time and time.astimezone(zone), hours, _factor(hours, rules), _words(rules),
                              mine != due, closes)
    return found


def clock(time: datetime) -> str:
    """Return a time as students read it, with its zone.

    >>> clock(datetime.fromisoformat("2030-11-20T22:59:00Z"))
    '20 Nov 2030, 22:59:00 UTC'
    """
    return f"{time.day} {time:%b %Y, %H:%M:%S %Z}"


def _factor(hours, rules):
    """Return what is left of the points.

    >>> [_factor(hours, {"per_day": 0.1, "at_most": 0.5, "grace_minutes": 15}) for hours in (0.2, 0.3, 24, 25, 300)]
    [1, 0.9, 0.9, 0.8, 0.5]
    """
    if hours <= rules.get("grace_minutes", 0) / 60:
        return 1
    return round(1 - min(rules.get("per_day", 0) * math.ceil(hours / 24), rules.get("at_most", 1)), 6)


def _words(rules):
    """Return the rule in words.

    >>> _words({"per_day": 0.1, "at_most": 0.5, "grace_minutes": 15}), _words({})
    ('10 % less for each day begun, 50 % at most; up to 15 minutes cost nothing', 'being late costs nothing')
    """
    if not rules.get("per_day"):
        return "being late costs nothing"
    most = f", {100 * rules['at_most']:g} % at most" if rules.get("at_most", 1) < 1 else ""
    grace = f"; up to {rules['grace_minutes']:g} minutes cost nothing" if rules.get("grace_minutes") else ""
    return f"{100 * rules['per_day']:g} % less for each day begun{most}{grace}"


def _duration(hours):
    """Return a time in words.

    >>> _duration(0.01), _duration(0.5), _duration(25)
    ('1 minute', '30 minutes', '25.0 hours')
    """
    minutes = math.ceil(60 * hours)
    return f"{hours:.1f} hours" if minutes >= 60 else f"{minutes} minute{'s' * (minutes != 1)}"


def _demand_rules(rules: Mapping[str, Any]) -> None:
    for name, value in rules.items():
        if name not in _RULES:
            raise CourseError(f"grading/class.toml: [late] has no setting {name!r}; it has {', '.join(_RULES)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _RULES[name]:
            raise CourseError(f"grading/class.toml: {name} in [late] must be a number from 0 to {_RULES[name]}, and is {value!r}")


def _demand_extensions(classroom, extensions, students):
    known = {*students, *classroom.roster(), *(path.name for path in (classroom.folder / "submitted").glob("*"))}
    exercises = {name for name, _ in all_parts()}
    for student, dates in extensions.items():
        where = f"grading/class.toml: [extension.{student}]"
        if student not in known:
            raise CourseError(f'{where} names nobody: write the id as on the roster, in quotes when there is a dot or an @ in it, as in '
                              '[extension."ada@uni.example"]')
        for exercise, time in (dates.items() if isinstance(dates, dict) else [("", dates)]):
            if exercise not in exercises:
                raise CourseError(f"{where} needs lines such as 04_tiling = 2030-11-27T23:59:00+01:00, and {exercise!r} is no exercise")
            if not (isinstance(time, datetime) and time.tzinfo):
                raise CourseError(f"{where}: {exercise} must be a time with its zone, such as 2030-11-27T23:59:00+01:00")
            due = classroom.due(exercise)
            if due is None or time < due:
                raise CourseError(f"{where}: {exercise} must be due in [due], and not later than {time.isoformat()}")
