"""How the rows of a tile lie in the banks."""

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.arch import BANKS
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

COLUMN, ROWS = 5, 4                            # which column is marked; how many rows are drawn
PITCH = 33                                     # words from one row to the next
BLUES = ("#9ECAE9", "#3E88BD")                 # by turns, so that one sees where a row of the tile begins; the marked words are orange
ALT = ("The 32 banks are columns, numbered 0 to 31, and shared memory fills them line after line with a tile whose rows are 33 words long. "
       "Each row begins one bank further right than the row before, and the words of column 5, numbers 5, 38, 71 and 104, lie in banks "
       "5, 6, 7 and 8.")


def element_at(word: int, pitch: int) -> tuple[int, int]:
    """Return the row and the column of a word in a tile whose rows begin `pitch` words apart.

    >>> element_at(38, 33)
    (1, 5)
    """
    return divmod(word, pitch)


def draw_words(ax: Axes, rows: int, columns: int, pitch: int, marked: Mapping[int, tuple[str, str]], top: float = 0.0) -> None:
    """Draw the words of a tile as they lie in the banks, a column per bank, a line for every 32 words.

    Parameters
    ----------
    rows, columns, pitch
        Of the tile, and the words from one row to the next; those beyond the columns are unused, and crossed out.
    marked
        Colour and text by word; the others are pale and dark by turns, row by row of the tile.
    top
        Where the first line is.
    """
    for word in range(rows * pitch):
        row, column = element_at(word, pitch)
        line, bank = divmod(word, BANKS)
        unused = column >= columns
        colour, text = marked.get(word, ("none" if unused else BLUES[row % 2], ""))
        ax.add_patch(Rectangle((bank, top + line), 1, 1, facecolor=colour, edgecolor=style.INK if unused else style.GREY, linewidth=0.6,
                               hatch="xxx" if unused else None))
        if text:
            ax.text(bank + 0.5, top + line + 0.5, text, fontsize=9, ha="center", va="center", color=style.text_on(colour))


def draw_bank_numbers(ax: Axes, y: float, banks: Iterable[int] = (*range(0, BANKS - 2, 4), BANKS - 1)) -> None:
    """Write the numbers of banks: of every fourth and the last, unless told of which."""
    for bank in banks:
        ax.text(bank + 0.5, y, str(bank), fontsize=11, ha="center")


@style.styled
def rows_in_banks() -> Picture:
    """Draw the first rows of a padded tile as they lie in the banks, the words of one column marked."""
    ax = style.axes(width=9.6, height=2.5)
    ax.text(0, -0.35, f"tile[32][{PITCH}]", weight="bold", va="bottom")
    ax.text(BANKS, -0.35, "number = word", fontsize=11, ha="right", va="bottom")
    words = [row * PITCH + COLUMN for row in range(ROWS)]
    draw_words(ax, ROWS, BANKS, PITCH, {word: (style.ORANGE, str(word)) for word in words})
    draw_bank_numbers(ax, ROWS + 1.9, range(BANKS))
    ax.text(ROWS + 0.3, ROWS + 0.5, f"the end of row {ROWS - 1}", fontsize=11, va="center")
    ax.text(BANKS / 2, ROWS + 3, "bank", fontsize=12, ha="center")
    ax.set(xlim=(-0.2, BANKS + 0.2), ylim=(ROWS + 3.4, -1.6))
    ax.axis("off")
    return render(ax, ALT)
