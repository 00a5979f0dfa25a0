"""The tiles of lesson 17, what they need on their way by Little's law, and what they were recorded to reach on an H200."""

import math
from typing import Any

from course_lib import data
from course_lib.model.stages import multiply_cycles, stages_needed

SMALL: dict[str, int] = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32}
LARGE: dict[str, int] = {"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32}
CEILING = 66.5            # TFLOP/s in float64, stated for the H200's tensor cores at the highest clock


def step_bytes(BM: int, BN: int, BK: int) -> int:
    """Return the bytes of a step's tiles of A and B, in float64.

    >>> step_bytes(64, 64, 32), step_bytes(128, 128, 16)
    (32768, 32768)
    """
    return 8 * BK * (BM + BN)


def bytes_on_the_way(BM: int, BN: int, BK: int, latency: int) -> int:
    """Return the bytes that must be on their way by Little's law: those that a product uses up per cycle, times the latency in cycles.

    >>> bytes_on_the_way(64, 64, 32, 1557)
    49824
    """
    return math.ceil(step_bytes(BM, BN, BK) / multiply_cycles(BM, BN, BK) * latency)


def stages_by_littles_law(BM: int, BN: int, BK: int, latency: int) -> int:
    """Return the stages with which the tensor cores never wait: those on their way, and the one that is multiplied.

    >>> stages_by_littles_law(64, 64, 32, 1557)
    3
    """
    return stages_needed(latency, multiply_cycles(BM, BN, BK))


def recorded(**values: Any) -> dict[str, Any]:
    """Return the one recorded row with these values: N, stages, tile, alone."""
    row, = data.readings("stages").find(**values)
    return row


def tflops(row: dict[str, Any], quantile: str = "median_s") -> float:
    """Return a row's speed in 10^12 operations a second."""
    return 2e-12 * row["N"] ** 3 / row[quantile]
