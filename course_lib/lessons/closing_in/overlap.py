"""When the tiles of a product are on their way, and when they are multiplied: one warp's own order, taken from a trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run import RunResult
from course_lib.run.traces import array_of, is_barrier, is_load, requests

SHARED = ("As", "Bs")
ON_ITS_WAY, USED, WALL = style.SKY, style.ORANGE, style.INK


@dataclass(frozen=True)
class TileSpan:
    """One step along K as one warp goes through it; all numbers count the warp's own instructions from the first one drawn.

    Attributes
    ----------
    tile
        0 for the first BK columns of A.
    asked
        Where the warp asks global memory for its first element of the tile.
    there
        The barrier after which all of it lies in shared memory.
    first, last
        Where the warp reads it there for the first time and for the last.
    """

    tile: int
    asked: int
    there: int
    first: int
    last: int


@dataclass(frozen=True)
class Overlap:
    """The tiles of one warp; `barriers`: where it waits for the others."""

    name: str
    spans: tuple[TileSpan, ...]
    barriers: tuple[int, ...]

    @property
    def ahead(self) -> int:
        """Return how many tiles were asked for before the warp was done with the tile before."""
        return sum(after.asked < before.last for before, after in zip(self.spans, self.spans[1:]))

    @property
    def barriers_per_tile(self) -> int:
        """Return the barriers from the first read of a tile to the first read of the next."""
        one, other = self.spans[:2]
        return sum(other.first > b > one.first for b in self.barriers)


def overlap(result: RunResult, warp: int = 0) -> Overlap:
    """Find when each tile was asked for, complete and used.

    Parameters
    ----------
    result
        Of a product with tiles in `As` and `Bs`, BK deep, K a multiple of it; `warp` of block (0, 0, 0) traced.

    Raises
    ------
    CourseError
        When the warp was not traced, or K holds fewer than two tiles or a part of one.
    """
    mine = [r for r in result.trace if r.warp == warp and r.block == (0, 0, 0)]
    depth = result.parameters.get("BK", 0)
    if not mine or not depth or result.K % depth or depth * 2 > result.K:
        raise CourseError("the picture needs trace=[((0, 0, 0), warp)], and a K of two or more whole tiles of BK columns")
    tiles, start = result.K // depth, mine[0].step
    asked: dict[int, int] = {}
    for name, across in (("A", True), ("B", False)):
        array = array_of(result, name)
        for r in requests(result, array=name, block=(0, 0, 0), warp=warp):
            element = int(r.addresses[r.addresses >= 0][0] - array.address) // array.itemsize
            k = element % result.lda if across else element // result.ldb
            asked.setdefault(k // depth, r.step - start)
            asked[k // depth] = min(asked[k // depth], r.step - start)
    reads = sorted(r.step - start for r in mine if r.space == "shared" and is_load(r))
    barriers = tuple(r.step - start for r in mine if is_barrier(r))
    each = len(reads) // tiles                  # every tile is read equally often
    spans = []
    for tile in range(tiles):
        first, last = reads[tile * each], reads[(tile + 1) * each - 1]
        spans.append(TileSpan(tile, asked[tile], max(b for b in barriers if b < first), first, last))
    return Overlap(result.kernel.name, tuple(spans), barriers)


@style.styled
def overlap_rows(found: Sequence[Overlap], ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw, for each kernel and tile, a bar from asking to there, and one from the first read to the last.

    Returns
    -------
    Axes
        A row for each tile; barriers are short vertical lines.
    """
    rows = sum(len(o.spans) + 1 for o in found)
    ax = style.axes(ax, width=11.0, height=1.4 + 0.34 * rows)
    names, at = [], 0
    for o in found:
        ax.text(0, at, o.name, fontweight="bold", va="center")
        top = at
        for span in o.spans:
            at += 1
            names.append((at, f"tile {span.tile}"))
            ax.barh(at, span.there - span.asked, left=span.asked, height=0.74, color=ON_ITS_WAY)
            ax.barh(at, span.last - span.first + 1, left=span.first, height=0.74, color=USED)
        ax.vlines(o.barriers, top + 0.5, at + 0.5, color=WALL, linewidth=0.8)        # two may be a few instructions apart
        at += 1
    ax.set_yticks([y for y, _ in names], [name for _, name in names])
    ax.set(ylim=(at - 0.3, -0.7), xlabel="instructions of warp 0 in its own order\n(PTX, simulated); no time", title=title or "")
    ax.set_xlim(left=0)
    ax.tick_params(axis="y", length=0)
    bars = [Patch(color=colour, label=name) for name, colour in (("on its way", ON_ITS_WAY), ("multiplied", USED))]
    style.legend_beside(ax, [*bars, Line2D([], [], color=WALL, linewidth=0.8, label="barrier")])
    return ax


def describe_overlap(found: Iterable[Overlap]) -> str:
    """Return the alternative text of `overlap_rows`."""
    return " ".join(
        f"{o.name}: {len(o.spans)} tiles, {o.ahead} of them asked for before the warp is done with the tile before; "
        f"{o.barriers_per_tile} barrier{'s' * (o.barriers_per_tile != 1)} a tile. Tile 1 is on its way from instruction {o.spans[1].asked} "
        f"to {o.spans[1].there}; tile 0 is multiplied from {o.spans[0].first} to {o.spans[0].last}." for o in found)
