"""A grid of whole blocks over a C that they do not divide: which threads are outside."""

from matplotlib.patches import Rectangle

from course_lib.plots import render, style
from course_lib.plots.picture import Picture

T, M, N = 16, 40, 40               # threads along each side of a block; rows and columns of C
ON_PALE = "#222222"


@style.styled
def surplus() -> Picture:
    """Draw C, the blocks that cover it, and the threads that lie outside."""
    down, across = -(-M // T), -(-N // T)
    ax = style.axes(width=5.8, height=3.9)
    ax.add_patch(Rectangle((0, 0), across * T, down * T, facecolor="#F6C7A3", edgecolor=style.ORANGE, hatch="///", linewidth=0))
    ax.add_patch(Rectangle((0, 0), N, M, facecolor="#BFDDF0", edgecolor=style.BLUE, linewidth=2.5))
    for y in range(down):
        for x in range(across):
            ax.add_patch(Rectangle((x * T, y * T), T, T, facecolor="none", edgecolor=style.INK, linewidth=1.2))
            ax.text(x * T + 0.5, (y + 0.25) * T, f"({x}, {y})", va="center", fontsize=9.5, color=ON_PALE)
    ax.text(0, -1.2, f"C with {M} rows and {N} columns, and the blocks (x, y) of the grid", fontsize=12.5, va="bottom")
    ax.text(across * T + 1.5, 0.5 * M, f"{across * T - N} columns\ntoo many", fontsize=12.5, va="center")
    ax.text(0, down * T + 1.2, f"{down * T - M} rows too many", fontsize=12.5, va="top")
    ax.set(xlim=(-1, across * T + 17), ylim=(down * T + 6, -6), aspect="equal")
    ax.axis("off")
    return render(ax, described())


def outside() -> int:
    """Return how many threads of the grid have no element of C.

    >>> outside()
    704
    """
    return -(-M // T) * T * -(-N // T) * T - M * N


def described() -> str:
    """Say in words what the picture shows."""
    down, across = -(-M // T), -(-N // T)
    return (f"C has {M} rows and {N} columns. {across} × {down} blocks of {T} × {T} threads cover it and reach beyond its edges: "
            f"{across * T - N} columns to the right and {down * T - M} rows below are outside C. These are {outside():,} of "
            f"{down * across * T * T:,} threads.")
