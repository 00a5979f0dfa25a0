"""Shared memory before Fermi (CC 1.x: 16 banks, half-warps), and as Kepler (CC 3.x) has it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.arch import BANK_BYTES, BANKS, WARP
from course_lib.model.inputs import lanes
from course_lib.model.segments import HALF_WARP

OLD_BANKS = 16         # of CC 1.x, each 4 bytes wide


def half_warp_steps(addresses: ArrayLike, active: ArrayLike | None = None) -> tuple[int, ...]:
    """Count the steps that shared memory of CC 1.x takes for one 32-bit access by a warp.

    The two half-warps are served one after the other. A step serves one address of each bank, and of one bank (the
    hardware does not say which) all lanes that want the same word: the broadcast. Counted is the best choice.

    Parameters
    ----------
    addresses : (32,) int array
        Byte offset into shared memory, per lane, a multiple of 4.
    active : (32,) bool array, optional
        Lanes that take part; default all.

    Returns
    -------
    Steps of each half-warp: 1 is free of conflicts, 16 the worst, 0 means no active lane.

    Raises
    ------
    InputError, a ValueError
        On a wrong shape, or a negative or misaligned active offset.

    Source: "NVIDIA CUDA Programming Guide 2.3", 5.1.2.5, Shared Memory.

    >>> import numpy as np
    >>> [half_warp_steps(4 * stride * np.arange(32)) for stride in (0, 1, 2, 16, 17)]
    [(1, 1), (1, 1), (2, 2), (16, 16), (1, 1)]
    """
    addresses, active = lanes(addresses, BANK_BYTES, active)
    words, halves = addresses // BANK_BYTES, np.arange(WARP) // HALF_WARP
    return tuple(_fewest_steps(words[active & (halves == half)]) for half in range(WARP // HALF_WARP))


def _fewest_steps(words):
    """Return the least number of steps for the words that one half-warp wants."""
    if not len(words):
        return 0
    values, lanes_of = np.unique(words, return_counts=True)
    groups = [sorted(lanes_of[values % OLD_BANKS == bank], reverse=True) for bank in range(OLD_BANKS)]
    steps = 1
    while sum(_broadcasts(sizes, steps) for sizes in groups) > steps:
        steps += 1
    return steps


def _broadcasts(sizes, steps):
    """Return how many broadcasts one bank needs to be done in `steps`, given lanes per word, largest first."""
    left = sum(sizes)
    for used in range(len(sizes) + 1):
        if left <= steps:
            return used
        left -= sizes[used] - 1 if used < len(sizes) else 0
    return steps + 1       # not even with all of them


def kepler_wavefronts(addresses: ArrayLike, active: ArrayLike | None = None) -> int:
    """Count the wavefronts of one 32-bit access by a warp on CC 3.x, with banks in their 4-byte mode.

    Banks are 8 bytes wide there: words i and i + 32 of one aligned group of 64 share a bank and are served together.

    Parameters, errors as for `half_warp_steps`; returns an int.

    Source: "CUDA C++ Programming Guide", Compute Capability 3.x, Shared Memory, 32-Bit Mode.

    >>> import numpy as np
    >>> column = 4 * (np.arange(32) % 16 * 16)        # of a tile of 16 x 16, as on Lee's slides
    >>> kepler_wavefronts(column), kepler_wavefronts(4 * 32 * np.arange(32))
    (4, 16)
    """
    addresses, active = lanes(addresses, BANK_BYTES, active)
    words = addresses[active] // BANK_BYTES
    pairs = np.unique(words // (2 * BANKS) * BANKS + words % BANKS)
    return int(np.bincount(pairs % BANKS).max()) if len(pairs) else 0


def bank_table(banks: int = BANKS, rows: int = 3, shared_bytes: int = 16 * 1024) -> NDArray[np.intp]:
    """Return the byte addresses that each bank holds, as on Lee's slide: the first rows and the last.

    Parameters
    ----------
    banks
        16 (CC 1.x) or 32.
    rows
        First rows to list.
    shared_bytes
        Size of the shared memory.

    Returns
    -------
    (banks, rows + 1) int array
        Row b: the addresses in bank b, in bytes; the last column is its last word.

    >>> bank_table(16)[[0, 1, 15]].tolist()
    [[0, 64, 128, 16320], [4, 68, 132, 16324], [60, 124, 188, 16380]]
    """
    line = banks * BANK_BYTES
    starts = np.append(line * np.arange(rows), shared_bytes - line)
    return BANK_BYTES * np.arange(banks)[:, None] + starts
