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
    """What a student gets, lateness and corrections included, or why there is no mark; words for the student."""

    points: float
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
                lines += _write(classroom, target, read_export(source, f"grading/{source.name}"), exercise, marks, maximum)
            except CourseError as error:
                lines.append(f"NOT WRITTEN {target}: {error}")
    return lines


def _write(classroom, target, export, exercise, marks, maximum):
    """Write an import file when there is a mark for it; return the lines that say what is in it."""
    named = classroom.table("columns").get(exercise)
    at = export.marks(exercise, None if named is None else str(named))
    if at is None and export.platform.name != "moodle":    # which asks what a column is for
        return [f"nothing for {export.platform.title}, as no column of {export.name} is called {exercise}: make it there, "
                f"{export.platform.advice}, and give that to `make roster`; or write what it is called into grading/class.toml, below "
                f'[columns], as in {exercise} = "Homework 4 (4711)"']
    if _of_points(export, at).startswith("("):
        raise CourseError(f"{export.platform.title} lets nobody change the column {export.table.header[at]!r}: name another in "
                          "grading/class.toml, below [columns]")
    title, worth = exercise if at is None else export.table.header[at], _worth(export, at)
    rows, left = _rows(classroom, export, at, marks, (worth or maximum) / maximum)
    count = sum(bool(student) for _, student, _ in rows)
    told = [f"    not in it: {', '.join(names)} ({why})" for why, names in left.items()]
    if not count:
        return [f"nothing for {export.platform.title} yet, as nobody has a mark for {title!r}", *told]
    write(target, _text(export, title, rows, marks))
    points = (f"{maximum:g} points; {export.name} does not say what it is worth there, which must be that too" if worth is None
              else f"{worth:g} points" + (f", each mark times {worth / maximum:g}" if worth != maximum else ""))
    return [f"{target}: {count} marks for {title!r}, out of {points}", *told]


def _rows(classroom, export, at, marks, scale):
    """Return (row, student or "" for Canvas's own rows, what to write there), and why -> who is left as on the platform."""
    roster, people = classroom.roster() or {student: Student(student) for student in marks}, export.people()
    whose = matched(people, roster, export.name)
    named = {person.row.number: person.name for person in people}
    comma, rows = _has_decimal_commas(export), []
    left: dict[str, list[str]] = {}
    for row in export.table.rows:
        student = whose.get(row.number, "")
        mark = marks.get(student)
        if row.number in named and not mark:
            left.setdefault("not on grading/roster.csv", []).append(f"row {row.number} {named[row.number]!r}")
        elif mark and (why := mark.why or _obstacle(export, row, at)):
            left.setdefault(why, []).append(student)
        elif mark:
            rows.append((row, student, _number(mark.points * scale, comma)))
        elif export.platform.name == "canvas" and not export.cell(row, "ID"):
            rows.append((row, "", row.cells[at]))          # the points possible, and how marks are posted
    for student in sorted(marks.keys() - whose.values()):
        left.setdefault(f"not in {export.name}", []).append(student)
    return rows, left


def _of_points(export, at):
    """Return what Canvas's row of points possible has for a column; "" elsewhere."""
    rows = (row for row in export.table.rows if row.cells[0].strip() == "Points Possible") if at is not None else ()
    return next((row.cells[at].strip() for row in rows), "")


def _worth(export, at):
    """Return the points that the platform's column is worth, or None when the export does not say."""
    found = re.search(r"<Numeric MaxPoints:([\d.,]+)", "" if at is None else export.table.header[at])
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
    columns = [i for i, name in enumerate(export.table.header) if name.strip().casefold() not in _keeps(export)]
    cells = [row.cells[i].strip() for row in export.table.rows for i in columns]
    return any(re.fullmatch(r"\d+,\d+", cell) for cell in cells) and not any(re.fullmatch(r"\d+\.\d+", cell) for cell in cells)


def _keeps(export):
    return {name.casefold() for name in export.platform.keeps}


def _number(points: float, comma: bool) -> str:
    """Return points with two decimals at most.

    >>> _number(7.125, comma=False), _number(6.4, comma=True), _number(10.0, comma=False)
    ('7.13', '6,4', '10')
    """
    text = f"{Decimal(str(round(points, 9))).quantize(Decimal('0.01'), ROUND_HALF_UP):f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def _text(export, title, rows, marks):
    """Return the file: the columns that the platform's import wants, in the order in which it exported them."""
    kept = [i for i, name in enumerate(export.table.header) if name.strip().casefold() in _keeps(export)]
    header = [*(export.table.header[i] for i in kept), title]
    cells = [[*(row.cells[i] for i in kept), value] for row, _, value in rows]
    if export.platform.name == "moodle":
        header.append(f"{title.removesuffix(' (Real)')} (Feedback)")
        cells = [[*row, marks[student].feedback] for row, (_, student, _) in zip(cells, rows)]
    if export.platform.name == "brightspace":
        header.append(_END)
        cells = [[*row, "#"] for row in cells]
    separator = ";" if export.table.separator == ";" else ","
    return "\ufeff" * export.table.marked + to_csv(header, cells, separator)
