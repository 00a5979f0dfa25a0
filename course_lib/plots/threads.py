"""Picture of who does what: threads over the elements of C."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from course_lib.plots import style
from course_lib.run.traces import Owners

WARP_COLOURS = (*style.CYCLE[:7], "#555555")


def _colours(owners):
    """Return an (M, N, 3) image: a colour per warp, lighter in every other block, grey where nobody stores."""
    palette = np.array([matplotlib.colors.to_rgb(c) for c in WARP_COLOURS])
    image = palette[owners.warp % len(palette)]
    odd = (owners.block_x + owners.block_y) % 2 == 1
    image[odd] = 0.45 * image[odd] + 0.55
    image[owners.warp < 0] = matplotlib.colors.to_rgb(style.PALE)
    return image


def _edges(ax, labels, colour, width):
    """Draw lines between neighbouring elements whose `labels` differ."""
    rows, cols = np.nonzero(labels[1:] != labels[:-1])
    ax.hlines(rows + 0.5, cols - 0.5, cols + 0.5, colors=colour, linewidths=width)
    rows, cols = np.nonzero(labels[:, 1:] != labels[:, :-1])
    ax.vlines(cols + 0.5, rows - 0.5, rows + 0.5, colors=colour, linewidths=width)


def _corners(chosen):
    """Return (row, col) of the elements at the corners of a warp, wherever it stands; of a narrow one the first and the last.

    >>> _corners(np.tile(np.arange(9) < 4, (2, 1))).tolist()
    [[0, 0], [0, 3], [1, 0], [1, 3]]
    """
    rows, cols = np.nonzero(chosen)
    if not len(rows):
        return np.empty((0, 2), int)
    at_edge = np.isin(rows, (rows.min(), rows.max())) & np.isin(cols, (cols.min(), cols.max()))
    found = np.stack((rows[at_edge], cols[at_edge]), axis=1)
    return found if np.ptp(cols) >= 3 else found[[0, -1]]


def _side(col, cols, most):
    """Return how a number stands in its element: two digits are wider than a small one, and stay inside the warp."""
    if most <= 16 or np.ptp(cols) == 0:
        return "center", 0.0
    return ("left", -0.1) if col == cols.min() else ("right", 0.1)


@style.styled
def thread_grid(owners: Owners, ax: Axes | None = None, *, title: str | None = None, warp: tuple[int, int, int] = (0, 0, 0)) -> Axes:
    """Draw which thread writes each element of C.

    Colours are warps, lighter in every other block; thick lines stand between blocks; the numbers are the lanes of one warp, those at
    its corners where the elements are too small for all.

    Parameters
    ----------
    owners
        From `run.traces.owners`.
    warp
        block_x, block_y and number of the warp whose lanes are numbered.
    """
    M, N = owners.warp.shape
    ax = style.axes(ax, width=3.0 + 5.6 * N / max(M, N), height=1.1 + 5.4 * M / max(M, N))
    ax.imshow(_colours(owners), interpolation="nearest")
    _edges(ax, owners.warp, "white", 0.8)
    _edges(ax, owners.block_y * (owners.block_x.max() + 2) + owners.block_x, style.INK, 2.5)
    if max(M, N) <= 48:
        chosen = (owners.block_x == warp[0]) & (owners.block_y == warp[1]) & (owners.warp == warp[2])
        colour = style.text_on(WARP_COLOURS[warp[2] % len(WARP_COLOURS)])
        size = min(12.0, style.figure_of(ax).get_figheight() * 64 / max(M, N))     # points; two digits are 1.3 times as wide
        numbered = np.argwhere(chosen) if max(M, N) <= 16 else _corners(chosen)
        for row, col in numbered:
            ha, shift = _side(col, numbered[:, 1], max(M, N))
            number = ax.text(col + shift, row, str(owners.lane[row, col]), ha=ha, va="center_baseline", fontsize=size, color=colour)
            number.set_in_layout(False)
    ax.set(xlabel="column of C", ylabel="row of C", title=title or "Who writes which element of C")
    ax.spines[:].set_visible(False)
    warps = int(owners.warp.max()) + 1
    shown = [Patch(color=WARP_COLOURS[w], label=f"warp {w}") for w in range(min(warps, len(WARP_COLOURS)))]
    if warps > len(shown):
        shown.append(Patch(color="white", label=f"… {warps} in all"))
    ax.legend(handles=shown, loc="upper left", bbox_to_anchor=(1.01, 1), title="in each block", title_fontsize=12)
    return ax
