"""Lesson 03's explorable: which thread computes which element of C, and what the 32 lanes of its warp ask memory for, step by step.

The browser computes it by the kernels' formulas. `tests/explorables/test_threads.py` holds every position to `traced`.
"""

import numpy as np

from course_lib.errors import CourseError
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import RunResult, run
from course_lib.run.traces import every_warp

ROWS, COLUMNS, DEEP = 16, 32, 16      # of C, and products per sum: few enough for an element to be ten pixels wide
KERNELS = {"naive": "sgemm_naive", "swapped": "sgemm_swapped"}
BLOCK = (16, 16)
WATCHED = {"naive": (10, 19), "swapped": (9, 21)}       # the warp and the lane that compute C[5][19]


def traced(kernel: str, block: tuple[int, int] = BLOCK, *, rows: int = ROWS, columns: int = COLUMNS, deep: int = DEEP) -> RunResult:
    """Run a kernel in the simulator, on the picture's matrices or on others that its blocks divide, and trace all its warps."""
    A = np.arange(rows * deep, dtype=np.float32).reshape(rows, deep) % 7
    B = np.arange(deep * columns, dtype=np.float32).reshape(deep, columns) % 7 + 1
    along_x, along_y = (columns, rows) if kernel == "naive" else (rows, columns)
    grid = (along_x // block[0], along_y // block[1])
    return run(KERNELS[kernel], A, B, backend="sim", trace=every_warp(grid, block), bx=block[0], by=block[1])


class Threads(Explorable):
    """Threads and their elements; made by `who_computes`."""

    name = "threads"
    title = "Which thread computes which element, and what its warp asks memory for"
    _esm = module_text("threads")

    def static_text(self) -> str:
        return (f"{self.title}. C has {ROWS} rows and {COLUMNS} columns, and a block 16 × 16 threads. You choose a thread, and see its row "
                "of A, its column of B, the 32 threads of its warp, and what they ask memory for. Run this cell to play it.")


def who_computes(kernel: str = "naive") -> Threads:
    """Play a warp of `sgemm_naive` or `sgemm_swapped` as it loads and multiplies.

    Parameters
    ----------
    kernel
        "naive" or "swapped": whether `threadIdx.x` counts columns of C, or rows. With "swapped" a control goes back to the other; with
        "naive" there is none, as it would tell what lesson 03 asks for later.

    Raises
    ------
    CourseError
        For a kernel that the picture does not have.
    """
    if kernel not in KERNELS:
        raise CourseError(f"the picture has no {kernel!r}; it has {', '.join(KERNELS)}", given=kernel)
    warp, lane = WATCHED[kernel]
    return Threads(states={"rows": ROWS, "columns": COLUMNS, "deep": DEEP, "both": kernel == "swapped"},
                   values={"kernel": kernel, "warp": warp, "lane": lane})
