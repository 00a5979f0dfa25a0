"""Lesson 19's explorable: the tiles of C on the multiprocessors of an H200, whole, split along K, or in even shares of k-steps."""

from typing import Any

from course_lib.arch import DEFAULT_DEVICE
from course_lib.explorables.explorable import Explorable, module_text

SIZES = (256, 512, 513, 640, 768, 1024, 1025, 1280, 1408, 1409, 1536, 1792, 2048, 2049)
TILES = ({"BM": 128, "BN": 128, "BK": 8}, {"BM": 64, "BN": 64, "BK": 16})        # as the race has them
SHARES = ("tiles", "split", "even")
PER_CYCLE = 128                  # multiply-adds that a multiprocessor of an H200 can start in a cycle


def states() -> dict[str, Any]:
    """Return what the browser needs to compute every position, as JSON takes it."""
    return {"multiprocessors": DEFAULT_DEVICE.sms, "sizes": SIZES, "tiles": TILES, "perCycle": PER_CYCLE}


class Sharing(Explorable):
    """Tiles and the multiprocessors that compute them; made by `tiles_on_multiprocessors`."""

    name = "sharing"
    title = "The tiles of C fall onto the multiprocessors"
    _esm = module_text("sharing")

    def static_text(self) -> str:
        return (f"{self.title}: a column for each of the {DEFAULT_DEVICE.sms} multiprocessors of an H200, on which what it computes is "
                "stacked. Run this cell to play it.")


def tiles_on_multiprocessors(N: int = 513, tile: int = 128, share: str = "tiles", split: int = 3) -> Sharing:
    """Play how the tiles of a product are computed by the multiprocessors, with the share of their time that is idle.

    Parameters
    ----------
    N
        Rows and columns of the matrices, one of `SIZES`.
    tile
        128 or 64: rows and columns of a tile of C.
    share
        "tiles": a block for each tile. "split": `split` blocks for each tile, which is cut by itself.
        "even": one block per multiprocessor, and equal shares.
    split
        2 to 8.
    """
    return Sharing(states=states(), values={"size": SIZES.index(N), "tile": tile, "share": share, "split": split, "mark": 0})
