"""One warp's way through a transposition, and the sliders' picture: the tile as it lies in the banks, and what each has to serve."""

import re
from collections import Counter
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.arch import BANK_BYTES, BANKS
from course_lib.lessons.bank_conflicts.in_memory import BLUES, draw_bank_numbers, draw_words, element_at
from course_lib.plots import describe_banks, render, requests, style
from course_lib.plots.picture import Picture
from course_lib.run import LaunchResult
from course_lib.widgets.live_pictures import retraced

WIDTH, HEIGHT = 6.6, 4.2          # inches: sliders and picture fit into 600 pixels
HUES = (style.ORANGE, style.GREEN, style.PURPLE, style.YELLOW)
MOST_PAD = 8                      # of the sliders: the scale stays when PAD moves
TILES_OF_IN = (2, 3)              # of `one_warp`: so many tiles down and across `in`
BLOCK, STEP = (2, 0), 8           # blockIdx.x and .y of its block, and the i of its step, of 32
SIDE, LARGE = 2, 6                # of a tile in a matrix, and of the tile between them, in the drawing's units
WARP_ALT = ("One warp of the block (blockIdx.x, blockIdx.y) = (2, 0), at one step i. In `in`, which has rows × cols elements, it reads "
            "row blockIdx.y * TILE + i, from column blockIdx.x * TILE on. It stores that as row i of the tile. Behind the barrier it "
            "loads column i of the tile, and writes it to `out`, which has cols × rows elements, as row blockIdx.x * TILE + i, from "
            "column blockIdx.y * TILE on.")


def loads(result: LaunchResult) -> tuple[Axes, str]:
    """Draw a warp's first load from the tile of a launch; return (Axes, alternative text)."""
    return _drawn(result, load=True)


def stores(result: LaunchResult) -> tuple[Axes, str]:
    """Draw a warp's first store to the tile of a launch; return (Axes, alternative text)."""
    return _drawn(result, load=False)


@style.styled
def _drawn(result: Any, load: bool) -> tuple[Axes, str]:
    traced = retraced(result)
    record = requests(traced, array="tile", load=load, space="shared")[0]
    base = next(v.offset for v in traced.shared if v.name == "tile")
    tile, pitch = result.parameters["TILE"], result.parameters["TILE"] + result.parameters["PAD"]
    words = [int(word) for word in (np.asarray(record.addresses) - base) // BANK_BYTES]
    side = [element_at(word, pitch)[load] for word in words]           # of each lane the column that it reads, or the row that it writes
    hue = dict(zip(sorted(set(side)), HUES, strict=False))
    ax = style.axes(width=WIDTH, height=HEIGHT)
    draw_words(ax, tile, tile, pitch, {word: (hue[of], str(lane)) for lane, (word, of) in enumerate(zip(words, side, strict=True))})
    lines = tile * (tile + MOST_PAD) // BANKS
    most = _piles(ax, words, [hue[of] for of in side], lines + 2.8)
    fronts = f"{most} wavefront{'s' * (most != 1)}"
    element = re.findall(r"tile(?:\[\w+\]){2}", result.kernel.source.splitlines()[record.line - 1])[0]
    ax.text(0, -0.4, f"{'load' if load else 'store'} {element} (number = lane): {fronts}", weight="bold", va="bottom")
    handles = [Patch(color=colour, label=f"{'column' if load else 'row'} {of}") for of, colour in hue.items()]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=4, fontsize=11)
    ax.set(xlim=(-0.2, BANKS + 0.2), ylim=(lines + 3.0 + tile // 2, -1.6))
    ax.axis("off")
    return ax, describe_banks(record)


def _piles(ax: Axes, words: list[int], colours: list[str], top: float) -> int:
    """Hang the words of each bank below its number; return how many the busiest bank has."""
    ax.text(0, top - 1.6, "the banks, and which of these words each has to serve", fontsize=11)
    draw_bank_numbers(ax, top - 0.3)
    found: Counter[int] = Counter()
    for word, colour in zip(words, colours, strict=True):
        bank = word % BANKS
        ax.add_patch(Rectangle((bank, top + found[bank]), 1, 1, facecolor=colour, edgecolor=style.INK, linewidth=0.6))
        found[bank] += 1
    return max(found.values())


@style.styled
def one_warp() -> Picture:
    """Draw where one warp of a transposition is at a step i: in both matrices, and in the tile."""
    ax, (x, y), (down, across) = style.axes(width=10.4, height=3.9), BLOCK, TILES_OF_IN
    read = _matrix(ax, 0, "in: rows × cols", (down, across), (y, x), style.ORANGE)
    written = _matrix(ax, 18, "out: cols × rows", (across, down), (x, y), style.GREEN)
    ax.add_patch(Rectangle((9, 0), LARGE, LARGE, facecolor=BLUES[0], edgecolor=style.INK))
    at, thick = LARGE * STEP / 32, LARGE / 16
    ax.add_patch(Rectangle((9, at), LARGE, thick, facecolor=style.ORANGE, edgecolor=style.INK, linewidth=0.6))
    ax.add_patch(Rectangle((9 + at, 0), thick, LARGE, facecolor=style.GREEN, edgecolor=style.INK, linewidth=0.6))
    for start, end in ((read, (9, at + thick / 2)), ((9 + at + thick, written[1]), written)):
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0})
    ax.text(9, -0.3, "the block's tile", weight="bold", va="bottom")
    for left, top, text in ((0, 2 * down, "First loop, orange: reads\nrow blockIdx.y * TILE + i,\nfrom column blockIdx.x * TILE on"),
                            (9, LARGE, "First loop, orange: stores row i.\nSecond loop, green: loads column i."),
                            (18, 2 * across, "Second loop, green: writes\nrow blockIdx.x * TILE + i,\nfrom column blockIdx.y * TILE on")):
        ax.text(left, top + 0.4, text, fontsize=11, va="top")
    ax.set(xlim=(-0.1, 25), ylim=(8.4, -1.2), aspect="equal")
    ax.axis("off")
    return render(ax, WARP_ALT)


def _matrix(ax: Axes, left: float, title: str, tiles: tuple[int, int], block: tuple[int, int], colour: str) -> tuple[float, float]:
    """Draw a matrix of tiles, and in the block's own one the warp's row; return where an arrow may begin or end at that row."""
    for row in range(tiles[0]):
        for column in range(tiles[1]):
            fill = BLUES[0] if (row, column) == block else "none"
            ax.add_patch(Rectangle((left + SIDE * column, SIDE * row), SIDE, SIDE, facecolor=fill, edgecolor=style.GREY))
    x, y, thick = left + SIDE * block[1], SIDE * (block[0] + STEP / 32), SIDE / 8
    ax.add_patch(Rectangle((x, y), SIDE, thick, facecolor=colour, edgecolor=style.INK, linewidth=0.6))
    ax.text(left, -0.3, title, weight="bold", va="bottom")
    return (x if left else x + SIDE), y + thick / 2
