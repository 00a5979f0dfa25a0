"""Picture of what one request moves: transactions of each half-warp as on CC 1.3, and today's sectors, over the bytes it wants."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.model.coalescing import sectors
from course_lib.model.segments import HALF_WARP, bus_bytes, transactions
from course_lib.plots import style
from course_lib.plots.accesses import FETCHED, USED

SEGMENT = 128                       # bytes: the largest transaction of CC 1.3
ROWS = ("CC 1.3:\nlanes 0–15", "CC 1.3:\nlanes 16–31", "today:\nlanes 0–31")


def moved_boxes(addresses: NDArray[np.int64]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return what each row of the picture moves: three tuples of (first byte, bytes).

    Parameters
    ----------
    addresses
        (32,): byte address of a float, per lane.

    >>> [len(row) for row in moved_boxes(16 + 4 * np.arange(32))]
    [1, 2, 5]
    """
    halves = [tuple((t.start, t.size) for t in transactions(addresses) if t.half == half) for half in range(WARP // HALF_WARP)]
    touched = np.unique(np.asarray(addresses) // SECTOR_BYTES)
    return (*halves, tuple((int(s) * SECTOR_BYTES, SECTOR_BYTES) for s in touched))


@style.styled
def transfers(addresses: NDArray[np.int64], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw a request for floats: a box for each transfer, dark where its bytes are wanted.

    Parameters
    ----------
    addresses
        (32,): byte address of a float, per lane, increasing.
    """
    addresses = np.asarray(addresses)
    ax = style.axes(ax, width=6.4, height=4.0)
    wanted = (addresses[:HALF_WARP], addresses[HALF_WARP:], addresses)
    for row, (boxes, lanes) in enumerate(zip(moved_boxes(addresses), wanted, strict=True)):
        for start, size in boxes:
            ax.add_patch(Rectangle((start, row - 0.4), size, 0.8, facecolor=FETCHED, edgecolor=style.INK, linewidth=1.2))
            ax.text(start + size / 2, row + 0.25, str(size), ha="center", va="center", fontsize=10)
        for first in lanes:
            ax.add_patch(Rectangle((first, row - 0.3), 4, 0.35, facecolor=USED, edgecolor="none"))
    low, high = int(addresses.min()) // SEGMENT * SEGMENT, -(-(int(addresses.max()) + 4) // SEGMENT) * SEGMENT
    ax.vlines(np.arange(low, high + 1, SEGMENT), -0.5, 2.5, colors=style.GREY, linestyles="--", linewidths=1, zorder=0.5)
    ax.set_xticks(np.arange(low, high + 1, SEGMENT // 2))
    ax.set_yticks(range(3), ROWS)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(low - 4, high + 4), ylim=(2.5, -0.5), title=title or "",
           xlabel=f"byte; dark: the {4 * WARP} bytes that are wanted\nmoved: {bus_bytes(addresses)} bytes on CC 1.3, "
                  f"{SECTOR_BYTES * sectors(addresses)} today")
    ax.spines[:].set_visible(False)
    return ax


def describe_transfers(addresses: NDArray[np.int64]) -> str:
    """Return the alternative text of `transfers`.

    >>> describe_transfers(16 + 4 * np.arange(32))
    'Lanes 0 to 15 on CC 1.3: transactions of 128 bytes. Lanes 16 to 31: 64, 32 bytes. Together 224. Today: 5 sectors, 160 bytes. \
Wanted: 128.'
    """
    first, second, _ = ("transactions of " * (i == 0) + ", ".join(str(size) for _, size in boxes)
                        for i, boxes in enumerate(moved_boxes(addresses)))
    n = sectors(addresses)
    return (f"Lanes 0 to 15 on CC 1.3: {first} bytes. Lanes 16 to 31: {second} bytes. Together {bus_bytes(addresses)}. "
            f"Today: {n} sectors, {SECTOR_BYTES * n} bytes. Wanted: {4 * WARP}.")
