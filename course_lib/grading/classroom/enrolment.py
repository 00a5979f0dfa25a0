"""Take the roster from what a learning platform exports: new students get a line, and no line that is there is lost."""

import contextlib
from collections import Counter
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.platforms import matched, read_export
from course_lib.grading.classroom.roster import COLUMNS, Student, by_id, check_name, key, names_of
from course_lib.grading.classroom.sheets import read_table, to_csv


def enrol(classroom: Classroom, source: Path, dry_run: bool = False) -> list[str]:
    """Add the students of an export to grading/roster.csv, and keep the export for `make grades`.

    A line that is there stays as it is; only its empty `name` and `platform` are filled in.

    Parameters
    ----------
    source
        The gradebook that Canvas, Moodle or Brightspace exported, or another file of theirs that lists the students.
    dry_run
        Change nothing.

    Returns
    -------
    list of str
        A line for each change, and for each student who is only on the roster or cannot be put there.

    Raises
    ------
    CourseError
        When the export cannot be read, or the roster would not tell all students apart.
    """
    export = read_export(source, source.name)
    roster, people = classroom.roster(), export.people()
    mine, namesakes = matched(people, roster, export.name), Counter(key(person.name) for person in people)
    listed = {mine[person.row.number]: person for person in people if person.row.number in mine}
    fuller = {student: _filled(roster, roster[student], person, namesakes) for student, person in listed.items()}
    fresh = [(next(filter(_possible, person.ids), ""), person) for person in people if person.row.number not in mine]
    added = [Student(student, *_names(student, person, namesakes)) for student, person in fresh if student]
    by_id([*(fuller.get(name, was) for name, was in roster.items()), *added])
    changes = [f"{student}: {change}" for student, was in roster.items() if (change := _change(was, fuller.get(student, was)))]
    changes += [f"{student.student}: new, {student.name!r}" for student in added]
    kept = classroom.folder / f"export_{export.platform.name}.csv"
    if not dry_run:
        if changes:
            write(classroom.folder / "roster.csv", _roster(classroom.folder / "roster.csv", fuller, added))
        write(kept, source.read_bytes())
    lonely = [f"{student}: is on the roster and not in {export.name}; the line stays" for student in roster if student not in listed]
    end = "nothing was written" if dry_run else f"they are in grading/roster.csv, and `make grades` fills in grading/{kept.name}"
    return [*changes, *lonely, *_open(export, fresh, namesakes),
            f"{export.platform.title}: {len(people)} students, {len(added)} of them new; {end}"]


def _open(export, fresh, namesakes):
    """Yield a line for each student who could not be put on the roster, or only so that it does not know their files."""
    for student, person in fresh:
        if not student:
            yield (f"NOT ADDED {person.name!r}, row {person.row.number}: has no {' or '.join(export.platform.ids)} that can be an id here; "
                   "write a line yourself")
        elif namesakes[key(person.name)] > 1 and not person.number:
            yield (f"{student}: several are called {person.name!r}; write what the names of their files begin with, such as "
                   f"'{person.name} 4711', into `platform`")


def _names(student, person, namesakes):
    """Return name and platform of a new line; namesakes are told apart by id, and by the number in the names of their files."""
    if namesakes[key(person.name)] > 1:
        return f"{person.name} ({student})", f"{person.called} {person.number}" if person.number else ""
    return (person.name if key(person.name) else ""), (person.called if key(person.called) != key(person.name) else "")


def _filled(roster, was, person, namesakes):
    """Return a student's line with what it leaves empty, if the export has it and nobody is called so yet."""
    called = names_of(roster.values())
    name, platform = _names(was.student, person, namesakes)
    if not platform and person.called == name:
        platform = name                                    # needed beside another name of the instructor's
    name = was.name or (name if key(name) not in called else "")
    return Student(was.student, name, was.platform or (platform if key(platform) not in {*called, key(name)} else ""))


def _change(was, now):
    return ", ".join(f"{column} {value!r} filled in" for column, before, value in
                     (("name", was.name, now.name), ("platform", was.platform, now.platform)) if before != value)


def _possible(student):
    with contextlib.suppress(CourseError):
        check_name(student)
        return True
    return False


def _roster(path, fuller, added):
    """Return the roster's text: all columns and lines that it has, what was filled in, and the new lines."""
    if not path.exists():
        return to_csv(COLUMNS, [(student.student, student.name, student.platform) for student in added])
    table = read_table(path, "grading/roster.csv")
    header = [*table.header, *(column for column in COLUMNS if column not in table.header)]
    at = [header.index(column) for column in COLUMNS]
    rows = [[*row.cells, *[""] * (len(header) - len(row.cells))] for row in table.rows]
    rows += [[""] * len(header) for _ in added]
    for row, student in zip(rows, [*(fuller.get(row[at[0]].strip()) for row in rows[:len(table.rows)]), *added]):
        for i, value in zip(at, (student.student, student.name, student.platform) if student else ()):
            row[i] = value
    return "\ufeff" * table.marked + to_csv(header, rows, table.separator)
