"""Lesson 00's explorable: every kernel of the ladder multiplies the same two matrices, as it was recorded on a real GPU.

Two recordings: "ladder" has the time of a product, and "filling" has when each of 32 × 32 elements of C got its number, in a run that
was watched. The rule that joins them: an element that got its number `filled_us` after the start of a run of `watched_us` fills its cell
when the part `filled_us` / `watched_us` of the recorded time of a product has passed.
"""

import functools
import string
from typing import Any

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.kernels import get

N = 4096
SIDE = 32                             # C is drawn as SIDE × SIDE cells: one recorded element each, in the middle of 128 × 128
WHOLE = 64**2                         # the time of one product, in the units in which the browser gets those of the cells: two digits each
DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
LIBRARY = "cuBLAS"
NAMES = {"sgemm_swapped": "swapped", "sgemm_naive": "naive", "sgemm_tiled": "tiled", "sgemm_uncoalesced": "uncoalesced",
         "sgemm_coalesced": "coalesced", "sgemm_padded": "padded", "sgemm_unrolled": "unrolled", "sgemm_1d_tile": "1D tile",
         "sgemm_2d_tile": "2D tile", "sgemm_vectorized": "vectorized", "sgemm_warp_tile": "warp tile",
         "sgemm_double_buffered": "double buffered", LIBRARY: LIBRARY}
RIVALS = tuple(name for name in NAMES if name != LIBRARY)


def lane(kernel: str) -> dict[str, Any]:
    """Return one kernel's lane: its name, its lesson, its recorded time for one product in ms, and when each cell of C fills."""
    timed, = data.load("ladder").find(kernel, N)
    watched, = data.readings("filling").find(kernel=kernel)
    parts = [round(WHOLE * us / watched["watched_us"]) for us in watched["filled_us"]]
    lesson = "" if kernel == LIBRARY else get(kernel).lesson[:2]
    return {"kernel": kernel, "name": NAMES[kernel], "lesson": lesson, "ms": 1e3 * timed.seconds,
            "begins": "top" if parts[SIDE - 1] < parts[-SIDE] else "left",        # is the top right corner before the bottom left one?
            "fills": "".join(DIGITS[part // 64] + DIGITS[part % 64] for part in parts)}


@functools.cache
def states() -> dict[str, Any]:
    """Return all lanes, the library's last, as JSON takes it: a recording is read, and no kernel runs."""
    return {"N": N, "side": SIDE, "label": data.load("ladder").label, "order": data.readings("filling").label,
            "lanes": [lane(kernel) for kernel in NAMES]}


class KernelRace(Explorable):
    """Kernels that multiply the same matrices; made by `race`."""

    name = "race"
    title = "The race: every kernel multiplies the same two matrices"
    _esm = module_text("race")

    def static_text(self) -> str:
        return (f"{self.title}, of {N} × {N} numbers, on the same GPU, each at the speed that was {states()['label']}, "
                f"and in the order that was {states()['order']}. One is a simple program, and one is NVIDIA's library. "
                "Run this cell to start them.")


def race(rival: str = "naive") -> KernelRace:
    """Let a kernel race against NVIDIA's library, at recorded speed.

    Parameters
    ----------
    rival
        Who begins in the first lane: "naive", "tiled" and so on.
    """
    return KernelRace(states=states(), values={"show": "two", "rival": list(NAMES.values()).index(rival), "pace": 400})
