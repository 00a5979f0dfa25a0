"""Pictures of register blocking: what one thread computes and reads, speed against occupancy, independent work against warps."""

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run.traces import array_of, elements, is_load, is_store

OWNED, NEEDED = 1.0, 0.4       # shades of an element that the thread computes, and of one that uses the same rows or columns


@dataclass(frozen=True)
class Share:
    """What one thread of a block does: rows and columns of its outputs in the block's tile, of `rows` × `cols` elements.

    `a_rows`, `b_cols` are the rows of A's tile and the columns of B's tile from which it reads a word for each k; `words` is how many
    words it reads for each k in all.
    """

    rows: int
    cols: int
    outputs: tuple
    a_rows: tuple
    b_cols: tuple
    words: float


def words_read(result):
    """Count the 32-bit words that the lanes of all traced warps load from shared memory.

    Parameters
    ----------
    result : RunResult
        Traced; a trace has every load as the source has it, before the assembler joins neighbours to wider ones.

    Raises
    ------
    CourseError
        Without a trace.

    >>> from types import SimpleNamespace
    >>> load = SimpleNamespace(space="shared", operation="ld.shared.f32", width=4, addresses=np.arange(32) * 4)
    >>> words_read(SimpleNamespace(trace=[load, load]))
    64
    """
    if not result.trace:
        raise CourseError("nothing was traced: run the kernel with trace=, for example trace=every_warp(grid, block)")
    loads = [r for r in result.trace if r.space == "shared" and is_load(r)]
    return sum(int((np.asarray(r.addresses) >= 0).sum()) * r.width // 4 for r in loads)


def thread_share(result, thread=(0, 0), shared=("As", "Bs")):
    """Find, from the trace, which outputs one thread of block (0, 0) stores and which words of the shared tiles it reads.

    Parameters
    ----------
    result : RunResult
        Of one block that covers C exactly, its tiles as deep as K, with the thread's warp traced.
    thread : (x, y)
        Within its block.
    shared : (str, str)
        The names of the tiles of A, of M × K elements, and of B, of K × N.

    Raises
    ------
    CourseError
        When there are more blocks, or the thread's warp is not in the trace.
    """
    if result.grid[:2] != (1, 1):
        raise CourseError(f"there are {result.grid[0]} × {result.grid[1]} blocks, but one thread's share is drawn for one block")
    number = thread[1] * result.block[0] + thread[0]
    lane = number % WARP
    records = [r for r in result.trace if r.warp == number // WARP and r.addresses[lane] >= 0]
    C, sizes = array_of(result, "C"), {v.name: v for v in result.shared}
    stored = [e for r in records if r.space == "global" and is_store(r) for n, e in elements(r, C.address, C.itemsize) if n == lane]
    if not stored:
        raise CourseError(f"thread {thread} stores nothing in this trace: trace its warp, {number // WARP}")
    loads = [r for r in records if r.space == "shared" and is_load(r)]
    found, words = [], 0
    for name, columns in zip(shared, (result.K, result.N), strict=True):
        tile = sizes[name]
        inside = [r for r in loads if tile.offset <= r.addresses[lane] < tile.offset + tile.nbytes]
        read = np.array([e for r in inside for n, e in elements(r, tile.offset, C.itemsize) if n == lane], int)
        words += len(read)
        found.append(np.unique(read // columns if name == shared[0] else read % columns))
    outputs = tuple(sorted(divmod(int(e), result.N) for e in stored))
    return Share(result.M, result.N, outputs, *(tuple(map(int, places)) for places in found), words / result.K)


@style.styled
def thread_share_picture(share, ax=None, *, title=None):
    """Draw the tile of C with the outputs of one thread; to its left the tile of A, above it the tile of B, at one k.

    Returns
    -------
    Axes
        Its image has 1 where the thread has an output, and in the strips where it reads.
    """
    wide = max(1, share.rows // 24)                   # of the strips, in elements
    at = 3 * wide                                     # where the tile of C begins
    image = np.full((share.rows + at, share.cols + at), np.nan)
    image[at:, at:] = image[at:, :wide] = image[:wide, at:] = 0
    rows, cols = np.array(share.a_rows, int) + at, np.array(share.b_cols, int) + at
    image[rows, at:] = NEEDED
    image[at:, cols] = np.maximum(image[at:, cols], NEEDED)
    image[rows, :wide] = image[:wide, cols] = OWNED
    for row, col in share.outputs:
        image[row + at, col + at] = OWNED
    ax = style.axes(ax, width=5.9, height=5.6)
    colours = LinearSegmentedColormap.from_list("", [style.PALE, "#BFDDF0", style.BLUE])
    ax.imshow(image, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks([wide / 2, at, share.cols + at - 1], ["A", "0", str(share.cols - 1)])
    ax.set_yticks([wide / 2, at, share.rows + at - 1], ["B", "0", str(share.rows - 1)])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    n = len(share.outputs)
    ax.set(xlabel="column of the block's tile of C", ylabel="row",
           title=title or f"A thread: {n} output{'s' * (n != 1)}, {share.words:g} words a step")
    return ax


def describe_share(share):
    """Return the alternative text of `thread_share_picture`.

    >>> describe_share(Share(8, 8, ((0, 0), (0, 4)), (0,), (0, 4), 3.0))
    'In a tile of 8 × 8 elements one thread computes 2: rows 0, columns 0, 4. For each k it reads 3 words: 1 of A, 2 of B.'
    """
    rows, cols = (sorted({place[i] for place in share.outputs}) for i in (0, 1))
    return (f"In a tile of {share.rows} × {share.cols} elements one thread computes {len(share.outputs)}: rows {_list(rows)}, columns "
            f"{_list(cols)}. For each k it reads {share.words:g} words: {len(share.a_rows)} of A, {len(share.b_cols)} of B.")


def _list(values):
    return ", ".join(map(str, values))


@dataclass(frozen=True)
class Speed:
    """A kernel's speed beside what it leaves of the multiprocessor's warps: outputs of a thread, occupancy (0 to 1), GFLOP/s."""

    outputs: int
    occupancy: float
    gflops: float
    name: str = ""


@style.styled
def speed_by_occupancy(points, ax=None, *, title=None, label=""):
    """Draw speeds against occupancy, a colour and a marker for each number of outputs a thread has.

    Parameters
    ----------
    points : sequence of Speed
    ax : Axes, optional
    title : str, optional
    label : str
        Where the speeds are from: a Recording's `label`.
    """
    kinds = sorted({p.outputs for p in points})
    if not kinds or len(kinds) > len(style.CYCLE):
        raise CourseError(f"{len(kinds)} numbers of outputs: 1 to {len(style.CYCLE)} can be told apart")
    ax = style.axes(ax, width=9.0, height=4.8)
    for i, kind in enumerate(kinds):
        here = [p for p in points if p.outputs == kind]
        ax.plot([100 * p.occupancy for p in here], [p.gflops for p in here], linestyle="none", marker=style.marker(i), markersize=11,
                color=style.CYCLE[i], markeredgecolor=style.INK, markeredgewidth=0.6, label=f"{kind} output{'s' * (kind != 1)} a thread")
    for p in points:
        if p.name:
            left = p.occupancy > 0.7                  # there is room for the name above the point, and to the left
            ax.annotate(p.name, (100 * p.occupancy, p.gflops), textcoords="offset points", xytext=(12, 10) if left else (9, 7),
                        ha="right" if left else "left", fontsize=12)
    ax.set_xlim(0, 109)
    ax.set_ylim(0, 1.15 * max(p.gflops for p in points))
    ax.grid(True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set(xlabel="occupancy, %, modelled" + (f"\nspeeds {label}" if label else ""), ylabel="GFLOP/s", title=title or "")
    style.legend_beside(ax)
    return ax


def describe_speed_by_occupancy(points, label=""):
    """Return the alternative text of `speed_by_occupancy`: for each number of outputs the occupancies and the speeds.

    >>> describe_speed_by_occupancy([Speed(1, 1.0, 8000), Speed(16, 0.5, 24000), Speed(16, 0.375, 20000)], "made up")
    'GFLOP/s against occupancy, made up: 1 output a thread: 100 %, 8,000; 16 outputs a thread: 38 to 50 %, 20,000 to 24,000.'
    """
    words = []
    for kind in sorted({p.outputs for p in points}):
        here = [p for p in points if p.outputs == kind]
        shares = _span([round(100 * p.occupancy + 1e-9) for p in here])
        words.append(f"{kind} output{'s' * (kind != 1)} a thread: {shares} %, {_span([round(p.gflops) for p in here])}")
    return f"GFLOP/s against occupancy{f', {label}' * bool(label)}: {'; '.join(words)}."


def _span(values):
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


@style.styled
def under_way(points, needed, ax=None, *, what="multiply-adds", title=None):
    """Draw what could be under way on a multiprocessor: warps across, independent instructions of each warp upwards.

    Parameters
    ----------
    points : mapping of label to (warps, independent instructions of a warp)
    needed : int
        How many must be under way together so that latency does not show; a line on logarithmic axes.

    Returns
    -------
    Axes
    """
    ax = style.axes(ax, width=9.0, height=4.8)
    top = 2 * max(needed, *(each for _, each in points.values()))
    x = np.array([1, 64])
    ax.plot(x, needed / x, color=style.INK, linestyle="--", label=f"needed: {needed} under way")
    ax.fill_between(x, needed / x, 2**-3, color=style.PALE, zorder=0)
    ax.text(1.15, 0.6, "too few: latency shows", fontsize=12)
    for i, (label, (warps, each)) in enumerate(points.items()):
        ax.plot([warps], [each], linestyle="none", marker=style.marker(i), markersize=11,
                color=style.CYCLE[i % len(style.CYCLE)], markeredgecolor=style.INK, markeredgewidth=0.6, zorder=3, clip_on=False,
                label=f"{label}: {warps * each} independent")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlim(1, 64)
    ax.set_ylim(0.5, top)
    ax.grid(True)
    ax.set(xlabel="warps of a multiprocessor", ylabel=f"independent {what}\nof a warp", title=title or "")
    style.legend_beside(ax)
    return ax


def describe_under_way(points, needed, what="multiply-adds"):
    """Return the alternative text of `under_way`.

    >>> describe_under_way({"tiled": (64, 1), "2d": (16, 64)}, 16)
    '16 multiply-adds under way hide the latency. Independent of each other: tiled 64 warps × 1 = 64, 2d 16 warps × 64 = 1024.'
    """
    words = [f"{label} {warps} warps × {each} = {warps * each}" for label, (warps, each) in points.items()]
    return f"{needed} {what} under way hide the latency. Independent of each other: {', '.join(words)}."
