"""Lesson 02's second explorable: the sets of a cache, and which lines of a block of B push each other out.

The model of a cache in `course_lib.model.cache_lines`, in the shape of the recorded CPU's first cache, counts each position of the slider.
"""

import functools
from typing import Any

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.cache_lines import CacheShape, LineCounter

FLOAT = 4                               # bytes
BLOCK = 16                              # rows of the block, and floats of one: a line
FLOATS = range(1024, 2049, 16)          # from one row of B to the next


def first_cache() -> CacheShape:
    """Return the first cache of the recorded CPU, with its sets."""
    found, = data.readings("cpu_roof").find(what="cache", level=1)
    return CacheShape(found["kib"] * 1024, ways=found["ways"])


def reads(floats: int) -> list[list[int]]:
    """Read the lines of a 16 × 16 block of B one after another, row by row, twice, with so many floats from one row of B to the next.

    Returns
    -------
    list
        Of each read: whether the line was found (0 or 1), and the row whose line was pushed out for it, or -1.

    >>> reads(1024)[10:13], sum(found for found, _ in reads(1040)[16:])
    ([[0, -1], [0, -1], [0, 0]], 16)
    """
    counter = LineCounter([(BLOCK, BLOCK, floats)] * 3, FLOAT, first_cache(), room=2 * BLOCK)
    for row in (*range(BLOCK), *range(BLOCK)):
        counter.touch(0, row, 0)
    per_row = FLOAT * floats // counter.cache.line
    return [[1 - missing, gone // per_row if gone >= 0 else -1] for *_, missing, gone in counter.finish().trace]


def still_there(floats: int) -> int:
    """Return how many of the 16 lines are found in the cache when they are read again.

    >>> still_there(1024), still_there(1040)
    (0, 16)
    """
    return sum(found for found, _ in reads(floats)[BLOCK:])


@functools.cache
def states() -> dict[str, Any]:
    """Return both readings at every position of the slider, as JSON takes them."""
    cache = first_cache()
    return {"sets": cache.sets, "ways": cache.ways, "perLine": cache.line // FLOAT, "block": BLOCK,
            "first": FLOATS[0], "last": FLOATS[-1], "step": FLOATS.step, "reads": {str(floats): reads(floats) for floats in FLOATS}}


class Sets(Explorable):
    """A block of B in memory and in the sets of a cache; made by `sets`."""

    name = "sets"
    title = "A block of B and the sets of a cache"
    _esm = module_text("sets")

    def static_text(self) -> str:
        return (f"{self.title}. The lines of a {BLOCK} × {BLOCK} block are read one after another, and then once more. Each falls into the "
                "set that its address decides. You choose how many floats a row of B has. Run this cell to play it.")


def sets(floats: int = FLOATS[0]) -> Sets:
    """Play how a 16 × 16 block of B is read twice, with a counter of the lines that the second reading finds in the cache.

    Parameters
    ----------
    floats
        From one row of B to the next, one of `FLOATS`.
    """
    return Sets(states=states(), values={"floats": floats})
