"""Two layouts of the same pixels in memory, cut into sectors: where the red values are."""

from matplotlib.patches import Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

FLOATS, SECTORS = 8, 3                  # floats per sector; sectors that are drawn
ALT = ("Two rows of three sectors, each sector with eight floats. Above, one array of pixels: red, green, blue, red and so on; "
       "the eight red values lie in three sectors. Below, an array for each colour: the eight red values fill the first sector, the "
       "other sectors belong to other arrays.")


@style.styled
def layouts() -> Picture:
    """Draw pixels as one array of structures and as three arrays, and mark the red values."""
    ax = style.axes(width=9.2, height=3.0)
    rows = (("one array of pixels", [("rgb"[i % 3], i // 3) for i in range(FLOATS * SECTORS)]),
            ("an array for each colour", [("rgb"[i // FLOATS], i % FLOATS) for i in range(FLOATS * SECTORS)]))
    for row, (name, values) in enumerate(rows):
        y = 2.6 * row
        ax.text(0, y - 0.22, name, fontsize=14, weight="bold", va="bottom")
        for i, (colour, pixel) in enumerate(values):
            x = i + 0.35 * (i // FLOATS)
            red = colour == "r"
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=style.VERMILION if red else style.PALE, edgecolor=style.GREY, linewidth=1))
            ax.text(x + 0.5, y + 0.5, f"{colour}{pixel}", fontsize=12, ha="center", va="center", weight="bold" if red else "normal",
                    color=style.text_on(style.VERMILION) if red else style.INK)
        for sector in range(SECTORS):
            ax.add_patch(Rectangle((sector * (FLOATS + 0.35), y), FLOATS, 1, fill=False, edgecolor=style.INK, linewidth=2.4))
    ax.set(xlim=(-0.1, FLOATS * SECTORS + 0.8), ylim=(3.75, -0.95))
    ax.axis("off")
    return render(ax, ALT)
