"""Does the time follow the instructions? Recorded times beside both counts, and pairs of kernels of which only one count differs."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.arch import device
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import TILE, two_decimals
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

N_TIMED = 4096
MANY = 2                                          # idle additions per multiply-add
BEFORE = "#666b70"                                # a grey that white letters can be read on
MARKED: dict[str, Any] = {"color": style.VERMILION, "weight": "bold"}
CHANGED = 0.05                                    # a count that differs by more is told to have changed
SCORED = (1, 2, 4, 8, 16)                         # UNROLL of the scoreboard
LEGEND = "Grey: before the change. Blue: after it. Orange: the count that changes.\n" \
         "White stroke: the limit, the time that the kernel takes at least."
ISSUED_PER_CYCLE = 4                              # instructions of warps, by the four schedulers of a multiprocessor


@dataclass(frozen=True)
class Measured:
    """A recorded kernel: counts per multiply-add of a warp, and milliseconds for N = 4096."""

    name: str
    instructions: float
    wavefronts: float
    ms: float


def recorded(factor: int, ways: int = 1, extra: int = 0) -> Measured:
    """Return the course's kernel: `ways` columns of the tile of B share a bank, and each multiply-add has `extra` idle additions."""
    row = row_of(factor, extra, ways)
    name = f"UNROLL = {factor}" + f", {ways} columns per bank" * (ways > 1) + f", {extra} additions" * (extra > 0)
    return Measured(name, row["instructions"], ballast.wavefronts(factor, ways), 1e3 * row["median_s"])


def row_of(factor: int, extra: int = 0, ways: int = 1) -> dict[str, Any]:
    """Return a recorded row; that of cuBLAS has 0 for all three."""
    row, = data.readings("ballast").find(UNROLL=factor, EXTRA=extra, WAYS=ways)
    return row


def recorded_ms(factor: int, extra: int = 0) -> float:
    """Return the recorded milliseconds of the course's kernel, with one decimal."""
    return round(recorded(factor, extra=extra).ms, 1)


def least_ms(item: Measured) -> float:
    """Return the milliseconds that an H200 needs at its highest clock: four instructions of warps, or one wavefront, per cycle of an SM."""
    gpu = device("H200")
    return 1e-3 * max(item.instructions / ISSUED_PER_CYCLE, item.wavefronts) * N_TIMED**3 / 32 / gpu.sms / gpu.clock_mhz


def scoreboard() -> Table:
    """Return, for every UNROLL, the kernel's recorded time, also in percent of the library's, its counts and its limit."""
    library, rows = 1e3 * float(row_of(0, 0, 0)["median_s"]), []
    for factor in SCORED:
        item = recorded(factor)
        rows.append((item.name, f"{item.ms:.2f}", f"{library / item.ms:.1%}", two_decimals(item.instructions), f"{item.wavefronts:g}",
                     f"{least_ms(item):.2f}"))
    rows.append(("NVIDIA's library, cuBLAS", f"{library:.2f}", "100.0%", "", "", ""))
    header = ("", "recorded, ms", "speed, % of cuBLAS", "instructions per multiply-add", "wavefronts per multiply-add", "at least, ms")
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, tiles of {TILE} × {TILE}, all {data.readings('ballast').label}")


def pairs() -> dict[str, tuple[Measured, Measured]]:
    """Return three pairs of recorded kernels of which only one count changes: in two of them the instructions, then the wavefronts.

    All were recorded in turns, and counted in the very code that was timed.
    """
    return {"1. Two additions": (recorded(1), recorded(1, extra=MANY)),
            "2. The same two additions": (recorded(16), recorded(16, extra=MANY)),
            "3. More wavefronts": (recorded(16), recorded(16, ways=2))}


def fewer() -> dict[str, tuple[Measured, Measured]]:
    """Return one more such pair, in which additions that nobody needs make up for the instructions that unrolling saves."""
    return {"A quarter fewer wavefronts": (recorded(2), recorded(4, extra=MANY))}


def counted(item: Measured) -> tuple[str, str]:
    """Say both counts of a recorded kernel."""
    return f"{two_decimals(item.instructions)} instructions", f"{item.wavefronts:g} wavefronts"


def changed(pair: tuple[Measured, Measured]) -> tuple[bool, bool]:
    """Say which of the two counts of a pair differ: instructions, wavefronts."""
    before, after = pair
    return (abs(after.instructions / before.instructions - 1) > CHANGED, abs(after.wavefronts / before.wavefronts - 1) > CHANGED)


def bar(ax: Axes, y: float, item: Measured, colour: str, marked: tuple[bool, bool]) -> None:
    """Draw one recorded time as a bar, its limit as a stroke, and left of it the counts; those that changed are marked."""
    ax.barh(y, item.ms, height=0.86, color=colour)
    ax.text(item.ms + 0.4, y, f"{item.ms:.2f} ms", va="center", fontsize=12)
    least = least_ms(item)
    ax.plot([least, least], [y - 0.43, y + 0.43], color="white", linewidth=3.5)
    ax.text(least - 0.4, y, f"at least {least:.2f}", va="center", ha="right", color=style.text_on(colour), fontsize=11.5)
    ax.text(-0.4, y - 0.2, item.name, va="center", ha="right", fontsize=11.5)
    for x, text, mark in zip((-9.0, -0.4), counted(item), marked, strict=True):
        ax.text(x, y + 0.22, text, va="center", ha="right", fontsize=10.5, **MARKED if mark else {})


@style.styled
def bars(found: dict[str, tuple[Measured, Measured]]) -> Picture:
    """Draw the recorded times of pairs as bars with their limits, beside both counts."""
    ax, told, y = style.axes(width=9.6, height=1.5 * len(found) + 0.5), [], 0.0
    ax.text(-17.6, -1.5, LEGEND, va="center", fontsize=11)
    for heading, both in found.items():
        ax.text(-17.6, y, heading, weight="bold", va="center", fontsize=12)
        for item, colour in zip(both, (BEFORE, style.CYCLE[0]), strict=True):
            y += 1
            bar(ax, y, item, colour, changed(both))
        words = (f"{item.name}, {', '.join(counted(item))}, at least {least_ms(item):.2f} ms, {item.ms:.2f} ms" for item in both)
        told.append(f"{heading}: {', then '.join(words)}")
        y += 1.2
    ax.set(xlim=(-17.8, 31.5), ylim=(y - 0.6, -2.1))
    ax.axis("off")
    return render(ax, "Pairs of bars, recorded times, each with its limit. Counts per multiply-add of a warp. " + ". ".join(told) + ".")


def one_change() -> Picture:
    """Draw `pairs`."""
    return bars(pairs())


def fewer_wavefronts() -> Picture:
    """Draw `fewer`."""
    return bars(fewer())
