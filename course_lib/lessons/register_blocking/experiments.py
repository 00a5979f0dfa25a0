"""Experiments recorded on an H200 that change one thing: the blocks on a multiprocessor, or the words that a multiply-add needs."""

import math
from typing import Any

from course_lib import data
from course_lib.arch import WARP
from course_lib.explorables.warps import SIDES, tile_of
from course_lib.kernels import get
from course_lib.lessons.register_blocking import again
from course_lib.lessons.register_blocking.counts import KERNEL, N_TIMED


def recorded(kernel: str, parameters: dict[str, int], shared: int = 0) -> dict[str, Any]:
    """Return the recorded row of a kernel whose blocks get so many bytes of shared memory that they do not use."""
    row, = data.readings("again").find(lesson="08", kernel=kernel, N=N_TIMED, parameters=parameters, shared=shared)
    return row


def times_by_warps() -> dict[int, dict[int, float]]:
    """Return milliseconds by outputs per thread and warps per multiprocessor: the same code, with shared memory that nobody uses."""
    found: dict[int, dict[int, float]] = {}
    for side in SIDES:
        rows = [row for row in data.readings("again").find(kernel=KERNEL, parameters=tile_of(side)) if row["shared"]]
        found[side**2] = dict(sorted((warps(row), 1e3 * row["median_s"]) for row in rows))
    return found


def time_with(outputs: int, warps: int) -> float:
    """Return the recorded milliseconds with so many outputs per thread and warps per multiprocessor, rounded as in the chart.

    >>> time_with(outputs=1, warps=64)
    17.0
    """
    return round(times_by_warps()[outputs][warps], 1)


def warps(row: dict[str, Any]) -> int:
    """Return how many warps of a recorded kernel a multiprocessor of the H200 held, as its driver said."""
    parameters: dict[str, int] = row["parameters"]
    return row["blocks"] * math.prod(get(row["kernel"]).block(**parameters)) // WARP


def time_again(rows: int, loads: int = 1, shared: int = 0) -> float:
    """Return the recorded milliseconds of the kernel that does it again after so many rows of outputs: loads words, or multiplies more.

    With `shared` its blocks get so many bytes of shared memory that they do not use.

    >>> time_again(rows=8) < time_again(rows=1)
    True
    """
    return round(1e3 * recorded(again.ENTRY, {"ROWS": rows, "LOADS": loads}, shared)["median_s"], 1)
