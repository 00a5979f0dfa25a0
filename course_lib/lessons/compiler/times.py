"""What an H200 needed for the loops that were counted: recorded speeds of Triton's kernels and of ours, and what their data pipe did."""

from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.kernels.triton import Setting
from course_lib.lessons.compiler.counts import OURS, TILE, WAVEFRONTS, our_step, step_of
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
STEPS = 4096**3 // (64 * 64 * 32)          # of all blocks in a launch of cycles.json
MMA_OF_A_STEP = 64
CYCLES = "sm__cycles_elapsed.max"
PIPE = "l1tex__data_pipe_lsu_wavefronts.sum"
SHARED_LOADS, SHARED_STORES = (f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st"))
MEASURES = ("wavefronts of shared memory, simulated", "of the whole data pipe, counted", "time, recorded")
LOOKS = ((style.PALE, "//"), (style.SKY, ""), (style.BLUE, ""))    # of the bars of MEASURES: colour and hatch


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


def counted(kernel: str) -> dict[str, int]:
    """Return what Nsight Compute counted of a kernel of cycles.json in one launch at N = 4096, over all multiprocessors."""
    found: dict[str, int] = data.readings("cycles").find(kernel=kernel)[0]["counters"]
    return found


def per_step(kernel: str, name: str = PIPE) -> int:
    """Return what a counter of Nsight Compute gives for one step of a block.

    >>> per_step(OURS), per_step(OURS, SHARED_LOADS)
    (337, 128)
    """
    return round(counted(kernel)[name] / STEPS)


def cycles_times_ours(kernel: str) -> float:
    """Return how many times as many cycles as ours a kernel took."""
    return counted(kernel)[CYCLES] / counted(OURS)[CYCLES]


def busy(kernel: str) -> float:
    """Return in which part of the cycles the data pipe of a multiprocessor served a wavefront."""
    return counted(kernel)[PIPE] / device("H200").sms / counted(kernel)[CYCLES]


def whole_pipe() -> float:
    """Return how many times as many wavefronts of the data pipe as ours Triton's with three stages needs.

    >>> whole_pipe()
    1.24
    """
    return round(per_step("Triton sm_80_3_floats") / per_step(OURS), 2)


def pipe() -> Table:
    """Return what went through the data pipe in a step, and how busy it was."""
    def of(name: str) -> list[str]:
        return [f"{per_step(kernel, name)}" for kernel in GIVEN_FLOATS.values()]
    kernels = GIVEN_FLOATS.values()
    rest = [f"{round((found[PIPE] - found[SHARED_LOADS] - found[SHARED_STORES]) / STEPS)}" for found in map(counted, kernels)]
    rows = [("wavefronts of the data pipe per step", *of(PIPE)), ("of these, loads from shared memory", *of(SHARED_LOADS)),
            ("of these, stores to shared memory", *of(SHARED_STORES)), ("of these, all else: global memory, asynchronous copies", *rest),
            ("million cycles of the busiest multiprocessor", *(f"{counted(kernel)[CYCLES] / 1e6:.2f}" for kernel in kernels)),
            ("part of the cycles in which the pipe serves a wavefront", *(f"{busy(kernel):.0%}".replace("%", " %") for kernel in kernels))]
    return Table(("", *GIVEN_FLOATS), rows, f"one launch, N = 4,096, counted by Nsight Compute; {data.readings('cycles').label}",
                 note="A step of one block is 64 × 64 × 32; there are 524,288. Rounded.")


def times_ours() -> dict[str, list[float]]:
    """Return for each kernel in the order of `GIVEN_FLOATS`, as a multiple of ours: wavefronts of shared memory, of the pipe, and time."""
    shared = [step.sum(WAVEFRONTS) for step in (our_step(), step_of(Setting(3, floats=True)), step_of(Setting(1, floats=True)))]
    whole = [per_step(kernel) for kernel in GIVEN_FLOATS.values()]
    times = [recorded(kernel)["median_s"] for kernel in GIVEN_FLOATS.values()]
    found = zip(MEASURES, (shared, whole, times), strict=True)
    return {name: [value / values[0] for value in values] for name, values in found}


@style.styled
def draw_speeds() -> Axes:
    """Draw for Triton's two kernels that are given floats what both counts foretell, as multiples of ours, and the recorded time."""
    ax, thick = style.axes(width=9.2, height=3.9), 0.27
    kernels = list(GIVEN_FLOATS.items())[1:]
    for turn, ((name, found), (colour, hatch)) in enumerate(zip(times_ours().items(), LOOKS, strict=True)):
        places = [at + (turn - 1) * thick for at in range(len(kernels))]
        ax.barh(places, found[1:], height=0.92 * thick, color=colour, hatch=hatch, edgecolor=style.INK, label=name)
        for place, value in zip(places, found[1:], strict=True):
            ax.text(value + 0.03, place, f"{value:.2f}", va="center", fontsize=13)
    ax.axvline(1, color=style.INK, linewidth=2)
    ax.set_yticks(range(len(kernels)), [f"{name}\n{recorded(kernel)['tflops']} TFLOP/s" for name, kernel in kernels], fontsize=13)
    ax.set(xlim=(0, 3), ylim=(len(kernels) - 0.5, -0.5))
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"times ours ({OURS}, {recorded(OURS)['tflops']} TFLOP/s); N = 4,096, median of {ROUNDS} rounds,\n"
                  f"{data.readings('short').label}", fontsize=12)
    ax.legend(loc="lower left", bbox_to_anchor=(-0.22, 1.0), ncols=3, columnspacing=1.0, handlelength=1.2, borderaxespad=0.2)
    return ax


def speeds() -> Picture:
    """Show what two counts foretell, and the recorded times."""
    found, said = times_ours(), []
    for at, (name, kernel) in list(enumerate(GIVEN_FLOATS.items()))[1:]:
        multiples = ", ".join(f"{what} {values[at]:.2f}" for what, values in found.items())
        said.append(f"{name}, {recorded(kernel)['tflops']} TFLOP/s: {multiples}")
    return render(draw_speeds(), f"As multiples of ours, {recorded(OURS)['tflops']} TFLOP/s. {'; '.join(said)}.")


def allowed(kernel: str) -> float:
    """Return how many 10^12 operations a second the wavefronts that Nsight Compute counted allow an H200 at its highest clock."""
    return limit_by_wavefronts(per_step(kernel) / MMA_OF_A_STEP)


def given_float16() -> Table:
    """Return the recorded speeds of Triton's first program, by stages and target."""
    rows = [(stages, *(recorded(f"Triton {target}_{stages}")["tflops"] for target in ("sm_80", "sm_90a"))) for stages in STAGES]
    return Table(("num_stages", "PTX for sm_80", "PTX for sm_90a"), rows, f"TFLOP/s, given float16, N = 4,096, median of {ROUNDS} rounds; "
                 f"{data.readings('short').label}. cuBLAS, given bfloat16, with tiles of its own: {recorded(LIBRARY)['tflops']}")
