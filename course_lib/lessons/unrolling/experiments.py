"""Does the time follow the instructions? Recorded times beside both counts, and pairs of kernels of which only one count differs."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import FACTORS, KERNEL, TILE, two_decimals
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture
from course_lib.widgets.compute import evaluate

N_TIMED, N_COUNTED, PADDED, TILED, SQUARE = 4096, 256, "sgemm_padded", "sgemm_tiled", {"BM": TILE, "BN": TILE, "BK": TILE}
BEFORE = "#666b70"                                # a grey that white letters can be read on
# Instructions of a step along K in the code that was timed, of NVRTC 13.0: tests hold them to `tests/data/executed.json` and that compiler.
TIMED_STEP = {1: 158, 2: 118, 4: 90, 8: 77, 16: 63}
TIMED_TILED, TIMED_PADDED = 71, 53                # of lesson 04's kernel, and of lesson 06's with PAD = 4
ISSUED_PER_CYCLE, SERVED_PER_CYCLE = 4, 1         # instructions of warps, and wavefronts of shared memory, of an SM; CC 9.0


def recorded_unrolled(factor: int) -> dict[str, Any]:
    """Return the recorded time of the course's kernel with tiles of 16 × 16."""
    return data.in_turns(KERNEL, TILE=TILE, UNROLL=factor)


def recorded_ms(factor: int) -> float:
    """Return the recorded milliseconds of `recorded_unrolled`, with one decimal."""
    return round(1e3 * recorded_unrolled(factor)["median_s"], 1)


def tiled() -> dict[str, Any]:
    """Return the recorded time of lesson 04's kernel, which has no pragma, with tiles of 16 × 16."""
    return data.in_turns(TILED, **SQUARE)


def padded(pad: int) -> dict[str, Any]:
    """Return the recorded time of lesson 06's kernel with tiles of 16 × 16."""
    return data.in_turns(PADDED, TILE=TILE, PAD=pad)


def timed(factor: int) -> float:
    """Return the instructions per multiply-add of the course's kernel in the code that was timed."""
    return TIMED_STEP[factor] / TILE


@cache
def wavefronts(kernel: str, **parameters: int) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores, counted by the simulator."""
    found = evaluate(kernel, N_COUNTED, parameters, backend="sim")
    return 32 * sum(found.count("wavefronts", kind) for kind in ("load", "store")) / N_COUNTED**3


def scoreboard() -> Table:
    """Return, without a pragma and for every UNROLL, both counts, the recorded time and the speed in percent of the library's."""
    library = data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds
    tried = [("no pragma (lesson 04)", TIMED_TILED / TILE, wavefronts(TILED, **SQUARE), tiled()["median_s"])]
    tried += [(f"UNROLL = {factor}", timed(factor), wavefronts(KERNEL, TILE=TILE, UNROLL=factor), recorded_unrolled(factor)["median_s"])
              for factor in FACTORS]
    rows = [(name, two_decimals(taken), f"{waves:g}", f"{1e3 * seconds:.1f}", f"{library / seconds:.1%}")
            for name, taken, waves, seconds in tried]
    rows.append(("NVIDIA's library, cuBLAS", "", "", f"{1e3 * library:.1f}", "100.0%"))
    header = ("kernel", "instructions per multiply-add", "wavefronts per multiply-add", "ms", "speed, % of cuBLAS")
    told = [tiled(), *map(recorded_unrolled, FACTORS)]
    caption = (f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, times {data.readings('together').label}, {data.spread(told)}, to "
               f"{data.clocks(told)}; instructions counted in the machine code that was timed, of NVRTC 13.0; wavefronts simulated for "
               f"{N_COUNTED} × {N_COUNTED}; cuBLAS recorded on {data.load('ladder').date}")
    return Table(header, rows, caption)


@dataclass(frozen=True)
class Measured:
    """A recorded kernel: counts per multiply-add of a warp, and milliseconds for N = 4096."""

    name: str
    instructions: float
    wavefronts: float
    ms: float


def copied(factor: int, ways: int = 1, extra: int = 0) -> Measured:
    """Return the kernel of `ballast.cu`: `ways` columns of the tile of B share a bank, and each multiply-add has `extra` idle additions."""
    row, = data.readings("ballast").find(UNROLL=factor, EXTRA=extra, WAYS=ways, N=N_TIMED)
    name = f"{ways} columns per bank" if ways > 1 else f"UNROLL = {factor}" + f", {extra} added" * (extra > 0)
    return Measured(name, row["instructions"], ballast.wavefronts(factor, ways), 1e3 * row["median_s"])


def pairs() -> dict[str, tuple[Measured, Measured]]:
    """Return pairs of recorded kernels of which only one count falls or rises: instructions, or wavefronts.

    All are of `ballast.cu`: recorded together, and counted in the very code that was timed.
    """
    copy = {factor: copied(factor) for factor in (1, 2, 4, 16)}
    return {"A quarter fewer instructions": (copy[1], copy[2]), "A third fewer instructions": (copy[4], copy[16]),
            "A quarter fewer wavefronts": (copy[2], copied(4, extra=2)), "More wavefronts": (copy[16], copied(16, ways=2))}


@style.styled
def one_change() -> Picture:
    """Draw the recorded times of `pairs` as bars, in each bar both counts."""
    ax, told, y = style.axes(width=9.6, height=5.6), [], 0.0
    for heading, both in pairs().items():
        change = f"{100 * (both[1].ms / both[0].ms - 1):+.0f} %".replace("-", "−")
        ax.text(-0.2, y, f"{heading}: time {change}", weight="bold", va="center", fontsize=12)
        words = []
        for item, colour in zip(both, (BEFORE, style.CYCLE[0]), strict=True):
            y += 1
            ax.barh(y, item.ms, height=0.86, color=colour)
            counted = f"{two_decimals(item.instructions)} instructions, {item.wavefronts:g} wavefronts"
            ax.text(0.3, y, counted, va="center", color=style.text_on(colour), fontsize=11.5)
            ax.text(item.ms + 0.3, y, f"{item.ms:.1f} ms", va="center", fontsize=12)
            ax.text(-0.3, y, item.name, va="center", ha="right", fontsize=11.5)
            words.append(f"{item.name}, {counted}, {item.ms:.1f} ms")
        told.append(f"{heading}: {', then '.join(words)}, time {change}")
        y += 1.35
    ax.set(xlim=(-8.2, 29), ylim=(y - 0.6, -0.7))
    ax.axis("off")
    return render(ax, "Four pairs of bars, recorded times. Counts per multiply-add of a warp. " + ". ".join(told) + ".")


def least(per_multiply_add: float, per_cycle: int) -> float:
    """Return the seconds that the H200's multiprocessors need at least for so many operations per multiply-add of a warp."""
    gpu = device("H200")
    return N_TIMED**3 / 32 / gpu.sms * per_multiply_add / per_cycle / (1e6 * gpu.clock_mhz)


def limits() -> Table:
    """Return the recorded time beside the least that issuing and shared memory take for their shares, modelled for the timed code."""
    rows = []
    for factor in FACTORS:
        waves = wavefronts(KERNEL, TILE=TILE, UNROLL=factor)
        parts = (least(timed(factor), ISSUED_PER_CYCLE), least(waves, SERVED_PER_CYCLE))
        rows.append((f"UNROLL = {factor}", *(f"{1e3 * seconds:.1f}" for seconds in (recorded_unrolled(factor)["median_s"], *parts))))
    header = (KERNEL, "recorded, ms", "issuing instructions alone, ms", "shared memory alone, ms")
    caption = f"{N_TIMED} × {N_TIMED} matrices: {data.readings('together').label}, and the least that each part needs, modelled for H200"
    return Table(header, rows, caption)
