"""Lesson 18's explorable: a producer fills stages, two consumers multiply what lies there, as the simulator ran `sbgemm_tma`."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.run import PipelineStep, pipeline_steps, run

STEPS = 8                           # along K that are shown: K = 512
STAGES = (2, 3, 4)
TILE = 128                          # rows and columns of C
PRODUCER, CONSUMERS = 8, (0, 4)     # the first warp of each role; the two others of the producer's do nothing

Event = tuple[str, int, int]        # "order", "stall", "begin" or "release"; the consumer, -1 for the producer; the step


@dataclass(frozen=True)
class Pipelined:
    """What the roles did. Times are numbers of events, from 1 on; what lies between two events is between their numbers.

    Attributes
    ----------
    events
        What happened, one after another.
    ordered, arrived
        Of each step: when its copies were ordered, and when a consumer first saw that they had come.
    begun, released
        Of each consumer and step: when its products began, and when it released the stage.
    waited
        (from, to, step) of each time that the producer had to wait for a stage.
    """

    events: tuple[Event, ...]
    ordered: tuple[float, ...]
    arrived: tuple[float, ...]
    begun: tuple[tuple[float, ...], ...]
    released: tuple[tuple[float, ...], ...]
    waited: tuple[tuple[float, float, int], ...]


@functools.cache
def pipelined(stages: int) -> Pipelined:
    """Run `sbgemm_tma` on a tile of 128 × 128 with eight steps along K, and return what its roles did."""
    A = np.ones((TILE, 64 * STEPS), np.float32)          # the order of the roles is not a question of numbers
    result = run("sbgemm_tma", A, A.T.copy(), backend="sim", BN=TILE, STAGES=stages, blocks=2,
                 trace=[((0, 0, 0), warp) for warp in (*CONSUMERS, PRODUCER)])
    steps = pipeline_steps(result)

    def of(warp: int, what: str) -> list[PipelineStep]:
        return [step for step in steps if (step.warp, step.what) == (warp, what)]

    copies, stalls = of(PRODUCER, "copy"), [(wait, k) for k, wait in enumerate(of(PRODUCER, "wait")) if wait.last > wait.first]
    begun = [[step.first for step in of(warp, "product")] for warp in CONSUMERS]
    released = [[step.first for step in of(warp, "arrive")] for warp in CONSUMERS]
    waits = [[step.last for step in of(warp, "wait")] for warp in CONSUMERS]
    timed = [(copy.first, ("order", -1, k)) for k, copy in enumerate(copies)] + [(wait.first, ("stall", -1, k)) for wait, k in stalls]
    timed += [(time, ("begin", who, k)) for who, times in enumerate(begun) for k, time in enumerate(times)]
    timed += [(time, ("release", who, k)) for who, times in enumerate(released) for k, time in enumerate(times)]
    timed.sort()
    at = functools.partial(_between, [time for time, _ in timed])
    return Pipelined(tuple(event for _, event in timed), at([copy.first for copy in copies]), at(np.min(waits, axis=0)),
                     tuple(map(at, begun)), tuple(map(at, released)),
                     tuple((*at([wait.first, wait.last]), k) for wait, k in stalls))  # type: ignore[misc]


def _between(events: list[int], times: Any) -> tuple[float, ...]:
    """Return times as numbers of events."""
    return tuple(round(float(n), 2) for n in np.interp(times, [0, *events], range(len(events) + 1)))


@functools.cache
def states() -> dict[str, Any]:
    """Return what happens with each number of stages, as JSON takes it."""
    return {"steps": STEPS, "at": {str(stages): _json(pipelined(stages)) for stages in STAGES}}


def _json(found: Pipelined) -> dict[str, Any]:
    return {"events": [list(event) for event in found.events], "ordered": list(found.ordered), "arrived": list(found.arrived),
            "begun": [list(times) for times in found.begun], "released": [list(times) for times in found.released],
            "waited": [list(wait) for wait in found.waited]}


class Roles(Explorable):
    """Producer and consumers; made by `producer_and_consumers`."""

    name = "roles"
    title = "A producer and two consumers"
    _esm = module_text("roles")

    def static_text(self) -> str:
        return (f"{self.title}: one warp copies the tiles of {STEPS} steps, two warpgroups multiply them. You choose for how many steps "
                "shared memory is large enough. Run this cell to play it.")


def producer_and_consumers(stages: int = 3) -> Roles:
    """Play the copies, the waits and the products of eight steps, in the order in which the simulator ran them.

    Parameters
    ----------
    stages
        2, 3 or 4: for how many steps' tiles shared memory has room.
    """
    return Roles(states=states(), values={"stages": stages})
