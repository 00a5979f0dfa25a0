"""The table of grades: everybody on the roster, points, lateness, and who has which kernel in common with whom."""

from collections.abc import Mapping
from datetime import UTC, datetime

from course_lib.errors import CourseError
from course_lib.grading.classroom.corrections import by_hand, corrected, newest
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.imports import Mark, write_imports
from course_lib.grading.classroom.late import lateness
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.classroom.results import Result, read_result
from course_lib.grading.classroom.roster import Student
from course_lib.grading.classroom.sheets import to_csv
from course_lib.grading.classroom.similar import similar

COLUMNS = ("student", "name", "exercise", "status", "due", "submitted", "hours late", "points", "maximum", "factor", "grade", "late",
           "parts", "note")


def grades(classroom: Classroom, exercise: str) -> list[str]:
    """Write `grading/grades_EXERCISE.csv`, `grading/similar_EXERCISE.csv`, and the files that platforms import.

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
    submitted = set(classroom.submitted(exercise))
    students = sorted(roster.keys() | results.keys() | submitted)
    if not students:
        raise CourseError("there is no grading/roster.csv and nothing was graded yet: run `make collect` and `make grade`")
    late = lateness(classroom, exercise, students)
    rows = {student: (student, *_row(roster, results.get(student), late[student], student, exercise, maximum, student in submitted))
            for student in students}
    table = classroom.folder / f"grades_{exercise}.csv"
    write(table, to_csv(COLUMNS, rows.values()))
    pairs = similar(results, asked, {question.part: text for question, text in zip(asked, _solution_texts(classroom, exercise, asked))})
    report = classroom.folder / f"similar_{exercise}.csv"
    write(report, to_csv(("part", "student", "other student", "alike", "unusual passages shared"), pairs))
    counts = {status: sum(row[3] == status for row in rows.values()) for status in ("graded", "not graded yet", "missing")}
    marks = {student: _mark(dict(zip(COLUMNS, row)), late[student], results.get(student)) for student, row in rows.items()}
    return [f"{table}: {', '.join(f'{count} {status}' for status, count in counts.items() if count)}",
            f"{report}: {len(pairs)} pairs of kernels to look at; being alike is a reason to ask, not a proof",
            *write_imports(classroom, exercise, marks, maximum), *damaged]


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


def _row(roster, result, late, student, exercise, maximum, submitted):
    note = ["not on the roster"] if roster and student not in roster else []
    name = roster.get(student, Student(student)).name
    times = [time.isoformat(" ", "seconds") if time else "" for time in (late.due, late.submitted)]
    if result is None or not result["key"]:          # without a key: the grader broke, which is nobody's 0
        status = "not graded yet" if result or submitted else "missing"
        note += [result["problem"]] if result else []
        points = 0 if status == "missing" else ""
        return name, exercise, status, *times, "", points, maximum, "", points, "", "", "; ".join(note)
    note += _said(result)
    return (name, exercise, "graded", *times, round(late.hours, 2), result["points"], maximum, late.factor,
            round(result["points"] * late.factor, 4), late.words, _parts(result), "; ".join(note))


def _said(result):
    return [text for text in (result["problem"], *result["notes"]) if text]


def _parts(result):
    return "; ".join(f"{part['part']} {part['points']:g}/{part['maximum']:g}" for part in result["parts"])


def _mark(row, late, result):
    """Return what a platform is told of a student: nothing before there is a result, and a 0 for no submission only when time is over."""
    if row["status"] == "not graded yet":
        return Mark(0, "not graded yet")
    if row["status"] == "missing":
        if late.closes and datetime.now(UTC) > late.closes:
            return Mark(0, feedback="Nothing was submitted.")
        return Mark(0, "submitted nothing yet" if late.due else "submitted nothing, and class.toml has no due time")
    told = [" ".join(text.split()).removesuffix(".") for text in (_parts(result), late.words, *_said(result)) if text]
    return Mark(row["grade"], feedback=". ".join(told))
