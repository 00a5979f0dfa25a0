"""Lesson 03's explorable: which thread computes which element of C, and what the 32 lanes of its warp ask memory for, step by step.

The browser computes it by the kernels' formulas. `tests/explorables/test_threads.py` holds every position to `traced`.
"""

import numpy as np

from course_lib.errors import CourseError
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import RunResult, run
from course_lib.run.traces import every_warp

SIDE = 32                             # rows and columns of A, B and C: a row is one line of 128 bytes
KERNELS = {"naive": "sgemm_naive", "swapped": "sgemm_swapped"}
BLOCKS = {"32 × 8": (32, 8), "16 × 16": (16, 16), "8 × 32": (8, 32)}
UNITS = ("sectors", "lines")
WATCHED = {"naive": (18, 19), "swapped": (17, 21)}      # the warp and the lane that compute C[21][3] in blocks of 16 × 16


def traced(kernel: str, block: str) -> RunResult:
    """Run a kernel on the picture's matrices in the simulator, and trace all its warps."""
    bx, by = BLOCKS[block]
    A, B = (np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE) % 7 + k for k in range(2))
    grid = (SIDE // bx, SIDE // by)
    return run(KERNELS[kernel], A, B, backend="sim", trace=every_warp(grid, (bx, by)), bx=bx, by=by)


class Threads(Explorable):
    """Threads and their elements; made by `who_computes`."""

    name = "threads"
    title = "Which thread computes which element, and what its warp asks memory for"
    _esm = module_text("threads")

    def static_text(self) -> str:
        return (f"{self.title}. C has {SIDE} × {SIDE} elements in blocks of {self.values['block']} threads. You choose a thread, and see "
                "its row of A, its column of B, the 32 threads of its warp, and what they ask memory for. Run this cell to play it.")


def who_computes(kernel: str = "naive", *, block: str = "16 × 16", unit: str = "sectors") -> Threads:
    """Play a warp of `sgemm_naive` or `sgemm_swapped` as it loads and multiplies.

    Parameters
    ----------
    kernel
        "naive" or "swapped": whether `threadIdx.x` counts columns of C, or rows. With "swapped" a control goes back to the other; with
        "naive" there is none, as it would tell what lesson 03 asks for later.
    block
        Threads along x and y: "32 × 8", "16 × 16" or "8 × 32".
    unit
        What is counted: "sectors" or "lines".

    Raises
    ------
    CourseError
        For a kernel, a block or a unit that the picture does not have.
    """
    for given, known in ((kernel, KERNELS), (block, BLOCKS), (unit, UNITS)):
        if given not in known:
            raise CourseError(f"the picture has no {given!r}; it has {', '.join(known)}", given=given)
    warp, lane = WATCHED[kernel]
    values = {"kernel": kernel, "block": block, "warp": warp, "lane": lane}
    return Threads(states={"side": SIDE, "unit": unit, "both": kernel == "swapped"}, values=values)
