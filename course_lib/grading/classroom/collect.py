"""Put submissions where grading finds them, from whatever a learning platform gives: zip files, folders, notebooks.

Nothing is unpacked by the names in an archive: each notebook is read, its student and exercise are found from its path (`owners`), and
it is written to one file. A path that tries to leave its archive, a link, an encrypted or swollen file is refused by name.
"""

import contextlib
import functools
import io
import os
import pwd
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom import owners, plain, times
from course_lib.grading.classroom.folders import SECRET, Classroom, write
from course_lib.grading.classroom.normalise import MOST_BYTES
from course_lib.grading.classroom.owners import Owner, Part
from course_lib.grading.classroom.plain import Content
from course_lib.grading.classroom.roster import key, names_of

MOST_MEMBERS = 100_000


@dataclass(frozen=True)
class Found:
    """A notebook that was submitted: where it was, and how to read its `Content`; `refused` says why it is not taken."""

    parts: owners.Path
    read: Callable[[], Content]
    refused: str = ""

    @property
    def path(self) -> str:
        """Return its path as a line of the report names it."""
        return "/".join(part.name for part in self.parts)


@dataclass(frozen=True)
class _Taken:
    """A submission that was read."""

    owner: Owner
    content: Content
    path: str


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
    zone = times.zone_of(classroom)
    roster = owners.Roster(names_of(classroom.roster().values()), zone)
    paths = [found.parts for found in _all(source, zone) if not found.refused]
    entry = dict(zip(paths, owners.entries(paths, roster)))
    known = {} if roster.names else _known(classroom, roster, entry)
    newest: dict[tuple[str, str], _Taken] = {}
    namesakes: dict[tuple[str, str], list[_Taken]] = {}
    for found in _all(source, zone):
        try:
            if found.refused:
                raise CourseError(found.refused)
            owner = roster.whose(found.parts, entry.get(found.parts), exercise, known)
            taken = _Taken(owner, found.read(), found.path)
            _demand_owner(taken, roster)
        except CourseError as error:
            yield f"NOT TAKEN {found.path!r}: {error}"
            continue
        except Exception as error:      # readers of archives raise anything; it becomes this file's line, and the others go on
            yield f"NOT TAKEN {found.path!r}: it cannot be read ({type(error).__name__}: {error})"
            continue
        before = newest.setdefault((owner.student, owner.exercise), taken)
        if before.owner.number != owner.number and before.owner.number and owner.number:
            namesakes.setdefault((owner.student, owner.exercise), [before]).append(taken)
        elif before.owner.time <= owner.time:
            newest[owner.student, owner.exercise] = taken
    for several in namesakes.values():
        del newest[several[0].owner.student, several[0].owner.exercise]
        numbers = ", ".join(dict.fromkeys(taken.owner.number for taken in several))
        for taken in several:
            yield (f"NOT TAKEN {taken.path!r}: several students are called so (the platform's numbers are {numbers}): write name and "
                   f"number, such as '{taken.owner.student} {taken.owner.number}', into the column `platform`")
    for _, taken in sorted(newest.items()):
        try:
            yield _put(classroom, taken)
        except CourseError as error:
            yield f"NOT TAKEN {taken.path!r}: {error}"


def _known(classroom, roster, entry):
    """Return keys of names, and of the words in them -> ids of students who submitted, now or before, in place of a roster."""
    known = {key(student): student for exercise in roster.exercises for student in classroom.submitted(exercise)}
    called = [roster.called(parts[at]) for parts, at in entry.items() if at is not None]
    for names in ([name.student] for name in called), (re.findall(r"\w{3,}", name.student) for name in called):
        for words, name in zip(names, called):
            with contextlib.suppress(CourseError):
                known |= {key(word): roster.id_of(name) for word in words if key(word) not in known}
    return known


def demand_source(source: Path) -> None:
    """Raise `CourseError` when there is nothing to collect from."""
    if not source.exists():
        raise CourseError(f"there is no {source}: give the folder with what the learning platform gave you")


def _put(classroom, taken):
    """Write a submission and its time; return the line that says so."""
    student, exercise, time = taken.owner.student, taken.owner.exercise, taken.owner.time
    target = classroom.submission(student, exercise)
    stamp = target.with_name("timestamp.txt")
    if any(folder.is_symlink() for folder in (target, target.parent, target.parent.parent)):
        raise CourseError(f"grading/submitted/{student} holds a link")
    if target.exists() and (before := times.stored(stamp)) is not None and before > time:
        return f"{student} {exercise} {time.isoformat()}: a newer one is there already ({taken.path!r} is not taken)"
    write(target, taken.content.data)
    write(target.with_name(SECRET), taken.content.secret)
    write(stamp, f"{time.isoformat()}\n")
    return f"{student} {exercise} {time.isoformat()}"


def _all(source, zone):
    """Yield everything below a folder, and in its zip files."""
    paths = sorted(source.rglob("*")) if source.is_dir() else [source]
    for path in paths:
        names = path.relative_to(source.parent if source.is_file() else source).parts
        if path.suffix.lower() not in (".ipynb", ".zip") or _is_litter("/".join(names)):
            continue
        kind = "zip" if path.suffix.lower() == ".zip" else "file"
        try:
            time = datetime.fromtimestamp(path.lstat().st_mtime, UTC).replace(microsecond=0)
        except (OSError, OverflowError, ValueError):
            time = datetime.now(UTC).replace(microsecond=0)
        parts = (*(Part(name, "folder") for name in names[:-1]), Part(names[-1], kind, time))
        if path.is_symlink() or not path.is_file():
            yield _refused(parts, "it is a link or no plain file")
        elif kind == "zip":
            try:
                with plain.opened(source, path) as (file, _):
                    yield from _in_archive(file, parts, zone, os.fstat(file.fileno()).st_uid)
            except CourseError as error:
                yield _refused(parts, str(error))
        else:
            size = path.stat().st_size
            read = functools.partial(plain.read, source, path, MOST_BYTES, SECRET)
            yield Found(parts, read, "" if size <= MOST_BYTES else _too_large(size))


def _in_archive(file, parts, zone, owner, depth=0):
    """Yield the notebooks in a zip file, and in zip files inside it."""
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
    except Exception as error:          # a student's zip file may be anything: struct's, codecs' and others' errors come out of zipfile too
        yield _refused(parts, f"it is no zip file ({error})")
        return
    if len(members) > MOST_MEMBERS:
        yield _refused(parts, f"it holds {len(members)} files")
        return
    for info in members:
        names = re.split(r"[/\\]", info.filename)
        kind = names[-1].lower()[-6:]
        if not kind.endswith((".ipynb", ".zip")) or _is_litter(info.filename):
            continue
        kind = "zip" if kind.endswith(".zip") else "file"
        inside = (*parts, *(Part(name, "folder") for name in names[:-1]), Part(names[-1], kind, times.of_member(info, zone)))
        refused = _trick(info)
        if kind == "zip" and not refused:
            if depth:
                yield _refused(inside, "it is a zip file in a zip file in a zip file")
            else:
                yield from _nested(archive, info, inside, zone, owner)
            continue
        yield Found(inside, functools.partial(_content, archive, info, owner), refused)


def _nested(archive, info, parts, zone, owner):
    try:
        data = _member(archive, info)
    except Exception as error:          # as above
        yield _refused(parts, f"it cannot be read ({error})")
        return
    yield from _in_archive(io.BytesIO(data), parts, zone, owner, depth=1)


def _refused(parts, why):
    return Found(parts, lambda: Content(b""), why)


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


def _demand_owner(taken, roster):
    """Raise `CourseError` when a submission in the exchange belongs to another user of this machine.

    The exchange lets everybody write, so that the name of a folder proves nothing; whose the file is does. What belongs to
    whoever collects comes from a copy, or from a hub whose servers are all of one account.
    """
    form = re.compile(owners.IN_EXCHANGE.replace("EXERCISE", re.escape(taken.owner.exercise)), re.IGNORECASE)
    if taken.content.owner in (None, os.getuid()) or not any(map(form.fullmatch, taken.path.split("/"))):
        return
    name = _account(taken.content.owner)
    with contextlib.suppress(CourseError):           # a name that nobody on the roster has
        if name is not None and roster.id_of(owners.Called(name)) == taken.owner.student:
            return
    raise CourseError(f"it says that it is of {taken.owner.student}, and it belongs to {name or f'user {taken.content.owner}'}")


def _account(owner):
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return None
