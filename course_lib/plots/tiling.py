"""The tiled kernel, step by step: which elements are read, what shared memory holds, where the block waits.

`frames` turns the trace of one block into a list of steps; `tiling_step` draws one. The trace comes from the
kernel, so a changed kernel (say, without its first barrier) gives a changed film.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

import matplotlib
import numpy as np
from matplotlib.patches import Rectangle

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run.traces import array_of, elements, is_barrier, is_load

PHASES = {"load": style.SKY, "fill": style.BLUE, "barrier": style.VERMILION, "multiply": style.GREEN,
          "store": style.PURPLE}


@dataclass(frozen=True)
class Frame:
    """One step of a block. Elements are (n, 2) arrays of row and column.

    `touched` maps a matrix ("A", "B", "C", "As", "Bs") to the elements that the block touches in this step;
    `watched` to those that the watched thread touches; `held` to a boolean array of what a shared tile holds so
    far; `tiles` to the (row, col) of A and B that the shared tiles were loaded from. `line` is the source line,
    `iteration` counts tiles along K, `thread` is the watched thread's (x, y).
    """

    phase: str
    line: int
    caption: str
    shapes: dict
    touched: dict
    watched: dict
    held: dict
    tiles: dict
    iteration: int
    thread: tuple


class _Film:
    """Builds frames from one block's trace: the n-th event of every warp makes the n-th step."""

    def __init__(self, result, watched):
        p = result.parameters
        self.shapes = {"A": (result.M, result.K), "B": (result.K, result.N), "C": (result.M, result.N),
                       "As": (p["BM"], p["BK"]), "Bs": (p["BK"], p["BN"])}
        self.bases = {name: (array_of(result, name).address, array_of(result, name).itemsize) for name in "ABC"}
        self.ends = {name: array_of(result, name).address + array_of(result, name).nbytes for name in "ABC"}
        self.shared = {name: (variable.offset, variable.offset + variable.nbytes)
                       for name in ("As", "Bs") for variable in result.shared if variable.name.endswith(name)}
        self.watched = tuple(watched)
        self.warp, self.lane = divmod(watched[1] * result.block[0] + watched[0], 32)
        self.held = {name: np.zeros(self.shapes[name], bool) for name in ("As", "Bs")}
        self.tiles, self.frames, self.iteration, self.pending = {}, [], 0, []

    def matrix(self, record):
        """Return the name of the matrix that a memory record lies in."""
        active = np.asarray(record.addresses)
        first = active[active >= 0].min(initial=2**62)
        for name in ("ABC" if record.space == "global" else ("As", "Bs")):
            low, high = self.shared[name] if name in self.shared else (self.bases[name][0], self.ends[name])
            if low <= first < high:
                return name
        return None

    def touched(self, name, records):
        """Return what all warps, and what the watched thread, touch of a matrix."""
        base, size = (self.shared[name][0], 4) if name in self.shared else self.bases[name]
        columns = self.shapes[name][1]
        everyone, mine = [np.zeros((0, 2), int)], np.zeros((0, 2), int)
        for record in records:
            pairs = elements(record, base, size)
            where = np.column_stack(divmod(pairs[:, 1], columns))
            everyone.append(where)
            if record.warp == self.warp:
                mine = where[pairs[:, 0] == self.lane]
        return np.unique(np.concatenate(everyone), axis=0), mine

    def add(self, phase, line, caption, names_and_records):
        """Append a frame."""
        touched, watched = {}, {}
        for name, records in names_and_records:
            touched[name], watched[name] = self.touched(name, records)
        held = {k: v.copy() for k, v in self.held.items()}
        self.frames.append(Frame(phase, line, caption, self.shapes, touched, watched, held, dict(self.tiles),
                                 self.iteration, self.watched))
        return touched

    def memory(self, records):
        """Take the n-th memory access of every warp."""
        name, line = self.matrix(records[0]), records[0].line
        if name is None:
            return
        if name in self.shared and is_load(records[0]):
            self.pending.append((name, records))
            return
        self.flush()
        if name in "AB":
            caption = f"all threads load one element of {name} each, into registers"
            touched = self.add("load", line, caption, [(name, records)])
            rows, cols = self.shapes[name + "s"]
            self.tiles[name] = tuple((touched[name].min(axis=0) // (rows, cols)) * (rows, cols))
            self.frames[-1] = replace(self.frames[-1], tiles=dict(self.tiles))
        elif name in self.shared:
            where, _ = self.touched(name, records)
            self.held[name][where[:, 0], where[:, 1]] = True
            self.add("fill", line, f"and store it in {name}, shared memory of the block", [(name, records)])
        else:
            verb = "read" if is_load(records[0]) else "write"
            self.add("store", line, f"all threads {verb} their element of C", [(name, records)])

    def flush(self):
        """Turn the shared loads since the last event into frames: one per k, As and Bs together."""
        loads, self.pending = self.pending, []
        a = [records for name, records in loads if name == "As"]
        b = [records for name, records in loads if name == "Bs"]
        if len(a) != len(b):
            for name, records in loads:
                self.add("multiply", records[0].line, f"threads read {name}", [(name, records)])
            return
        for k, (left, right) in enumerate(zip(a, b, strict=True)):
            caption = f"k = {k}: acc += As[ty][{k}] * Bs[{k}][tx]"
            self.add("multiply", left[0].line, caption, [("As", left), ("Bs", right)])

    def barrier(self, records):
        """Take a barrier: everything before it is done before anything after it."""
        had_reads = bool(self.pending)
        self.flush()
        why = "every read is done: the tiles may be overwritten" if had_reads else "both tiles are complete"
        self.add("barrier", records[0].line, f"__syncthreads(): all threads wait, then {why}", [])
        if had_reads:
            self.iteration += 1
            self.held = {name: np.zeros(self.shapes[name], bool) for name in self.held}


def frames(result, *, watched=(5, 3)):
    """Cut the trace of one block into steps that can be drawn one after another.

    Parameters
    ----------
    result : RunResult
        Of `sgemm_tiled` (or a kernel with the same array names) with every warp of one block in its trace; M, N and K
        multiples of the tile.
    watched : (x, y)
        `threadIdx` of the thread whose own accesses are marked.

    Returns
    -------
    tuple of Frame

    Raises
    ------
    CourseError
        When nothing was traced, or warps took different paths (then there is no common n-th step).
    """
    by_warp = defaultdict(list)
    for record in result.trace:
        if record.space is not None or is_barrier(record):
            by_warp[record.warp].append(record)
    if not by_warp:
        raise CourseError("nothing was traced: run the kernel with trace=every_warp((1, 1), block)")
    if len({len(events) for events in by_warp.values()}) != 1:
        raise CourseError("the warps of this block took different paths; use M, N, K that are multiples of the tile")
    film = _Film(result, watched)
    for records in zip(*(by_warp[w] for w in sorted(by_warp)), strict=True):
        (film.barrier if is_barrier(records[0]) else film.memory)(records)
    film.flush()
    return tuple(film.frames)


def _matrix(ax, frame, name, x, y, label):
    """Draw one matrix at (x, y): pale ground, held or tile area, touched cells, the watched thread's cells."""
    rows, cols = frame.shapes[name]
    image = np.ones((rows, cols, 3)) * matplotlib.colors.to_rgb(style.PALE)
    if name in frame.held:
        image[frame.held[name]] = matplotlib.colors.to_rgb("#BFDDF0")
    colour = PHASES[frame.phase]
    if name in frame.touched:
        image[tuple(frame.touched[name].T)] = matplotlib.colors.to_rgb(colour)
    ax.imshow(image, extent=(x, x + cols, y + rows, y), interpolation="nearest")
    ax.add_patch(Rectangle((x, y), cols, rows, fill=False, edgecolor=style.INK, linewidth=1.5))
    tile_rows, tile_cols = {"A": frame.shapes["As"], "B": frame.shapes["Bs"],
                            "C": (frame.shapes["As"][0], frame.shapes["Bs"][1])}.get(name, (rows, cols))
    ax.hlines(np.arange(y + tile_rows, y + rows, tile_rows), x, x + cols, colors=style.INK, linewidths=1)
    ax.vlines(np.arange(x + tile_cols, x + cols, tile_cols), y, y + rows, colors=style.INK, linewidths=1)
    if name in frame.tiles:
        r, c = frame.tiles[name]
        ax.add_patch(Rectangle((x + c, y + r), tile_cols, tile_rows, fill=False, edgecolor=style.BLUE, linewidth=3.5))
    for r, c in frame.watched.get(name, ()):
        ax.add_patch(Rectangle((x + c - 0.2, y + r - 0.2), 1.4, 1.4, facecolor=style.YELLOW, edgecolor=style.INK))
    ax.text(x, y - 0.7, label, fontsize=12, ha="left", va="bottom")


@style.styled
def tiling_step(film, index, ax=None):
    """Draw step `index` of `film`: A left, B above, C between, shared tiles in the corner, time line below.

    Parameters
    ----------
    film : sequence of Frame
        From `frames`.
    index : int
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    frame = film[index]
    ax = style.axes(ax, width=7.6, height=6.9)
    (M, K), (_, N), (BM, BK), (_, BN) = (frame.shapes[n] for n in ("A", "B", "As", "Bs"))
    gap = max(4, M // 8)
    left, top = -(K + gap), -(K + gap)
    _matrix(ax, frame, "A", left, 0, f"A  {M}×{K}, global memory")
    _matrix(ax, frame, "B", 0, top, f"B  {K}×{N}, global memory")
    _matrix(ax, frame, "C", 0, 0, f"C  {M}×{N}")
    middle = top + (K - BM) / 2 + 1
    spare = max(1.0, (K - BK - BN) / 3)
    _matrix(ax, frame, "As", left + spare - 1.5, middle, f"As  {BM}×{BK}")
    _matrix(ax, frame, "Bs", left + spare + BK + 0.5, middle, f"Bs  {BK}×{BN}")
    waits = frame.phase == "barrier"
    says = "barrier: every warp waits" if waits else "shared memory of block (0, 0)"
    edge = {"edgecolor": PHASES["barrier"], "linewidth": 4} if waits else {
        "edgecolor": style.GREY, "linewidth": 1.5, "linestyle": "--"}
    ax.add_patch(Rectangle((left - 1.5, middle - 6.5), K + 4, max(BM, BK) + 8.5, fill=False, **edge))
    ax.text(left, middle - 3.4, says, fontsize=12, va="bottom", weight="bold" if waits else "normal",
            color=PHASES["barrier"] if waits else style.INK)
    for r, c in film[-1].watched.get("C", ()):
        ax.add_patch(Rectangle((c - 0.2, r - 0.2), 1.4, 1.4, fill=False, edgecolor=style.INK, linewidth=1.5))
    _time_line(ax, film, index, left, M + 3.5, N - left)
    where = "the end" if frame.phase == "store" else f"tile {frame.iteration + 1}"
    ax.set_title(f"step {index + 1} of {len(film)} · line {frame.line} · {where}\n{frame.caption}")
    ax.set(xlim=(left - 2.5, N + 1.5), ylim=(M + 9.5, top - 3.5), aspect="equal")
    ax.axis("off")
    return ax


def _time_line(ax, film, index, x, y, width):
    """Draw one box per step, coloured by what happens, and mark the present one."""
    w = width / len(film)
    for i, frame in enumerate(film):
        tall = 1.2 if frame.phase == "barrier" else 0
        ax.add_patch(Rectangle((x + i * w, y - tall), w * 0.9, 2 + tall, facecolor=PHASES[frame.phase]))
    ax.plot([x + (index + 0.45) * w], [y + 2.9], marker="^", color=style.INK, markersize=9, clip_on=False)
    letter, last = width / 62, x                      # a legend set by the length of its words
    for phase, colour in PHASES.items():
        ax.text(last, y + 5.2, "■", color=colour, fontsize=11, va="center")
        ax.text(last + 2 * letter, y + 5.2, phase, fontsize=11, va="center")
        last += letter * (len(phase) + 4.5)
    ax.plot([last - 0.3], [y + 5.2], marker="s", color=style.YELLOW, markeredgecolor=style.INK, markersize=9)
    ax.text(last + 1.2, y + 5.2, f"thread {film[index].thread}", fontsize=11, va="center")
