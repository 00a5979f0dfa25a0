"""Two pictures: which thread takes which number of an array, and how many products fit into one second."""

from math import ceil

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from course_lib import data
from course_lib.explorables.race import LIBRARY
from course_lib.lessons.start.climb import demand_time, recorded_product
from course_lib.plots import show
from course_lib.plots.style import BLUE, GREEN, INK, PALE, SKY, VERMILION, axes, styled, text_on

NUMBERS = 8                           # of the lesson's array
ABREAST, APART = 12, 32               # products in a row of a pile, as in the race; from one pile's middle to the next
LANES = (VERMILION, BLUE)             # the naive kernel and the library, in the hues of the race


@styled
def draw_threads(threads: int, numbers: int = NUMBERS, ax: Axes | None = None) -> Axes:
    """Draw a row of threads above a row of numbers, with an arrow from each thread to the number that it takes; return the Axes."""
    ax = axes(ax, width=max(6.0, 0.62 * threads + 1.4), height=1.9)
    for i in range(max(threads, numbers)):
        exists = i < numbers
        ax.add_patch(Rectangle((i - 0.46, 0), 0.92, 0.7, facecolor=PALE if exists else "none", edgecolor=INK if exists else VERMILION,
                               linestyle="-" if exists else ":", linewidth=1.5))
        ax.text(i, 0.33, f"x[{i}]" if exists else "?", ha="center", va="center", fontsize=12, color=INK if exists else VERMILION)
        if i < threads:
            ax.add_patch(FancyBboxPatch((i - 0.28, 1.72), 0.56, 0.46, boxstyle="round,pad=0.08", facecolor=SKY, edgecolor=INK, linewidth=1))
            ax.text(i, 1.95, str(i), ha="center", va="center", fontsize=12, color=text_on(SKY))
            ax.annotate("", (i, 0.76), (i, 1.62), arrowprops={"arrowstyle": "->", "linewidth": 1.8, "color": INK if exists else VERMILION})
    ax.text(-0.75, 1.95, "threadIdx.x", ha="right", va="center", fontsize=12)
    ax.text(-0.75, 0.33, "array x", ha="right", va="center", fontsize=12)
    ax.set(xlim=(-2.9, max(threads, numbers) - 0.4), ylim=(-0.1, 2.35))
    ax.axis("off")
    return ax


def describe_threads(threads: int, numbers: int = NUMBERS) -> str:
    """Say what `draw_threads` shows.

    >>> describe_threads(8)
    '8 threads above an array x of 8 numbers. Thread 0 points to x[0], thread 1 to x[1], and so on to thread 7.'
    >>> describe_threads(16).partition("thread 7. ")[2]
    'Threads 8 to 15 point behind its end, where there is no number.'
    """
    last = min(threads, numbers) - 1
    beyond = f" Threads {numbers} to {threads - 1} point behind its end, where there is no number." if threads > numbers else ""
    return (f"{threads} threads above an array x of {numbers} numbers. Thread 0 points to x[0], thread 1 to x[1], "
            f"and so on to thread {last}.{beyond}")


def who_takes(threads: int) -> None:
    """Show which thread takes which number of the lesson's array."""
    show(draw_threads(threads), describe_threads(threads))


def per_second(seconds: float) -> str:
    """Return how many products of `seconds` each fit into one second: whole ones, or two digits where they are few.

    >>> per_second(0.0254), per_second(0.64), per_second(2.5)
    ('39', '1.6', '0.4')
    """
    many = 1 / seconds
    return str(int(many)) if many >= 10 else f"{many:.2g}"


@styled
def draw_second(seconds: float, ax: Axes | None = None) -> Axes:
    """Draw a pile for this computer, the naive kernel and the library: each small square a product in one second; return the Axes."""
    ax = axes(ax, width=8.6, height=3.9)
    gpu = f"calculated from one product,\nrecorded on {data.load('ladder').device}"
    lanes = ((seconds, "NumPy", "calculated from one product,\nmeasured on this computer", GREEN),
             (recorded_product("sgemm_naive").seconds, "naive", gpu, LANES[0]),
             (recorded_product(LIBRARY).seconds, LIBRARY, gpu, LANES[1]))
    high = ceil(1 / lanes[-1][0] / ABREAST)
    for place, (each, name, label, colour) in enumerate(lanes):
        middle, left, many = APART * place, APART * place - ABREAST / 2, 1 / each
        for row in range(high):                        # one bar for each row; the last product may be there in part
            ax.add_patch(Rectangle((left, row), min(ABREAST, max(0, many - ABREAST * row)), 1, facecolor=colour, linewidth=0, snap=False))
            ax.plot((left, left + ABREAST), (row + 1, row + 1), color="white", linewidth=0.8, snap=False)
        for i in range(1, ABREAST):
            ax.plot((left + i, left + i), (0, high), color="white", linewidth=0.8, snap=False)
        ax.plot((left - 1, left + ABREAST + 1), (0, 0), color=colour, linewidth=2)
        ax.text(middle, -1, name, ha="center", va="top", weight="bold")
        ax.text(middle, -4.4, f"{per_second(each)} per second", ha="center", va="top", weight="bold")
        ax.text(middle, -7.8, label, ha="center", va="top", fontsize=11)
    ax.set(xlim=(-APART / 2, 2.5 * APART), ylim=(-14, high + 1), aspect="equal", title="one second: each small square is one product")
    ax.axis("off")
    return ax


def describe_second(seconds: float) -> str:
    """Say what `draw_second` shows.

    >>> describe_second(0.64).partition("one second: ")[2]
    '1.6 by NumPy on this computer, 39 by the naive kernel and 371 by cuBLAS on a GPU.'
    """
    naive, library = (per_second(recorded_product(kernel).seconds) for kernel in ("sgemm_naive", LIBRARY))
    return (f"Three piles of small squares. Each square is a product that is finished in one second: "
            f"{per_second(seconds)} by NumPy on this computer, {naive} by the naive kernel and {library} by {LIBRARY} on a GPU.")


def one_second(seconds: float) -> None:
    """Show how many products fit into one second here, with the naive kernel and with the library.

    Raises
    ------
    CourseError
        When `seconds` is not positive.
    """
    demand_time(seconds)
    show(draw_second(seconds), describe_second(seconds))
