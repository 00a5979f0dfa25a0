"""The roster, `grading/roster.csv`: who should submit, and what a learning platform calls them."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.sheets import read_table

COLUMNS = ("student", "name", "platform")
CANARY = "canary"                   # no student may be called this: the instructor's own submission
_NAME = re.compile(r"\w[\w.@+-]{0,99}")


@dataclass(frozen=True)
class Student:
    """A line of the roster."""

    student: str
    name: str = ""
    platform: str = ""


def read_roster(path: Path) -> dict[str, Student]:
    """Return the students of a roster by id; empty when there is no such file.

    Raises
    ------
    CourseError
        When the file has no column `student`, a name that cannot be a folder's, or two students whom no name tells apart.
    """
    if not path.exists():
        return {}
    table = read_table(path, "grading/roster.csv")
    if table.rows and COLUMNS[0] not in table.header:
        raise CourseError("grading/roster.csv needs a first line that names its columns: student,name,platform")
    lines = [dict(zip(table.header, row.cells)) for row in table.rows]
    return by_id(Student(*(line.get(column, "").strip() for column in COLUMNS)) for line in lines)


def by_id(students: Iterable[Student]) -> dict[str, Student]:
    """Return students by id; `CourseError` as `read_roster` when they cannot be told apart or have an impossible id."""
    found = list(students)
    for student in found:
        check_name(student.student)
    if twice := {student.student for student in found if [other.student for other in found].count(student.student) > 1}:
        raise CourseError(f"grading/roster.csv has more than one line for {', '.join(sorted(twice))}")
    names_of(found)
    return {student.student: student for student in found}


def check_name(name: str) -> None:
    """Raise `CourseError` when a name cannot be a student's folder.

    >>> check_name("../ada")
    Traceback (most recent call last):
    course_lib.errors.CourseError: '../ada' cannot be a student's id: letters, digits and . _ @ + - only, and not 'canary'
    """
    if not _NAME.fullmatch(name) or name == CANARY:
        raise CourseError(f"{name!r} cannot be a student's id: letters, digits and . _ @ + - only, and not {CANARY!r}")


def key(name: str) -> str:
    """Return a name as it is compared: without case, spaces and signs.

    >>> key("Lovelace, Ada"), key("lovelaceada")
    ('lovelaceada', 'lovelaceada')
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(sign for sign in plain if sign.isalnum() or unicodedata.category(sign).startswith("M"))


def names_of(students: Iterable[Student]) -> dict[str, str]:
    """Return what students may be called, as `key` compares it -> id.

    Raises
    ------
    CourseError
        When two students share a name, as a submission of that name could be of either; when a name has no letter and no digit.
    """
    found: dict[str, tuple[str, str]] = {}
    for student in students:
        for name in filter(None, (student.student, student.name, student.platform)):
            if not key(name):
                raise CourseError(f"grading/roster.csv: {name!r} of {student.student} has no letter and no digit")
            other, before = found.setdefault(key(name), (student.student, name))
            if other != student.student:
                raise CourseError(f"grading/roster.csv: {name!r} of {student.student} cannot be told from {before!r} of {other}, as case, "
                                  "spaces and signs do not count: change one of them")
    return {name: student for name, (student, _) in found.items()}
