"""Pictures of what the machine instructions of a step along K are for."""

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course_lib.lessons.unrolling.counts import FACTORS, PLAIN, same_code, step, step_of, variants
from course_lib.plots import describe_steps, linked_code, render, step_bars, style
from course_lib.plots.picture import Picture

YOURS, ROWS, WIDE = "your kernel", 5, 8.4         # rows of machine code that are shown, and inches


def by_factor() -> Picture:
    """Draw what the instructions of the course's kernel are there for, per multiply-add, for every UNROLL."""
    steps = {f"UNROLL = {factor}": step(factor) for factor in FACTORS}
    return render(step_bars(steps, style.axes(width=WIDE, height=3.8)), describe_steps(steps))


@style.styled
def beside(kernel: str) -> Picture:
    """Draw a reader's kernel beside other texts of the same loop; below, its machine code beside that of the plain loop, if it is the same.

    Parameters
    ----------
    kernel
        CUDA text of a product with tiles of 16 × 16, one thread per element of C.
    """
    texts = {YOURS: kernel, **variants()}
    steps = {label: step_of(text) for label, text in texts.items()}
    same = same_code(texts[PLAIN], kernel)
    figure = Figure(figsize=(WIDE, 4.95 if same else 2.8), dpi=style.DPI, layout="constrained")
    FigureCanvasAgg(figure)
    above, *below = figure.subplots(1 + same, 1, squeeze=False, height_ratios=(1.4, 1.75)[:1 + same])[:, 0]
    step_bars(steps, above)
    told = f" {draw_same(below[0], kernel)}." if same else ""
    return render(figure, describe_steps(steps) + told)


def draw_same(ax: Axes, kernel: str) -> str:
    """Draw machine code that two kernels share, twice, from its first load from shared memory on; return the finding."""
    rows = [i.text for i in linked_code(kernel).sass]
    first = next(n for n, text in enumerate(rows) if text.startswith("LDS"))
    found = f"All {len(rows)} machine instructions are the same"
    ax.text(0, -2.2, found, fontsize=14, weight="bold", va="center")
    for x, title in ((0.0, YOURS), (0.52, PLAIN)):
        ax.text(x, -0.9, title, fontsize=12, weight="bold", va="center")
        for y, text in enumerate(rows[first:first + ROWS]):
            ax.text(x, y, text, fontsize=11, va="center", family="DejaVu Sans Mono")
        ax.text(x, ROWS, f"… and {len(rows) - ROWS} more", fontsize=11, va="center")
    for y in range(ROWS + 1):
        ax.text(0.44, y, "=", fontsize=13, weight="bold", va="center", ha="center", color=style.GREEN)
    ax.set(xlim=(0, 1), ylim=(ROWS + 0.6, -3.1))
    ax.axis("off")
    return found
