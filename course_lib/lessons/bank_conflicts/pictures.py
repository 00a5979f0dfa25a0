"""What the sliders show: the tile as it lies in the banks, the words that one warp wants, and how many of them meet in a bank."""

from collections import Counter
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.arch import BANK_BYTES, BANKS
from course_lib.lessons.bank_conflicts.in_memory import draw_bank_numbers, draw_words, element_at
from course_lib.plots import describe_banks, requests, style
from course_lib.run import LaunchResult
from course_lib.widgets.live_pictures import retraced

WIDTH, HEIGHT = 6.6, 4.2          # inches: sliders and picture fit into 600 pixels
HUES = (style.ORANGE, style.GREEN, style.PURPLE, style.YELLOW)
MOST_PAD = 8                      # of the sliders: the scale stays when PAD moves


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
    ax.text(0, -0.4, f"line {record.line} {'loads' if load else 'stores'} (number = lane): {fronts}", weight="bold", va="bottom")
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
