"""How many sectors one warp's access to global memory touches."""

import numpy as np

from course_lib.arch import SECTOR_BYTES, WARP


def lanes(addresses, active):
    """Return (32,) int64 addresses and (32,) bool active lanes, checked."""
    addresses = np.asarray(addresses)
    active = np.ones(WARP, bool) if active is None else np.asarray(active, bool)
    if addresses.shape != (WARP,) or active.shape != (WARP,):
        raise ValueError(f"need {WARP} addresses and {WARP} lane flags, got shapes {addresses.shape} and {active.shape}")
    if not np.issubdtype(addresses.dtype, np.integer):
        raise ValueError(f"addresses must be integers, got {addresses.dtype}")
    if (addresses[active] < 0).any():
        raise ValueError("an active lane has a negative address")
    return addresses.astype(np.int64), active


def sectors(addresses, width=4, active=None):
    """Count the sectors of one global request: distinct aligned 32-byte pieces over the active lanes.

    Parameters
    ----------
    addresses : (32,) int array
        Byte address per lane.
    width : int
        Bytes per lane, 1 to 16; addresses must be multiples of it.
    active : (32,) bool array, optional
        Lanes that take part; default all.

    Returns
    -------
    int
        0 (no active lane) to 32.

    Raises
    ------
    ValueError
        On a wrong shape, or a negative or misaligned active address.

    Source: "CUDA C++ Best Practices Guide", Coalesced Access to Global Memory.

    >>> import numpy as np
    >>> [sectors(4 * stride * np.arange(32)) for stride in (0, 1, 2, 8)]
    [1, 4, 8, 32]
    """
    addresses, active = lanes(addresses, active)
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"width is {width}; a lane accesses 1, 2, 4, 8 or 16 bytes")
    if (addresses[active] % width).any():
        raise ValueError(f"an active address is no multiple of {width}")
    return len(np.unique(addresses[active] // SECTOR_BYTES))
