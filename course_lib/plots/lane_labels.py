"""Names of lanes in pictures of banks whose rows are too low for a number in each word."""

from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes

from course_lib.plots import style

LEGIBLE = 0.14            # inches: a row at least this high can hold a number
MANY = 4                  # words of a column that are named together


def lanes_in_words(lanes: Iterable[int]) -> str:
    """Write sorted lanes as a reader would say them.

    >>> lanes_in_words(range(32)), lanes_in_words(range(1, 32, 4)), lanes_in_words([7]), lanes_in_words([0, 1, 5])
    ('lanes 0 to 31', 'lanes 1, 5, … 29', 'lane 7', 'lanes 0, 1, 5')
    """
    lanes = list(lanes)
    steps = {b - a for a, b in zip(lanes, lanes[1:], strict=False)}
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if steps == {1} and len(lanes) > 2:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    if len(steps) == 1 and len(lanes) > 3:
        return f"lanes {lanes[0]}, {lanes[1]}, … {lanes[-1]}"
    return f"lanes {', '.join(map(str, lanes))}"


def name_lanes(ax: Axes, cells: Mapping[tuple[float, float], Sequence[int]], rows: int) -> None:
    """Write beside a column of many words which lanes want them, and beside words that stand alone the first lane and the last.

    Parameters
    ----------
    ax
        Its rows and columns are of one size.
    cells
        Where a word is drawn, (x, y) in columns and rows, and which lanes want it.
    rows
        Rows of the picture.
    """
    columns: dict[float, list[tuple[float, Sequence[int]]]] = {}
    for (x, y), lanes in sorted(cells.items()):
        columns.setdefault(x, []).append((y, lanes))
    every = [lane for lanes in cells.values() for lane in lanes]
    for x, words in columns.items():
        if len(words) >= MANY:
            text = lanes_in_words(sorted({lane for _, lanes in words for lane in lanes}))
            middle = sum(y for y, _ in words) / len(words)
            ax.text(x + 0.75, middle, text, rotation=90, ha="left", va="center", fontsize=12, color=style.INK)
            continue
        for y, lanes in words:
            if {min(every), max(every)} & set(lanes):
                text = lanes_in_words(lanes)
                left, top = _free_corner(x, y, (0.55 * len(text), rows / 12), cells, rows)
                ax.text(left, top, text, ha="left", va="top", fontsize=11, color=style.INK)


def _free_corner(x, y, size, cells, rows):
    """Return (left, top) of a text near a word that covers the fewest words.

    >>> _free_corner(0, 0, (3, 2), {(i, i): (i,) for i in range(32)}, 32)
    (-0.4, 4.0)
    """
    (wide, high), right = size, max(a for a, _ in cells) + 0.6
    steps = [rows * n / 32 for n in (-0.5, 1, 2, 3, 4)]
    corners = [(left, top) for down in steps for top in (y + down, y - down - high)
              for left in (x + 0.7, x - 0.4, x + 0.4 - wide, x - 0.7 - wide)
              if -0.4 <= top <= rows - high and -0.4 <= left <= right - wide]

    def covered(place):
        return sum(abs(2 * (a - place[0]) - wide) < wide + 1 and abs(2 * (b - place[1]) - high) < high + 1 for a, b in cells)
    return min(corners, key=covered, default=(x + 0.7, y))
