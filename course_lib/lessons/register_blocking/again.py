"""An experiment for a GPU: the kernel with 8 × 8 outputs loads words again, or adds as many multiply-adds that nobody needs.

`python -m tools record again` runs it; the rows of an H200 are the readings `again`.
"""

from functools import cache
from pathlib import Path

import numpy as np

from course_lib import cp
from course_lib.arch import WARP
from course_lib.lessons.register_blocking.counts import shared_busy
from course_lib.run import LaunchResult
from course_lib.toolchain import Compiled, compile_cuda, sass

ENTRY, FILE = "again", Path(__file__).with_name("again.cu")
ROWS = (8, 4, 2, 1)                         # after so many of its 8 rows of outputs a thread does it again: 8 means never
TILE, BK, OUTPUTS = 128, 8, 64


def variants() -> tuple[dict[str, int], ...]:
    """Return what to compare: the words of Bs loaded again and again, and as many more multiply-adds."""
    return tuple({"ROWS": rows, "LOADS": loads} for loads in (1, 0) for rows in ROWS if loads or rows < max(ROWS))


@cache
def compiled(**variant: int) -> Compiled:
    """Compile one variant."""
    return compile_cuda(FILE.read_text(encoding="utf-8"), name=FILE.name, arch="sm_90", defines=variant)


def instructions(**variant: int) -> float:
    """Return how many loads from shared memory and multiply-adds the machine code has for each multiply-add of the product."""
    code = sass(compiled(**variant), ENTRY)
    return sum(i.base in ("LDS", "FFMA") for i in code) / (OUTPUTS * BK)


@cache
def launched(**variant: int) -> LaunchResult:
    """Run one block of one variant in the simulator."""
    n, one, zero = np.int32(TILE), np.float32(1), np.float32(0)
    A, B, C = (cp.zeros((TILE, TILE), dtype=np.float32) for _ in "ABC")
    options = tuple(f"-D{name}={value}" for name, value in variant.items())
    cp.RawKernel(FILE.read_text(encoding="utf-8"), ENTRY, options=options)((1, 1), (16, 16), (n, n, n, one, A, n, B, n, zero, C, n))
    return cp.last_launch()


def words(**variant: int) -> float:
    """Return the words that a thread loads from shared memory per multiply-add, counted by the simulator."""
    return WARP * launched(**variant).count("shared instructions", "load") / TILE**3


def busy(**variant: int) -> float:
    """Return the least seconds that shared memory needs at N = 4096."""
    return shared_busy(WARP * sum(launched(**variant).count("wavefronts", kind) for kind in ("load", "store")) / TILE**3)
