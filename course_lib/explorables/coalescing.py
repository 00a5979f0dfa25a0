"""Lesson 05's explorable: the 32 addresses of one load request, and the sectors in which they lie."""

from course_lib.explorables.explorable import Explorable, module_text

WIDTHS = (2, 4, 8, 16)                # bytes of a lane: a half, one, two or four floats
FLOAT = 4                             # bytes
MOST_STRIDE, MOST_OFFSET = 16, 8      # pieces; floats
WALKS = ("down", "along")             # through B, from lane to lane
COLUMNS, MOST_PAD = 128, 8            # of B; floats after each row


class Coalescing(Explorable):
    """One request of one warp; made by `one_request`. The browser computes it, and a test holds that to the simulator."""

    name = "coalescing"
    title = "What one warp asks memory for"
    _esm = module_text("coalescing")

    def static_text(self) -> str:
        return ("The 32 lanes of a warp above a piece of memory that is cut into sectors of 32 bytes. An arrow leads from each lane to "
                "the bytes that it asks for, one lane after another, and a counter counts the sectors that are touched. "
                "Run this cell to play it.")


def one_request(width: int = 4, *, stride: int = 1, offset: int = 0, wide: bool = False) -> Coalescing:
    """Play one load request: which bytes each lane asks for, and which sectors they touch.

    Parameters
    ----------
    width
        Bytes that each lane loads, 2, 4, 8 or 16: a half, one, two or four floats.
    stride
        Pieces of that size from one lane's to the next, 0 to 16.
    offset
        Floats before the first lane's piece, 0 to 8.
    wide
        Whether the reader can choose the width; always so when it is not that of a float.
    """
    return Coalescing(states={"wide": wide or width != FLOAT}, values={"width": width, "stride": stride, "offset": offset})


def tile_load(walk: str = "down", *, pad: int = 0, padded: bool = False) -> Coalescing:
    """Play one request of a warp that loads a part of a tile of B, whose rows are 128 floats long.

    Parameters
    ----------
    walk
        Where neighbouring lanes go, "down" or "along": down a column of B, or along a row.
    pad
        Unused floats after each row, 0 to 8.
    padded
        Whether the reader can change `pad`; always so when it is not 0.
    """
    return Coalescing(states={"walks": list(WALKS), "padded": padded or pad > 0}, values={"walk": walk, "pad": pad, "width": FLOAT})
