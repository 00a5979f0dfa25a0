"""What happens to a thread with more and more sums: registers, warps, and in the end local memory."""

import re
from dataclasses import replace

from course_lib.kernels import UserKernel, get
from course_lib.lessons.register_blocking.counts import BK, KERNEL, tile_of
from course_lib.plots import Table
from course_lib.run import footprint

SHAPES = ((2, 2), (4, 4), (8, 8), (8, 16), (16, 16))


def unguarded(TM: int, TN: int) -> UserKernel:
    """Return the course's kernel with these outputs per thread, without the rules that refuse too many of them."""
    text = re.sub(r"^static_assert.*$", "", get(KERNEL).source, flags=re.MULTILINE)
    text = "".join(f"#define {name} {value}\n" for name, value in tile_of(TM, TN).items()) + text
    return replace(UserKernel.from_source(text), rules=())


def too_many_sums() -> Table:
    """Return a table of what the compiler makes of a kernel with more and more outputs per thread."""
    rows = []
    for TM, TN in SHAPES:
        taken = footprint(unguarded(TM, TN))
        used = taken.resources
        rows.append((f"{TM} × {TN}", TM * TN, used.registers, used.local_bytes, taken.occupancy.warps))
    header = ("TM × TN", "sums per thread", "registers per thread", "bytes per thread in local memory", "warps per multiprocessor")
    return Table(header, rows, f"{KERNEL} with 16 × 16 threads per block, so that the tile is 16 · TM × 16 · TN, BK = {BK}; as it is "
                 "compiled for an H200; warps modelled")
