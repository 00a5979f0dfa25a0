"""What stands in the machine code of kernels' innermost loops, side by side."""

from collections.abc import Mapping
from math import floor
from typing import Any

from matplotlib.axes import Axes

from course_lib import kernels
from course_lib.plots import style
from course_lib.run.table import Table
from course_lib.toolchain import WholeStep, inner_loop

HEADER = ("kernel", "multiply-adds", "LDS.32", "LDS.64", "LDS.128", "LDG", "STS", "other", "jumps",
          "LDS / multiply-add", "shared words / multiply-add", "LDG / multiply-add", "instructions / multiply-add", "factors from shared")

STEP_COLOURS = (style.GREEN, style.BLUE, style.VERMILION, style.GREY)       # as in lesson 07's picture


def inner_loops(*names: str, arch: str = "sm_90", **parameters: int) -> Table:
    """Count the instructions of each kernel's innermost loop with the most multiply-adds.

    Parameters
    ----------
    *names
        Kernels of the catalog; default all that multiply matrices without tensor cores.
    **parameters
        Tile sizes and the like, for every kernel named.

    Returns
    -------
    Table
        Of one turn: multiply-adds, loads from shared memory by their bits, loads from global memory, stores to shared memory, all
        others, and jumps beside the one back (with any, a turn leaves some instructions out, or repeats some). Then the same
        for each multiply-add. The last column says how many of its two factors were loaded from shared memory in this loop.

    Raises
    ------
    CourseError
        As `course_lib.toolchain.inner_loop`.

    >>> inner_loops("sgemm_volkov").rows[0][:5]
    ('sgemm_volkov', 256, 0, 0, 68)
    """
    found = [inner_loop(name, arch=arch, **parameters) for name in names or _without_tensor_cores()]
    version = ".".join(map(str, found[0].nvrtc_version))
    return Table(HEADER, [_row(loop) for loop in found], f"One turn of the innermost loop, {arch}, NVRTC {version}")


def _without_tensor_cores():
    return [name for name, kernel in kernels.KERNELS.items() if not kernel.tensor_cores]


def _row(found):
    counts = found.loop.counts
    per = [f"{float(value):.4f}" for value in (
        found.per_multiply_add("LDS"), found.shared_words / found.multiply_adds, found.per_multiply_add("LDG"),
        found.per_multiply_add("instructions"))]
    factors = found.factors_from("LDS") / found.multiply_adds
    return (found.kernel, found.multiply_adds, *(counts[f"LDS.{bits}"] for bits in (32, 64, 128)), counts["LDG"], counts["STS"],
            found.other, found.jumps, *per, f"{factors:g}")


def two_decimals(value: float) -> str:
    """Write a number with two decimals at most; halves go up, as in the picture.

    >>> two_decimals(5.0), two_decimals(1.9375), two_decimals(0.625)
    ('5', '1.94', '0.63')
    """
    return f"{floor(100 * value + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


def describe_steps(steps: Mapping[Any, WholeStep]) -> str:
    """Return the numbers of `step_bars` in words."""
    kinds = {label: ", ".join(f"{name} {two_decimals(n)}" for name, n in step.shares().items() if n) for label, step in steps.items()}
    return "Instructions per multiply-add of a thread. " + " ".join(
        f"{label}: {two_decimals(step.per_multiply_add)} ({kinds[label]})." for label, step in steps.items())


@style.styled
def step_bars(steps: Mapping[Any, WholeStep], ax: Axes | None = None) -> Axes:
    """Draw the machine instructions of a whole step along K for each multiply-add, as stacked bars.

    Parameters
    ----------
    steps
        By label, from top to bottom.

    >>> from course_lib.toolchain import whole_step
    >>> ax = step_bars({u: whole_step("sgemm_unrolled", UNROLL=u) for u in (1, 16)})
    >>> [t.get_text() for t in ax.texts]
    ['1', '2', '5', '1.94', '9.94', '1', '1.25', '1.5', '3.75']
    """
    ax = style.axes(ax, width=9.6, height=1.5 + 0.48 * len(steps))
    for place, step in enumerate(steps.values()):
        left = 0.0
        for colour, (name, wide) in zip(STEP_COLOURS, step.shares().items(), strict=True):
            ax.barh(place, wide, left=left, color=colour, edgecolor="white", height=0.8, label=name if not place else None)
            if wide:
                ax.text(left + wide / 2, place, two_decimals(wide), va="center", ha="center", fontsize=11, color=style.text_on(colour))
            left += wide
        ax.text(left + 0.12, place, two_decimals(left), va="center", fontsize=14, weight="bold")
    ax.set_yticks(range(len(steps)), [str(label) for label in steps])
    ax.invert_yaxis()
    ax.margins(x=0.08)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="machine instructions per multiply-add of a thread")
    ax.legend(loc="lower center", bbox_to_anchor=(0.42, 1.0), ncols=4, columnspacing=1.1, handlelength=1.0, fontsize=11.5)
    return ax
