"""When warps issue and wait: one scheduler, warps that take turns, each instruction needing an earlier result of its warp."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from course_lib.model.inputs import InputError, whole
from course_lib.model.latency import positive

MOST = 20_000                  # instructions in one timeline


@dataclass(frozen=True)
class Issue:
    """One instruction of one warp: it takes the scheduler from `start` to `end`, and its result is there at `done`; cycles."""

    warp: int
    step: int
    start: float
    end: float
    done: float


@dataclass(frozen=True)
class Timeline:
    """The instructions of all warps in the order of their issue.

    Attributes
    ----------
    steps : tuple of (issue, latency)
        What each warp executes, in cycles.
    chains
        An instruction needs the result of the one that stands so many before it.
    """

    warps: int
    steps: tuple[tuple[float, float], ...]
    issues: tuple[Issue, ...] = field(repr=False)
    chains: int = 1

    @property
    def cycles(self) -> float:
        """Return the cycle at which the last result is there."""
        return max(issue.done for issue in self.issues)

    @property
    def idle(self) -> tuple[tuple[float, float], ...]:
        """Return (start, end) of every gap between two issues: then every warp waits. What rounding leaves between them is no gap."""
        pairs = zip(self.issues, self.issues[1:])
        return tuple((before.end, after.start) for before, after in pairs if after.start - before.end > 1e-9 * after.start)

    @property
    def round_cycles(self) -> float:
        """Return the cycles from one round of the first warp to its last: `chains` instructions each; 0 when there is one round only."""
        starts = [issue.start for issue in self.issues if issue.warp == 0]
        return starts[-1] - starts[-1 - self.chains] if len(starts) > self.chains else 0

    @property
    def hidden(self) -> bool:
        """Tell whether the latency is hidden: from the first issue to the last, the scheduler never waits."""
        return not self.idle

    @property
    def busy(self) -> float:
        """Return the share of the time from the first issue to the end of the last in which the scheduler issues.

        >>> timeline(3, [(6, 36)] * 8).busy > 0.4, timeline(6, [(6, 36)] * 8).busy
        (True, 1.0)
        """
        return sum(issue.end - issue.start for issue in self.issues) / self.issues[-1].end


def timeline(warps: int, steps: Iterable[tuple[float, float]], chains: int = 1) -> Timeline:
    """Let warps take turns on one scheduler and return who issues when.

    Whenever the scheduler is free, that warp issues which has been ready longest, of several the one with the lowest number.
    A warp issues in order. It is ready when its last instruction has been issued and the result that the next one needs is there.

    Parameters
    ----------
    steps : sequence of (issue, latency)
        Cycles that an instruction of a warp keeps the scheduler, and cycles from its start to its result; latency >= issue.
    chains
        Independent chains of each warp, in turn: instruction i needs the result of instruction i - chains.

    Raises
    ------
    InputError, a ValueError
        For no warp or step, cycles that are not positive, a latency below its issue, or more than 20,000 instructions.

    Source: Chien, Figures 2 and 6, which take round-robin scheduling for granted.

    >>> chain = timeline(4, [(6, 36)] * 3)           # GT200's multiply-add with a shared operand; six warps would hide it
    >>> [i.start for i in chain.issues if i.warp == 0], chain.idle
    ([0, 36, 72], ((24, 36), (60, 72)))
    >>> timeline(1, [(6, 36)] * 12, chains=6).hidden             # so would six independent chains of one warp
    True
    """
    warps = whole("warps", warps, 1, MOST, "a scheduler has")
    chains = whole("chains", chains, 1, MOST, "a warp has")
    steps = tuple((issue, latency) for issue, latency in steps)
    if not 0 < len(steps) * warps <= MOST:
        raise InputError(f"{warps} warps of {len(steps)} instructions: there must be 1 to {MOST} in all", steps=len(steps))
    for issue, latency in steps:
        positive(issue=issue, latency=latency)
        if latency < issue:
            raise InputError(f"a latency of {latency} cycles is shorter than the issue of {issue}: it counts from the same start")
    ready: list[float] = [0] * warps
    results: list[list[float]] = [[] for _ in range(warps)]
    free: float = 0
    issues: list[Issue] = []
    waiting = set(range(warps))
    while waiting:
        warp = min(waiting, key=lambda w: (ready[w], w))
        done = results[warp]
        issue, latency = steps[len(done)]
        start = max(free, ready[warp])
        free = start + issue
        issues.append(Issue(warp, len(done), start, free, start + latency))
        done.append(start + latency)
        ready[warp] = max(free, done[-chains]) if len(done) >= chains else free
        if len(done) == len(steps):
            waiting.remove(warp)
    return Timeline(warps, steps, tuple(issues), chains)
