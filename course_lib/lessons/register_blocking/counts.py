"""How many words of shared memory a multiply-add needs: from the formula, from a trace, and as the hardware delivers them."""

import math
from fractions import Fraction
from typing import Any

from course_lib.kernels import UserKernel, get
from course_lib.kernels.user import is_source
from course_lib.plots import Table, every_warp, words_read
from course_lib.run import RunResult, footprint, run
from course_lib.widgets.compute import inputs

THREADS, BK = 16, 16           # threads of a block along x, and along y; columns of A's tile
SHAPES = ((1, 1), (4, 1), (16, 1), (2, 2), (4, 4), (8, 8))
KERNEL = "sgemm_2d_tile"


def tile_of(TM: int, TN: int) -> dict[str, int]:
    """Return the parameters with which each of 16 × 16 threads computes TM × TN outputs.

    >>> tile_of(4, 2)
    {'BM': 64, 'BN': 32, 'BK': 16, 'TM': 4, 'TN': 2}
    """
    return {"BM": THREADS * TM, "BN": THREADS * TN, "BK": BK, "TM": TM, "TN": TN}


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


def wavefronts(result: RunResult) -> float:
    """Return the wavefronts of shared memory, loads and stores, per multiply-add of a warp."""
    both = result.count("wavefronts", "load") + result.count("wavefronts", "store")
    return 32 * both / (result.M * result.N * result.K)


def shapes() -> Table:
    """Return a table of what a thread with TM × TN outputs reads per multiply-add, and of what that takes of a multiprocessor."""
    rows = []
    for TM, TN in SHAPES:
        tile: dict[str, Any] = tile_of(TM, TN)
        taken = footprint(KERNEL, **tile)
        name = f"{TM} × {TN}".replace(" ", "\N{NO-BREAK SPACE}")
        rows.append((name, TM * TN, f"{words_read_by(KERNEL, **tile):.4f}", taken.resources.registers, taken.occupancy.warps))
    header = ("TM × TN", "outputs per thread", "words per multiply-add, simulated", "registers per thread", "warps per multiprocessor")
    return Table(header, rows, f"{KERNEL}, 16 × 16 threads per block, BK = {BK}; registers compiled, warps modelled for H200")
