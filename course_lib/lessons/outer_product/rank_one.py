"""The outer product, step by step: a tile of B comes to shared memory, then C grows by one column of A times one row of B at a time.

`rank_frames` turns the trace of one block into steps; `rank_step` draws one. What is read and written comes from the kernel; C after
each step is worked out from A and B, and ends as what the kernel has computed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.traces import array_of, elements, is_barrier, is_load
from course_lib.widgets import player
from course_lib.widgets.steps import Player

PHASES = {"fill": style.BLUE, "barrier": style.VERMILION, "update": style.GREEN, "store": style.PURPLE}
HELD, GAP = "#BFDDF0", 3


@dataclass(frozen=True)
class RankFrame:
    """One step of a block of `sgemm_outer`.

    `k` is the column of A and the row of B of an update, else -1; `rows` are the rows of A that the block's threads read then, `cols` the
    columns of the shared tile. `held` are the rows of B that lie in shared memory, `summed` how many updates are done, `C` (M, N) their
    sum; `watched` is the row of one thread. `line` is the source line.
    """

    phase: str
    line: int
    k: int
    rows: tuple[int, ...]
    cols: tuple[int, ...]
    held: tuple[int, ...]
    summed: int
    watched: int
    A: NDArray[np.float32] = field(repr=False)
    B: NDArray[np.float32] = field(repr=False)
    C: NDArray[np.float32] = field(repr=False)

    @property
    def caption(self) -> str:
        """Return what happens, in words."""
        if self.phase == "fill":
            return f"rows {self.held[0]} to {self.held[-1]} of B are copied into shared memory"
        if self.phase == "barrier":
            return "__syncthreads(): all threads wait"
        if self.phase == "store":
            return f"each thread stores its row of C, {self.C.shape[1]} elements"
        return f"k = {self.k}: C += column {self.k} of A × row {self.k} of B"


def rank_frames(result: RunResult, A: NDArray[np.float32], B: NDArray[np.float32], *, watched: int = 5) -> tuple[RankFrame, ...]:
    """Cut the trace of one block into steps that can be drawn one after another.

    Parameters
    ----------
    result
        Of `sgemm_volkov` or a method of the same source, one block that covers C, every warp of it traced; alpha 1, beta 0.
    A, B
        (M, K) and (K, N): what it multiplied.
    watched
        The row of C whose thread is marked.

    Raises
    ------
    CourseError
        When nothing was traced, or there is more than one block.
    """
    if not result.trace or result.grid[:2] != (1, 1):
        raise CourseError("the picture is of one block: run the kernel on a C that one block covers, with trace=every_warp((1, 1), block)")
    frames: list[RankFrame] = []
    held: tuple[int, ...] = ()
    summed = 0
    tile, = result.shared
    width = result.parameters["COLS"] + 1

    def add(phase, line, k=-1, rows=(), cols=()):
        frames.append(RankFrame(phase, line, k, rows, cols, held, summed, watched, A, B, A[:, :summed] @ B[:summed]))

    for segment in _segments(result.trace):
        found = {name: _touched(result, name, segment) for name in "ABC"}
        if found["B"]:
            held = tuple(sorted({e % result.ldb for e in found["B"]}))
            add("fill", _line(segment, result, "B"))
        by_column = defaultdict(list)
        for e in found["A"]:
            by_column[e // result.lda].append(e % result.lda)
        reads = [r for r in segment if r.space == "shared" and is_load(r)]
        words = {int(w) for r in reads for _, w in elements(r, tile.offset, 4)}
        for k, rows in sorted(by_column.items()):
            cols = tuple(sorted(w % width for w in words if w // width == k - held[0]))
            summed += 1
            add("update", reads[0].line, k, tuple(sorted(rows)), cols)
        if found["C"]:
            add("store", _line(segment, result, "C"))
        if is_barrier(segment[-1]):
            add("barrier", segment[-1].line)
    return tuple(frames)


def _segments(trace):
    """Return the records of all warps together, cut after each barrier."""
    parts = defaultdict(list)
    passed: defaultdict[int, int] = defaultdict(int)
    for record in trace:
        parts[passed[record.warp]].append(record)
        passed[record.warp] += is_barrier(record)
    return [parts[number] for number in sorted(parts)]


def _inside(result, name, segment):
    array = array_of(result, name)
    return [r for r in segment if r.space == "global" and array.address <= np.max(r.addresses) < array.address + array.nbytes], array


def _touched(result, name, segment):
    """Return the elements of a matrix that these records read or write, as offsets in its memory."""
    inside, array = _inside(result, name, segment)
    return sorted({int(e) for r in inside for _, e in elements(r, array.address, array.itemsize)})


def _line(segment, result, name):
    return _inside(result, name, segment)[0][0].line


@style.styled
def rank_step(frames: Sequence[RankFrame], index: int, ax: Axes | None = None) -> Axes:
    """Draw step `index` of `frames`: A left, B above, C between them, shaded by what has been summed; the steps below.

    Parameters
    ----------
    frames
        From `rank_frames`.

    Returns
    -------
    Axes
        Its images are A, B and C.
    """
    frame = frames[index]
    (M, K), N = frame.A.shape, frame.B.shape[1]
    ax = style.axes(ax, width=7.4, height=6.4)
    left, top, colour = -(K + GAP), -(K + GAP), PHASES[frame.phase]
    for values, x, y, most in ((frame.A, left, 0, None), (frame.B, 0, top, None), (frame.C, 0, 0, np.abs(frames[-1].C).max())):
        limit = most or 1.8 * np.abs(values).max()                  # A and B paler than C
        rows, cols = values.shape
        ax.imshow(values, cmap="PuOr", vmin=-limit, vmax=limit, extent=(x, x + cols, y + rows, y), interpolation="nearest")
        ax.add_patch(Rectangle((x, y), cols, rows, fill=False, edgecolor=style.INK, linewidth=1.5))
    if frame.held:
        ax.add_patch(Rectangle((0, top + frame.held[0]), N, len(frame.held), fill=False, edgecolor=style.BLUE, linewidth=3.5))
    if frame.k >= 0:
        ax.add_patch(Rectangle((left + frame.k, min(frame.rows)), 1, len(frame.rows), fill=False, edgecolor=colour, linewidth=3.5))
        ax.add_patch(Rectangle((min(frame.cols), top + frame.k), len(frame.cols), 1, fill=False, edgecolor=colour, linewidth=3.5))
    ax.add_patch(Rectangle((0, frame.watched), N, 1, fill=False, edgecolor=style.INK, linewidth=2.5))
    if frame.k >= 0:
        ax.add_patch(Rectangle((left + frame.k - 0.2, frame.watched - 0.2), 1.4, 1.4, fill=False, edgecolor=style.INK, linewidth=2.5))
    for text, x, y in ((f"A  {M}×{K}", left, 0), (f"B  {K}×{N}", 0, top), (f"C  {M}×{N}: registers", 0, 0)):
        ax.text(x, y - 0.5, text, fontsize=12, ha="left", va="bottom")
    notes = (("▭ in shared memory", style.BLUE), ("▭ read now", style.GREEN), ("▭ one thread", style.INK))
    for place, (text, ink) in enumerate(notes):
        ax.text(left, top + 2.5 + 2.6 * place, text, fontsize=12, color=ink, va="center")
    _time_line(ax, frames, index, left, M + 2.5, N - left)
    ax.set_title(f"step {index + 1} of {len(frames)} · line {frame.line} · {frame.summed} of {K} products summed\n{frame.caption}")
    ax.set(xlim=(left - 1, N + 1), ylim=(M + 8, top - 2), aspect="equal")
    ax.axis("off")
    return ax


def _time_line(ax, frames, index, x, y, width):
    """Draw one box a step, coloured by what happens, and mark the present one."""
    each = width / len(frames)
    for number, frame in enumerate(frames):
        ax.add_patch(Rectangle((x + number * each, y), 0.9 * each, 1.6, facecolor=PHASES[frame.phase]))
    ax.plot([x + (index + 0.45) * each], [y + 2.4], marker="^", color=style.INK, markersize=9, clip_on=False)
    for number, (phase, colour) in enumerate(PHASES.items()):
        ax.text(x + number * width / 4, y + 4.3, f"■ {phase}", color=colour, fontsize=12, va="center")


def describe_rank(frames: Sequence[RankFrame], index: int) -> str:
    """Say in words what `rank_step` draws."""
    frame = frames[index]
    read = (f" {len(frame.rows)} elements of A and {len(frame.cols)} of the shared tile are read." if frame.k >= 0 else "")
    held = f"rows {frame.held[0]} to {frame.held[-1]} of B" if frame.held else "nothing"
    return (f"Step {index + 1} of {len(frames)}, source line {frame.line}: {frame.caption}.{read} Shared memory holds {held}; "
            f"C is the sum of {frame.summed} of {frame.A.shape[1]} products.")


def rank_player(frames: Sequence[RankFrame], *, start: int = 0) -> Player:
    """Play the steps of an outer product.

    Parameters
    ----------
    frames
        From `rank_frames`.
    """
    return player(len(frames), lambda i: rank_step(frames, i), lambda i: describe_rank(frames, i), start=start)
