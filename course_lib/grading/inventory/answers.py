"""Collect the small files that students hand in, and read what was collected: `grading/questions/STUDENT/before.json` and `after.json`.

A file counts for the student whose name is written in it. Nobody gets marks for it, so that nobody gains by writing another's.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom import plain
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.roster import check_name, key, names_of
from course_lib.grading.inventory.form import PHASES
from course_lib.grading.inventory.questions import UNSURE, Inventory

FORM = "warp-by-warp"                # as form.js writes it
MOST_BYTES = 20_000                  # that are read of a file; one that the page makes has 600
MOST_FILES = 20_000                  # of a zip file


@dataclass(frozen=True)
class Answered:
    """What one student answered in one phase: version of the questions, the name that was written, when it was saved, and key -> letter."""

    version: int
    student: str
    phase: str
    saved: datetime
    answers: Mapping[str, str]


def read_answers(data: bytes, inventory: Inventory) -> Answered:
    """Return the content of a file that a student handed in.

    Raises
    ------
    CourseError
        When it is not what the page makes, of these questions: it says what is wrong.
    """
    try:
        found = json.loads(data[:MOST_BYTES].decode("utf-8-sig"))
        if found["questions"] != FORM:
            raise ValueError
        student, phase, saved, answers = (found[name] for name in ("student", "phase", "saved", "answers"))
        time = datetime.fromisoformat(saved)
        if not (isinstance(student, str) and phase in PHASES and time.tzinfo and isinstance(answers, dict)):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CourseError("it is no file of answers to the twelve questions") from None
    if found.get("version") != inventory.version:
        version = str(found.get("version"))[:20]
        raise CourseError(f"it answers version {version!r} of the questions, and these are version {inventory.version}")
    known = {question.key: {*question.letters, UNSURE} for question in inventory.questions}
    if set(answers) != set(known) or not all(isinstance(letter, str) and letter in known[name] for name, letter in answers.items()):
        raise CourseError("it has other questions or answers than the page offers")
    return Answered(inventory.version, student.strip(), phase, time, answers)


def collect(classroom: Classroom, source: Path, inventory: Inventory) -> Iterator[str]:
    """Store the answers in a file, or in all `.json` files of a folder or a zip file; yield a line for each file."""
    names = names_of(classroom.roster().values())
    for path, data in _files(source):
        try:
            if isinstance(data, CourseError):
                raise data
            answered = read_answers(data, inventory)
            yield _put(classroom, answered, _student(answered.student, names))
        except CourseError as error:
            yield f"NOT TAKEN {path!r}: {error}"


def _student(written, names):
    """Return the id of whoever wrote this name."""
    if names:
        if key(written) not in names:
            raise CourseError(f"nobody on the roster is called {written[:100]!r}: write that into the column `platform`")
        return names[key(written)]
    check_name(written)
    return written


def _put(classroom, answered, student):
    target = _folder(classroom) / student / f"{answered.phase}.json"
    line = f"{student} {answered.phase} {answered.saved.isoformat()}"
    if target.exists() and datetime.fromisoformat(json.loads(target.read_bytes())["saved"]) > answered.saved:
        return f"{line}: newer answers are there already"
    write(target, json.dumps({"questions": FORM, "version": answered.version, "phase": answered.phase, "student": student,
                              "saved": answered.saved.isoformat(), "answers": answered.answers}, indent=1))
    return line


def _files(source: Path) -> Iterator[tuple[str, bytes | CourseError]]:
    """Yield the name and the content of each `.json` file, or why it is not read."""
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        if path.suffix.lower() not in (".json", ".zip"):
            continue
        try:
            with plain.opened(source, path) as (file, _):
                if path.suffix.lower() == ".zip":
                    yield from _members(file)
                else:
                    yield path.name, file.read(MOST_BYTES)
        except (CourseError, OSError) as error:
            yield path.name, error if isinstance(error, CourseError) else CourseError(str(error))


def _members(file):
    try:
        archive = zipfile.ZipFile(file)
        members = [info for info in archive.infolist() if info.filename.lower().endswith(".json") and "__MACOSX" not in info.filename]
    except Exception as error:          # a zip file may be anything: struct's and others' errors come out of zipfile too
        raise CourseError(f"it is no zip file ({error})") from None
    for info in members[:MOST_FILES]:
        try:
            with archive.open(info) as member:
                yield info.filename, member.read(MOST_BYTES)
        except Exception as error:      # as above, and it becomes this file's line
            yield info.filename, CourseError(f"it cannot be read ({error})")


def collected(classroom: Classroom, inventory: Inventory) -> dict[str, dict[str, Mapping[str, str]]]:
    """Return phase -> student -> answers, of these questions and of students in the class."""
    found: dict[str, dict[str, Mapping[str, str]]] = {phase: {} for phase in PHASES}
    roster = classroom.roster()
    for phase in PHASES:
        for path in sorted(_folder(classroom).glob(f"*/{phase}.json")):
            try:
                answered = read_answers(path.read_bytes(), inventory)
            except CourseError:                      # of an older version of the questions
                continue
            if not roster or path.parent.name in roster:
                found[phase][path.parent.name] = answered.answers
    return found


def _folder(classroom):
    return classroom.folder / "questions"
