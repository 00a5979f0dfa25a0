"""The picture of what a missing barrier allows, for the reader's own kernel."""

from course_lib import explorables
from course_lib.explorables.overtaking import Overtaking
from course_lib.lessons.tiling.races import with_tile, without_last_barrier


def overtaking(text: str) -> Overtaking:
    """Play the eight warps of one block of a tiled kernel, with its last barrier and without it; its tiles are made 16 × 16.

    Raises
    ------
    CourseError
        When the kernel has no barrier, or not two shared tiles.
    """
    broken = without_last_barrier(text, 16)            # first: it says when the kernel is not written yet
    return explorables.overtaking(with_tile(text, 16), broken)
