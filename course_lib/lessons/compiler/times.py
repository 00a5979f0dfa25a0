"""What an H200 needed for the loops that were counted: recorded speeds of Triton's kernels and of ours, and what the counts allow."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.kernels.triton import Setting
from course_lib.lessons.compiler.counts import MULTIPLIED, OURS, TILE, WAVEFRONTS, Step, our_step, step_of
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

STAGES = (1, 2, 3, 4)
GIVEN_FLOATS = {                # name of a bar -> kernel of short.json
    f"ours, {OURS}": OURS,
    "Triton, 3 stages": "Triton sm_80_3_floats",
    "Triton, 1 stage": "Triton sm_80_1_floats",
}
LIBRARY = "cuBLAS"              # given bfloat16
ROUNDS = 9                      # of `python -m tools record short`


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


def bounds() -> dict[str, tuple[int, float]]:
    """Return for each bar the wavefronts of a step, and how many 10^12 operations a second they allow an H200 at its highest clock."""
    steps = (our_step(), step_of(Setting(3, floats=True)), step_of(Setting(1, floats=True)))
    return {name: (step.sum(WAVEFRONTS), _bound(step)) for name, step in zip(GIVEN_FLOATS, steps, strict=True)}


def _bound(step: Step) -> float:
    return limit_by_wavefronts(step.sum(WAVEFRONTS) / step.counters[MULTIPLIED])


@style.styled
def draw_speeds() -> Axes:
    """Draw a bar for each kernel that is given floats, and around it as an outline what its wavefronts allow."""
    ax, most, colours = style.axes(width=8.4, height=3.5), bounds(), (style.BLUE, style.ORANGE, style.ORANGE)
    names, speeds = list(GIVEN_FLOATS), [recorded(kernel)["tflops"] for kernel in GIVEN_FLOATS.values()]
    ax.barh(names, speeds, height=0.66, color=colours)
    ax.barh(names, [bound for _, bound in most.values()], height=0.66, facecolor="none", edgecolor=style.INK, linewidth=2,
            label=f"outline: the most that the wavefronts allow, at {device('H200').clock_mhz / 1000:.2f} GHz (computed)")
    for at, (speed, (wavefronts, bound)) in enumerate(zip(speeds, most.values(), strict=True)):
        ax.text(speed / 2, at, f"{speed:.1f}", ha="center", va="center", fontsize=13, color=style.text_on(colours[at]))
        ax.text(bound + 5, at, f"{bound:.0f}\n({wavefronts} wavefronts)", va="center", fontsize=12)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0, labelsize=13)
    ax.set_xlim(0, 1.28 * max(bound for _, bound in most.values()))
    ax.set_xlabel(f"TFLOP/s, N = 4,096, median of {ROUNDS} rounds;\n{data.readings('short').label}", fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0)
    return ax


def speeds() -> Picture:
    """Show the recorded speeds as bars, and what the wavefronts allow as outlines."""
    said = "; ".join(f"{name}: {recorded(GIVEN_FLOATS[name])['tflops']}, and its {wavefronts} wavefronts allow {bound:.0f}"
                     for name, (wavefronts, bound) in bounds().items())
    return render(draw_speeds(), f"TFLOP/s, given floats. {said}.")


def given_float16() -> Table:
    """Return the recorded speeds of Triton's first program, by stages and target."""
    rows = [(stages, *(recorded(f"Triton {target}_{stages}")["tflops"] for target in ("sm_80", "sm_90a"))) for stages in STAGES]
    return Table(("num_stages", "PTX for sm_80", "PTX for sm_90a"), rows, f"TFLOP/s, given float16, N = 4,096, median of {ROUNDS} rounds; "
                 f"{data.readings('short').label}. cuBLAS, given bfloat16, with tiles of its own: {recorded(LIBRARY)['tflops']}")
