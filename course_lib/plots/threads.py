"""Pictures of who does what: threads over the elements of C, and one warp's request over memory sectors."""

import matplotlib
import numpy as np
from matplotlib.patches import Patch

from course_lib.arch import SECTOR_BYTES
from course_lib.plots import style
from course_lib.plots.traces import touched_sectors

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


@style.styled
def thread_grid(owners, ax=None, *, title=None, warp=(0, 0, 0)):
    """Draw which thread writes each element of C.

    Colours are warps, lighter in every other block; thick lines part blocks; the numbers are the lanes of one warp.

    Parameters
    ----------
    owners : Owners
        From `traces.owners`.
    ax : Axes, optional
    title : str, optional
    warp : (block_x, block_y, warp)
        The warp whose lanes are numbered.

    Returns
    -------
    Axes
    """
    M, N = owners.warp.shape
    ax = style.axes(ax, width=3.0 + 5.6 * N / max(M, N), height=1.1 + 5.4 * M / max(M, N))
    ax.imshow(_colours(owners), interpolation="nearest")
    _edges(ax, owners.warp, "white", 0.8)
    _edges(ax, owners.block_y * (owners.block_x.max() + 2) + owners.block_x, style.INK, 2.5)
    if max(M, N) <= 48:
        chosen = (owners.block_x == warp[0]) & (owners.block_y == warp[1]) & (owners.warp == warp[2])
        colour = style.text_on(WARP_COLOURS[warp[2] % len(WARP_COLOURS)])
        size = min(8.0, ax.figure.get_figheight() * 38 / max(M, N))
        for row, col in np.argwhere(chosen):
            number = ax.text(col, row, str(owners.lane[row, col]), ha="center", va="center", fontsize=size, color=colour)
            number.set_in_layout(False)
    ax.set(xlabel="column of C", ylabel="row of C", title=title or "Who writes which element of C")
    ax.spines[:].set_visible(False)
    warps = int(owners.warp.max()) + 1
    shown = [Patch(color=WARP_COLOURS[w], label=f"warp {w}") for w in range(min(warps, len(WARP_COLOURS)))]
    if warps > len(shown):
        shown.append(Patch(color="white", label=f"… {warps} in all"))
    ax.legend(handles=shown, loc="upper left", bbox_to_anchor=(1.01, 1), title="in each block", title_fontsize=12)
    return ax


@style.styled
def lane_sectors(record, ax=None, *, base=None, title=None):
    """Draw one request: a row per lane, a column per 4-byte word, lines between the 32-byte sectors it fetches.

    Only the sectors that the request touches are drawn, side by side; their addresses are below.

    Parameters
    ----------
    record : TraceRecord
        Of one global load or store.
    ax : Axes, optional
    base : int, optional
        Address counted as zero; default the first sector touched.
    title : str, optional

    Returns
    -------
    Axes
        Its image has the value 1 where a lane uses a word, 0.35 in the rest of the sectors fetched for it.
    """
    sectors = touched_sectors(record)
    ax = style.axes(ax, width=9.6, height=5.6)
    words = SECTOR_BYTES // 4
    image = np.zeros((32, len(sectors) * words))
    for lane, address in enumerate(np.asarray(record.addresses)):
        for byte in range(0, record.width if address >= 0 else 0, 4):
            column = np.searchsorted(sectors, (address + byte) // SECTOR_BYTES) * words
            image[lane, column:column + words] = np.maximum(image[lane, column:column + words], 0.35)
            image[lane, column + (address + byte) % SECTOR_BYTES // 4] = 1
    ax.imshow(image, cmap=matplotlib.colors.LinearSegmentedColormap.from_list("", ["white", "#BFDDF0", style.BLUE]),
              vmin=0, vmax=1, aspect="auto", interpolation="nearest", extent=(0, image.shape[1], 31.5, -0.5))
    ax.vlines(np.arange(len(sectors) + 1) * words, -0.5, 31.5, colors=style.GREY, linewidths=1)
    zero = sectors[0] * SECTOR_BYTES if base is None else base
    every = -(-len(sectors) // 9)
    shown = np.arange(0, len(sectors), every)
    ax.set_xticks(shown * words, [f"{int(s) * SECTOR_BYTES - zero:,}" for s in sectors[shown]])
    ax.set_yticks(range(0, 32, 4))
    n = len(sectors)
    ax.set(xlabel="first byte of the sector (each box is one 32-byte sector)", ylabel="lane",
           title=title or f"{record.operation}, line {record.line}: one request, {n} sector{'s' * (n != 1)}")
    ax.spines[:].set_visible(False)
    return ax
