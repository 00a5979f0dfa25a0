"""The files that Canvas, Moodle and Brightspace import marks from: an export of theirs with the marks of one exercise filled in.

A file has the columns that tell whose a row is, and the column of the exercise, nothing else: what was changed on the platform since the
export stays. For the same reason it has rows only for students who have a mark.
"""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.platforms import PLATFORMS, Export, matched, read_export
from course_lib.grading.classroom.roster import Student
from course_lib.grading.classroom.sheets import Row, harmless, to_csv

_END = "End-of-Line Indicator"


@dataclass(frozen=True)
class Mark:
    """What a student gets, lateness and corrections included, or None and why there is none; words for the student."""

    points: float | None
    why: str = ""
    feedback: str = ""


def write_imports(classroom: Classroom, exercise: str, marks: Mapping[str, Mark], maximum: float) -> list[str]:
    """Write `grading/import_EXERCISE_PLATFORM.csv` for each platform whose export is in `grading/`.

    Parameters
    ----------
    marks
        Student -> mark; of students not named here nothing is known.
    maximum
        The points that the exercise is worth; marks are scaled where the platform's column is worth other points.

    Returns
    -------
    list of str
        What was written, who was left out and why; or, beginning with NOT WRITTEN, why there is no file.
    """
    lines: list[str] = []
    for platform in PLATFORMS:
        source = classroom.folder / f"export_{platform.name}.csv"
        target = classroom.folder / f"import_{exercise}_{platform.name}.csv"
        if source.exists():
            with contextlib.suppress(FileNotFoundError):
                target.unlink()                            # an older one must not be taken for this one
            try:
                export = read_export(source, f"grading/{source.name}")
                text, told = _filled(classroom, export, exercise, marks, maximum)
                write(target, text)
                lines += [f"{target}: {told[0]}", *(f"    {line}" for line in told[1:])]
            except CourseError as error:
                lines.append(f"NOT WRITTEN {target}: {error}")
    return lines


def _filled(classroom, export, exercise, marks, maximum):
    """Return the text of an import file, and lines on what is in it."""
    at, title = _column(classroom, export, exercise)
    worth = _worth(export, at)
    roster = classroom.roster() or {student: Student(student) for student in marks}
    people = export.people()
    whose = matched(people, roster, export.name)
    numbers = {person.row.number: marks[whose[person.row.number]] for person in people if whose.get(person.row.number) in marks}
    rows, left = [], [f"{person.name or 'row ' + str(person.row.number)}: not on grading/roster.csv" for person in people
                      if person.row.number not in whose]
    students = {person.row.number for person in people}
    comma = _has_decimal_commas(export)
    for row in export.table.rows:
        mark = numbers.get(row.number)
        if row.number not in students and at is not None and export.platform.name == "canvas" and not export.cell(row, "ID"):
            rows.append((row, row.cells[at], ""))          # Canvas's rows of points possible and of posting
        elif mark and (why := mark.why or _obstacle(export, row, at)):
            left.append(f"{whose[row.number]}: {why}")
        elif mark and mark.points is not None:
            rows.append((row, _number(mark.points / maximum * (worth or maximum), comma), mark.feedback))
    left += [f"{student}: not in {export.name}" for student in marks if student not in whose.values()]
    count = sum(row.number in numbers for row, *_ in rows)
    scaled = f", each times {worth / maximum:g}" if worth not in (None, maximum) else ""
    return _text(export, title, rows), [f"{count} marks for {title!r}, out of {worth or maximum:g}{scaled}",
                                        *(["left as they are on the platform:", *left] if left else [])]


def _column(classroom, export, exercise):
    """Return where the exercise's column is and what it is called; only Moodle needs none, as it asks which item a column is for."""
    named = classroom.rules().get("columns", {}).get(exercise)
    at = export.marks(exercise, named)
    if at is None and export.platform.name != "moodle":
        raise CourseError(f"no column of {export.name} is called {exercise}: make it in {export.platform.title}, {export.platform.advice}, "
                          "and give that to `make roster`; or write what it is called into grading/class.toml, below [columns], as in "
                          f'{exercise} = "Homework 4 (4711)"')
    title = export.table.header[at] if at is not None else exercise
    if at is not None and export.platform.name == "canvas" and _of_points(export, at).startswith("("):
        raise CourseError(f"Canvas does not let anybody change the column {title!r}: name another below [columns] in grading/class.toml")
    return at, title


def _of_points(export, at):
    """Return the points possible that Canvas's second or third row has for a column."""
    return next((row.cells[at].strip() for row in export.table.rows if row.cells[0].strip().startswith("Points Possible")), "")


def _worth(export, at):
    """Return the points that the platform's column is worth, or None when the export does not say."""
    if at is None:
        return None
    found = re.search(r"<Numeric MaxPoints:([\d.,]+)", export.table.header[at])
    try:
        worth = float((found[1] if found else _of_points(export, at)).replace(",", "."))
    except ValueError:
        return None
    return worth if worth > 0 else None


def _obstacle(export: Export, row: Row, at: int | None) -> str:
    """Return why a student's cell must not be filled in, or ""."""
    if any(harmless(cell) != cell for column in export.platform.ids if (cell := export.cell(row, column))):
        return "has an id that a spreadsheet would run as a formula; enter this mark by hand"
    cell = row.cells[at].strip().upper() if at is not None else ""
    return {"EX": "is excused there", "N/A": "does not have this assignment there"}.get(cell, "")


def _has_decimal_commas(export):
    """Tell whether the export writes 7,5 rather than 7.5."""
    cells = [cell.strip() for row in export.table.rows for cell in row.cells]
    return any(re.fullmatch(r"\d+,\d+", cell) for cell in cells) and not any(re.fullmatch(r"\d+\.\d+", cell) for cell in cells)


def _number(points: float, comma: bool) -> str:
    """Return points with two decimals at most.

    >>> _number(7.125, comma=False), _number(6.4, comma=True), _number(10.0, comma=False)
    ('7.13', '6,4', '10')
    """
    text = f"{Decimal(str(round(points, 9))).quantize(Decimal('0.01'), ROUND_HALF_UP):f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def _text(export, title, rows):
    """Return the file: the columns that the platform's import wants, in the order in which it exported them."""
    keeps = {name.casefold() for name in export.platform.keeps}
    kept = [i for i, name in enumerate(export.table.header) if name.strip().casefold() in keeps]
    header = [*(export.table.header[i] for i in kept), title]
    cells = [[*(row.cells[i] for i in kept), value] for row, value, _ in rows]
    if export.platform.name == "moodle":
        header.append(f"{title.removesuffix(' (Real)')} (Feedback)")
        cells = [[*row, feedback] for row, (*_, feedback) in zip(cells, rows)]
    if export.platform.name == "brightspace":
        header.append(_END)
        cells = [[*row, "#"] for row in cells]
    separator = ";" if export.table.separator == ";" else ","
    return "\ufeff" * export.table.marked + to_csv(header, cells, separator)
