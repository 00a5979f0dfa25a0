"""How many wavefronts one warp's access to shared memory takes, and which word each could serve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.arch import BANK_BYTES, BANKS, WARP
from course_lib.model.inputs import InputError, lanes

KINDS = ("load", "store")


@dataclass(frozen=True)
class Service:
    """One word of shared memory in one access: its number (byte offset / 4), the lanes that want it, the wavefront (from 1)
    that serves them, and how many words of the same bank their group of lanes wants in all."""

    word: int
    lanes: tuple[int, ...]
    wavefront: int
    words_in_bank: int


def phases(addresses: NDArray[np.int64], width: int, active: NDArray[np.bool_], kind: str) -> NDArray[np.intp]:
    """Return the groups of lanes that shared memory serves one after another.

    Up to 32 bits a lane: one group. 64 bits: two of 16 lanes. 128 bits: four of 8. In loads, when every pair of
    active lanes (l, l^1) has equal addresses, or every pair (l, l^2) does, two groups are served at a time.

    Parameters
    ----------
    addresses, width, active, kind
        As for `shared_wavefronts`, checked.

    Returns
    -------
    (groups, lanes) int array
        Lane numbers.

    >>> import numpy as np
    >>> everyone = np.ones(32, bool)
    >>> phases(16 * np.arange(32), 16, everyone, "load").shape, phases(np.zeros(32, int), 16, everyone, "load").shape
    ((4, 8), (2, 16))
    """
    size = {8: 16, 16: 8}.get(width, WARP)
    every = np.arange(WARP)
    if kind == "load" and size < WARP:
        for distance in (1, 2):
            other = every ^ distance
            both = active & active[other]
            if (addresses[both] == addresses[other][both]).all():
                size *= 2
                break
    return every.reshape(-1, size)


def _served(addresses, width, active, kind):
    """Return the wavefronts of each phase that has an active lane."""
    addresses, active = lanes(addresses, width, active)
    if kind not in KINDS:
        raise InputError(f'kind is {kind!r}, but an access is a "load" or a "store"')
    counts = []
    for group in phases(addresses, width, active, kind):
        first = addresses[group][active[group]] // BANK_BYTES
        if len(first):
            words = np.unique(first[:, None] + np.arange(max(width // BANK_BYTES, 1)))
            counts.append(int(np.bincount(words % BANKS).max()))
    return counts


def shared_wavefronts(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None, kind: str = "load") -> int:
    """Count the wavefronts of one shared-memory access by a warp.

    Lanes on one word are served together; different words in one bank are served one after another.

    Parameters
    ----------
    addresses : (32,) int array
        Byte offset into shared memory, per lane, a multiple of `width`.
    width
        Bytes per lane: 1, 2, 4, 8 or 16.
    active : (32,) bool array, optional
        Lanes that take part; default all. What the others hold does not matter.
    kind : "load" or "store"

    Returns
    -------
    0 means no active lane; without conflicts 1 for up to 32 bits, 2 for 64 and 4 for 128.

    Raises
    ------
    InputError, a ValueError
        On a wrong shape, width or kind, or a negative or misaligned active offset.

    Source: "CUDA C++ Programming Guide", Shared Memory; held to 243 patterns measured on an H200.

    >>> import numpy as np
    >>> [shared_wavefronts(4 * s * np.arange(32)) for s in (0, 1, 2, 32, 33)]
    [1, 1, 2, 32, 1]
    """
    return sum(_served(addresses, width, active, kind))


def conflicts(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None, kind: str = "load") -> int:
    """Count bank conflicts: wavefronts beyond one per phase that has an active lane.

    Parameters, errors and source as for `shared_wavefronts`.

    >>> import numpy as np
    >>> [conflicts(4 * s * np.arange(32)) for s in (1, 2, 32, 33)]
    [0, 1, 31, 0]
    """
    counts = _served(addresses, width, active, kind)
    return sum(counts) - len(counts)


def services(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None, kind: str = "load") -> tuple[Service, ...]:
    """Return which words one access wants, and a wavefront for each.

    The number of wavefronts is the hardware's; their order is not documented. Here the words of a bank are served in the
    order of their lowest lane, so that the first wavefront has most to do.

    Parameters, errors and source as for `shared_wavefronts`.

    Returns
    -------
    Group by group (see `phases`), in the order of the words.

    >>> import numpy as np
    >>> [(s.word, s.lanes, s.wavefront) for s in services(4 * np.repeat([0, 32, 1, 1], 8))][:2]
    [(0, (0, 1, 2, 3, 4, 5, 6, 7), 1), (1, (16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31), 1)]
    """
    addresses, active = lanes(addresses, width, active)
    _served(addresses, width, active, kind)                # refuses a wrong kind
    found: list[Service] = []
    before = 0
    for group in phases(addresses, width, active, kind):
        wanted: dict[int, list[int]] = {}
        for lane in group[active[group]]:
            for word in range(addresses[lane] // BANK_BYTES, -(-(addresses[lane] + width) // BANK_BYTES)):
                wanted.setdefault(int(word), []).append(int(lane))
        queues: dict[int, list[int]] = {}
        for word in wanted:                                # in the order of their lowest lane
            queues.setdefault(word % BANKS, []).append(word)
        found += [Service(word, tuple(who), before + 1 + queues[word % BANKS].index(word), len(queues[word % BANKS]))
                  for word, who in sorted(wanted.items())]
        before += max(map(len, queues.values()), default=0)
    return tuple(found)
