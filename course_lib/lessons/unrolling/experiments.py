"""Does the time follow the instructions? Recorded times beside both counts, and pairs of kernels of which only one count differs."""

from dataclasses import dataclass

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import two_decimals
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

N_TIMED = 4096
BEFORE = "#666b70"                                # a grey that white letters can be read on
SCORED = (1, 2, 4, 8, 16)                         # UNROLL of the scoreboard
ISSUED_PER_CYCLE = 4                              # instructions of warps, by the four schedulers of a multiprocessor


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


def recorded_ms(factor: int) -> float:
    """Return the recorded milliseconds of `copied`, with one decimal."""
    return round(copied(factor).ms, 1)


def least_ms(item: Measured) -> float:
    """Return the milliseconds that an H200 needs at its highest clock: four instructions of warps, or one wavefront, per cycle of an SM."""
    gpu = device("H200")
    return 1e-3 * max(item.instructions / ISSUED_PER_CYCLE, item.wavefronts) * N_TIMED**3 / 32 / gpu.sms / gpu.clock_mhz


def scoreboard() -> Table:
    """Return, for every UNROLL of `ballast.cu`, both counts, the recorded time and the speed in percent of the library's."""
    library = 1e3 * data.load("ladder").find("cuBLAS", N_TIMED)[0].seconds
    rows = [(item.name, two_decimals(item.instructions), f"{item.wavefronts:g}", f"{item.ms:.1f}", f"{library / item.ms:.1%}",
             f"{least_ms(item):.1f}") for item in map(copied, SCORED)]
    rows.append(("NVIDIA's library, cuBLAS", "", "", f"{library:.1f}", "100.0%", ""))
    header = ("kernel", "instructions per multiply-add", "wavefronts per multiply-add", "ms", "speed, % of cuBLAS", "at least, ms")
    caption = (f"{N_TIMED} × {N_TIMED} matrices, tiles of 16 × 16, times {data.readings('ballast').label}; a second recording differs by "
               f"less than 0.3 %; instructions counted in the machine code that was timed; wavefronts simulated for {ballast.N_COUNTED} × "
               f"{ballast.N_COUNTED}, per multiply-add the same for {N_TIMED} × {N_TIMED}; cuBLAS recorded on {data.load('ladder').date}; "
               "at least: modelled for an H200 at its highest clock")
    return Table(header, rows, caption)


def pairs() -> dict[str, tuple[Measured, Measured]]:
    """Return three pairs of recorded kernels of which only one count changes: in two of them the instructions, then the wavefronts.

    All are of `ballast.cu`: recorded together, and counted in the very code that was timed.
    """
    return {"A quarter fewer instructions": (copied(1), copied(2)), "A third fewer instructions": (copied(4), copied(16)),
            "More wavefronts": (copied(16), copied(16, ways=2))}


def fewer() -> dict[str, tuple[Measured, Measured]]:
    """Return one more such pair, in which additions that nobody needs make up for the instructions that unrolling saves."""
    return {"A quarter fewer wavefronts": (copied(2), copied(4, extra=2))}


@style.styled
def bars(found: dict[str, tuple[Measured, Measured]]) -> Picture:
    """Draw the recorded times of pairs as bars, in each bar both counts."""
    ax, told, y = style.axes(width=9.6, height=1.45 * len(found)), [], 0.0
    for heading, both in found.items():
        ax.text(-0.2, y, heading, weight="bold", va="center", fontsize=12)
        words = []
        for item, colour in zip(both, (BEFORE, style.CYCLE[0]), strict=True):
            y += 1
            ax.barh(y, item.ms, height=0.86, color=colour)
            counted = f"{two_decimals(item.instructions)} instructions, {item.wavefronts:g} wavefronts"
            ax.text(0.3, y, counted, va="center", color=style.text_on(colour), fontsize=11.5)
            ax.text(item.ms + 0.3, y, f"{item.ms:.1f} ms", va="center", fontsize=12)
            ax.text(-0.3, y, item.name, va="center", ha="right", fontsize=11.5)
            words.append(f"{item.name}, {counted}, {item.ms:.1f} ms")
        told.append(f"{heading}: {', then '.join(words)}")
        y += 1.35
    ax.set(xlim=(-8.2, 29), ylim=(y - 0.6, -0.7))
    ax.axis("off")
    return render(ax, "Pairs of bars, recorded times. Counts per multiply-add of a warp. " + ". ".join(told) + ".")


def one_change() -> Picture:
    """Draw `pairs`."""
    return bars(pairs())


def fewer_wavefronts() -> Picture:
    """Draw `fewer`."""
    return bars(fewer())
