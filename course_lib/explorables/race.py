"""Lesson 00's explorable: every kernel of the ladder multiplies the same two matrices, at the speed that was recorded on a real GPU."""

import functools
from typing import Any

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.kernels import get

N = 4096
SIDE = 32                             # C is drawn as SIDE × SIDE squares, filled row by row; only the time of a whole product is recorded
LIBRARY = "cuBLAS"
NAMES = {"sgemm_swapped": "swapped", "sgemm_naive": "naive", "sgemm_tiled": "tiled", "sgemm_uncoalesced": "uncoalesced",
         "sgemm_coalesced": "coalesced", "sgemm_padded": "padded", "sgemm_unrolled": "unrolled", "sgemm_1d_tile": "1D tile",
         "sgemm_2d_tile": "2D tile", "sgemm_vectorized": "vectorized", "sgemm_warp_tile": "warp tile",
         "sgemm_double_buffered": "double buffered", LIBRARY: LIBRARY}
RIVALS = tuple(name for name in NAMES if name != LIBRARY)


def lane(kernel: str) -> dict[str, Any]:
    """Return one kernel's lane: what it is called, the lesson that is about it, and its recorded time for one product in ms."""
    timed, = data.load("ladder").find(kernel, N)
    lesson = "" if kernel == LIBRARY else get(kernel).lesson[:2]
    return {"kernel": kernel, "name": NAMES[kernel], "lesson": lesson, "ms": 1e3 * timed.median_s}


@functools.cache
def states() -> dict[str, Any]:
    """Return all lanes, the library's last, as JSON takes it: a recording is read, and no kernel runs."""
    return {"N": N, "side": SIDE, "label": data.load("ladder").label, "lanes": [lane(kernel) for kernel in NAMES]}


class Race(Explorable):
    """Kernels that multiply the same matrices; made by `race`."""

    name = "race"
    title = "The race: every kernel multiplies the same two matrices"
    _esm = module_text("race")

    def static_text(self) -> str:
        return (f"{self.title}, of {N} × {N} numbers, on the same GPU, each at the speed that was {states()['label']}. One is a simple "
                "program, and one is NVIDIA's library. Run this cell to start them.")


def race(rival: str = "naive") -> Race:
    """Let a kernel race against NVIDIA's library, at recorded speed.

    Parameters
    ----------
    rival : str
        Who begins in the first lane: "naive", "tiled" and so on.
    """
    return Race(states=states(), values={"show": "two", "rival": list(NAMES.values()).index(rival), "pace": 400})
