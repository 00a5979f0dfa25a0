"""Whose a submission is: the platform's own folder or entry says so, never what a student put inside.

A platform puts one entry for each student side by side: folders, files, or zip files. `entries` finds that level in all paths that were
collected, so that a folder which names nobody stands out among others that name somebody; `Roster.whose` reads one path.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from course_lib.errors import CourseError
from course_lib.grading.classroom import times
from course_lib.grading.classroom.roster import check_name, key
from course_lib.grading.registry import all_parts

OF_THE_COURSE = ("warp-by-warp", "my_course", "exercises")        # folders in which a student's exercises lie: nobody is called so
_TIME = r"(?P<time>\d{4}-?\d\d-?\d\d[T _-]\d\d[:.-]?\d\d[:.-]?\d\d(?:\.\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)"
_DATE = r"(?P<date>[A-Z][a-z]+ \d{1,2}, \d{4} \d{1,4}:?\d{0,2} ?[AP]M)"
IN_EXCHANGE = rf"(?P<student>[^+]+)\+EXERCISE\+{_TIME}(?:\+.*)?"                    # JupyterHub with nbgrader's exchange
_OF_PLATFORMS = (                                                                   # what only a platform writes; `number`: the student's
    IN_EXCHANGE,
    r"(?P<student>.+)_(?P<number>\d+)_assignsubmission_file_?.*",                   # Moodle, a folder for each student
    r"(?P<student>[^_]+)(?:_late)?_(?P<number>\d+)_\d+_.*",                         # Canvas
    rf"[\d-]+ - (?P<student>.+?) - {_DATE}(?: - .*)?",                              # Brightspace
    r"[\d-]+ - (?P<student>.+?) - .*",
)
_OF_ANYBODY = (                                                                     # what instructors ask for, and students write too
    rf"(?P<student>.+?)[_+-]{_TIME}[_+-]EXERCISE",
    rf"(?P<student>.+?)[_+-]EXERCISE[_+-]{_TIME}",
    r"(?P<student>.+?)[_+-]EXERCISE",
    rf"EXERCISE[_+-](?P<student>.+?)[_+-]{_TIME}",
    r"EXERCISE[_+-](?P<student>.+)",
)
_NOBODY = re.compile(                                                               # what students call their files: no names
    r"(?:my|our|the|a|an|final|last|new(?:est)?|old|fixed|copy(?: ?of)?|draft|done|finished|submi(?:t|ssion)|solution|answers?|"
    r"home ?work|hw|exercise|assignment|lab|gpu|course|notebook|version|v|edition|group|team|week|[ _.()\d-])+", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A piece of a path: its name, and when the zip file or the notebook that it names was stored; folders have no time."""

    name: str
    kind: str                       # "folder", "zip" or "file"
    time: datetime | None = None


Path = tuple[Part, ...]


@dataclass(frozen=True)
class Called:
    """What a piece of a path says: a student's name, a platform's number and time; `sure` when only a platform writes so."""

    student: str
    number: str = ""
    time: str = ""
    date: str = ""
    sure: bool = False


@dataclass(frozen=True)
class Owner:
    """Whose a submission is, of which exercise, and when the platform stored it; `number` is the platform's for this student."""

    student: str
    exercise: str
    time: datetime
    number: str = ""


@dataclass(frozen=True)
class Roster:
    """What students may be called -> id (empty: no roster), the exercises that there are, and the zone of times that name none."""

    names: Mapping[str, str]
    zone: tzinfo | None
    exercises: tuple[str, ...] = field(default_factory=lambda: tuple(dict.fromkeys(name for name, _ in all_parts())))

    def read(self, part: Part) -> Called | None:
        """Return what a piece of a path says, if it has the form of a platform or names a student."""
        name = _stem(part)
        for exercise in (*(e for e in self.exercises if e in name), "\0"):
            for forms, sure in ((_OF_PLATFORMS, True), (_OF_ANYBODY, False)):
                for form in forms:
                    if match := re.fullmatch(form.replace("EXERCISE", re.escape(exercise)), name, re.IGNORECASE):
                        return Called(**{k: v or "" for k, v in match.groupdict().items()}, sure=sure)
        return Called(name) if self._listed(Called(name)) else None

    def called(self, part: Part) -> Called:
        """Return what a student's entry says: as `read`, or else its whole name."""
        return self.read(part) or Called(_stem(part))

    def id_of(self, called: Called) -> str:
        """Return the id of whom a platform calls so; `CourseError` when nobody on the roster is."""
        if listed := self._listed(called):
            return listed
        if self.names:
            raise CourseError(f"nobody on the roster is called {called.student!r}: write that into the column `platform`")
        name = re.sub(r"\s+", "_", called.student.strip())
        check_name(name)
        return name

    def _listed(self, called):
        return self.names.get(key(f"{called.student} {called.number}")) or self.names.get(key(called.student))

    def identifies(self, part: Part) -> bool:
        """Tell whether a piece of a path names a student beyond doubt: in a platform's form, or one of the roster."""
        called = self.read(part)
        return called is not None and (called.sure or bool(self._listed(called)))

    def may_name(self, part: Part) -> bool:
        """Tell whether a notebook's own name may be a student's: `04_tiling-Copy1`, `final_04_tiling` and `notebook` are nobody's."""
        called = self.read(part)
        if called is None:
            return not any(exercise in part.name for exercise in self.exercises) and not _NOBODY.fullmatch(_stem(part))
        return bool(self._listed(called)) or not _NOBODY.fullmatch(called.student)

    def whose(self, path: Path, at: int | None, exercise: str | None, known: Mapping[str, str]) -> Owner:
        """Return whose the notebook at a path is.

        Parameters
        ----------
        path
            Of the notebook, from the folder or zip file that was collected.
        at
            Which piece of it is the student's own entry (`entries`).
        exercise
            For paths that do not name one.
        known
            Without a roster: `key`s of names, and of their words -> id, of who submitted; an entry that names another of them is refused.

        Raises
        ------
        CourseError
            When the path tells no student or no exercise, when nobody on the roster is called so, or when it names two students.
        """
        which = next((name for part in reversed(path) for name in self.exercises if name in part.name), exercise)
        if which is None:
            raise CourseError(f"its path names no exercise ({', '.join(self.exercises)}): give --exercise")
        if at is None:
            raise CourseError("its path tells no student: name it STUDENT_EXERCISE.ipynb, or put it into a folder STUDENT")
        called = self.called(path[at])
        student = self.id_of(called)
        for part in path[at + 1:]:
            if (other := self._other(part, called, student, known)) is not None:
                raise CourseError(f"it was submitted by {student}, and {part.name!r} in it names {other!r}: ask who wrote it")
        return Owner(student, which, self._time(called, path[at:]), called.number)

    def _other(self, part, called, student, known):
        """Return the name of another student in a piece of a path inside a student's entry, or None."""
        inner = self.read(part) or Called(_stem(part))
        if self.names:
            return inner.student if self._listed(inner) not in (None, student) else None
        its = key(inner.student)
        if any(its in mine or mine in its for mine in (key(called.student), key(student))):
            return None
        guessed = self.read(part) is not None and not _NOBODY.fullmatch(inner.student)
        return inner.student if guessed or known.get(its, student) != student else None

    def _time(self, called, inside):
        """Return when a platform stored a submission: its own words, or the date of the outermost file that is the student's."""
        if called.time:
            return times.read_time(called.time, self.zone)
        if called.date and (time := times.read_date(called.date, self.zone)):
            return time
        return next(part.time for part in inside if part.time is not None)


def entries(paths: Sequence[Path], roster: Roster) -> list[int | None]:
    """Return, for each path, which of its pieces is the entry that a platform made for a student; None where there is none.

    Zip files side by side are students' own when one of them names a student or holds nothing that does; otherwise a platform made them,
    and what is inside is looked at in the same way. Folders likewise, but without a roster every folder is a student's.
    """
    found: list[int | None] = [None] * len(paths)
    _descend(paths, range(len(paths)), 0, roster, found)
    return found


def _descend(paths, wanted, depth, roster, found):
    groups: dict[str, dict[str, list[int]]] = {"folder": {}, "zip": {}, "file": {}}
    for i in wanted:
        part = paths[i][depth]
        groups[part.kind].setdefault(part.name, []).append(i)
    for kind, siblings in groups.items():
        through = {name for name in siblings if kind != "file" and _stem(Part(name, kind)) in (*roster.exercises, *OF_THE_COURSE)}
        for name in through:
            _descend(paths, siblings[name], depth + 1, roster, found)
        own = {name: paths_of for name, paths_of in siblings.items() if name not in through}
        if kind == "file" or (own and _are_students(kind, own, paths, depth, roster)):
            for name, inside in own.items():
                if kind != "file" or roster.may_name(Part(name, kind)):
                    for i in inside:
                        found[i] = depth
        else:
            for inside in own.values():
                _descend(paths, inside, depth + 1, roster, found)


def _are_students(kind, siblings, paths, depth, roster):
    """Tell whether folders or zip files that lie side by side are students' own, and not a platform's or an instructor's."""
    if any(roster.identifies(Part(name, kind)) for name in siblings):
        return True
    inside: list[int | None] = [None] * len(paths)
    for indices in siblings.values():
        _descend(paths, indices, depth + 1, roster, inside)
    if roster.names:
        return not any(inside[i] is not None and roster.identifies(paths[i][inside[i]]) for indices in siblings.values() for i in indices)
    return kind == "folder" or any(all(inside[i] is None for i in indices) for indices in siblings.values())


def _stem(part):
    """Return the name of a piece without a notebook's or zip file's ending.

    >>> _stem(Part("04_tiling.IPYNB", "file"))
    '04_tiling'
    """
    return re.sub(r"(?i)\.(ipynb|zip)$", "", part.name)
