"""Which part of C one warp of a block computes, and which rows of A and columns of B that makes it read: taken from a trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch, Rectangle

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.traces import array_of, elements, is_store, requests

SHARED = ("As", "Bs")
MINE, FIRST, NEEDED = style.SKY, style.BLUE, style.ORANGE
GAP, STRIP, LEGEND = 0.16, 0.06, 0.5       # between two blocks, a strip beside one, space for the legend: shares of the block's side


@dataclass(frozen=True)
class WarpTile:
    """What one warp does for its block's tile of C.

    Attributes
    ----------
    name
        Of the kernel.
    shape
        Rows and columns of the block's tile.
    outputs
        (row, column) of the elements of C that the warp stores.
    one
        Those of them that lane 0 stores.
    words
        Distinct words of shared memory that the warp reads for each k.
    wavefronts
        That its loads from shared memory take for each k: the launch's counter, shared out among its warps.
    """

    name: str
    shape: tuple[int, int]
    outputs: tuple[tuple[int, int], ...]
    one: tuple[tuple[int, int], ...]
    words: int
    wavefronts: float

    @property
    def rows(self) -> tuple[int, ...]:
        """Return the rows of C, thus of A, that the warp needs."""
        return tuple(sorted({row for row, _ in self.outputs}))

    @property
    def cols(self) -> tuple[int, ...]:
        """Return the columns of C, thus of B, that the warp needs."""
        return tuple(sorted({col for _, col in self.outputs}))


def warp_tile(result: RunResult, warp: int = 0) -> WarpTile:
    """Find one warp's part of its block's tile.

    Parameters
    ----------
    result
        Of a product that has its tiles in `As` and `Bs`; one block that covers C, one tile along K, this warp traced.
    warp
        Its number in the block.

    Raises
    ------
    CourseError
        When the warp was not traced, or there are several blocks.
    """
    mine = [record for record in result.trace if record.warp == warp and record.block == (0, 0, 0)]
    if not mine or result.grid[:2] != (1, 1):
        raise CourseError("the picture is of one block: run the kernel on a C that one block covers, with trace=[((0, 0, 0), warp)]")
    C = array_of(result, "C")
    stored = [pair for r in mine if r.space == "global" and is_store(r) for pair in elements(r, C.address, C.itemsize)]
    outputs = sorted({divmod(int(e), result.ldc) for _, e in stored})
    one = sorted({divmod(int(e), result.ldc) for lane, e in stored if lane == 0})
    reads = [r for name in SHARED for r in requests(result, array=name, load=True, space="shared", warp=warp)]
    words = {int(w) for r in reads for _, w in elements(r, 0, 4)}
    steps = result.K * -(-int(np.prod(result.block)) // 32)
    return WarpTile(result.kernel.name, (result.M, result.N), tuple(outputs), tuple(one), len(words) // result.K,
                    result.count("wavefronts") / steps)


@style.styled
def warp_tiles(tiles: Sequence[WarpTile], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw blocks' tiles of C side by side: one warp's elements, lane 0's, and the rows of A and columns of B that they need.

    Returns
    -------
    Axes
        A unit is a block's longer side; an image for each tile.
    """
    ax = style.axes(ax, width=1.6 + 4.2 * len(tiles), height=4.9)
    for number, tile in enumerate(tiles):
        left = number * (1 + GAP + 2 * STRIP)
        _one(ax, tile, left)
    wide = len(tiles) * (1 + GAP + 2 * STRIP) - GAP
    ax.set(xlim=(-2.2 * STRIP, wide + LEGEND), ylim=(1.16, -0.2), aspect="equal", title=title or "")
    ax.axis("off")
    shown = [Patch(color=MINE, label="C, by warp 0"), Patch(color=FIRST, label="its lane 0"),
             Patch(color=NEEDED, label="of A (left),\nof B (top),\nthat it reads")]
    ax.legend(handles=shown, loc="upper right", fontsize=11, borderaxespad=0, handlelength=1.4)
    return ax


def _one(ax, tile, left):
    """Draw one block's tile of C with its strips, its left edge at `left`; its longer side is 1."""
    rows, cols = tile.shape
    unit = 1 / max(rows, cols)
    wide, high = cols * unit, rows * unit
    shade = np.zeros((rows, cols), int)
    for value, cells in ((1, tile.outputs), (2, tile.one)):
        where = np.array(cells)
        shade[where[:, 0], where[:, 1]] = value
    colours = ListedColormap([style.PALE, MINE, FIRST])
    ax.imshow(shade, colours, vmin=0, vmax=2, extent=(left, left + wide, high, 0), interpolation="nearest")
    for first, last in _runs(tile.rows):
        ax.add_patch(Rectangle((left - 1.5 * STRIP, first * unit), STRIP, (last + 1 - first) * unit, facecolor=NEEDED))
    for first, last in _runs(tile.cols):
        ax.add_patch(Rectangle((left + first * unit, -1.5 * STRIP), (last + 1 - first) * unit, STRIP, facecolor=NEEDED))
    ax.add_patch(Rectangle((left, 0), wide, high, fill=False, edgecolor=style.INK, linewidth=1.5))
    for corner, size in (((left - 1.5 * STRIP, 0), (STRIP, high)), ((left, -1.5 * STRIP), (wide, STRIP))):
        ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor=style.INK, linewidth=0.8))
    ax.text(left + 0.5, -0.13, tile.name, ha="center", va="bottom", fontsize=14)
    ax.text(left + 0.5, 1.03, f"{tile.words} words for each k, {tile.wavefronts:g} wavefronts", ha="center", va="top", fontsize=12)


def _runs(index):
    """Return (first, last) of each run of neighbours in rising numbers.

    >>> _runs((0, 1, 2, 8, 9))
    [(0, 2), (8, 9)]
    """
    runs: list[tuple[int, int]] = []
    for i in index:
        if runs and runs[-1][1] == i - 1:
            runs[-1] = runs[-1][0], i
        else:
            runs.append((i, i))
    return runs


def describe_warp_tiles(tiles: Iterable[WarpTile]) -> str:
    """Return the alternative text of `warp_tiles`."""
    return " ".join(
        f"{t.name}: warp 0 computes {len(t.outputs)} of the block's {t.shape[0]} × {t.shape[1]} elements of C, from {len(t.rows)} rows "
        f"of A and {len(t.cols)} columns of B: {t.words} words of shared memory for each k, {t.wavefronts:g} wavefronts. "
        f"Lane 0 computes {len(t.one)}." for t in tiles)
