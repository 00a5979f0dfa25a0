"""Lesson 06's explorable: a tile of shared memory coloured by bank, and the wavefronts that one warp's access takes."""

import functools
import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib import kernels
from course_lib.arch import BANK_BYTES, BANKS
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.banks import services
from course_lib.plots import render, requests, style
from course_lib.run import LaunchResult, counter_name, run, run_transpose

TILES, PADS = (32, 16), tuple(range(9))
ARRAYS = {"transpose": "tile", "transpose_swizzled": "tile", "sgemm_padded": "Bs"}
WARP_OF = {32: 5, 16: 2}            # which warp to look at: its column is not the first, where XOR would change nothing
KINDS = ("load", "store")


@dataclass(frozen=True)
class Access:
    """One access of one warp to the tile.

    `line`: of the kernel's source. `width`: bytes per lane, as the machine's instruction moves them. `words`: of each word of shared memory
    its number, row, column, wavefront (from 1) and lanes.
    """

    line: int
    width: int
    words: tuple[tuple[int, int, int, int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class BankState:
    """A tile in shared memory: `base` is its first word, `pitch` the words from one row to the next."""

    array: str
    base: int
    rows: int
    pitch: int
    swizzled: bool
    lines: tuple[dict[str, Any], ...]
    accesses: dict[str, Access]


def key_of(kernel: str, tile: int, pad: int | None) -> str:
    """Name a position as banks.js does.

    >>> key_of("transpose", 32, 1), key_of("transpose_swizzled", 16, None)
    ('transpose|32|1', 'transpose_swizzled|16')
    """
    return "|".join(map(str, (kernel, tile) if pad is None else (kernel, tile, pad)))


def positions() -> list[tuple[str, int, int | None]]:
    """Return every (kernel, TILE, PAD) that `banks` can show; PAD is None for the kernel that has none."""
    return [(kernel, tile, pad) for kernel in ARRAYS for tile in TILES
            for pad in (PADS if any(p.name == "PAD" for p in kernels.get(kernel).parameters) else (None,))]


def traced(kernel: str, tile: int, pad: int | None, warps: tuple[int, ...]) -> LaunchResult:
    """Run a kernel on one tile in the simulator, and trace these warps."""
    matrix = np.arange(tile * tile, dtype=np.float32).reshape(tile, tile)
    parameters = {"TILE": tile} | ({} if pad is None else {"PAD": pad})
    options: dict[str, Any] = {"backend": "sim", "trace": [((0, 0, 0), warp) for warp in warps], **parameters}
    return run(kernel, matrix, matrix, **options) if kernel.startswith("sgemm") else run_transpose(kernel, matrix, **options)


def joined_words(result: LaunchResult, line: int, loads: int) -> int:
    """Return how many neighbouring loads of the tile the assembler joins into one instruction: 1, 2 or 4.

    In the product a line loads from As and from Bs, `loads` times per lane from each. Rows of As are 16 or 32 words long, so that four of
    its loads always become one; the rest of the line's instructions are the tile's.
    """
    warps = result.block[0] * result.block[1] // 32
    assert result.lines is not None                  # the simulator counts
    instructions = result.lines[line][counter_name("shared instructions", "load")] // warps
    return loads // (instructions - loads // 4) if result.kernel.name.startswith("sgemm") else 1


def access_of(result: LaunchResult, state: dict[str, Any], kind: str) -> Access:
    """Take one load or store of the tile out of a trace, as the machine's instruction makes it."""
    found = requests(result, array=state["array"], load=kind == "load", space="shared")
    line = found[0].line
    many = joined_words(result, line, len(found)) if kind == "load" else 1
    record = found[4 if len(found) > 4 else 0]                 # of the product's steps the fifth: its loads begin at a multiple of four
    width = BANK_BYTES * many
    words = []
    for service in services(record.addresses, width, kind=kind):
        row, at = divmod(service.word - state["base"], state["pitch"])
        column = at ^ row if state["swizzled"] else at
        words.append((service.word, row, column, service.wavefront, service.lanes))
    return Access(line, width, tuple(words))


def source_lines(kernel: str, array: str, accesses: dict[str, Access]) -> tuple[dict[str, Any], ...]:
    """Return the lines that a reader needs beside the picture: the array, its accesses, the barrier between them."""
    kinds = {access.line: kind for kind, access in accesses.items()}
    text = kernels.get(kernel).source.splitlines()
    shown = []
    for number, line in enumerate(text, 1):
        bare = line.partition("//")[0].strip()
        short = re.sub(r"\[[^][]{12,}\]", "[…]", bare)          # what stands for a long index tells nothing here, and the line fits
        between = min(kinds) < number < max(kinds) and bare.startswith("__syncthreads")
        found = re.search(rf"\b{array}(\[[^\]]*\]){{2}}", bare)
        if number in kinds or between or bare.startswith("__shared__") and found:
            chosen = {"value": kinds[number], "mark": found[0]} if number in kinds and found else {}
            shown.append({"number": number, "text": short} | chosen)
    return tuple(shown)


def state_of(kernel: str, tile: int, pad: int | None) -> BankState:
    """Run one position in the simulator, and say where the tile lies and how a warp goes through it."""
    result = traced(kernel, tile, pad, (WARP_OF[tile],))
    array = ARRAYS[kernel]
    base = next(v.offset for v in result.shared if v.name == array) // BANK_BYTES
    shape: dict[str, Any] = {"array": array, "base": base, "rows": tile, "pitch": tile + (pad or 0), "swizzled": pad is None}
    accesses = {kind: access_of(result, shape, kind) for kind in KINDS}
    return BankState(**shape, lines=source_lines(kernel, array, accesses), accesses=accesses)


@functools.cache
def states() -> dict[str, dict[str, Any]]:
    """Return every position's state as JSON takes it, by `key_of`: some 40 small runs, 3 s the first time and half a second later."""
    return {key_of(*position): asdict(state_of(*position)) for position in positions()}


class Banks(Explorable):
    """The tile, the warp and its banks; made by `banks`."""

    name = "banks"
    title = "A tile of shared memory and its 32 banks"
    _esm = module_text("banks")

    def static_text(self) -> str:
        tile, kernel = self.values["tile"], self.values["kernel"]
        if kernel == "transpose_swizzled":
            return f"A tile of {tile} × {tile} words in shared memory, swizzled. Run this cell to play with it."
        reads = "the columns that are outlined" if kernel == "sgemm_padded" or tile < BANKS else "the column that is outlined"
        return (f"A tile of {tile} × {tile} words in shared memory, each word in the colour of its bank. A warp reads {reads}. "
                "Run this cell to play with it.")

    def static_html(self) -> str:
        drawn = tile_by_bank(self.values["kernel"], self.values["tile"], self.values["pad"])
        return render(drawn, self.static_text())._repr_html_()


def banks(kernel: str = "transpose", *, tile: int = 32, pad: int = 0, access: str = "load") -> Banks:
    """Show a tile of shared memory coloured by bank, and play what one warp's access to it takes.

    Parameters
    ----------
    kernel
        "transpose", "transpose_swizzled" or "sgemm_padded".
    tile
        32 or 16 rows and columns.
    pad
        Words added to each row, 0 to 8; a slider moves it. A swizzled tile has no padding, and must have 0.
    access
        "load" or "store".
    """
    shown = {key: state for key, state in states().items() if key.split("|")[:2] == [kernel, str(tile)]}
    return Banks(states=shown, values={"kernel": kernel, "tile": tile, "pad": pad, "access": access})


@style.styled
def tile_by_bank(kernel: str = "transpose", tile: int = 32, pad: int = 0) -> Axes:
    """Draw the tile without its padding, coloured by bank, what a warp reads outlined."""
    ax, swizzled = style.axes(width=5.0, height=4.6), kernel == "transpose_swizzled"
    state = states()[key_of(kernel, tile, None if swizzled else pad)]
    rows, columns = np.arange(tile)[:, None], np.arange(tile)
    words = state["base"] + rows * state["pitch"] + (columns ^ rows if swizzled else columns)
    ax.imshow(words % BANKS, cmap="viridis", interpolation="nearest", vmin=0, vmax=BANKS - 1)
    for _, row, column, _, _ in state["accesses"]["load"]["words"]:
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="white", linewidth=1.2))
    ticks = (*range(0, tile - 1, tile // 4), tile - 1)
    ax.set(title="swizzled" if swizzled else f"{state['array']}[{tile}][{state['pitch']}]", xticks=ticks, yticks=ticks)
    return ax
