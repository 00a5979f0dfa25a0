"""Lesson 18's explorable: a producer fills stages, two consumers multiply, and barriers flip their bits, as in `sbgemm_tma`."""

import functools
from typing import Any

import numpy as np

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import PipelineStep, pipeline_steps, run

STEPS = 8                           # along K that are shown: K = 512
STAGES = (2, 3, 4)
TILE = 128                          # rows and columns of C
PRODUCER, CONSUMERS = 8, (0, 4)     # the first warp of each role; the two others of the producer's do nothing

Event = tuple[str, int, int]        # "order", "stall", "arrive", "begin" or "release"; the consumer, or -1; the step


@functools.cache
def pipelined(stages: int) -> tuple[Event, ...]:
    """Run `sbgemm_tma` on a tile of 128 × 128 with eight steps along K, and return what happened, one event after another.

    A step's copies arrive, as the events have it, when a consumer first sees that its wait for them is over.
    """
    A = np.ones((TILE, 64 * STEPS), np.float32)          # the order of the roles is not a question of numbers
    result = run("sbgemm_tma", A, A.T.copy(), backend="sim", BN=TILE, STAGES=stages, blocks=2,
                 trace=[((0, 0, 0), warp) for warp in (*CONSUMERS, PRODUCER)])
    steps = pipeline_steps(result)

    def of(warp: int, what: str) -> list[PipelineStep]:
        return [step for step in steps if (step.warp, step.what) == (warp, what)]

    timed = [(copy.first, ("order", -1, k)) for k, copy in enumerate(of(PRODUCER, "copy"))]
    timed += [(wait.first, ("stall", -1, k)) for k, wait in enumerate(of(PRODUCER, "wait")) if wait.last > wait.first]
    come = np.min([[wait.last for wait in of(warp, "wait")] for warp in CONSUMERS], axis=0)
    timed += [(int(time), ("arrive", -1, k)) for k, time in enumerate(come)]
    for who, warp in enumerate(CONSUMERS):
        timed += [(step.first, ("begin", who, k)) for k, step in enumerate(of(warp, "product"))]
        timed += [(step.first, ("release", who, k)) for k, step in enumerate(of(warp, "arrive"))]
    return tuple(event for _, event in sorted(timed))


def when(stages: int, kind: str, who: int = -1) -> dict[int, int]:
    """Return the number of each step's event of a kind, from 1 on."""
    return {event[2]: number for number, event in enumerate(pipelined(stages), start=1) if event[:2] == (kind, who)}


@functools.cache
def states() -> dict[str, Any]:
    """Return what happens with each number of stages, as JSON takes it."""
    at = {str(stages): [list(event) for event in pipelined(stages)] for stages in STAGES}
    return {"steps": STEPS, "tile": TILE, "bytes": 2 * 64 * (TILE + TILE), "at": at}


class Roles(Explorable):
    """Producer and consumers; made by `producer_and_consumers`."""

    name = "roles"
    title = "A producer and two consumers"
    _esm = module_text("roles")

    def static_text(self) -> str:
        return (f"{self.title}: one warp copies what {STEPS} steps need, two warpgroups multiply, with a tile of C of "
                f"{TILE} × {TILE}. You choose for how many steps shared memory is large enough. Run this cell to play it.")


def producer_and_consumers(stages: int = 3) -> Roles:
    """Play the copies, the waits and the products of eight steps, in the order in which the simulator ran them.

    Parameters
    ----------
    stages
        2, 3 or 4: for how many steps' tiles shared memory has room.
    """
    return Roles(states=states(), values={"stages": stages})
