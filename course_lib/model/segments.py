"""Global memory as GPUs of compute capability 1.2 and 1.3 (GT200) read it: half-warps, and segments that shrink."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import ArrayLike

from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.model.coalescing import sectors
from course_lib.model.inputs import lanes, whole

HALF_WARP = 16                                          # lanes that CC 1.x serves together
SEGMENT_BYTES = {1: 32, 2: 64, 4: 128, 8: 128, 16: 128}     # bytes a lane -> aligned piece that one transaction starts from
SMALLEST = 32                                           # bytes a transaction moves at least
FLOAT = 4                                               # bytes


@dataclass(frozen=True)
class Transaction:
    """One transfer over the memory bus: first byte, bytes (32, 64 or 128), and the half-warp (0 or 1) it serves."""

    start: int
    size: int
    half: int


def transactions(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None) -> tuple[Transaction, ...]:
    """Return the transactions of one request by a warp on CC 1.2 or 1.3.

    For each half-warp: take the segment of its first lane that is not served, all lanes in it, and halve the transfer
    as long as only one half is used; repeat.

    Parameters
    ----------
    addresses : (32,) int array
        Byte address per lane, a multiple of `width`.
    width
        Bytes per lane: 1, 2, 4, 8 or 16.
    active : (32,) bool array, optional
        Lanes that take part; default all.

    Returns
    -------
    In the order in which they are issued.

    Raises
    ------
    InputError, a ValueError
        On a wrong shape or width, or a negative or misaligned active address.

    Source: "NVIDIA CUDA Programming Guide 2.3", 5.1.2.1, Coalescing on Devices with Compute Capability 1.2 and Higher.

    >>> import numpy as np
    >>> [(t.start, t.size) for t in transactions(32 + 4 * np.arange(32))]
    [(0, 128), (96, 32), (128, 32)]
    """
    addresses, active = lanes(addresses, width, active)
    found = []
    for half in range(WARP // HALF_WARP):
        mine = slice(half * HALF_WARP, (half + 1) * HALF_WARP)
        waiting = addresses[mine][active[mine]]
        while len(waiting):
            segment = waiting // SEGMENT_BYTES[width]
            served = segment == segment[0]
            start, size = _shrunk(waiting[served], width)
            found.append(Transaction(start, size, half))
            waiting = waiting[~served]
    return tuple(found)


def _shrunk(addresses, width):
    """Return start and size of the smallest transfer that holds these bytes, all of one segment."""
    size = SEGMENT_BYTES[width]
    start = int(addresses[0]) // size * size
    low, high = int(addresses.min()), int(addresses.max()) + width
    while size > SMALLEST and (high <= start + size // 2 or low >= start + size // 2):
        size //= 2
        start += size * (low >= start + size)
    return start, size


def bus_bytes(addresses: ArrayLike, width: int = 4, active: ArrayLike | None = None) -> int:
    """Return the bytes that one request moves over the memory bus on CC 1.2 or 1.3.

    Parameters, errors and source as for `transactions`.

    >>> import numpy as np
    >>> [bus_bytes(shift + 4 * np.arange(32)) for shift in (0, 16, 32, 64)]
    [128, 224, 192, 128]
    """
    return sum(t.size for t in transactions(addresses, width, active))


def column_efficiencies(ld: int, today: bool = False) -> tuple[Fraction, ...]:
    """Return, for one column after another, the useful share of what a warp moves that reads 32 floats of it.

    The matrix is column-major, its first element on a boundary of 128 bytes; the warp starts in a row that is a multiple of 32.

    Parameters
    ----------
    ld
        Floats from one column to the next (lda).
    today
        Count 32-byte sectors per warp, as GPUs since CC 5.0 do, instead of the segments of CC 1.3.

    Returns
    -------
    As many columns as it takes until the pattern repeats.

    Raises
    ------
    InputError, a ValueError
        When `ld` is no whole number from 32 to 2^20.

    Source: Chien, "Hand-Tuned SGEMM on GT200 GPU", 4.4.

    >>> [str(share) for share in column_efficiencies(64 + 8)]
    ['1', '2/3', '1', '2/3']
    """
    ld = whole("ld", ld, WARP, 1 << 20, "a column has room for the rows of a warp:")
    moved = (lambda at: SECTOR_BYTES * sectors(at)) if today else bus_bytes
    period = WARP // gcd(WARP, ld)
    rows = FLOAT * np.arange(WARP)
    return tuple(Fraction(FLOAT * WARP, moved(FLOAT * ld * column + rows)) for column in range(period))


def effective_bandwidth(ld: int, today: bool = False) -> Fraction:
    """Return the useful share of the bandwidth, the average of `column_efficiencies` as Chien takes it.

    >>> effective_bandwidth(64 + 8), round(float(effective_bandwidth(64 + 4)), 4), effective_bandwidth(64 + 16)
    (Fraction(5, 6), 0.7024, Fraction(1, 1))
    >>> effective_bandwidth(64 + 8, today=True), effective_bandwidth(64 + 4, today=True)
    (Fraction(1, 1), Fraction(9, 10))
    """
    shares = column_efficiencies(ld, today)
    return sum(shares, Fraction(0)) / len(shares)


def padded(n: int, unit: int) -> int:
    """Round a leading dimension up to a multiple of `unit`.

    >>> padded(1025, 8), padded(1025, 16), padded(1024, 16)
    (1032, 1040, 1024)
    """
    n = whole("n", n, 1, 1 << 30, "a leading dimension is")
    unit = whole("unit", unit, 1, 1 << 20, "a unit of padding is")
    return -(-n // unit) * unit
