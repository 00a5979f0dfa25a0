"""Does the time follow the instructions? Recorded times beside the counts, of kernels of which unrolling, or only one count, differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib import data
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import FACTORS, TILE
from course_lib.plots import render, style
from course_lib.plots.machine_code import two_decimals
from course_lib.plots.picture import Picture

N_TIMED = 4096
MANY, MOST = 2, 6                                 # idle additions per multiply-add
DARK = "#666b70"
WIDE, BETWEEN, LETTER = 1.35, 1.05, 0.108         # inches: of the longest bar, of the number beside it, and of a letter of a row's name
INSTRUCTIONS, WAVEFRONTS = "machine instructions\nper multiply-add\nof a thread", "wavefronts\nper multiply-add\nof a thread"
TIME = f"time for\nN = {N_TIMED}"
SPEED = f"time for N = {N_TIMED},\nand speed in percent\nof cuBLAS"
COLOURS = {INSTRUCTIONS: DARK, WAVEFRONTS: style.SKY, TIME: style.PURPLE, SPEED: style.PURPLE}
Cell = tuple[float, str]                          # the length of a bar, and what is written beside it


@dataclass(frozen=True)
class Measured:
    """A recorded kernel: counts of a warp per multiply-add of a thread, and milliseconds for N = 4096."""

    name: str
    instructions: float
    wavefronts: float
    ms: float


def recorded(factor: int, ways: int = 1, extra: int = 0) -> Measured:
    """Return the course's kernel: `ways` columns of the tile of B share a bank, and each multiply-add has `extra` idle additions."""
    row = row_of(factor, extra, ways)
    name = f"UNROLL = {factor}" + f", {ways} columns per bank" * (ways > 1) + f", {extra} additions more" * (extra > 0)
    return Measured(name, row["instructions"], ballast.wavefronts(factor, ways), 1e3 * row["median_s"])


def row_of(factor: int, extra: int = 0, ways: int = 1) -> dict[str, Any]:
    """Return a recorded row; that of cuBLAS has 0 for all three."""
    row, = data.readings("ballast").find(UNROLL=factor, EXTRA=extra, WAYS=ways)
    return row


def recorded_ms(factor: int, extra: int = 0) -> float:
    """Return the recorded milliseconds of the course's kernel, with two decimals."""
    return round(recorded(factor, extra=extra).ms, 2)


def spread() -> float:
    """Return within how many percent of its time the middle half of a kernel's launches lies: the most of all recorded kernels."""
    return 100 * max((row["high_s"] - row["low_s"]) / row["median_s"] for row in data.readings("ballast").rows)


def source() -> str:
    """Return how often a kernel was timed, how far its times differ, on which GPU, and when."""
    return (f"Each time is the median of {ballast.ROUNDS} launches, whose middle half lies within {spread():.2f} %, "
            f"{data.readings('ballast').label}.")


def library_ms() -> float:
    """Return the recorded milliseconds of NVIDIA's library."""
    return 1e3 * float(row_of(0, 0, 0)["median_s"])


def cells(item: Measured, *columns: str) -> dict[str, Cell]:
    """Return the bars of a recorded kernel."""
    every = {INSTRUCTIONS: (item.instructions, two_decimals(item.instructions)),
             WAVEFRONTS: (item.wavefronts, two_decimals(item.wavefronts)), TIME: (item.ms, f"{item.ms:.2f} ms")}
    return {name: every[name] for name in columns}


@style.styled
def bars(rows: Sequence[tuple[str, dict[str, Cell]]], gaps: Sequence[int] = ()) -> Picture:
    """Draw rows of bars, one column of bars for each thing that was counted or timed; before the rows `gaps` some room is left."""
    titles, names = list(rows[0][1]), [name.replace(", ", ",\n") for name, _ in rows]
    places = [n + 0.5 * sum(gap <= n for gap in gaps) for n in range(len(rows))]
    room = LETTER * max(len(line) for name in names for line in name.split("\n")) + 0.2
    wide = len(titles) * (WIDE + BETWEEN) + 0.8 * (SPEED in titles)
    ax = style.axes(width=room + wide, height=1.0 + 0.46 * (places[-1] + 1))
    for column, title in enumerate(titles):
        left, most = column * (WIDE + BETWEEN), max(found[title][0] for _, found in rows if title in found)
        ax.text(left, -0.65, title, weight="bold", fontsize=12, va="bottom")
        for place, (_, found) in zip(places, rows, strict=True):
            if title in found:
                value, text = found[title]
                ax.barh(place, WIDE * value / most, left=left, height=0.8, color=COLOURS[title])
                ax.text(left + WIDE * value / most + 0.07, place, text, va="center", fontsize=12)
    for place, name in zip(places, names, strict=True):
        ax.text(-0.1, place, name, va="center", ha="right", fontsize=12, linespacing=1.05)
    ax.set(xlim=(-room, wide), ylim=(places[-1] + 0.6, -2.4))
    ax.axis("off")
    told = (f"{name}: " + ", ".join(f"{' '.join(title.split())} {text}" for title, (_, text) in found.items()) for name, found in rows)
    return render(ax, f"Bars of recorded kernels, tiles of {TILE} × {TILE}. {'; '.join(told)}. {source()}")


def scoreboard() -> Picture:
    """Draw, for every UNROLL, the instructions per multiply-add and the recorded time, also in percent of the library's speed."""
    library, rows = library_ms(), []
    for factor in FACTORS:
        item = recorded(factor)
        rows.append((item.name, cells(item, INSTRUCTIONS) | {SPEED: (item.ms, f"{item.ms:.2f} ms, {100 * library / item.ms:.1f} %")}))
    return bars([*rows, ("cuBLAS", {SPEED: (library, f"{library:.2f} ms, 100 %")})])


def additions() -> list[Measured]:
    """Return recorded kernels of which only the number of instructions differs: first two without unrolling, then three with it.

    All were recorded in turns, and counted in the very code that was timed.
    """
    return [recorded(1), recorded(1, extra=MANY), recorded(16), recorded(16, extra=MANY), recorded(16, extra=MOST)]


def two_additions() -> Picture:
    """Draw UNROLL = 16 without the additions and with two of them per multiply-add."""
    return bars([(item.name, cells(item, INSTRUCTIONS, TIME)) for item in additions()[2:4]])


def more_instructions() -> Picture:
    """Draw `additions`."""
    return bars([(item.name, cells(item, INSTRUCTIONS, TIME)) for item in additions()], gaps=(2,))


def wavefront_changes() -> tuple[list[Measured], list[Measured]]:
    """Return recorded kernels: more wavefronts with the same instructions, and fewer with fewer, then with slightly more, instructions.

    In the last one additions that nobody needs make up for the instructions that unrolling saves.
    """
    return [recorded(16), recorded(16, ways=2)], [recorded(2), recorded(4), recorded(4, extra=MANY)]


def more_wavefronts() -> Picture:
    """Draw the first of `wavefront_changes`."""
    return bars([(item.name, cells(item, INSTRUCTIONS, WAVEFRONTS, TIME)) for item in wavefront_changes()[0]])


def fewer_wavefronts() -> Picture:
    """Draw the second of `wavefront_changes`."""
    return bars([(item.name, cells(item, INSTRUCTIONS, WAVEFRONTS, TIME)) for item in wavefront_changes()[1]])
