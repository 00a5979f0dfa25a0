"""What a learning platform exports: whose rows they are, and which column holds the marks of an exercise.

Where platforms describe their forms: Canvas in "How do I import grades in the Gradebook?", Moodle in "Grade import" and "Grade export",
Brightspace in "Importing grades".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.roster import Student, key, names_of
from course_lib.grading.classroom.sheets import Row, Table, read_table


@dataclass(frozen=True)
class Platform:
    """A platform: columns that only it has, those that it must have, those that name a student, and which others hold marks."""

    name: str
    title: str
    signs: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...]       # one of each
    ids: tuple[str, ...]                     # the first that a student has becomes the id on the roster
    keeps: tuple[str, ...]                   # columns that its import wants, or that tell a reader who is meant
    marks: str                               # pattern of a column of marks
    advice: str


PLATFORMS = (
    Platform("canvas", "Canvas", signs=("SIS Login ID", "SIS User ID", "Section"), needs=(("Student", "LastName"), ("ID",), ("Section",)),
             ids=("SIS Login ID", "SIS User ID", "ID"),
             keeps=("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section"),
             marks=r"(?!.*(Current|Final|Override) (Score|Points|Grade|Status))",
             advice="export the gradebook anew (Grades > Export > Export Entire Gradebook)"),
    Platform("brightspace", "Brightspace", signs=("OrgDefinedId", "End-of-Line Indicator"), needs=(("Username", "OrgDefinedId"),),
             ids=("Username", "OrgDefinedId"), keeps=("OrgDefinedId", "Username"), marks=r".* Points Grade( <|$)",
             advice="export anew (Grades > Enter Grades > Export) with both key fields and points grades"),
    Platform("moodle", "Moodle", signs=("Email address", "ID number", "First name", "Full name"),
             needs=(("First name", "Full name"), ("Username", "ID number", "Email address")),
             ids=("Username", "ID number", "Email address"),
             keeps=("First name", "Last name", "Surname", "Full name", "Username", "ID number", "Email address"),
             marks=r"(?!.*\((Feedback|Percentage|Letter)\)$)", advice="export anew (Grades > Export > Plain text file), in English"),
)


@dataclass(frozen=True)
class Person:
    """A student's row: ids without Brightspace's `#`, the name both ways round, and what the names of submitted files call the student."""

    row: Row
    ids: tuple[str, ...]
    name: str
    surname_first: str
    called: str
    number: str


@dataclass(frozen=True)
class Export:
    """A platform's export; `name` is what messages call the file."""

    platform: Platform
    table: Table
    name: str

    def at(self, column: str) -> int | None:
        """Return where a column is, or None; case and spaces around it do not count."""
        return next((i for i, title in enumerate(self.table.header) if title.strip().casefold() == column.casefold()), None)

    def cell(self, row: Row, column: str) -> str:
        """Return what a row has in a column, "" without one."""
        at = self.at(column)
        return "" if at is None else row.cells[at].strip()

    def people(self) -> list[Person]:
        """Return the students, without Canvas's test student.

        Raises
        ------
        CourseError
            When two rows have one id.
        """
        found = [person for row in self.table.rows if (person := self._person(row)) and person.surname_first != "Student, Test"]
        for column in self.platform.ids:
            seen: dict[str, Row] = {}
            for person in found:
                value = self.cell(person.row, column).casefold()
                other = seen.setdefault(value, person.row)
                if value and other is not person.row:
                    raise CourseError(f"{self.name}: rows {other.number} and {person.row.number} have the same {column}, {value!r}: "
                                      "delete the one that is wrong")
        return found

    def _person(self, row):
        """Return whose row it is; None for a row of no student, such as that of the points possible."""
        def cell(column):
            return self.cell(row, column)

        ids = tuple(value for column in self.platform.ids if (value := cell(column).removeprefix("#")))
        if self.platform.name == "canvas" and not cell("ID"):
            return None
        if len(ids) > 1 and ids[-1] == cell("ID"):
            ids = ids[:-1]                                 # Canvas's own number: another student's matriculation number may be the same
        given, family = cell("First name") or cell("FirstName"), cell("Last name") or cell("Surname") or cell("LastName")
        whole = cell("Student") or cell("Full name") or " ".join(filter(None, (given, family)))
        last, comma, first = whole.partition(",")
        name = f"{first.strip()} {last.strip()}" if comma else whole
        surname_first = whole if comma else ", ".join(filter(None, (family, given))) or whole
        number = re.sub(r"^\D*", "", cell("ID") or cell("Identifier"))
        return Person(row, ids, name, surname_first, surname_first if self.platform.name == "canvas" else name, number)

    def marks(self, exercise: str, named: str | None) -> int | None:
        """Return where the column of an exercise is, or None when no column's name has the exercise's in it.

        Parameters
        ----------
        exercise
            Such as 04_tiling; `04 Tiling (4711)` has that in it.
        named
            What the column is called, by `[columns]` in class.toml.

        Raises
        ------
        CourseError
            When there is no column of that name, or there are several that could be meant.
        """
        known = {column.casefold() for column in (*self.platform.keeps, "End-of-Line Indicator")}
        titles = [(i, title.strip()) for i, title in enumerate(self.table.header) if title.strip().casefold() not in known]
        if named is not None:
            found = [i for i, title in titles if title == named.strip()]
        else:
            found = [i for i, title in titles if re.match(self.platform.marks, title) and key(exercise) in key(title)]
        if len(found) > 1:
            raise CourseError(f"{self.name} has {len(found)} columns that could be {exercise}, "
                              f"{', '.join(repr(self.table.header[i].strip()) for i in found)}: name one in grading/class.toml, "
                              f"below [columns], as in {exercise} = {self.table.header[found[0]].strip()!r}")
        if named is not None and not found:
            raise CourseError(f"{self.name} has no column {named!r}, which [columns] in grading/class.toml names for {exercise}: correct "
                              f"that, or {self.platform.advice}")
        return found[0] if found else None


def read_export(path: Path, name: str) -> Export:
    """Return a platform's export.

    Raises
    ------
    CourseError
        When it cannot be read, is no platform's, or lacks a column that its platform's import needs.
    """
    table = read_table(path, name)
    titles = {title.strip().casefold() for title in table.header}
    platform = next((known for known in PLATFORMS if titles & {sign.casefold() for sign in known.signs}), None)
    if platform is None:
        raise CourseError(f"{name} is no export of a platform that the course knows: its first row must have Student, ID and Section "
                          "(Canvas), First name and Email address (Moodle, exported in English), or OrgDefinedId and Username "
                          "(Brightspace)")
    for needed in platform.needs:
        if not titles & {column.casefold() for column in needed}:
            raise CourseError(f"{name}, from {platform.title}, has no column {' or '.join(needed)}: {platform.advice}")
    return Export(platform, table, name)


def matched(people: Iterable[Person], roster: Mapping[str, Student], name: str) -> dict[int, str]:
    """Return whose each row is, row number -> id on the roster; rows of nobody on it are left out.

    An id of the platform's that is an id on the roster, or in its column `platform`, decides; without one, a name that only one row has.

    Raises
    ------
    CourseError
        When a row could be two students', or two rows one student's; `name` is what the message calls the file.
    """
    called, people = names_of(roster.values()), list(people)
    found: dict[int, str] = {}
    for person in people:
        students = {called[key(one)] for one in person.ids if key(one) in called}
        if len(students) > 1:
            raise CourseError(f"{name}, row {person.row.number}, could be {' or '.join(sorted(students))} of grading/roster.csv: correct "
                              "one of these lines")
        if students:
            found[person.row.number] = students.pop()
    namesakes = Counter(key(person.name) for person in people)
    taken = set(found.values())
    for person in people:
        student = called.get(key(person.name)) or called.get(key(person.surname_first))
        if person.row.number not in found and student not in {None, *taken} and namesakes[key(person.name)] == 1:
            found[person.row.number] = str(student)
    for student, count in Counter(found.values()).items():
        if count > 1:
            rows = " and ".join(str(number) for number, other in found.items() if other == student)
            raise CourseError(f"{name}: rows {rows} could all be {student} of grading/roster.csv: correct that line, or delete the row "
                              "that is wrong")
    return found
