"""The picture beside the sliders: which warp stores which element of C."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.lessons.first_kernel.counts import KERNELS, warp_in_c
from course_lib.plots import style, thread_grid
from course_lib.run import RunResult
from course_lib.widgets.pictures import describe_owners, who_writes

SIDE = 32                                      # rows and columns of C that are drawn
SMALL = {"width": 4.2, "height": 3.1}          # inches: beside the table in a narrow notebook, and on one screen with the sliders


def who_stores(result: RunResult) -> tuple[Axes, str]:
    """Draw who stores which element of a 32 × 32 C with the kernel and the block of a result; return (Axes, alternative text)."""
    who, (bx, by) = who_writes(result.kernel, **result.parameters), result.block[:2]
    high, wide = warp_in_c(next(name for name, kernel in KERNELS.items() if kernel == result.kernel.name), bx, by)
    ax = thread_grid(who, style.axes(None, **SMALL))
    for number in list(ax.texts):
        number.remove()                        # of lanes: too small to read here
    if (legend := ax.get_legend()) is not None:
        legend.remove()                        # which warp has which colour is no matter here
    ax.add_patch(Rectangle((-1, -1), wide + 1, high + 1, facecolor="none", edgecolor=style.INK, linewidth=3, clip_on=False))
    ticks = [0, *range(7, SIDE, 8)]            # the first element, and the last one of every eight: they are to be counted
    ax.set(xticks=ticks, yticks=ticks)
    ax.set_title(f"the first {SIDE} × {SIDE} elements of C;\nthe frame surrounds one warp", fontsize=12, loc="left")
    return ax, describe_owners(who, result.block)
