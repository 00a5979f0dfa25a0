"""A search for the fastest tiles, step by step: rules discard, a modelled bound orders and prunes, times decide.

`bounds` works out, for a size, the least time of each candidate from counters of small simulated launches (`data/candidates.json`, made by
`python -m tools record candidates`); `search` goes through the candidates with those bounds and with times that somebody measured.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from course_lib import data
from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.model.bound import Bound, Work, lower_bound, product_sectors

Candidate: TypeAlias = tuple[int, ...]       # values in the order of the kernel's parameters
KERNEL = "dgemm_outputs"
TRIED = {"TA": (32, 64), "TB": (32, 64), "TW": (8, 16, 128), "bx": (8, 16, 24, 32), "by": (8, 16, 24)}
SIDE, DEPTHS = 128, (64, 128)          # rows and columns of C, and K, of the launches that are counted
LINEAR = ("fmas", "instructions", "wavefronts", "sectors", "l1_wavefronts", "rounds")      # straight lines in K; but rounds all per block


@dataclass(frozen=True)
class SearchStep:
    """One step of a search.

    Attributes
    ----------
    phase
        "all", "rule", "bound", "try" or "end".
    words
        What happens, in a sentence.
    discarded
        Candidates that break a rule.
    bounds
        Candidate to seconds that it takes at least; empty before the phase "bound".
    pruned
        Those whose bound is above the best time.
    times
        Candidate to seconds, for those that were tried.
    now
        The one that is tried in this step.
    """

    phase: str
    words: str
    discarded: frozenset[Candidate] = frozenset()
    bounds: dict[Candidate, float] = field(default_factory=dict)
    pruned: frozenset[Candidate] = frozenset()
    times: dict[Candidate, float] = field(default_factory=dict)
    now: Candidate | None = None

    @property
    def best(self) -> Candidate | None:
        """Return the fastest candidate that was tried, or None."""
        return min(self.times, key=self.times.__getitem__) if self.times else None


@dataclass(frozen=True)
class Search:
    """The steps of a search, and what it never tried: `all_times` has the times of all that were measured by anybody."""

    kernel: str
    names: tuple[str, ...]
    N: int
    steps: tuple[SearchStep, ...]
    candidates: tuple[Candidate, ...]
    all_times: Mapping[Candidate, float]
    label: str

    @property
    def best(self) -> Candidate | None:
        """Return the candidate that was found."""
        return self.steps[-1].best

    @property
    def tried(self) -> int:
        """Return how many candidates were timed."""
        return len(self.steps[-1].times)

    @property
    def missed(self) -> float:
        """Return the fastest of those that were pruned, in seconds; inf without any."""
        return min((self.all_times[c] for c in self.steps[-1].pruned if c in self.all_times), default=math.inf)


def candidates(tried: Mapping[str, Iterable[int]] | None = None) -> tuple[Candidate, ...]:
    """Return every combination of values as tuples.

    >>> len(candidates()), candidates({"TA": (32, 64), "TB": (8,)})
    (144, ((32, 8), (64, 8)))
    """
    return tuple(itertools.product(*(tried or TRIED).values()))


def broken(kernel: str, candidate: Candidate) -> str | None:
    """Return the text of the first rule that a candidate breaks, or None.

    >>> broken("dgemm_outputs", (64, 64, 16, 16, 16)), broken("dgemm_outputs", (64, 64, 16, 24, 16))
    (None, 'TB % bx == 0')
    """
    described = get(kernel)
    values = dict(zip((p.name for p in described.parameters), candidate, strict=True))
    return next((rule.text for rule in described.rules if not rule.holds(values)), None)


def bounds(N: int, on: str = "H200", latency_cycles: float = 240.0) -> dict[Candidate, Bound]:
    """Return candidate -> `Bound` for C = A B of N × N matrices of doubles with Wang and Jin's final kernel.

    Parameters
    ----------
    N
        A multiple of 128: the tiles then have no edges.
    on
        A device of the table; occupancy is that of the counted launches, an H200's.

    Raises
    ------
    CourseError
        For another N.

    >>> found = bounds(1024)
    >>> len(found), found[64, 64, 16, 16, 16].binds
    (48, 'L1')
    """
    asked: Any = N
    if not isinstance(asked, int) or N < SIDE or N % SIDE:
        raise CourseError(f"N = {N!r}: the bounds are for multiples of {SIDE}, where no tile has an edge")
    counted: dict[Candidate, dict[int, Work]] = {}
    for row in data.readings("candidates").rows:
        counted.setdefault(tuple(row["values"]), {})[row["K"]] = Work(**row["work"])
    return {values: lower_bound(_at(values, by_depth, N), device(on), latency_cycles) for values, by_depth in counted.items()}


def _at(values: Candidate, counted: Mapping[int, Work], N: int) -> Work:
    """Return the Work of N × N matrices from launches with two depths: every count is a straight line in K and goes with the blocks."""
    TA, TB, *_ = values
    one, other = (counted[K] for K in DEPTHS)
    blocks = (N // TA) * (N // TB)
    fraction = (N - DEPTHS[0]) / (DEPTHS[1] - DEPTHS[0])
    grown = {name: getattr(one, name) + fraction * (getattr(other, name) - getattr(one, name)) for name in LINEAR}
    near, far = product_sectors(TA, TB, N, N, N, 8)
    per_block = {name: count if name == "rounds" else count * blocks / one.blocks for name, count in grown.items()}
    return replace(one, blocks=blocks, block_sectors=near, launch_sectors=far, **per_block)


def recorded_times(N: int) -> tuple[dict[Candidate, float], str]:
    """Return (candidate -> seconds, label) of what the course carries of these candidates; none at sizes that nobody recorded.

    >>> times, label = recorded_times(1024)
    >>> len(times), label[:23]
    (48, 'recorded on NVIDIA H200')
    """
    blocks = data.load("blocks")
    names = tuple(TRIED)
    return {tuple(r.parameters[n] for n in names): r.median_s for r in blocks.find(KERNEL, N) if r.median_s}, blocks.label


def search(N: int = 1024, times: Mapping[Candidate, float] | None = None, limit: Mapping[Candidate, float] | None = None,
           label: str | None = None) -> Search:
    """Search for the fastest tiles of Wang and Jin's final kernel, step by step.

    The candidate with the smallest bound is tried first. As a bound is less than any time of its candidate, one whose bound is
    above the best time so far is pruned: it cannot win.

    Parameters
    ----------
    N
        256, 512, 1024 or 2048 where times are the recorded ones.
    times
        Your own measurements in seconds; default what was recorded on an H200.
    limit
        Bounds in seconds; default `bounds(N)`.
    label
        Where times are from.

    Raises
    ------
    CourseError
        When a candidate that is to be tried has no time.

    >>> found = search(1024)
    >>> dict(zip(found.names, found.best))
    {'TA': 64, 'TB': 64, 'TW': 16, 'bx': 16, 'by': 16}
    >>> found.missed > min(found.all_times.values())
    True
    """
    known, where = recorded_times(N) if times is None else (dict(times), "your times")
    limit = {c: b.seconds for c, b in bounds(N).items()} if limit is None else limit
    everything = candidates()
    steps, discarded = _discard(everything)
    left = sorted((c for c in everything if c not in discarded), key=lambda c: (limit[c], c))
    shown = {c: limit[c] for c in left}
    steps.append(SearchStep("bound", f"{len(left)} are left; the model says how long each takes at least", discarded, shown))
    steps += _tries(left, shown, known, discarded)
    return Search(KERNEL, tuple(TRIED), N, tuple(steps), everything, known, label or where)


def _discard(everything: Sequence[Candidate]) -> tuple[list[SearchStep], frozenset[Candidate]]:
    """Return the steps that discard by rules, one for each rule that somebody breaks, and all the discarded."""
    steps = [SearchStep("all", f"{len(everything)} candidates")]
    gone: frozenset[Candidate] = frozenset()
    why = {c: broken(KERNEL, c) for c in everything}
    for rule in dict.fromkeys(w for w in why.values() if w):
        lost = {c for c in everything if why[c] == rule}
        gone |= lost
        steps.append(SearchStep("rule", f"the rule {rule} discards {len(lost)}", gone))
    return steps, gone


def _tries(left: Sequence[Candidate], limit: dict[Candidate, float], known: Mapping[Candidate, float],
           discarded: frozenset[Candidate]) -> list[SearchStep]:
    """Return a step for each candidate that is timed, and one at the end."""
    steps: list[SearchStep] = []
    times: dict[Candidate, float] = {}
    pruned: frozenset[Candidate] = frozenset()
    for candidate in left:
        if candidate in pruned:
            break                               # they are in the order of their bounds: all others are pruned, too
        if candidate not in known:
            raise CourseError(f"nobody measured {candidate}: give times for every candidate that no rule discards")
        times = times | {candidate: known[candidate]}
        best = min(times.values())
        fell = frozenset(c for c in left if c not in times and limit[c] > best)
        words = "the best so far" if known[candidate] == best else "slower than the best"
        said = f"try {len(times)}: {known[candidate] * 1e6:,.1f} µs, {words}; {len(fell)} cannot win any more"
        steps.append(SearchStep("try", said, discarded, limit, fell, times, candidate))
        pruned = fell
    said = f"{len(times)} tried, {len(pruned)} pruned: the best takes {min(times.values()) * 1e6:,.1f} µs"
    steps.append(SearchStep("end", said, discarded, limit, pruned, times))
    return steps
