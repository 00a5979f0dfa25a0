"""The picture beside the sliders: which warp stores which element of C."""

from matplotlib.axes import Axes

from course_lib.lessons.first_kernel.counts import KERNELS, SAID
from course_lib.plots import style, thread_grid
from course_lib.run import RunResult
from course_lib.widgets.pictures import describe_owners, who_writes

SMALL = {"width": 4.2, "height": 3.1}          # inches: beside the table in a narrow notebook, and on one screen with the sliders


def who_stores(result: RunResult) -> tuple[Axes, str]:
    """Draw who stores which element of a 32 × 32 C with the kernel and the block of a result; return (Axes, alternative text)."""
    who, (bx, by) = who_writes(result.kernel, **result.parameters), result.block[:2]
    said = next(SAID[name] for name, kernel in KERNELS.items() if kernel == result.kernel.name)
    ax = thread_grid(who, style.axes(None, **SMALL), title=f"{said}, bx = {bx}, by = {by}")
    if (legend := ax.get_legend()) is not None:
        legend.remove()                        # which warp has which colour is no matter here, and the picture is small
    return ax, describe_owners(who, result.block)
