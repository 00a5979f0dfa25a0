"""Blocks at the edges of C: which take which path through a kernel, and what a thread without a row reads. All from a traced launch."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.traces import array_of, elements, is_barrier, is_load, is_store, name_of
from course_lib.simt.report import TraceRecord

CATEGORIES = {"whole": style.SKY, "columns cut": style.ORANGE, "rows cut": style.GREEN, "corner": style.VERMILION}
ALL = 0xFFFFFFFF                # lanes
TILES = {"sgemm_outer": ("THREADS", "VECTORS", "COLS", "BK"), "gemm_outputs": ("TA", "TB", "TW")}


@dataclass(frozen=True)
class BlockSeen:
    """What one block was seen to do.

    Attributes
    ----------
    block
        x and y.
    first_row, first_col, tile_rows, tile_cols
        Its tile of C.
    rows, cols
        Of C that it stores.
    tested
        Whether its loop over whole tiles tested the indices of B (Wang's: of A and B).
    tail
        Whether the last columns of A had a loop of their own.
    masked
        Whether a load of A was made by some lanes of a warp only.
    """

    block: tuple[int, int]
    first_row: int
    first_col: int
    tile_rows: int
    tile_cols: int
    rows: int
    cols: int
    tested: bool
    tail: bool
    masked: bool

    @property
    def category(self) -> str:
        """Return Chien's category, by what the block stores."""
        cut = self.rows < self.tile_rows, self.cols < self.tile_cols
        return {(False, False): "whole", (False, True): "columns cut", (True, False): "rows cut", (True, True): "corner"}[cut]

    @property
    def case(self) -> str:
        """Return which of Chien's six cases the code took: I to VI.

        >>> BlockSeen((0, 0), 0, 0, 64, 16, 64, 9, True, True, False).case
        'II'
        """
        if self.tested:
            return "IV" if self.masked else "II"
        if self.tail:
            return "VI" if self.masked else "V"
        return "III" if self.masked else "I"


def tile_of(kernel: Kernel, parameters: Mapping[str, int]) -> tuple[int, int, int]:
    """Return (rows of C, columns of C, columns of A) of one tile.

    Raises
    ------
    CourseError
        For a kernel of another family, or one whose blocks interleave.

    >>> from course_lib import kernels
    >>> method6 = kernels.get("sgemm_method6")
    >>> tile_of(method6, method6.check())
    (128, 16, 16)
    """
    names = TILES.get(kernel.entry)
    if names is None or parameters.get("GAP", 1) != 1:
        raise CourseError(f"{kernel.name}: the blocks of Chien's methods without a gap and of gemm_outputs are known here, no others",
                          kernel=kernel.name)
    *rows, cols, depth = (parameters[name] for name in names)
    return int(np.prod(rows)), cols, depth


def blocks_seen(result: RunResult, whole: RunResult) -> tuple[BlockSeen, ...]:
    """Find in a traced launch what each block did.

    Parameters
    ----------
    result
        Every warp traced, of Chien's methods (without a gap) or Wang's `gemm_outputs`; K at least a tile.
    whole
        The same kernel on whole tiles only, traced: where a block's source lines do not tell, its instructions are compared with these.

    Returns
    -------
    tuple of BlockSeen
        In the order of the grid, x fastest.
    """
    rows, cols, _ = tile_of(result.kernel, result.parameters)
    by_block = defaultdict(list)
    for record in result.trace:
        by_block[record.block].append(record)
    seen = []
    for block, records in sorted(by_block.items(), key=lambda item: item[0][::-1]):
        down, across = block[:2] if result.kernel.layout == "column" else block[1::-1]
        stored = _stored(result, records)
        seen.append(BlockSeen(
            (block[0], block[1]), down * rows, across * cols, rows, cols, len({i for i, _ in stored}), len({j for _, j in stored}),
            _tested(result, records, whole), len(_barriers(records)) % 2 == 1, _masked(result, records)))
    return tuple(seen)


def _tested(result, records, whole):
    """Tell whether a block's loop over tiles tested indices: by the line of its second barrier, or by the path to the first one."""
    lines = result.kernel.source.splitlines()
    own = next((i for i, line in enumerate(lines) if "load(k0, cut)" in line), None)
    if own is None or result.parameters["SEL"]:
        return _barriers(records)[0].step != _barriers(whole.trace)[0].step
    after = next(i for i in range(own, len(lines)) if "__syncthreads()" in lines[i]) + 1
    return any(r.line == after for r in _barriers(records))


def _barriers(records):
    return [r for r in records if r.warp == 0 and r.block == records[0].block and is_barrier(r)]


def _masked(result, records):
    """Tell whether threads of a block were kept from loads of A."""
    loads = [r for r in records if r.space == "global" and is_load(r) and name_of(result, r) == "A"]
    return len({r.warp for r in loads}) < len({r.warp for r in records}) or any(r.mask != ALL for r in loads)


def _stored(result, records):
    """Return the (row, column) of C that a block stores."""
    target, across = array_of(result, "C"), result.kernel.layout == "column"
    found = set()
    for r in records:
        if r.space == "global" and is_store(r):
            for _, e in elements(r, target.address, target.itemsize):
                far, near = divmod(int(e), result.ldc)
                found.add((near, far) if across else (far, near))
    return found


def rows_read(result: RunResult, block: tuple[int, int]) -> dict[int, int | None]:
    """Return what each thread of a block reads of A in its first load: the row, counted in the memory of A's first column, or None.

    Parameters
    ----------
    result
        Every warp traced, of one of Chien's methods with one vector.
    block
        x and y.

    Returns
    -------
    dict of int to int or None
        Thread to row; a number from M on belongs to the next column.
    """
    if result.kernel.entry != "sgemm_outer" or result.parameters["VECTORS"] != 1:
        raise CourseError(f"{result.kernel.name}: the first load of A is known of Chien's methods with one vector",
                          kernel=result.kernel.name)
    A, read = array_of(result, "A"), dict.fromkeys(range(result.block[0]))
    first: dict[int, TraceRecord] = {}
    for r in result.trace:
        if r.block[:2] == tuple(block) and r.space == "global" and is_load(r) and name_of(result, r) == "A":
            first.setdefault(r.warp, r)
    for warp, record in first.items():
        for lane, element in elements(record, A.address, A.itemsize):
            read[32 * warp + int(lane)] = int(element)
    return read


@style.styled
def block_map(seen: Sequence[BlockSeen], M: int, N: int, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw C and the blocks over it, coloured by category; in each its case, or the path it took, and its instructions.

    Parameters
    ----------
    seen
        From `blocks_seen`.
    M, N
        Rows and columns of C.

    Returns
    -------
    Axes
        A rectangle for each block, then one for C.
    """
    ax = style.axes(ax, width=7.4, height=4.8)
    rows, cols = (max(getattr(b, f"first_{k}") + getattr(b, f"tile_{k}s") for b in seen) for k in ("row", "col"))
    small = len({b.first_col for b in seen}) > 6 or len({b.first_row for b in seen}) > 6
    across = 0.5 if small or max(len(path_of(b)) for b in seen) > 3 else 0.3            # away from the lines of C, where the word is short
    for b in seen:
        colour = CATEGORIES[b.category]
        ax.add_patch(Rectangle((b.first_col, b.first_row), b.tile_cols, b.tile_rows, facecolor=colour, edgecolor="white", linewidth=3))
        ax.text(b.first_col + b.tile_cols * across, b.first_row + b.tile_rows * 0.22, path_of(b), ha="center", va="center", zorder=5,
                fontsize=11 if small else 15, fontweight="bold", color=style.text_on(colour),
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 2})
    ax.add_patch(Rectangle((0, 0), N, M, fill=False, edgecolor=style.INK, linewidth=3, zorder=6))    # over the words' boxes
    ax.set(xlim=(-0.01 * cols, 1.01 * cols), ylim=(1.02 * rows, -0.02 * rows), xlabel="column of C", ylabel="row of C",
           title=title or f"C is {M} × {N} (thick frame); blocks of {seen[0].tile_rows} × {seen[0].tile_cols}")
    counts = Counter(b.category for b in seen)
    ax.legend(handles=[Patch(color=colour, label=f"{name}: {counts[name]}") for name, colour in CATEGORIES.items()],
              loc="upper left", bbox_to_anchor=(1.0, 1.0), title="blocks", title_fontsize=12)
    return ax


def path_of(block: BlockSeen) -> str:
    """Return the word for the path that a block took: a case of Chien's, or "fast" and "guarded" for square tiles of Wang's.

    >>> path_of(BlockSeen((0, 0), 0, 0, 64, 64, 64, 64, True, False, False))
    'guarded'
    """
    if block.tile_cols >= 32:
        return "guarded" if block.tested else "fast"
    return block.case


def describe_blocks(seen: Sequence[BlockSeen], M: int, N: int) -> str:
    """Say in words what `block_map` draws."""
    tile = f"{seen[0].tile_rows} × {seen[0].tile_cols}"
    counts, paths = Counter(b.category for b in seen), Counter(path_of(b) for b in seen)
    said = ", ".join(f"{counts[name]} {name}" for name in CATEGORIES if counts[name])
    return (f"C of {M} × {N} under {len(seen)} blocks of {tile}: {said}. Ways: "
            + ", ".join(f"{name} {count}" for name, count in sorted(paths.items())) + ".")


@style.styled
def draw_rows_read(reads: Mapping[str, Mapping[int, int | None]], M: int, first_row: int, ax: Axes | None = None, *,
                   title: str | None = None) -> Axes:
    """Draw, for several versions, which row of A each thread of a block reads.

    Parameters
    ----------
    reads
        By version, from `rows_read`.
    M
        Rows of A.
    first_row
        Of the block.

    Returns
    -------
    Axes
        A line for each version.
    """
    ax = style.axes(ax, width=9.0, height=4.2)
    for number, (name, read) in enumerate(reads.items()):
        known = [(t, row) for t, row in read.items() if row is not None]
        ax.plot(*zip(*known, strict=True), style.MARKERS[number], color=style.CYCLE[number], label=f"{name}: {len(known)} threads read",
                markersize=11 - 3 * number, fillstyle="none" if number == 0 else "full")
    ax.axhline(M - 0.5, color=style.INK, linewidth=2)
    ax.text(0, M + 5, f"beyond row {M - 1}:\nthe next column of A", fontsize=12, va="bottom")
    ax.set(xlabel=f"thread of the block that begins at row {first_row}", ylabel="row of A that it reads",
           title=title or "What does a thread without a row read?")
    style.legend_beside(ax)
    return ax


def describe_rows_read(reads: Mapping[str, Mapping[int, int | None]], M: int) -> str:
    """Say in words what `draw_rows_read` draws.

    >>> describe_rows_read({"v1": {0: 4, 1: None}, "v3": {0: 4, 1: 4}}, 5)
    'Of 2 threads, those beyond row 4 read: v1 nothing (1 threads); v3 row 4 (1 threads).'
    """
    said = []
    for name, read in reads.items():
        usual = min(row for row in read.values() if row is not None)
        odd = [row for thread, row in read.items() if row != usual + thread or row >= M]
        rows = sorted({row for row in odd if row is not None})
        what = "nothing" if not rows else f"row {rows[0]}" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]}"
        said.append(f"{name} {what} ({len(odd)} threads)")
    return f"Of {len(next(iter(reads.values())))} threads, those beyond row {M - 1} read: {'; '.join(said)}."
