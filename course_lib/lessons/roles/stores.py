"""What the end of a tile costs `sbgemm_tma`, and whether `sbgemm_wide_stores` passes cuBLAS: two recordings of an H200."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.plots import Picture, render, style

N, SIZES, WIDTH = 4096, (1024, 2048, 4096, 8192), 0.38
RACED = {"sbgemm_tma": style.BLUE, "sbgemm_wide_stores": style.ORANGE}


def recorded(*, producer: bool, wide: bool, N: int = N) -> dict[str, Any]:
    """Return the row of stores.json of a kernel with a producer or without, whose lanes store 16 bytes at once, or 8."""
    row, = data.readings("stores").find(producer=producer, wide=wide, N=N)
    return row


def store_cycles(*, wide: bool) -> int:
    """Return the recorded cycles that `sbgemm_tma` needs to store a tile, with 16 bytes per lane and store, or with 8.

    >>> store_cycles(wide=True) < store_cycles(wide=False)
    True
    """
    return int(recorded(producer=True, wide=wide)["cycles_of_stores"])


def raced(kernel: str) -> dict[int, dict[str, Any]]:
    """Return the rows of warpgroups.json of a kernel, by N: "ratio" is cuBLAS's time over its time, "low" and "high" are of all runs."""
    return {row["N"]: row for row in data.readings("warpgroups").find(kernel=kernel)}


@style.styled
def draw_race() -> Axes:
    """Draw how many times as fast as cuBLAS each kernel was, by N, with the least and the largest of three runs."""
    ax = style.axes(width=8.4, height=4.0)
    for place, (kernel, colour) in enumerate(RACED.items()):
        rows = [raced(kernel)[n] for n in SIZES]
        at, heights = [x + (place - 0.5) * WIDTH for x in range(len(SIZES))], [row["ratio"] for row in rows]
        drawn = ax.bar(at, heights, WIDTH - 0.02, color=colour, label=kernel)
        ax.bar_label(drawn, [f"{height:.2f}" for height in heights], label_type="center", fontsize=13, color=style.text_on(colour))
        ax.errorbar(at, heights, [[row["ratio"] - row["low"] for row in rows], [row["high"] - row["ratio"] for row in rows]],
                    fmt="none", ecolor=style.INK, elinewidth=1.5, capsize=4)
    ax.axhline(1, color=style.INK, linestyle="--", linewidth=1.5, label="cuBLAS")
    ax.set_xticks(range(len(SIZES)), [f"N = {n:,}" for n in SIZES], fontsize=13)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("times cuBLAS's speed")
    ax.set_xlabel(f"bfloat16; black: the least and the largest of three runs;\n{data.readings('warpgroups').label}", fontsize=12)
    shown, names = (found[1:] + found[:1] for found in ax.get_legend_handles_labels())          # the bars first
    ax.legend(shown, names, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return ax


def race() -> Picture:
    """Show how fast both kernels were, with cuBLAS as 1."""
    said = [f"{kernel} " + ", ".join(f"{raced(kernel)[n]['ratio']:.2f} at N = {n}" for n in SIZES) for kernel in RACED]
    return render(draw_race(), f"Times cuBLAS's speed, the median of three runs: {'; '.join(said)}. {data.readings('warpgroups').label}.")
