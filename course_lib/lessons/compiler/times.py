"""What an H200 needed for the loops that were counted: recorded speeds of Triton's kernels and of ours, as bars."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.lessons.compiler.counts import OURS, TILE
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

STAGES = (1, 2, 3, 4)
GROUPS: dict[str, dict[str, str]] = {         # what A and B are stored as, and the target -> name of a bar -> kernel of short.json
    "given floats (Triton's PTX for sm_80)": {f"ours, {OURS}": OURS} | {
        f"Triton, num_stages = {stages}": f"Triton sm_80_{stages}_floats" for stages in (3, 1)},
    "given float16 (PTX for sm_80)": {f"Triton, num_stages = {stages}": f"Triton sm_80_{stages}" for stages in STAGES},
    "given float16 (PTX for sm_90a)": {f"Triton, num_stages = {stages}": f"Triton sm_90a_{stages}" for stages in STAGES},
}
LIBRARY = "cuBLAS"              # given bfloat16
GAP = 1.1                       # between the groups, in bars: the name of the next stands there


def recorded(kernel: str) -> dict[str, Any]:
    """Return the row of short.json of a kernel with Triton's tile, or of the library."""
    rows = data.readings("short").find(kernel=kernel)
    return next(row for row in rows if kernel == LIBRARY or all(row["parameters"][name] == TILE[name] for name in ("BM", "BN", "BK")))


def times_as_fast() -> float:
    """Return how many times as fast ours was as Triton's with three stages, both given floats.

    >>> times_as_fast()
    1.2
    """
    one, other = (recorded(kernel)["tflops"] for kernel in (OURS, "Triton sm_80_3_floats"))
    return round(one / other, 2)


def per_cycle() -> float:
    """Return the same of what both did per cycle of the clocks that were read.

    >>> per_cycle()
    1.08
    """
    one, other = (row["tflops"] / row["mhz"] for row in map(recorded, (OURS, "Triton sm_80_3_floats")))
    return round(one / other, 2)


@style.styled
def draw_speeds() -> Axes:
    """Draw a bar for each recorded kernel, in the groups of `GROUPS`, its clock beside it, and a line for the library."""
    ax, at, names = style.axes(width=8.4, height=5.6), 0.0, {}
    for given, bars in GROUPS.items():
        ax.text(0, at, f"{given}:", va="center", fontsize=12, fontweight="bold")
        for name, kernel in bars.items():
            at += 1
            row = recorded(kernel)
            drawn = ax.barh(at, row["tflops"], height=0.74, color=style.BLUE if kernel == OURS else style.ORANGE)
            ax.bar_label(drawn, [_said(row)], padding=5, fontsize=12)
            names[at] = name
        at += GAP
    library = recorded(LIBRARY)
    ax.axvline(library["tflops"], color=style.INK, linestyle="--")
    ax.text(library["tflops"] - 8, 2, f"{LIBRARY}, given bfloat16:\n{_said(library)}", ha="right", va="center", fontsize=12)
    ax.set_yticks(list(names), list(names.values()), fontsize=12)
    ax.set_ylim(at - GAP + 0.6, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.03 * library["tflops"])
    ax.set_xlabel("TFLOP/s", fontsize=12)
    style.figure_of(ax).supxlabel(f"N = 4,096, tiles of 64 × 64 × 32, except in cuBLAS; {data.readings('short').label}.\n"
                                  "MHz: the clock, read once after the timed turns, in a run of its own", fontsize=12)
    return ax


def _said(row: dict[str, Any]) -> str:
    return f"{row['tflops']:.1f} ({row['mhz']:,} MHz)"


def speeds() -> Picture:
    """Show the recorded speeds as bars."""
    said = [f"{given}, " + ", ".join(f"{name} {_said(recorded(kernel))}" for name, kernel in bars.items())
            for given, bars in GROUPS.items()]
    return render(draw_speeds(), f"TFLOP/s: {'; '.join(said)}; a line at {LIBRARY}, given bfloat16, {_said(recorded(LIBRARY))}.")
