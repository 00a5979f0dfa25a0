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
STAGES = tuple(range(1, 7))         # six stages of the large tile still fit in a multiprocessor's shared memory
SMALL, LARGE = "64 × 64, 8 warps", "128 × 128"         # of the recording
PLACES = {"from the L2": False, "from DRAM": True}              # whether A and B lie in DRAM
PRODUCTS = {"small": "64 × 64", "large": "128 × 128", "ideal": "64 × 64 at peak"}


def recorded(stages: int, tile: str = SMALL, product: str = "whole", copies: str = "real", everywhere: bool = True,
             dram: bool = False, quantile: str = "median") -> float:
    """Return the recorded cycles per step of a multiprocessor; the names are those of `course_lib.bench.pipeline.Probe`.

    >>> recorded(3), recorded(3, product="none"), recorded(3, copies="zeros")
    (1031.6, 456.2, 1047.3)
    """
    row, = data.readings("pipeline").find(stages=stages, tile=tile, product=product, copies=copies, everywhere=everywhere,
                                          dram=dram)
    return float(row[quantile])


def copies_alone(tile: str, dram: bool) -> float:
    """Return how long the copies of a step are on their way: the cycles per step with two stages, when nothing is multiplied."""
    return recorded(2, tile, "none", dram=dram)


@functools.cache
def latencies(product: str) -> tuple[tuple[int, str], ...]:
    """Return (cycles that a step's copies are on their way, where from) for a product of `PRODUCTS`, as recorded on an H200."""
    tile = LARGE if product == "large" else SMALL
    return tuple((round(copies_alone(tile, dram)), words) for words, dram in PLACES.items())


def product_cycles(product: str) -> int:
    """Return the cycles of a step's product: recorded with copies that bring nothing, or the fewest that the tensor cores can do it in.

    >>> [product_cycles(product) for product in PRODUCTS]
    [1047, 3142, 512]
    """
    if product == "ideal":
        return multiply_cycles(64, 64, BK)
    return round(recorded(3, LARGE if product == "large" else SMALL, copies="zeros"))


def at(product: str, stages: int, latency: int) -> tuple[Parcel, ...]:
    """Return what happens to each tile; `latency` is a number of `latencies(product)`."""
    return pipeline(TILES, stages, latencies(product)[latency][0], product_cycles(product))


@functools.cache
def states() -> dict[str, Any]:
    """Return what happens at every position, as JSON takes it."""
    found = {f"{product}|{stages}|{n}": at(product, stages, n) for product in PRODUCTS for stages in STAGES for n in range(len(PLACES))}
    return {"tiles": TILES, "latencies": {product: [list(one) for one in latencies(product)] for product in PRODUCTS},
            "products": {product: [product_cycles(product), words] for product, words in PRODUCTS.items()},
            "bytes": {product: 8 * 2 * (128 if product == "large" else 64) * BK for product in PRODUCTS},
            "recorded": {f"{product}|{stages}|{n}": round(recorded(stages, tile, dram=dram))
                         for product, tile in (("small", SMALL), ("large", LARGE)) for stages in STAGES
                         for n, dram in enumerate(PLACES.values())},
            "at": {key: [[p.issued, p.arrived, p.begun, p.done] for p in parcels] for key, parcels in found.items()}}


class Stages(Explorable):
    """Tiles on their way; made by `tiles_on_their_way`."""

    name = "stages"
    title = "Tiles on their way to a multiprocessor"
    _esm = module_text("stages")

    def static_text(self) -> str:
        return (f"{self.title}: {TILES} steps of a product, each of which needs a tile of A and a tile of B. You choose for how many steps "
                "shared memory is large enough, and how long a copy is on its way. Run this cell to play it.")

    def static_html(self) -> str:
        cycles, source = latencies("small")[1]
        words = (f"One step with tiles of 64 × 64: its copies are on their way for {cycles:,} cycles ({source}), then its product takes "
                 f"{product_cycles('small'):,} cycles.")
        return render(one_step(), f"{words} {self.static_text()}")._repr_html_()


def tiles_on_their_way(stages: int = 2, product: str = "small", latency: int = 1) -> Stages:
    """Play the copies and the products of eight steps of a product in float64, one block on its multiprocessor.

    Parameters
    ----------
    stages
        1 to 6: for how many steps' tiles shared memory has room.
    product
        A name of `PRODUCTS`: how long a step is multiplied.
    latency
        0 or 1: a number of `latencies(product)`.
    """
    return Stages(states=states(), values={"stages": stages, "product": product, "latency": latency})


def idle_cycles(stages: int, product: str = "small", latency: int = 1) -> int:
    """Return the cycles without a product between the first and the last, as the picture shows them.

    >>> idle_cycles(2)
    1631
    """
    return idle(at(product, stages, latency))


@style.styled
def one_step() -> Axes:
    """Draw the way of one step's tiles when nothing else goes on; return the Axes."""
    ax = style.axes(width=9.6, height=1.6)
    way, product = latencies("small")[1][0], product_cycles("small")
    for start, wide, colour, tall, words in ((0, way, style.BLUE, 0.25, "on its way"), (way, product, style.ORANGE, 0.7, "multiplied")):
        ax.barh(0, wide, left=start, height=tall, color=colour, edgecolor=style.INK, linewidth=0.6, label=words)
    ax.set_yticks([0], ["one step"])
    ax.set(ylim=(0.6, -0.6), xlabel="cycles", title="One step's tiles")
    style.legend_beside(ax)
    return ax
