"""When warps issue and wait in the inner loop of a product: four schedulers, each with warps of its own, and one shared memory."""

from collections import deque
from dataclasses import dataclass

from course_lib.model.inputs import whole

SCHEDULERS = 4                 # of a multiprocessor
LATENCY = 23                   # cycles from a load's turn in shared memory to its word; recorded on an H200 as 23.1 (data/micro.json)
LOAD, ADD, WAITS, QUEUES, READY = "LMwqr"


@dataclass(frozen=True)
class Rounds:
    """What one scheduler and the shared memory of its multiprocessor do in a number of cycles.

    Attributes
    ----------
    warps
        For each warp of the scheduler a letter per cycle: L issues a load, M issues a multiply-add, q queues for shared memory (it has a
        load that is not served yet), w waits for words that are on their way, r is ready while another warp issues.
    shared
        For each cycle the number of the scheduler whose load shared memory serves, or a point. This scheduler is 0.
    """

    warps: tuple[str, ...]
    shared: str

    @property
    def multiply_adds(self) -> int:
        """Return how many multiply-adds the scheduler has started."""
        return sum(warp.count(ADD) for warp in self.warps)

    @property
    def cycles(self) -> int:
        """Return how many cycles these are."""
        return len(self.shared)


class _Warp:
    """A warp on its way through rounds of loads and multiply-adds."""

    def __init__(self, number: int, loads: int, adds: int) -> None:
        self.number, self.loads, self.adds = number, loads, adds
        self.since = self.issued = self.arrived = 0
        self.complete = 0                     # the cycle in which the last word of the round is there

    def state(self, now: int) -> str:
        """Return what the warp would do in this cycle: a load, a multiply-add, or wait for words."""
        if self.issued < self.loads:
            return LOAD
        return ADD if self.arrived == self.loads and now >= self.complete else WAITS

    def issue(self, now: int) -> None:
        """Issue the next instruction; behind the last multiply-add of a round the next round begins."""
        self.issued, self.since = self.issued + 1, now + 1
        if self.issued == self.loads + self.adds:
            self.issued = self.arrived = 0

    def word(self, at: int) -> None:
        """Take note that a word will be there in a cycle."""
        self.arrived, self.complete = self.arrived + 1, at
        if self.arrived == self.loads:
            self.since = max(self.since, at)


def rounds(warps: int, loads: int, adds: int, *, start: int = 0, cycles: int = 128, latency: int = LATENCY) -> Rounds:
    """Let warps repeat a round: load some words from shared memory, wait for all of them, multiply and add.

    Each of four schedulers issues one instruction per cycle. It stays with a warp as long as that one is ready, and then takes the one that
    has been ready longest (NVIDIA documents no rule; another one changes the order, not the long run). Shared memory serves one load per
    cycle, in the order of their issue. A warp issues in order. What is left out: the latency of a multiply-add, which
    no warp meets here because its sums do not need each other; loads for the next round before this one is over; barriers; loads from
    global memory; the instructions of the loop itself.

    Parameters
    ----------
    warps
        Of each scheduler.
    loads, adds
        Of a warp in a round: TM + TN and TM * TN for a thread that computes TM * TN outputs.
    start, cycles
        What is reported: so many cycles from this one on. In cycle 0 all warps begin at once and fill the queue of shared memory; give them
        time to empty it (with 4 warps of 16 loads each and 64 multiply-adds, some 700 cycles).
    latency
        Cycles from a load's turn in shared memory to its word.

    Raises
    ------
    InputError, a ValueError
        For figures that are not positive.

    >>> [rounds(*what, start=1280, cycles=160).multiply_adds for what in ((16, 2, 1), (4, 16, 64))]
    [20, 128]
    """
    for name, value in {"warps": warps, "loads": loads, "adds": adds, "cycles": cycles, "latency": latency}.items():
        whole(name, value, 1, 10**6, "the model takes")
    groups = [[_Warp(number, loads, adds) for number in range(warps)] for _ in range(SCHEDULERS)]
    issuing: list[_Warp | None] = [None] * SCHEDULERS
    queue: deque[tuple[int, _Warp]] = deque()
    lines: list[list[str]] = [[] for _ in range(warps)]
    shared: list[str] = []
    for now in range(start + cycles):
        issuing = [_chosen(group, last, now) for group, last in zip(groups, issuing, strict=True)]
        if now >= start:
            for line, warp in zip(lines, groups[0], strict=True):
                line.append(_letter(warp, issuing[0], now))
        for scheduler, chosen in enumerate(issuing):
            if chosen and chosen.state(now) == LOAD:
                queue.append((scheduler, chosen))
            if chosen:
                chosen.issue(now)
        served = queue.popleft() if queue else None
        if served:
            served[1].word(now + latency)
        if now >= start:
            shared.append(str(served[0]) if served else ".")
    return Rounds(tuple("".join(line) for line in lines), "".join(shared))


def _chosen(group: list[_Warp], last: _Warp | None, now: int) -> _Warp | None:
    """Return the warp that issues: the last one again if it is ready, else the one that has been ready longest, then the lowest number."""
    if last and last.state(now) != WAITS:
        return last
    ready = [warp for warp in group if warp.state(now) != WAITS]
    return min(ready, key=lambda warp: (warp.since, warp.number), default=None)


def _letter(warp: _Warp, issuing: _Warp | None, now: int) -> str:
    """Say what a warp does in this cycle."""
    state = warp.state(now)
    if state == WAITS:
        return WAITS if warp.arrived == warp.loads else QUEUES
    return state if warp is issuing else READY
