"""The tiles of lesson 17, and what they need on their way by Little's law."""

import math

SMALL: dict[str, int] = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32}
LARGE: dict[str, int] = {"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32}


def step_bytes(BM: int, BN: int, BK: int) -> int:
    """Return the bytes of a step's tiles of A and B, in float64.

    >>> step_bytes(64, 64, 32), step_bytes(128, 128, 16)
    (32768, 32768)
    """
    return 8 * BK * (BM + BN)


def bytes_on_the_way(BM: int, BN: int, BK: int, product: float, copies: float) -> int:
    """Return the bytes that must be on their way by Little's law: those used up per cycle, times the cycles of a step's copies.

    >>> bytes_on_the_way(64, 64, 16, product=1047, copies=1280)
    20031
    """
    return math.ceil(step_bytes(BM, BN, BK) / product * copies)
