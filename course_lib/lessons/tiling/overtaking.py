"""The picture of what a missing barrier allows, for the reader's own kernel."""

import re

from course_lib import explorables
from course_lib.errors import CourseError
from course_lib.explorables.overtaking import Overtaking
from course_lib.unwritten import Unwritten, lack

BARRIER = "__syncthreads();"


def without_last_barrier(text: str) -> str:
    """Return a kernel's text without its last barrier; no line moves.

    Raises
    ------
    CourseError
        When the text has no barrier.

    >>> without_last_barrier("__syncthreads(); x();\\n__syncthreads(); y();")
    '__syncthreads(); x();\\n y();'
    """
    before, barrier, after = text.rpartition(BARRIER)
    if not barrier:
        raise CourseError(f"the kernel has no {BARRIER} that could be removed: write both barriers into it first")
    return before + after


def overtaking(text: str | Unwritten) -> Overtaking:
    """Play the eight warps of one block of a tiled kernel, with its last barrier and without it; its tiles are made 16 × 16.

    While the reader's kernel is not written, the warps are those of `sgemm_tiled`, and the picture says so.

    Raises
    ------
    CourseError
        When the kernel has no barrier, or not two shared tiles.
    """
    if not isinstance(text, str):
        return explorables.overtaking(instead=f"{lack(text)}, so this is the course's sgemm_tiled.")
    broken = without_last_barrier(text)
    return explorables.overtaking(*(re.sub(r"^([ \t]*#[ \t]*define[ \t]+T[ \t]+)\d+", r"\g<1>16", each, flags=re.MULTILINE)
                                    for each in (text, broken)))
