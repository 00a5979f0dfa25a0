"""Who adds up a tile that several blocks compute: when blocks leave their parts, and how long they wait for those of others."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lib.lessons.busy.pictures import draw_piece
from course_lib.model.stream_k import Piece, Sharing
from course_lib.plots import render, style
from course_lib.plots.picture import Picture

EXAMPLE = (4, 5, 5)              # tiles, k-steps per tile and blocks of the picture
WIDTH = 0.66                     # of a column, with room for arrows beside it


@dataclass(frozen=True)
class Turn:
    """A piece in time, in k-steps from the beginning.

    Attributes
    ----------
    piece
        What is computed.
    start, computed
        When its block begins it, and when it has computed it.
    end
        When its block goes on: later than `computed` where it has to wait for the sums of others.
    ends
        Whether its block ends the tile. If not, it leaves its sums to the one that does, at `computed`.
    """

    piece: Piece
    start: int
    computed: int
    end: int
    ends: bool


def turns(shared: Sequence[Sequence[Piece]], steps: int, first_ends: bool = False) -> list[list[Turn]]:
    """Return when each block computes its pieces and when it waits; all blocks run at once, and to hand over and to add takes no time.

    Parameters
    ----------
    shared
        The pieces of each block, in its order.
    steps
        k-steps of a tile.
    first_ends
        The block with the first k-step of a tile ends it, and not the one with the last.

    >>> [[(turn.computed, turn.end) for turn in mine] for mine in turns(Sharing(1, 4, 2).by_block, 4, first_ends=True)]
    [[(2, 2)], [(2, 2)]]
    """
    sharers: dict[int, list[int]] = {}
    for block, mine in enumerate(shared):
        for tile in {piece.tile for piece in mine}:
            sharers.setdefault(tile, []).append(block)
    found: list[list[Turn]] = [[] for _ in shared]
    left: dict[tuple[int, int], int] = {}        # (tile, block) -> when that block has left its part of the tile
    while any(len(done) < len(mine) for done, mine in zip(found, shared, strict=True)):
        for block, mine in enumerate(shared):
            for piece in mine[len(found[block]):]:
                ends = piece.first == 0 if first_ends else piece.last == steps
                awaited = [(piece.tile, other) for other in sharers[piece.tile] if ends and other != block]
                if not all(part in left for part in awaited):
                    break
                start = found[block][-1].end if found[block] else 0
                computed = start + piece.steps
                found[block].append(Turn(piece, start, computed, max([computed, *(left[part] for part in awaited)]), ends))
                if not ends:
                    left[piece.tile, block] = computed
    return found


@style.styled
def draw_turns(found: Sequence[Sequence[Turn]], ax: Axes | None = None) -> Axes:
    """Draw what blocks compute and how long they wait, with an arrow from each part that is left to the block that ends its tile.

    Parameters
    ----------
    found
        The turns of each block, as `turns` returns them.
    """
    ax = style.axes(ax, width=4.8, height=4.2)
    ending = {turn.piece.tile: (x, turn.end) for x, mine in enumerate(found) for turn in mine if turn.ends}
    for x, mine in enumerate(found):
        for turn in mine:
            draw_piece(ax, x, turn.start, turn.piece, not turn.ends, WIDTH, f"tile {turn.piece.tile}")
            if wait := turn.end - turn.computed:
                ax.bar(x, wait, bottom=turn.computed, width=WIDTH, facecolor="none", edgecolor=style.INK, linewidth=1.4, linestyle=":")
                ax.text(x, turn.computed + wait / 2, "waits", ha="center", va="center", fontsize=10, color=style.INK,
                        rotation=90 if wait > 1 else 0)
            if not turn.ends:
                to, height = ending[turn.piece.tile]
                side = WIDTH / 2 if to > x else -WIDTH / 2
                ax.annotate("", (to - side, height), (x + side, turn.computed),
                            arrowprops={"arrowstyle": "-|>", "color": style.INK, "linewidth": 2, "shrinkA": 0, "shrinkB": 0})
    ax.set(xlabel="block", xlim=(-0.6, len(found) - 0.4), xticks=range(len(found)))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def describe_turns(found: Sequence[Sequence[Turn]]) -> str:
    """Return the alternative text of `draw_turns`.

    >>> describe_turns(turns(Sharing(1, 4, 2).by_block, 4))
    'Block 0: tile 0 from 0 to 2, leaves its part. Block 1: tile 0 from 0 to 2, ends it.'
    """
    said = []
    for number, mine in enumerate(found):
        parts = [f"tile {turn.piece.tile} from {turn.start} to {turn.computed}, " + ("leaves its part" if not turn.ends else "ends it"
                 if turn.end == turn.computed else f"waits until {turn.end}, ends it") for turn in mine]
        said.append(f"Block {number}: {'; '.join(parts) or 'nothing'}.")
    return " ".join(said)


@style.styled
def hand_over() -> Picture:
    """Draw blocks with even shares in time: the last block of a tile ends it; the first does; and the first, with the loop reversed."""
    tiles, steps, blocks = EXAMPLE
    shared = Sharing(tiles, steps, blocks).by_block
    reverse = [mine[::-1] for mine in shared]
    panels = {"the last block ends a tile": turns(shared, steps), "the first block ends a tile": turns(shared, steps, first_ends=True),
              "the first, with the loop reversed": turns(reverse, steps, first_ends=True)}
    figure = Figure(figsize=(9.8, 4.0), dpi=style.DPI, layout="constrained")
    FigureCanvasAgg(figure)
    told = [f"{tiles} tiles of {steps} k-steps on {blocks} blocks, time from the bottom up; arrows lead to the block that ends a tile."]
    drawn = figure.subplots(1, len(panels), sharey=True)
    for ax, (title, found) in zip(drawn, panels.items(), strict=True):
        done = max(turn.end for mine in found for turn in mine)
        draw_turns(found, ax)
        ax.set_title(f"{title[0].upper()}{title[1:]}:\ndone after {done} k-steps", fontsize=13)
        told.append(f"{title[0].upper()}{title[1:]}: all are done after {done} k-steps. {describe_turns(found)}")
    drawn[0].set_ylabel("time, in k-steps")
    return render(figure, " ".join(told))
