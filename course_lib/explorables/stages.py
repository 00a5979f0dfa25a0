"""Lesson 17's explorable: tiles as parcels on their way to a multiprocessor, for any number of stages and several latencies."""

import functools
from typing import Any

from matplotlib.axes import Axes

from course_lib import data
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.stages import Parcel, idle, multiply_cycles, pipeline
from course_lib.plots import render, style

TILES = 8                           # steps along K that are shown: K = 128
BK = 16
SIDES = (64, 128)                   # rows and columns of C that a block computes
STAGES = tuple(range(1, 7))         # six stages of the large tile still fit in a multiprocessor's shared memory
L2, MEMORY = 4 * 2**20, 256 * 2**20          # bytes that the microbenchmarks walked through: in the H200's L2, and far beyond it


@functools.cache
def latencies() -> tuple[tuple[int, str], ...]:
    """Return (cycles, where the data come from) as recorded on an H200, from the shortest.

    One warp that waits for each load in turn; then 132 blocks of four warps which all ask at once, where the slowest warp counts, because
    a block waits for the last of its copies.
    """
    micro = data.readings("micro")
    alone, = ({row["footprint"]: row["low"] for row in micro.find(kernel="micro_global", threads=32, jump=33)},)
    asked = {row["footprint"]: row["high"] for row in micro.find(kernel="micro_loads", threads=128, LOADS=1, blocks=132)}
    found = [(round(alone[L2]), "from the L2"), (round(asked[32 * 2**20]), "from the L2, all ask at once"),
             (round(alone[MEMORY]), "from memory"), (round(asked[MEMORY]), "from memory, all ask at once")]
    return tuple(sorted(found))


def at(side: int, stages: int, latency: int) -> tuple[Parcel, ...]:
    """Return what happens to each tile; `latency` is a number of `latencies()`."""
    return pipeline(TILES, stages, latencies()[latency][0], multiply_cycles(side, side, BK))


@functools.cache
def states() -> dict[str, Any]:
    """Return what happens at every position, as JSON takes it."""
    found = {f"{side}|{stages}|{n}": at(side, stages, n) for side in SIDES for stages in STAGES for n in range(len(latencies()))}
    return {"tiles": TILES, "latencies": [list(one) for one in latencies()], "multiply": {str(n): multiply_cycles(n, n, BK) for n in SIDES},
            "bytes": {str(n): 8 * 2 * n * BK for n in SIDES},
            "at": {key: [[p.issued, p.arrived, p.begun, p.done] for p in parcels] for key, parcels in found.items()}}


class Stages(Explorable):
    """Tiles on their way; made by `tiles_on_their_way`."""

    name = "stages"
    title = "Tiles on their way to a multiprocessor"
    _esm = module_text("stages")

    def static_text(self) -> str:
        return (f"{self.title}: {TILES} steps of a product, each of which needs a tile of A and a tile of B. You choose for how many steps "
                "there is room in shared memory, and how long a copy is on its way. Run this cell to play it.")

    def static_html(self) -> str:
        cycles, source = latencies()[2]
        words = (f"One step with tiles of 64 × 64: its copies are on their way for {cycles} cycles ({source}), then its product takes "
                 f"{multiply_cycles(64, 64, BK)} cycles.")
        return render(one_step(), f"{words} {self.static_text()}")._repr_html_()


def tiles_on_their_way(stages: int = 2, side: int = 64, latency: int = 2) -> Stages:
    """Play the copies and the products of eight steps of a product in float64, one block on its multiprocessor.

    Parameters
    ----------
    stages
        1 to 6: for how many steps' tiles shared memory has room.
    side
        64 or 128: the block computes side × side elements of C.
    latency
        0 to 3: a number of `latencies()`.
    """
    return Stages(states=states(), values={"stages": stages, "side": side, "latency": latency})


def idle_cycles(stages: int, side: int = 64, latency: int = 2) -> int:
    """Return the idle cycles between the first product and the last, as the picture shows them.

    >>> idle_cycles(2)
    1260
    """
    return idle(at(side, stages, latency))


@style.styled
def one_step() -> Axes:
    """Draw the way of one step's tiles when nothing else goes on; return the Axes."""
    ax = style.axes(width=9.6, height=1.6)
    way, product = latencies()[2][0], multiply_cycles(64, 64, BK)
    for start, wide, colour, tall, words in ((0, way, style.BLUE, 0.25, "on its way"), (way, product, style.ORANGE, 0.7, "multiplied")):
        ax.barh(0, wide, left=start, height=tall, color=colour, edgecolor=style.INK, linewidth=0.6, label=words)
    ax.set_yticks([0], ["one step"])
    ax.set(ylim=(0.6, -0.6), xlabel="cycles", title="One step's tiles")
    style.legend_beside(ax)
    return ax
