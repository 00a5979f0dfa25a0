"""How many sectors one warp's access to global memory touches."""

import numpy as np
from numpy.typing import ArrayLike

from course_lib.arch import SECTOR_BYTES
from course_lib.model.inputs import lanes


def sectors(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None) -> int:
    """Count the sectors of one global request: distinct aligned 32-byte pieces over the active lanes.

    Parameters
    ----------
    addresses : (32,) int array
        Byte address per lane, a multiple of `width`.
    width
        Bytes per lane: 1, 2, 4, 8 or 16.
    active : (32,) bool array, optional
        Lanes that take part; default all. What the others hold does not matter.

    Returns
    -------
    0 (no active lane) to 32.

    Raises
    ------
    InputError, a ValueError
        On a wrong shape or width, or a negative or misaligned active address.

    Source: "CUDA C++ Best Practices Guide", Coalesced Access to Global Memory.

    >>> import numpy as np
    >>> [sectors(4 * stride * np.arange(32)) for stride in (0, 1, 2, 8)]
    [1, 4, 8, 32]
    """
    addresses, active = lanes(addresses, width, active)
    return len(np.unique(addresses[active] // SECTOR_BYTES))
