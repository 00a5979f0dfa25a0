"""Put submissions where grading finds them, from whatever a learning platform gives: zip files, folders, notebooks.

Nothing is unpacked by the names in an archive: each notebook is read, its student and exercise are found from its path, and it is
written to one file. A path that tries to leave its archive, a link, an encrypted or swollen file is refused by name.
"""

import contextlib
import functools
import io
import os
import pwd
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom import plain, times
from course_lib.grading.classroom.folders import SECRET, Classroom, check_name, write
from course_lib.grading.classroom.normalise import MOST_BYTES
from course_lib.grading.classroom.plain import Content
from course_lib.grading.registry import all_parts

MOST_MEMBERS = 100_000
OF_THE_COURSE = ("warp-by-warp", "my_course", "exercises")        # folders in which a student's exercises lie: nobody is called so
_TIME = r"(?P<time>\d{4}-?\d\d-?\d\d[T _-]\d\d[:.-]?\d\d[:.-]?\d\d(?:\.\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)"
_FORMS = tuple(re.compile(form, re.IGNORECASE) for form in (
    rf"(?P<student>[^+]+)\+EXERCISE\+{_TIME}(?:\+.*)?",                             # JupyterHub with nbgrader's exchange
    r"(?P<student>.+)_\d+_assignsubmission_file_?.*",                               # Moodle, a folder for each student
    r"(?P<student>[^_]+)(?:_late)?_\d+_\d+_.*",                                     # Canvas
    r"[\d-]+ - (?P<student>.+?) - .*",                                              # Brightspace
    rf"(?P<student>.+?)[_+-]{_TIME}[_+-]EXERCISE",
    rf"(?P<student>.+?)[_+-]EXERCISE[_+-]{_TIME}",
    r"(?P<student>.+?)[_+-]EXERCISE",
    r"EXERCISE[_+-](?P<student>.+)",
))


@dataclass(frozen=True)
class Found:
    """A notebook that was submitted: where it was, when, and how to read its `Content`; `refused` says why it is not taken."""

    path: str
    time: datetime
    read: Callable[[], Content]
    refused: str = ""


def collect(classroom: Classroom, source: Path, exercise: str | None = None) -> Iterator[str]:
    """Copy the newest submission of every student into `grading/submitted/`.

    Parameters
    ----------
    source
        A folder, a zip file or a notebook.
    exercise
        For paths that do not name one.

    Yields
    ------
    str
        A line for each notebook: who, what, when; or why it was not taken.
    """
    demand_source(source)
    names = _names(classroom.roster())
    newest: dict[tuple[str, str], tuple[datetime, Content, str]] = {}
    for found in _all(source, times.zone_of(classroom)):
        try:
            if found.refused:
                raise CourseError(found.refused)
            student, which, time = _whose(found, exercise, names, times.zone_of(classroom))
            content = found.read()
            _demand_owner(found.path, which, student, content.owner, names)
        except (CourseError, OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            yield f"NOT TAKEN {found.path!r}: {error}"
            continue
        if (student, which) not in newest or newest[student, which][0] <= time:
            newest[student, which] = time, content, found.path
    for (student, which), (time, content, path) in sorted(newest.items()):
        yield _put(classroom, student, which, time, content, path)


def demand_source(source: Path) -> None:
    """Raise `CourseError` when there is nothing to collect from."""
    if not source.exists():
        raise CourseError(f"there is no {source}: give the folder with what the learning platform gave you")


def _put(classroom, student, exercise, time, content, path):
    """Write a submission and its time; return the line that says so."""
    target = classroom.submission(student, exercise)
    stamp = target.with_name("timestamp.txt")
    if stamp.exists() and target.exists() and datetime.fromisoformat(stamp.read_text(encoding="utf-8").strip()) > time:
        return f"{student} {exercise} {time.isoformat()}: a newer one is there already ({path!r} is not taken)"
    if any(folder.is_symlink() for folder in (target, target.parent, target.parent.parent)):
        return f"NOT TAKEN {path!r}: grading/submitted/{student} holds a link"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.data)
    write(target.with_name(SECRET), content.secret)
    write(stamp, f"{time.isoformat()}\n")
    return f"{student} {exercise} {time.isoformat()}"


def _all(source, zone):
    """Yield everything below a folder, and in its zip files."""
    paths = sorted(source.rglob("*")) if source.is_dir() else [source]
    for path in paths:
        name = path.relative_to(source.parent if source.is_file() else source).as_posix()
        if path.suffix.lower() not in (".ipynb", ".zip") or _is_litter(name):
            continue
        time = datetime.fromtimestamp(path.lstat().st_mtime, UTC).replace(microsecond=0)
        if path.is_symlink() or not path.is_file():
            yield _refused(name, time, "it is a link or no plain file")
        elif path.suffix.lower() == ".zip":
            try:
                with plain.opened(source, path) as (file, _):
                    yield from _in_archive(file, name, zone, os.fstat(file.fileno()).st_uid)
            except CourseError as error:
                yield _refused(name, time, str(error))
        else:
            size = path.stat().st_size
            yield Found(name, times.stamp(path) or time, functools.partial(plain.read, source, path, MOST_BYTES, SECRET),
                        "" if size <= MOST_BYTES else _too_large(size))


def _in_archive(file, name, zone, owner, depth=0):
    """Yield the notebooks in a zip file, and in zip files inside it."""
    now = datetime.now(UTC)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        yield _refused(name, now, f"it is no zip file ({error})")
        return
    if len(archive.infolist()) > MOST_MEMBERS:
        yield _refused(name, now, f"it holds {len(archive.infolist())} files")
        return
    for info in archive.infolist():
        path = f"{name}/{info.filename}"
        ending = info.filename[-6:].lower()
        if not ending.endswith((".ipynb", ".zip")) or _is_litter(path):
            continue
        refused = _trick(info)
        if ending.endswith(".zip") and not refused:
            if depth:
                yield _refused(path, now, "it is a zip file in a zip file in a zip file")
            else:
                yield from _nested(archive, info, path, zone, owner)
            continue
        yield Found(path, times.of_member(info, zone), functools.partial(_content, archive, info, owner), refused)


def _nested(archive, info, path, zone, owner):
    try:
        data = _member(archive, info)
    except (CourseError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        yield _refused(path, datetime.now(UTC), str(error))
        return
    yield from _in_archive(io.BytesIO(data), path, zone, owner, depth=1)


def _refused(path, time, why):
    return Found(path, time, lambda: Content(b""), why)


def _content(archive, info, owner):
    return Content(_member(archive, info), owner)


def _trick(info):
    """Return why a member of an archive is refused, or ""."""
    parts = re.split(r"[/\\]", info.filename)
    if ".." in parts or info.filename.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", info.filename) or "\0" in info.orig_filename:
        return "its path leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link"
    if info.flag_bits & 1:
        return "it is encrypted"
    return _too_large(info.file_size) if info.file_size > MOST_BYTES else ""


def _too_large(size):
    return f"it has {size >> 20} MB, at most {MOST_BYTES >> 20} are read"


def _member(archive, info):
    """Read a member, whatever size it claims to have."""
    with archive.open(info) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise CourseError(_too_large(len(data)))
    return data


def _is_litter(name):
    """Tell whether a file is none that anybody submitted: what macOS and Jupyter leave beside files."""
    return any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in re.split(r"[/\\]", name))


def _whose(found, exercise, names, zone):
    """Return (student, exercise, time) from a path.

    Raises
    ------
    CourseError
        When the path tells no student or no exercise, or nobody on the roster is called so.
    """
    parts = re.split(r"[/\\]", re.sub(r"(?i)\.(ipynb|zip)(?=[/\\]|$)", "", found.path))
    known = dict.fromkeys(name for name, _ in all_parts())
    which = next((name for part in reversed(parts) for name in known if name in part), exercise)
    if which is None:
        raise CourseError(f"its path names no exercise ({', '.join(known)}): give --exercise")
    called = list(_called(parts[:0:-1], which)) + list(_called(parts[:1], which))
    if not called:
        raise CourseError("its path tells no student: name it STUDENT_EXERCISE.ipynb, or put it into a folder STUDENT")
    name, time = next((pair for pair in called if _key(pair[0]) in names), called[0])
    return _student(name, names), which, times.read_time(time, zone) if time else found.time


def _demand_owner(path, exercise, student, owner, names):
    """Raise `CourseError` when a submission in the exchange belongs to another user of this machine.

    The exchange lets everybody write, so that the name of a folder proves nothing; whose the file is does. What belongs to
    whoever collects comes from a copy, or from a hub whose servers are all of one account.
    """
    form = re.compile(_FORMS[0].pattern.replace("EXERCISE", re.escape(exercise)), re.IGNORECASE)
    if owner in (None, os.getuid()) or not any(map(form.fullmatch, path.split("/"))):
        return
    name = _account(owner)
    with contextlib.suppress(CourseError):           # a name that nobody on the roster has
        if name is not None and _student(name, names) == student:
            return
    raise CourseError(f"it says that it is of {student}, and it belongs to {name or f'user {owner}'}")


def _account(owner):
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return None


def _called(parts, exercise):
    """Yield (what a student may be called, the time beside it or None): first the forms of the platforms, then plain folders.

    >>> list(_called(["04_tiling", "Ada Lovelace_17_assignsubmission_file_"], "04_tiling"))[0]
    ('Ada Lovelace', None)
    """
    for part in parts:
        for form in _FORMS:
            if match := re.fullmatch(form.pattern.replace("EXERCISE", re.escape(exercise)), part, re.IGNORECASE):
                yield match["student"], match.groupdict().get("time")
                break
    yield from ((part, None) for part in parts if exercise not in part and part not in OF_THE_COURSE)


def _student(called, names):
    """Return the id of whom a platform calls so."""
    if names:
        if _key(called) not in names:
            raise CourseError(f"nobody on the roster is called {called!r}: write that into the column `platform`")
        return names[_key(called)]
    name = re.sub(r"\s+", "_", called.strip())
    check_name(name)
    return name


def _names(roster):
    """Return what students may be called -> id."""
    found: dict[str, str] = {}
    for student in roster.values():
        for called in (student.name, student.platform, student.student):
            found |= {_key(called): student.student} if called else {}
    return found


def _key(called):
    """Return a name as it is compared: without case, spaces and signs.

    >>> _key("Lovelace, Ada"), _key("lovelaceada")
    ('lovelaceada', 'lovelaceada')
    """
    return "".join(filter(str.isalnum, called.casefold()))
