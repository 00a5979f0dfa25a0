"""How many wavefronts one warp's access to shared memory takes."""

import numpy as np

from course_lib.arch import BANK_BYTES, BANKS, WARP
from course_lib.model.coalescing import lanes


def phases(addresses, width, active, kind):
    """Return the groups of lanes that shared memory serves one after another, as (n, lanes) indices.

    Up to 32 bits: one group. 64 bits: two of 16 lanes. 128 bits: four of 8. Loads whose lanes are equal in pairs (l, l^1)
    or (l, l^2) are served two groups at a time.
    """
    size = {8: 16, 16: 8}.get(width, WARP)
    if kind == "load" and width > 4:
        every = np.arange(WARP)
        for distance in (1, 2):
            other = every ^ distance
            both = active & active[other]
            if (addresses[both] == addresses[other][both]).all():
                size *= 2
                break
    return np.arange(WARP).reshape(-1, size)


def _served(addresses, width, active, kind):
    """Return the wavefronts of each phase that has an active lane."""
    addresses, active = lanes(addresses, active)
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"width is {width}; a lane accesses 1, 2, 4, 8 or 16 bytes")
    if kind not in ("load", "store"):
        raise ValueError(f'kind is {kind!r}; use "load" or "store"')
    if (addresses[active] % width).any():
        raise ValueError(f"an active offset is no multiple of {width}")
    counts = []
    for group in phases(addresses, width, active, kind):
        first = addresses[group][active[group]] // BANK_BYTES
        if len(first):
            words = np.unique(first[:, None] + np.arange(max(width // BANK_BYTES, 1)))
            counts.append(int(np.bincount(words % BANKS).max()))
    return counts


def shared_wavefronts(addresses, width=4, active=None, kind="load"):
    """Count the wavefronts of one shared-memory access by a warp.

    Lanes on one word are served together; different words in one bank are served one after another.

    Parameters
    ----------
    addresses : (32,) int array
        Byte offset into shared memory, per lane.
    width : int
        Bytes per lane: 1, 2, 4, 8 or 16.
    active : (32,) bool array, optional
        Lanes that take part; default all.
    kind : "load" or "store"

    Returns
    -------
    int
        0 means no active lane; 1 is the best a 32-bit access can do.

    Raises
    ------
    ValueError
        On a wrong shape, width or kind, or a negative or misaligned active offset.

    Source: "CUDA C++ Programming Guide", Shared Memory; held to 243 patterns measured on an H200.

    >>> import numpy as np
    >>> [shared_wavefronts(4 * s * np.arange(32)) for s in (0, 1, 2, 32, 33)]
    [1, 1, 2, 32, 1]
    """
    return sum(_served(addresses, width, active, kind))


def conflicts(addresses, width=4, active=None, kind="load"):
    """Count bank conflicts: wavefronts beyond one per phase that has an active lane. Parameters as above.

    >>> import numpy as np
    >>> [conflicts(4 * s * np.arange(32)) for s in (1, 2, 32, 33)]
    [0, 1, 31, 0]
    """
    counts = _served(addresses, width, active, kind)
    return sum(counts) - len(counts)
