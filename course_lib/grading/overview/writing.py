"""Write the class's page, and the same numbers as CSV, into `grading/`."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.inventory.section import item_rows, section
from course_lib.grading.overview.misconceptions import misconception
from course_lib.grading.overview.page import page
from course_lib.grading.overview.reading import ClassView, by_count, read_class


def overview(classroom: Classroom, names: bool = False) -> list[str]:
    """Write the page and the tables.

    Returns
    -------
    list of str
        A line for each file, and for each damaged result.
    """
    view, folder = read_class(classroom), classroom.folder
    target = folder / ("class_with_names.html" if names else "class.html")
    html, items = section(classroom)
    write(target, page(view, html, datetime.now().strftime("%d %B %Y, %H:%M"), names))
    tables: dict[Path, str] = {
        folder / "class.csv": _csv(("exercise", "part", "title", "students", "submitted", "graded", "passed"), _parts(view)),
        folder / "class_findings.csv": _csv(("exercise", "part", "finding", "students", "may show", "lesson", "section"), _findings(view))}
    if items:
        tables[folder / "class_questions.csv"] = _csv(*item_rows(items))
    for path, text in tables.items():
        write(path, text)
    return [f"{target}: {len(view.students)} students, results of "
            f"{sum(bool(exercise.graded) for exercise in view.exercises)} of {len(view.exercises)} exercises",
            *map(str, tables), *view.damaged]


def _parts(view: ClassView) -> Iterable[Sequence[object]]:
    return ((exercise.name, part.part, part.title, len(view.students), len(exercise.submitted), exercise.graded, part.passed)
            for exercise in view.exercises for part in exercise.parts)


def _findings(view: ClassView) -> Iterable[Sequence[object]]:
    for exercise in view.exercises:
        for part in exercise.parts:
            for kind, count in by_count(part.findings):
                row = misconception(exercise.name, kind)
                yield exercise.name, part.part, kind, count, row.idea, row.lesson, row.section


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV; nothing in it was written by a student."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return file.getvalue()
