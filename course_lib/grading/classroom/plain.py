"""Read other people's files from a folder: plain files in plain folders only, and whose they are.

Between a look and a read a file could become a link to one of the instructor's, so every step opens by what is already open.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from course_lib.errors import CourseError


@dataclass(frozen=True)
class Content:
    """What was read: bytes, the user id of its owner (None: of nobody on this machine), the secret that lay beside it."""

    data: bytes = field(repr=False)
    owner: int | None = None
    secret: str = field(default="", repr=False)


@contextlib.contextmanager
def opened(folder: Path, path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a plain file below a folder, without following a link on the way.

    Parameters
    ----------
    folder
        Trusted; it may itself be a link.
    path
        Below `folder`, or `folder` itself when that is the file.

    Yields
    ------
    file, int
        The file, to read bytes from, and the number of the folder that it lies in.

    Raises
    ------
    CourseError
        When it is a link or no plain file.
    """
    *folders, name = path.relative_to(folder).parts if path != folder else (folder.name,)
    with contextlib.ExitStack() as stack:
        number = _number(stack, folder if path != folder else folder.absolute().parent, os.O_DIRECTORY, None)
        for part in folders:
            number = _number(stack, part, os.O_DIRECTORY | os.O_NOFOLLOW, number)
        inside = _number(stack, name, os.O_NOFOLLOW | os.O_NONBLOCK, number)
        if not stat.S_ISREG(os.fstat(inside).st_mode):
            raise CourseError("it is a link or no plain file")
        yield stack.enter_context(open(inside, "rb", closefd=False)), number


def read(folder: Path, path: Path, most: int, beside: str = "") -> Content:
    """Return the `Content` of a plain file, at most so many bytes and one more; `beside` names a small text in the same folder."""
    with opened(folder, path) as (file, number):
        return Content(file.read(most + 1), os.fstat(file.fileno()).st_uid, _beside(number, beside) if beside else "")


def _beside(number, name):
    """Return a text of up to 1,000 letters and digits, or ""."""
    try:
        with contextlib.ExitStack() as stack:
            inside = _number(stack, name, os.O_NOFOLLOW | os.O_NONBLOCK, number)
            text = os.read(inside, 1001).decode("ascii") if stat.S_ISREG(os.fstat(inside).st_mode) else ""
    except (OSError, CourseError, UnicodeDecodeError):
        return ""
    return text if text.isalnum() and len(text) <= 1000 else ""


def _number(stack, path, flags, where):
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=where)
    except OSError as error:
        raise CourseError(f"it is a link or cannot be read ({error.strerror})") from None
    stack.callback(os.close, number)
    return number
