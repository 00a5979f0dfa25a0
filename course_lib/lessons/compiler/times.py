"""What an H200 needed for the loops that were counted: recorded speeds of Triton's kernels and of ours, as bars."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.lessons.compiler.counts import OURS, TILE
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

GROUPS: dict[str, dict[str, str]] = {         # what A and B are stored as -> name of a bar -> kernel of short.json
    "given floats": {f"ours, {OURS}": OURS} | {f"Triton, num_stages = {stages}": f"Triton sm_80_{stages}_floats" for stages in (3, 1)},
    "given float16": {f"Triton, num_stages = {stages}": f"Triton sm_80_{stages}" for stages in (4, 3, 2, 1)},
}
GAP = 1.1                       # between the groups, in bars: the name of the second stands there


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel with Triton's tile."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if all(row["parameters"][name] == TILE[name] for name in ("BM", "BN", "BK")))


def times_as_fast() -> float:
    """Return how many times as fast ours was as Triton's with three stages, both given floats.

    >>> times_as_fast()
    1.2
    """
    one, other = (recorded(kernel)["tflops"] for kernel in (OURS, "Triton sm_80_3_floats"))
    return round(one / other, 2)


@style.styled
def draw_speeds() -> Axes:
    """Draw a bar for each recorded kernel, in the two groups of `GROUPS`."""
    ax, at, names, clocks = style.axes(width=8.4, height=4.6), 0.0, {}, []
    for given, bars in GROUPS.items():
        ax.text(0, at, f"{given}:", va="center", fontsize=13, fontweight="bold")
        for name, kernel in bars.items():
            at += 1
            row = recorded(kernel)
            drawn = ax.barh(at, row["tflops"], height=0.7, color=style.BLUE if kernel == OURS else style.ORANGE)
            ax.bar_label(drawn, [f"{row['tflops']:.1f}"], padding=5, fontsize=13)
            names[at] = name
            clocks.append(row["mhz"])
        at += GAP
    ax.set_yticks(list(names), list(names.values()), fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.1)
    ax.set_xlabel("TFLOP/s", fontsize=13)
    style.figure_of(ax).supxlabel(f"N = 4,096, tiles of 64 × 64 × 32; {data.readings('short').label}. Triton's PTX for sm_80\n"
                                  f"was assembled for the H200; clocks of {min(clocks):,} to {max(clocks):,} MHz", fontsize=12)
    return ax


def speeds() -> Picture:
    """Show the recorded speeds as bars."""
    said = [f"{given}, " + ", ".join(f"{name} {recorded(kernel)['tflops']:.1f}" for name, kernel in bars.items())
            for given, bars in GROUPS.items()]
    return render(draw_speeds(), f"TFLOP/s: {'; '.join(said)}.")
