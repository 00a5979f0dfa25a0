"""How many words of shared memory a multiply-add needs: from the formula, and from a trace."""

import math
from fractions import Fraction
from typing import Any

from course_lib.arch import DEFAULT_DEVICE, WARP
from course_lib.kernels import UserKernel, get
from course_lib.kernels.user import is_source
from course_lib.plots import every_warp, words_read
from course_lib.run import run
from course_lib.widgets.compute import inputs

KERNEL = "sgemm_2d_tile"
N_TIMED = 4096


def words_per_multiply_add(TM: int, TN: int) -> Fraction:
    """Return how many words a thread with TM × TN outputs reads from shared memory per multiply-add.

    >>> words_per_multiply_add(4, 4)
    Fraction(1, 2)
    """
    return Fraction(TM + TN, TM * TN)


def words_read_by(kernel: str, **tile: int) -> float:
    """Run one block of a kernel in the simulator, and return how many words its threads read from shared memory per multiply-add.

    Parameters
    ----------
    kernel
        CUDA text of the reader's, with `#define`s for its tile; or a name of the catalog.
    **tile
        BM, BN, BK and so on, where the text does not set them.
    """
    described = UserKernel.from_source(kernel) if is_source(kernel) else get(kernel)
    p = described.check(**tile)
    A, B, _ = inputs(p["BM"], p["BN"], p["BK"])
    options: dict[str, Any] = {"trace": every_warp((1, 1), described.block(**p)), **tile}
    result = run(described, A, B, backend="sim", **options)
    return words_read(result) / math.prod((p["BM"], p["BN"], p["BK"]))


def shared_busy(each: float) -> float:
    """Return the least seconds of shared memory at N = 4096, for so many wavefronts per multiply-add of a warp.

    It serves one wavefront per cycle on every multiprocessor, at the highest clock.
    """
    return each * N_TIMED**3 / WARP / DEFAULT_DEVICE.sms / (1e6 * DEFAULT_DEVICE.clock_mhz)
