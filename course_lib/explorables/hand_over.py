"""Lesson 19's second explorable: who adds up a tile that is cut, and how long blocks wait for each other, in three orders."""

from typing import Any

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.stream_k import Sharing
from course_lib.model.turns import turns

EXAMPLE = (4, 5, 5)              # tiles, k-steps per tile and blocks of the picture
ORDERS = {                       # who ends a tile: whether it is the first block, and whether the loop goes from the beginning of a share
    "the last block": (False, False), "the first block": (True, False), "the first, loop reversed": (True, True),
}


def states() -> dict[str, Any]:
    """Return what each block does and when, in each of the three orders, as JSON takes it."""
    tiles, steps, blocks = EXAMPLE
    shared = Sharing(tiles, steps, blocks).by_block
    orders = []
    for name, (first_ends, reverse) in ORDERS.items():
        found = turns([mine[::-1] for mine in shared] if reverse else shared, steps, first_ends)
        done = max(turn.end for mine in found for turn in mine)
        orders.append({"name": name, "done": done, "turns": [
            {"block": block, "tile": turn.piece.tile, "start": turn.start, "computed": turn.computed, "end": turn.end, "ends": turn.ends}
            for block, mine in enumerate(found) for turn in mine]})
    return {"tiles": tiles, "depth": steps, "blocks": blocks, "orders": orders}


class HandOver(Explorable):
    """Blocks that share tiles, in three orders; made by `hand_over`."""

    name = "hand_over"
    title = "Who adds up a tile that is cut"
    _esm = module_text("hand_over")

    def static_text(self) -> str:
        tiles, steps, blocks = EXAMPLE
        return (f"{self.title}: {tiles} tiles of {steps} k-steps on {blocks} blocks; the last block of a tile ends it, the first "
                "does, and the first with the loop reversed. Run this cell to play it.")


def hand_over() -> HandOver:
    """Play what blocks compute, leave and wait for, side by side in the three orders of `ORDERS`."""
    return HandOver(states=states(), values={})
