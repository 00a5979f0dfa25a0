"""The table of grades: everybody on the roster, points, lateness, and who has which kernel in common with whom."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from course_lib.errors import CourseError
from course_lib.grading.classroom.corrections import by_hand, corrected, newest
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.classroom.results import Result, read_result
from course_lib.grading.classroom.roster import Student
from course_lib.grading.classroom.similar import similar

COLUMNS = ("student", "name", "exercise", "status", "submitted", "hours late", "points", "maximum", "factor", "grade", "parts", "note")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Late:
    """When something came (ISO, or ""), hours after it was due, the factor that its points keep, and that in words for the student."""

    submitted: str
    hours: float
    factor: float
    words: str = ""


def late(classroom: Classroom, student: str, exercise: str) -> Late:
    """Return how late a submission is, and what that costs by grading/class.toml.

    The file has, for example,

        [due]
        04_tiling = 2030-11-20T23:59:00+01:00
        [late]
        grace_minutes = 15
        per_day = 0.1       # of the points, for each day begun
        at_most = 0.5       # later than that costs no more
    """
    stamp = classroom.submission(student, exercise).with_name("timestamp.txt")
    try:
        time = datetime.fromisoformat(stamp.read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return Late("", 0, 1)
    due = classroom.due(exercise)
    if time.tzinfo is None or due is None:
        return Late(time.isoformat(), 0, 1)
    return Late(time.isoformat(), *_cost((time - due).total_seconds() / 3600, classroom.rules().get("late", {})))


def _cost(hours, rules):
    """Return (hours late, factor, words).

    >>> _cost(25, {"per_day": 0.1})
    (25, 0.8, '25.0 hours late: 80 % of the points count.')
    >>> _cost(0.2, {"per_day": 0.1, "grace_minutes": 15})
    (0, 1, '')
    """
    if hours <= rules.get("grace_minutes", 0) / 60:
        return 0, 1, ""
    days = -(-hours // 24)
    factor = round(1 - min(rules.get("per_day", 0) * days, rules.get("at_most", 1)), 6)
    return hours, factor, f"{hours:.1f} hours late: {100 * factor:g} % of the points count."


def grades(classroom: Classroom, exercise: str) -> list[str]:
    """Write `grading/grades_EXERCISE.csv` and `grading/similar_EXERCISE.csv`.

    Returns
    -------
    list of str
        A summary to print.

    Raises
    ------
    CourseError
        When there is neither a roster nor a result.
    """
    asked = questions(classroom.released(exercise))
    maximum = sum(question.points for question in asked)
    (results, damaged), roster = stored(classroom, exercise), classroom.roster()
    students = sorted(roster.keys() | results.keys() | set(classroom.submitted(exercise)))
    if not students:
        raise CourseError("there is no grading/roster.csv and nothing was graded yet: run `make collect` and `make grade`")
    rows = [_row(classroom, roster, results, student, exercise, maximum) for student in students]
    table = classroom.folder / f"grades_{exercise}.csv"
    write(table, _csv(COLUMNS, rows))
    pairs = similar(results, asked, {question.part: text for question, text in zip(asked, _solution_texts(classroom, exercise, asked))})
    report = classroom.folder / f"similar_{exercise}.csv"
    write(report, _csv(("part", "student", "other student", "alike", "unusual passages shared"), pairs))
    counts = {status: sum(row[3] == status for row in rows) for status in ("graded", "not graded yet", "missing")}
    return [f"{table}: {', '.join(f'{count} {status}' for status, count in counts.items() if count)}",
            f"{report}: {len(pairs)} pairs of kernels to look at; being alike is a reason to ask, not a proof", *damaged]


def stored(classroom: Classroom, exercise: str) -> tuple[Mapping[str, Result], list[str]]:
    """Return student -> result with the corrections by hand applied, and a sentence for each result that is damaged."""
    results, damaged, mine = {}, [], newest(classroom, exercise)
    for file in sorted((classroom.folder / "results").glob(f"*/{exercise}.json")):
        try:
            results[file.parent.name] = read_result(file)
        except CourseError as error:
            damaged.append(str(error))
    maximum = sum(question.points for question in questions(classroom.released(exercise)))
    for student, changes in mine.items():
        before = results.get(student)
        found = corrected(before, changes) if before and before["key"] else by_hand(student, exercise, maximum, changes)
        if found:
            results[student] = found
    return results, damaged


def _solution_texts(classroom, exercise, asked):
    return answers(classroom.solved(exercise), asked).texts.values()


def _row(classroom, roster, results, student, exercise, maximum):
    result, lateness = results.get(student), late(classroom, student, exercise)
    known = roster.get(student, Student(student))
    note = ["not on the roster"] if roster and student not in roster else []
    if result is None or not result["key"]:          # without a key: the grader broke, which is nobody's 0
        status = "not graded yet" if result or student in classroom.submitted(exercise) else "missing"
        note += [result["problem"]] if result else []
        points = 0 if status == "missing" else ""
        return student, known.name, exercise, status, lateness.submitted, "", points, maximum, "", points, "", "; ".join(note)
    note += [text for text in (result["problem"], *result["notes"]) if text]
    parts = "; ".join(f"{part['part']} {part['points']:g}/{part['maximum']:g}" for part in result["parts"])
    return (student, known.name, exercise, "graded", lateness.submitted, round(lateness.hours, 2), result["points"], maximum,
            lateness.factor, round(result["points"] * lateness.factor, 4), parts, "; ".join(note))


def _csv(columns, rows):
    """Return a table as CSV; a text that a spreadsheet would run as a formula gets an apostrophe.

    >>> print(_csv(("a", "b"), [("=1+1", -1)]), end="")
    a,b
    '=1+1,-1
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value for value in row)
    return file.getvalue()
