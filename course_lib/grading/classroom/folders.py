"""Where a class's files are: submissions, results, feedback, the roster, the seed and the deadlines, all in `grading/`.

    grading/roster.csv      student,name,platform   (who should submit; `platform` is what a learning platform calls them)
    grading/class.toml      the class's variant, when exercises are due and for whom later, and what being late costs
    grading/seed            drawn once; whoever has it knows the drawn inputs
    grading/submitted/STUDENT/EXERCISE/EXERCISE.ipynb, timestamp.txt, submission_secret.txt
    grading/results/STUDENT/EXERCISE.json
    grading/feedback/STUDENT/EXERCISE.html
    grading/export_PLATFORM.csv                     (what the platform exported; `make roster` puts it there)
    grading/import_EXERCISE_PLATFORM.csv            (the same with the marks of an exercise)
"""

import contextlib
import functools
import os
import secrets
import tempfile
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.grading.classroom import variants
from course_lib.grading.classroom.generate import generate
from course_lib.grading.classroom.roster import CANARY, Student, read_roster
from course_lib.grading.registry import all_parts

SECRET = "submission_secret.txt"    # nbgrader's name: with it the exchange names the page that answers a submission


@dataclass(frozen=True)
class Classroom:
    """A class in the repository at `root`."""

    root: Path

    @property
    def folder(self) -> Path:
        """Return `grading/`, made when it is not there, readable for its owner alone."""
        folder = self.root / "grading"
        if not folder.exists():
            folder.mkdir(mode=0o700)
        return folder

    def demand_repository(self) -> None:
        """Raise `CourseError` unless the root is the course's repository, with its worked solutions."""
        if not (self.root / "solutions").is_dir():
            raise CourseError(f"{self.root} is not the course's repository, as it has no folder solutions/: run this in a clone of the "
                              "course, or name one with --root")

    def submission(self, student: str, exercise: str) -> Path:
        """Return where a student's notebook is."""
        return self.folder / "submitted" / student / exercise / f"{exercise}.ipynb"

    def result(self, student: str, exercise: str) -> Path:
        """Return where a result is stored."""
        return self.folder / "results" / student / f"{exercise}.json"

    def feedback(self, student: str, exercise: str) -> Path:
        """Return where a student's page is."""
        return self.folder / "feedback" / student / f"{exercise}.html"

    @property
    def variant(self) -> str:
        """Return the variant of the exercises that this class gets."""
        return variants.of_class(self.rules(), self.root)

    def released(self, exercise: str) -> bytes:
        """Return the bytes of the notebook that students got: of the class's variant where the exercise has it."""
        variant = self.variant
        if variant == variants.FIRST or not variants.has(self.solved(exercise), variant):
            return read_notebook(self.root / "exercises", exercise)
        return _generated(self.root, variant, exercise, self.solved(exercise))

    def solved(self, exercise: str) -> bytes:
        """Return the bytes of the instructor's own, which answers all variants."""
        return read_notebook(self.root / "solutions", exercise)

    def submitted(self, exercise: str) -> list[str]:
        """Return the students who submitted something, sorted; a link is nobody's submission."""
        folder = self.folder / "submitted"
        names = [path.name for path in folder.glob("*") if path.is_dir() and not path.is_symlink()] if folder.exists() else []
        return sorted(name for name in names if name != CANARY and os.path.lexists(self.submission(name, exercise).parent))

    def roster(self) -> dict[str, Student]:
        """Return the students who should submit, by id; empty without a roster, an error for one that cannot be right (`read_roster`)."""
        return read_roster(self.folder / "roster.csv")

    def rules(self) -> dict[str, Any]:
        """Return class.toml as a dict; {} when it is not there."""
        path = self.root / "grading" / "class.toml"
        try:
            return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        except tomllib.TOMLDecodeError as error:
            raise CourseError(f"grading/class.toml cannot be read: {error}") from error

    def table(self, name: str) -> dict[str, Any]:
        """Return a table of class.toml; {} when it is not there."""
        table = self.rules().get(name, {})
        if not isinstance(table, dict):
            raise CourseError(f"grading/class.toml: {name} must be a table, with [{name}] in a line of its own and its settings below")
        return table

    def due(self, exercise: str) -> datetime | None:
        """Return when an exercise is due, or None."""
        due = self.table("due").get(exercise)
        if due is not None and not (isinstance(due, datetime) and due.tzinfo):
            raise CourseError(f"grading/class.toml: {exercise} in [due] must be a time with its zone, such as 2030-11-20T23:59:00+01:00")
        return due

    def seed(self) -> int:
        """Return the number that draws the hidden inputs; made at the first call."""
        path = self.folder / "seed"
        if not path.exists():
            write(path, f"{secrets.randbits(60)}\n")
            path.chmod(0o600)
        return int(path.read_text(encoding="ascii"))


@functools.lru_cache(maxsize=4)
def _generated(root, variant, exercise, solved):
    """Return an exercise of a variant; `solved`, what it is made from, is part of the cache's key."""
    with tempfile.TemporaryDirectory(prefix="exercises-") as folder:
        generate(root, folder, variant, exercise)
        return read_notebook(Path(folder), exercise)


def read_notebook(folder: Path, exercise: str) -> bytes:
    """Return the bytes of FOLDER/EXERCISE/EXERCISE.ipynb of an exercise that can be graded.

    Raises
    ------
    CourseError
        Names the exercises that there are.
    """
    known = list(dict.fromkeys(name for name, _ in all_parts()))
    path = folder / exercise / f"{exercise}.ipynb"
    if exercise not in known or not path.exists():
        raise CourseError(f"there is no exercise {exercise!r} to grade; there is {', '.join(known)} (run this in the course's repository)")
    return path.read_bytes()


def demand_exchange(root: str | Path) -> None:
    """Raise `CourseError` when there is no such folder."""
    if not Path(root).is_dir():
        raise CourseError(f"there is no exchange {root}: deploy/README.md says how to make one")


def write(path: Path, content: str | bytes) -> None:
    """Write a file in one step: it is there as a whole or not at all, whoever else writes it, and after a power cut too.

    Raises
    ------
    CourseError
        When the folder cannot be written to, or the disk is full.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise CourseError(f"{path} cannot be written ({error.strerror or error}); what was there is unchanged") from error
