"""Who adds up a tile that several blocks compute: when blocks leave their parts, and how long they wait for those of others."""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.model.stream_k import Piece


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

    >>> from course_lib.model.stream_k import Sharing
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
