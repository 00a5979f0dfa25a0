"""Who holds what of a product in float64, and with which padding its loads have no bank conflicts."""

import re
from typing import Any

from course_lib.kernels import UserKernel, get
from course_lib.lessons.stages.tiles import SMALL
from course_lib.plots import Table, render
from course_lib.plots.lane_shares import FLOAT64, describe_lane, draw_lane, lane_share
from course_lib.plots.picture import Picture
from course_lib.run import RunResult, counter_name, run
from course_lib.widgets.compute import inputs

FRONTS, LOADS = counter_name("wavefronts", "load"), counter_name("shared instructions", "load")
PADS = (0, 2, 4, 6, 8)            # doubles; an odd number would put every second row beside the 16 bytes of a wide copy


def who_holds_what(lane: int = 5) -> Picture:
    """Draw A, B and C of one instruction with the lane that holds each element; one lane's are dark."""
    share = lane_share(FLOAT64, lane)
    return render(draw_lane(share), describe_lane(share))


def padded(doubles: int) -> RunResult:
    """Run `dgemm_mma` with so many unused doubles at the end of each row of its tiles."""
    text = re.sub(r"(#define LD[AB] \(B[KN] \+) 4\)", rf"\1 {doubles})", get("dgemm_mma").source)
    A, B, _ = inputs(64, 64, 64, "float64")
    tile: dict[str, Any] = SMALL
    return run(UserKernel.from_source(text, like="dgemm_mma"), A, B, backend="sim", **tile)


def padding() -> Table:
    """Return the wavefronts of a load from each tile, for several paddings."""
    lines = get("dgemm_mma").source.splitlines()
    at = {name: next(n for n, line in enumerate(lines, 1) if f"= {name}[" in line) for name in ("As", "Bs")}
    rows = []
    for doubles in PADS:
        result = padded(doubles)
        counts = [(result.lines or {})[line] for line in at.values()]
        each = [count[FRONTS] / count[LOADS] for count in counts]
        rows.append((doubles, *(f"{one:.0f}" for one in each), f"{result.count('conflicts'):,}"))
    header = ("unused doubles per row", "wavefronts per load of As", "wavefronts per load of Bs", "conflicts in all")
    return Table(header, rows, "dgemm_mma with tiles of 64 × 64, N = 64; simulated. 32 doubles are 64 words: at best two wavefronts")
