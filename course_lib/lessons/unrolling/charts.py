"""The picture beside the sliders: what the machine instructions of a step along K are for."""

from typing import Any

from matplotlib.axes import Axes

from course_lib.errors import CourseError
from course_lib.plots import describe_steps, step_bars, style
from course_lib.run import LaunchResult
from course_lib.toolchain import WholeStep, whole_step


def unroll_picture(result: LaunchResult) -> tuple[Axes, str]:
    """Draw the machine instructions of a step along K for every UNROLL that the kernel's sliders offer; the one that ran is marked."""
    kernel = result.kernel
    values: dict[str, Any] = dict(result.parameters)
    if "UNROLL" not in values:
        raise CourseError(f"{kernel.name} has no parameter UNROLL", kernel=kernel.name)
    offered = {*next(p.choices for p in kernel.parameters if p.name == "UNROLL"), values["UNROLL"]}
    possible = [u for u in sorted(offered) if not kernel.problems(**values | {"UNROLL": u})]
    steps: dict[str, WholeStep] = {}
    for u in possible:
        found = whole_step(kernel, **values | {"UNROLL": u})
        if found is None:
            raise CourseError(f"{kernel.name} has no loop along K over whole tiles", kernel=kernel.name)
        steps[f"UNROLL = {u}"] = found
    chosen = f"UNROLL = {values['UNROLL']}"
    ax = step_bars(steps, style.axes(width=5.6, height=3.2), chosen=chosen)                  # fits beside the table
    ax.set(xlim=(0, 13), xticks=range(0, 13, 2))                                             # the same for every position of the sliders
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, columnspacing=1.2, handlelength=1.2, fontsize=11)
    return ax, describe_steps(steps, chosen)
