"""When tiles are copied, wait and are multiplied, with one or several stages of shared memory: a block alone on its multiprocessor."""

import math
from dataclasses import dataclass

from course_lib.model.inputs import whole

# Multiply-adds in float64 that the tensor cores of a multiprocessor of an H100 or H200 do per cycle: NVIDIA's 67 TFLOP/s, of 132
# multiprocessors at 1980 MHz, each multiply-add counted as two operations.
DMMA_RATE = 128
MOST = 10**9           # cycles, tiles, stages: far beyond what a block does


@dataclass(frozen=True)
class Parcel:
    """One step's tiles on their way: cycles at which copies are issued and have arrived, and at which the product begins and ends."""

    issued: int
    arrived: int
    begun: int
    done: int


def multiply_cycles(BM: int, BN: int, BK: int) -> int:
    """Return the cycles that a step's product takes at least on the tensor cores of one multiprocessor, in float64.

    >>> multiply_cycles(64, 64, 16), multiply_cycles(128, 128, 16)
    (512, 2048)
    """
    return math.ceil(BM * BN * BK / DMMA_RATE)


def pipeline(tiles: int, stages: int, latency: int, multiply: int) -> tuple[Parcel, ...]:
    """Return what happens to each step's tiles, in cycles from the first copy on.

    Parameters
    ----------
    tiles
        Steps along K.
    stages
        1: a stage is filled, then multiplied, then filled again. More: the copies of a stage are issued as soon as the product of the step
        before has left it, that is, when the product of the next step begins.
    latency
        Cycles from the issue of a step's copies to the arrival of the last of them, however many others are on their way.
    multiply
        Cycles of a step's product. Issuing copies, waits and barriers take no time.

    Raises
    ------
    InputError, a ValueError
        For numbers that are not whole, below 0, or 0 where there must be something.

    With one stage the latency comes on top of every product; with two it is hidden as far as the product is long.

    >>> [pipeline(3, stages, 692, 512)[-1].done for stages in (1, 2, 3)]
    [3612, 2588, 2228]
    """
    for name, value, least in (("tiles", tiles, 1), ("stages", stages, 1), ("latency", latency, 0), ("multiply", multiply, 1)):
        whole(name, value, least, MOST, "the model counts from")
    found: list[Parcel] = []
    for tile in range(tiles):
        before = found[-1].done if found else 0
        issued = before if stages == 1 else found[tile - stages + 1].begun if tile >= stages - 1 else 0
        begun = max(before, issued + latency)
        found.append(Parcel(issued, issued + latency, begun, begun + multiply))
    return tuple(found)


def idle(parcels: tuple[Parcel, ...]) -> int:
    """Return the cycles between the first product's beginning and the last one's end in which nothing is multiplied.

    >>> idle(pipeline(8, 2, 692, 512)), idle(pipeline(8, 3, 692, 512))
    (1260, 0)
    """
    return parcels[-1].done - parcels[0].begun - sum(parcel.done - parcel.begun for parcel in parcels)


def stages_needed(latency: float, multiply: float) -> int:
    """Return with how many stages nothing waits in the long run: the tiles that must be on their way by Little's law, and the one in use.

    >>> [stages_needed(latency, 512) for latency in (0, 500, 512, 513, 692, 1557)]
    [1, 2, 2, 3, 3, 5]
    """
    return math.ceil(latency / multiply) + 1


def period(stages: int, latency: float, multiply: float) -> float:
    """Return the cycles per step in the long run.

    >>> [period(stages, 692, 512) for stages in (1, 2, 3)]
    [1204, 692.0, 512]
    """
    return latency + multiply if stages == 1 else max(multiply, latency / (stages - 1))
