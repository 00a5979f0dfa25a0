"""How fast `sbgemm_tma` was with its producer and without it, as recorded on an H200: bars for each number of stages."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.plots import Picture, render, style

N, STAGES, WIDTH = 4096, (2, 3, 4), 0.38
AT = {2: 0, 3: 1.04, 4: 2.46}                # where the bars of each number of stages meet
BARS = (("with its producer", True, ""), ("without it", False, ""), ("without it, copies one step later", False, "later"))
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


def _rows(*, producer: bool, variant: str) -> dict[int, dict[str, Any]]:
    """Return the rows of bars that look alike, by their number of stages: the later copies were recorded with three."""
    return {stages: recorded("sbgemm_tma", stages, producer=producer, variant=variant) for stages in ((3,) if variant else STAGES)}


@style.styled
def draw_speeds() -> Axes:
    """Draw bars for each number of stages, with the middle half of their turns, and a line for each of `LINES`."""
    ax, work, clocks = style.axes(width=8.4, height=4.6), 2e-12 * N**3, [recorded(kernel)["mhz"] for kernel in LINES]
    for place, (name, producer, variant) in enumerate(BARS):
        rows, colour = _rows(producer=producer, variant=variant), style.BLUE if producer else style.ORANGE
        clocks += [row["mhz"] for row in rows.values()]
        at, heights = [AT[stages] + (place - 0.5) * WIDTH for stages in rows], [row["tflops"] for row in rows.values()]
        look: dict[str, Any] = {"facecolor": "white", "edgecolor": colour, "hatch": "///"} if variant else {"color": colour}
        drawn = ax.bar(at, heights, WIDTH - 0.02, label=f"sbgemm_tma {name}", **look)
        ax.bar_label(drawn, [f"{height:.0f}" for height in heights], label_type="center", fontsize=13,
                     **({"color": style.INK, "backgroundcolor": "white"} if variant else {"color": style.text_on(colour)}))
        ax.errorbar(at, heights, [[work / row["median_s"] - work / row["high_s"] for row in rows.values()],
                                  [work / row["low_s"] - work / row["median_s"] for row in rows.values()]],
                    fmt="none", ecolor=style.INK, elinewidth=1.5, capsize=4)
    for kernel, dashes in LINES.items():
        row = recorded(kernel)
        of = f", {row['parameters']['STAGES']} stages" if row["parameters"] else ""
        ax.axhline(row["tflops"], color=style.INK, linestyle=dashes, linewidth=1.5, label=f"{kernel}{of}: {row['tflops']:.0f}")
    middles = [AT[stages] + (WIDTH / 2 if stages == 3 else 0) for stages in STAGES]
    ax.set_xticks(middles, [f"{stages} stages" for stages in STAGES], fontsize=13)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("TFLOP/s")
    ax.set_xlabel(f"bfloat16, N = {N:,}, nine turns each; {data.readings('roles').label};\nblack: the middle half of the turns; "
                  f"clocks, read afterwards: {min(clocks):,} to {max(clocks):,} MHz", fontsize=12)
    shown, names = (found[len(LINES):] + found[:len(LINES)] for found in ax.get_legend_handles_labels())          # the bars first
    ax.legend(shown, names, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def speeds() -> Picture:
    """Show the recorded speeds as bars."""
    said = [f"{stages} stages {speed(stages, producer=True)} and {speed(stages, producer=False)}" for stages in STAGES]
    lines = [f"{kernel} {recorded(kernel)['tflops']}" for kernel in LINES]
    later = recorded("sbgemm_tma", 3, producer=False, variant="later")["tflops"]
    return render(draw_speeds(), f"TFLOP/s of sbgemm_tma with its producer and without it: {'; '.join(said)}. Hatched: 3 stages "
                                 f"without it, each copy one step later, {later}. "
                                 f"Lines: {', '.join(lines)}. {data.readings('roles').label}.")
