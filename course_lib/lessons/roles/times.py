"""How fast `sbgemm_tma` was with its producer and without it, as recorded on an H200: bars for each number of stages."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.plots import Picture, render, style

N, STAGES, WIDTH = 4096, (2, 3, 4), 0.38
BARS = {True: ("with its producer", style.BLUE), False: ("without it", style.ORANGE)}
LINES = {"cuBLAS": "--", "sbgemm_stages": ":"}


def recorded(kernel: str, stages: int | None = None, *, producer: bool = True, N: int = N, variant: str = "") -> dict[str, Any]:
    """Return the row of roles.json of a kernel; of `sbgemm_tma` with so many stages, with its producer or without."""
    rows = [row for row in data.readings("roles").find(kernel=kernel, N=N) if row.get("variant", "") == variant]
    row, = (row for row in rows if stages in (None, row["parameters"].get("STAGES")) and producer == ("without_producer" not in row))
    return row


def speed(stages: int, *, producer: bool, N: int = N) -> float:
    """Return the recorded TFLOP/s of `sbgemm_tma`, the median of its turns.

    >>> speed(stages=3, producer=True) / speed(stages=2, producer=True) > 1.5
    True
    """
    return float(recorded("sbgemm_tma", stages, producer=producer, N=N)["tflops"])


@style.styled
def draw_speeds() -> Axes:
    """Draw two bars for each number of stages, with the middle half of their turns, and a line for each of `LINES`."""
    ax, clocks, work = style.axes(width=8.4, height=4.6), [], 2e-12 * N**3
    for producer, (name, colour) in BARS.items():
        rows = [recorded("sbgemm_tma", stages, producer=producer) for stages in STAGES]
        clocks += [row["mhz"] for row in rows]
        at = [place + (-0.5 if producer else 0.5) * WIDTH for place in range(len(STAGES))]
        heights = [row["tflops"] for row in rows]
        drawn = ax.bar(at, heights, WIDTH - 0.02, color=colour, label=f"sbgemm_tma {name}")
        ax.bar_label(drawn, [f"{height:.0f}" for height in heights], label_type="center", fontsize=13, color=style.text_on(colour))
        below = [work / row["median_s"] - work / row["high_s"] for row in rows]
        above = [work / row["low_s"] - work / row["median_s"] for row in rows]
        ax.errorbar(at, heights, [below, above], fmt="none", ecolor=style.INK, elinewidth=1.5, capsize=4)
    for kernel, dashes in LINES.items():
        row = recorded(kernel)
        clocks.append(row["mhz"])
        of = f", {row['parameters']['STAGES']} stages" if row["parameters"] else ""
        ax.axhline(row["tflops"], color=style.INK, linestyle=dashes, linewidth=1.5, label=f"{kernel}{of}: {row['tflops']:.0f}")
    ax.set_xticks(range(len(STAGES)), [f"{stages} stages" for stages in STAGES], fontsize=13)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("TFLOP/s")
    ax.set_xlabel(f"bfloat16, N = {N:,}, the kernels in turns; {data.readings('roles').label};\nblack: the middle half of the turns; "
                  f"clocks of {min(clocks):,} to {max(clocks):,} MHz", fontsize=12)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def speeds() -> Picture:
    """Show the recorded speeds as bars."""
    said = [f"{stages} stages {speed(stages, producer=True)} and {speed(stages, producer=False)}" for stages in STAGES]
    lines = [f"{kernel} {recorded(kernel)['tflops']}" for kernel in LINES]
    return render(draw_speeds(), f"TFLOP/s of sbgemm_tma with its producer and without it: {'; '.join(said)}. Lines: {', '.join(lines)}. "
                                 f"{data.readings('roles').label}.")
