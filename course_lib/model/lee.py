"""The arithmetic of Lee's slides: which unit his times can have, and what his coalescing step gains and loses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.arch import WARP
from course_lib.model.banks import shared_wavefronts
from course_lib.model.coalescing import sectors
from course_lib.model.inputs import InputError, whole

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
FLOAT = 4              # bytes


def gflops(time: float, unit: str, N: int) -> float:
    """Return 10^9 operations a second of a product of N x N matrices in `time`, were it of this unit.

    Parameters
    ----------
    unit
        "ns", "us", "ms", "s" or "min".

    Raises
    ------
    InputError, a ValueError

    >>> [round(gflops(2.20, unit, 4096), 2) for unit in ("ms", "s", "min")]
    [62472.25, 62.47, 1.04]
    """
    if unit not in SECONDS:
        raise InputError(f"unit is {unit!r}, but the units are {', '.join(SECONDS)}", unit=unit)
    if not time > 0:
        raise InputError(f"the time is {time!r}, but it is positive")
    return 2 * whole("N", N, 1, 1 << 20, "a matrix has rows:") ** 3 / (time * SECONDS[unit]) / 1e9


def possible_units(times: Mapping[int, float], peak_gflops: float) -> tuple[str, ...]:
    """Return the units under which no time of a table beats the peak.

    Parameters
    ----------
    times
        N -> time as printed.
    peak_gflops
        What the device can do, 10^9 operations a second.

    Returns
    -------
    From the shortest unit up. Slowness rules out none: that takes common sense.

    >>> from course_lib.arch import device
    >>> possible_units({256: 0.11, 4096: 2.20}, device("GTX 690").peak_gflops)
    ('s', 'min')
    """
    return tuple(unit for unit in SECONDS if all(gflops(time, unit, N) <= peak_gflops for N, time in times.items()))


@dataclass(frozen=True)
class TileCost:
    """What one warp of a 16 x 16 block does for one tile of B: sectors it loads, wavefronts of its store and its reads."""

    sectors: int
    store_wavefronts: int
    read_wavefronts: int


def tile_of_b(loads_rows: bool, stores_rows: bool, width: int = 1024, tile: int = 16) -> TileCost:
    """Return the TileCost of one order of indices; the tile is read as its order demands, so that the product is right.

    His "Tiling" loads N[b + width * tx + ty], which is a column, stores it as Bs[tx][ty] and reads Bs[k][tx]. His
    "Coalescing" loads N[b + width * ty + tx] (the slide prints tx twice) and keeps the store, which transposes the tile:
    it must be read as Bs[tx][k], all lanes in two banks. That is why it is no faster: 12 sectors fewer, 112 wavefronts more.

    Parameters
    ----------
    loads_rows
        True: neighbours load neighbours of a row. False: of a column.
    stores_rows
        True: Bs[ty][tx]. False: Bs[tx][ty].
    width, tile
        Elements of a row of the matrix; of a row of the tile.

    >>> tile_of_b(loads_rows=False, stores_rows=False)      # Tiling
    TileCost(sectors=16, store_wavefronts=8, read_wavefronts=16)
    >>> tile_of_b(loads_rows=True, stores_rows=False)       # Coalescing
    TileCost(sectors=4, store_wavefronts=8, read_wavefronts=128)
    >>> tile_of_b(loads_rows=True, stores_rows=True)        # Bank Conflict
    TileCost(sectors=4, store_wavefronts=1, read_wavefronts=16)
    """
    tx, ty = np.arange(WARP) % tile, np.arange(WARP) // tile
    reads_rows = loads_rows == stores_rows
    loaded = sectors(FLOAT * (width * ty + tx if loads_rows else width * tx + ty))
    stored = shared_wavefronts(FLOAT * (tile * ty + tx if stores_rows else tile * tx + ty), kind="store")
    reads = sum(shared_wavefronts(FLOAT * (tile * k + tx if reads_rows else tile * tx + k)) for k in range(tile))
    return TileCost(loaded, stored, reads)


def speed_ups(slow: Mapping[int, float], fast: Mapping[int, float]) -> dict[int, float]:
    """Return N -> how many times faster, for two columns of a table.

    >>> speed_ups({256: 0.06, 4096: 1311.08}, {4096: 2.20})
    {4096: 595.9454545454545}
    """
    return {N: slow[N] / fast[N] for N in slow if N in fast}


def growth(times: Mapping[int, float]) -> dict[int, float]:
    """Return N -> how many times as long it takes as half of N; a product of 2 N^3 operations should take 8 times as long.

    >>> growth({256: 0.06, 1024: 7.17, 2048: 156.19})
    {2048: 21.783821478382148}
    """
    return {N: times[N] / times[N // 2] for N in times if N // 2 in times}
