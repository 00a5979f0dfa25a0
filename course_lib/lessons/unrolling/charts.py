"""The time of `ballast.cu` beside its instructions, as recorded on an H200, and the least that both limits allow."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.errors import CourseError
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import FACTORS
from course_lib.lessons.unrolling.experiments import ISSUED_PER_CYCLE, N_TIMED, SERVED_PER_CYCLE, least
from course_lib.plots import describe_steps, render, step_bars, style
from course_lib.plots.picture import Picture
from course_lib.run import LaunchResult
from course_lib.toolchain import WholeStep, whole_step

LIMITS = (((1, 2), "UNROLL = 1 and 2", ":"), ((4, 8, 16), "UNROLL = 4, 8 and 16", "--"))      # those with the same wavefronts


def added(factor: int, N: int = N_TIMED) -> dict[float, float]:
    """Return the recorded milliseconds by the instructions per multiply-add, from none that nobody needs to six."""
    return {row["instructions"]: 1e3 * row["median_s"] for row in data.readings("ballast").find(UNROLL=factor, WAYS=1, N=N)}


def larger(instructions: float, waves: float) -> float:
    """Return the milliseconds that issuing, or shared memory where it needs longer, takes at least; modelled for N = 4096."""
    return 1e3 * max(least(instructions, ISSUED_PER_CYCLE), least(waves, SERVED_PER_CYCLE))


@style.styled
def added_instructions() -> Picture:
    """Draw the recorded time over the instructions per multiply-add, one line per UNROLL, above the larger of the two limits."""
    ax, told = style.axes(width=9.0, height=4.8), []
    for factor, marker, colour in zip(FACTORS, style.MARKERS, style.CYCLE, strict=False):
        found = added(factor)
        ax.plot(list(found), list(found.values()), marker=marker, color=colour, label=f"UNROLL = {factor}")
        told.append(f"UNROLL = {factor}: " + ", ".join(f"{ms:.1f} ms with {count:.2f}" for count, ms in found.items()))
    for factors, name, line in LIMITS:
        waves, counts = ballast.wavefronts(factors[0], ways=1), [count for factor in factors for count in added(factor)]
        ends = (min(counts), ISSUED_PER_CYCLE * waves / SERVED_PER_CYCLE, max(counts))
        ax.plot(ends, [larger(x, waves) for x in ends], line, color=style.INK, linewidth=1.6, label=f"larger limit, {name}")
        told.append(f"The larger limit of {name} is {larger(0, waves):.1f} ms up to {ends[1]:g} instructions, and rises from there")
    ax.set(xlabel=f"machine instructions per multiply-add\nN = {N_TIMED}, {data.readings('ballast').label}; limits modelled", ylabel="ms",
           xlim=(3, 16.3), ylim=(0, 38))
    ax.grid(axis="y")
    ax.legend(loc="lower right", ncols=2)
    return render(ax, "Recorded time over instructions per multiply-add: level, then all lines rise together. " + ". ".join(told) + ".")


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
