"""Lesson 08's explorable: which warps of a scheduler issue and which wait, cycle by cycle, for two choices of outputs."""

import functools
from typing import Any

from matplotlib.axes import Axes

from course_lib.arch import DEFAULT_DEVICE
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.model.rounds import LATENCY, SCHEDULERS, Rounds, rounds
from course_lib.plots import render, style
from course_lib.run import footprint

SIDES = (1, 2, 4, 8)                # a thread computes so many rows and columns of C
CYCLES = 160                        # on show: a whole number of periods for every position that is full
START = 1280                        # cycles before those: the queue of the beginning is gone, and the warps are in their rhythm
MOST = DEFAULT_DEVICE.limits.warps // SCHEDULERS
KERNEL = "sgemm_2d_tile"


def tile_of(side: int) -> dict[str, int]:
    """Return the parameters of the kernel with 16 × 16 threads, each of which computes side × side outputs.

    >>> tile_of(4)
    {'BM': 64, 'BN': 64, 'BK': 16, 'TM': 4, 'TN': 4}
    """
    return {"BM": 16 * side, "BN": 16 * side, "BK": 16, "TM": side, "TN": side}


@functools.cache
def fits(side: int) -> int:
    """Return how many warps each scheduler of an H200 holds when a thread computes side × side outputs."""
    tile: dict[str, Any] = tile_of(side)
    return footprint(KERNEL, **tile).occupancy.warps // SCHEDULERS


def registers(side: int) -> int:
    """Return how many registers a thread has that computes side × side outputs.

    >>> registers(8)
    128
    """
    tile: dict[str, Any] = tile_of(side)
    return footprint(KERNEL, **tile).resources.registers


def at(side: int) -> Rounds:
    """Return what a scheduler with as many warps as fit does when each thread computes side × side outputs."""
    return rounds(fits(side), 2 * side, side * side, start=START, cycles=CYCLES)


@functools.cache
def states() -> dict[str, Any]:
    """Return what happens at every position, as JSON takes it: four runs of the model, and four kernels compiled."""
    return {"most": MOST, "cycles": CYCLES, "latency": LATENCY, "registers": DEFAULT_DEVICE.limits.registers,
            "at": {str(side): {"warps": list(at(side).warps), "shared": at(side).shared, "registers": registers(side)} for side in SIDES}}


class Warps(Explorable):
    """Two schedulers and their warps; made by `warp_timelines`."""

    name = "warps"
    title = "Two schedulers, their warps and what they wait for"
    _esm = module_text("warps")

    def static_text(self) -> str:
        return (f"{self.title}, side by side, for {CYCLES} cycles. On the left a scheduler has 16 warps whose threads compute one element "
                "of C each, on the right it has 4 warps whose threads compute 64 elements each. Run this cell to play it.")

    def static_html(self) -> str:
        said = [f"{loads} loads, a wait, multiply-adds: {adds}; {cycles} cycles in all" for loads, adds, cycles in map(alone, (1, 8))]
        words = f"One warp, for one k. With 1 output per thread: {said[0]}. With 64 outputs per thread: {said[1]}."
        return render(one_k(), f"{words} {self.static_text()}")._repr_html_()


def warp_timelines(left: int = 1, right: int = 8) -> Warps:
    """Play two schedulers side by side, cycle by cycle, with counters of the multiply-adds that they have started.

    Parameters
    ----------
    left, right
        A thread computes so many rows and columns of outputs: 1, 2, 4 or 8. As many warps run as the registers allow.
    """
    return Warps(states=states(), values={"left": left, "right": right})


def alone(side: int) -> tuple[int, int, int]:
    """Return a warp's loads and multiply-adds for one k with side × side outputs, and its cycles if it is alone on its multiprocessor.

    >>> alone(1), alone(8)
    ((2, 1, 25), (16, 64, 102))
    """
    loads, adds = 2 * side, side * side
    return loads, adds, loads - 1 + LATENCY + adds


@style.styled
def one_k() -> Axes:
    """Draw what a warp that has a multiprocessor to itself does for one k, with 1 and with 8 × 8 outputs per thread; return the Axes."""
    ax = style.axes(width=9.6, height=2.6)
    for y, side in enumerate((1, 8)):
        loads, adds, cycles = alone(side)
        ready = cycles - adds
        pieces = ((0, loads, style.BLUE, 0.7), (loads, ready - loads, style.GREY, 0.25), (ready, adds, style.ORANGE, 0.7))
        for start, wide, colour, tall in pieces:
            ax.barh(y, wide, left=start, height=tall, color=colour, edgecolor=style.INK, linewidth=0.6)
    for words, colour in (("loads", style.BLUE), ("waits for its words", style.GREY), ("multiplies and adds", style.ORANGE)):
        ax.barh(0, 0, color=colour, edgecolor=style.INK, linewidth=0.6, label=words)
    ax.set_yticks([0, 1], ["1 output\nper thread", "64 outputs\nper thread"])
    ax.set(ylim=(1.6, -0.6), xlabel="cycles", title="One warp, for one k")
    style.legend_beside(ax)
    return ax
