"""Exercise 12, "Read the clock": latency from chains of several lengths, throughput and knee from a sweep, the record that cannot be.

Nothing runs here. Shown are readings of the course's H200 and of Chien's Tables 2 and 3; the others are of machines whose latency and
throughput are known, because the functions below make their readings. Tolerances, by hand:

- *Chains.* A difference of two readings is up to 1 cycle too large, the lengths differ by 96 steps or more, the latency is 4 cycles or
  more: two ends are wrong by 1 / (96 · 4) = 0.26 % at most, and least squares hardly more. Neighbouring lengths, averaged, see
  1/32 / 2 / 4 = 0.39 %. The readings' own cost is 3 % of the longest chain or more. 1 % lies between.
- *Sweeps.* 256 steps of 4 cycles or more; a reading is up to 3 cycles late and has 2 to 6 cycles of its own: latency and throughput are
  wrong by 9 / 1024 = 0.9 % at most. A line through the last two points sees 3 cycles in 256 · 8 · 0.25 = 512, 0.6 %, and carries it
  19 warps down to a knee at 5: with 3 cycles of the flat part 4 % of the knee. On the shown records, whose knees are rounder, the
  methods of the tests differ by 6.6 % at most. Mistakes are wrong by more: rounding the knee of 4.64 to 5 by 7.7 %. 7 % lies between.
- *Records.* The one that lies claims 1.5 times as much as is possible or more, all others at most as much: nothing to tolerate.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.arch import WARP
from course_lib.data import documents, readings
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.run.clocked import recorded_cycles

EXERCISE = "12_measuring"
STEPS = 256
WARPS = (1, 2, 4, 6, 8, 12, 16, 24, 32)
LENGTHS = ((32, 64, 128), (64, 128, 256), (32, 64, 128, 256))
Chain = tuple[int, int, int]                     # steps, start, end
Record = tuple[int, int, float]                  # warps, chains, cycles of a round
Sweep = tuple[int, Sequence[int], Sequence[float]]
WORD = 4                     # bytes that a thread loads in a step


def chain_clocks(latency: float, lengths: Sequence[int], overhead: int, late: Sequence[int], start: int = 1000) -> tuple[Chain, ...]:
    """Return (steps, start, end) of chains on a machine: `overhead` cycles more than their steps, and `late` ones, a number each.

    >>> chain_clocks(10, (16, 64), 30, (0, 1))
    ((16, 1000, 1190), (64, 1690, 2361))
    """
    found: list[Chain] = []
    for steps, after in zip(lengths, late, strict=True):
        found.append((steps, start, start + round(latency * steps) + overhead + after))
        start = found[-1][2] + 500
    return tuple(found)


def sweep_cycles(latency: float, per_warp: float, overhead: int, late: Sequence[int], cold: float = 1.0,
                 warps: Sequence[int] = WARPS) -> tuple[int, ...]:
    """Return the cycles of a block for each number of warps on a machine; the first reading is `cold` times as long as it should be.

    Parameters
    ----------
    latency, per_warp
        Of an instruction, and of a further warp's instruction, in cycles.
    overhead
        Cycles of the readings themselves.
    late
        Cycles by which each reading comes too late.

    >>> sweep_cycles(20, 2, 4, (0, 1, 0), 1.5, (1, 4, 16))
    (7686, 5125, 8196)
    """
    each = [STEPS * max(latency, per_warp * n) + overhead + after for n, after in zip(warps, late, strict=True)]
    return (round(cold * each[0]), *(round(cycles) for cycles in each[1:]))


def least_round(latency: float, throughput: float, warps: int, chains: int) -> float:
    """Return the fewest cycles in which each of the warps can do a step of all of its chains: Little's law.

    >>> least_round(4, 128, 4, 4), least_round(4, 128, 12, 4), least_round(4, 128, 1, 2)
    (4, 12.0, 4)
    """
    return max(latency, WARP * warps * chains / throughput)


def from_chains(chains: Sequence[Chain]) -> float:
    """Return the latency: what the longest chain takes more than the shortest, for each step more."""
    (few, *short), (many, *long) = min(chains), max(chains)
    return ((long[1] - long[0]) - (short[1] - short[0])) / (many - few)


def from_warps(steps: int, warps: Sequence[float], cycles: Sequence[float]) -> tuple[float, float]:
    """Return operations per cycle with the most warps, and latency × throughput in warps; the latency is the shortest reading's."""
    rate = WARP * warps[-1] * steps / cycles[-1]
    return rate, min(cycles) / steps * rate / WARP


def from_threads(steps: int, threads: Sequence[int], cycles: Sequence[float]) -> tuple[float, float]:
    """Return the same as bytes per cycle, and in threads."""
    rate, knee = from_warps(steps, [n / WARP for n in threads], cycles)
    return WORD * rate, WARP * knee


def false_one(latency: float, throughput: float, records: Sequence[Record]) -> int:
    """Return the position of the record that falls shortest of what its round takes at least."""
    claims = [least_round(latency, throughput, warps, chains) / cycles for warps, chains, cycles in records]
    return claims.index(max(claims))


def _first(got, mistakes, close=1e-3):
    """Return what is said of the mistake that gives this number, or ""."""
    return next((says for says, value in mistakes if math.isclose(got, value, rel_tol=close)), "")


def _chain_mistake(given, got):
    """Name the mistake behind a wrong latency."""
    chains, = given
    took = [(steps, end - start) for steps, start, end in chains]
    (few, short), (many, long) = took[0], took[-1]
    last, first = chains[-1], chains[0]
    mean = "which shares out what the readings themselves cost, too. Two lengths get rid of it"
    return _first(got, (
        (f"That is the mean over the {many} steps of the longest chain, {mean}", long / many),
        (f"That is the mean over the {few} steps of the shortest chain, {mean}", short / few),
        (f"That is the mean over the steps of all chains, {mean}", sum(c for _, c in took) / sum(n for n, _ in took)),
        (f"That is the mean of the chains' means, {mean}", sum(c / n for n, c in took) / len(took)),
        ("That is upside down: steps in a cycle, not cycles of a step", 1 / from_chains(chains)),
        ("That is negative: an end lies behind its start", -from_chains(chains)),
        ("That is the difference of two ends: each chain has a start of its own", (last[2] - first[2]) / (many - few)),
        ("That shares a difference of two lengths among all steps of the longer one", (long - short) / many),
    ), close=1e-4)


def _rate_mistake(steps, warps, cycles, got):
    """Name the mistake behind a wrong number of operations per cycle."""
    right, _ = from_warps(steps, warps, cycles)
    rates = [WARP * n * steps / c for n, c in zip(warps, cycles, strict=True)]
    slope = float(np.polyfit(warps, cycles, 1)[0])
    mean = "That is a mean over the whole sweep; where warps are few it shows the latency and no throughput"
    return _first(got, (
        ("That is what the fewest warps reach, whose latency nobody hides: throughput shows when warps are plenty", rates[0]),
        (mean, sum(rates) / len(rates)), (mean, WARP * steps * sum(warps) / sum(cycles)),
        ("That is a line through all points; those on the flat part belong to another line", WARP * steps / slope),
        ("That is a line from the first point to the last, and the first lies on the flat part",
         WARP * steps * (warps[-1] - warps[0]) / (cycles[-1] - cycles[0])),
        ("That counts a warp's instruction once: it is an operation for each of its 32 lanes", right / WARP),
        ("That is upside down: cycles of a warp's instruction", WARP / right),
        ("That is upside down: cycles of an operation", 1 / right),
        ("That is the operations of one step, and the cycles of all steps", right / steps),
        ("That is for one of four schedulers: the sweep is of the whole multiprocessor", right / 4),
    ))


def _knee_mistake(steps, warps, cycles, got):
    """Name the mistake behind a wrong knee, in warps."""
    _, right = from_warps(steps, warps, cycles)
    cold = right * cycles[0] / min(cycles)
    return _first(got, (
        ("Do not round: the two lines meet between two whole numbers", math.ceil(right)),
        ("Do not round: the two lines meet between two whole numbers", math.floor(right)),
        *(("That is a point of the sweep, and the two lines meet between two points: latency times throughput", n) for n in warps),
        ("The first reading of this sweep was cold: it is no latency", cold),
        ("That takes the cycles of all steps for the latency, which is of one step", right * steps),
        ("That is upside down: the knee is latency times throughput", 1 / right),
    ))


def _sweep_mistake(sweep: Sweep, got: Any, other_rates: Sequence = (), other_knees: Sequence = ()) -> str:
    """Name the mistake behind a wrong (operations per cycle, knee in warps); `other_…`: mistakes of the unit, (words, value)."""
    right, knee = from_warps(*sweep)
    if math.isclose(got[0], right, rel_tol=SWEEP_TOLERANCE):
        says = _first(got[1], [(words, knee * factor) for words, factor in other_knees]) or _knee_mistake(*sweep, got[1])
        return f"The throughput is right, the knee is not{f'. {says}' if says else ''}"
    return _first(got[0], [(words, right * factor) for words, factor in other_rates]) or _rate_mistake(*sweep, got[0])


def _warps_mistake(given, got):
    """Name the mistake behind a wrong answer to part 2."""
    return _sweep_mistake(given, got, other_knees=[("That is in threads: count warps of 32", WARP)]) if _is_pair(got) else ""


def _threads_mistake(given, got):
    """Name the mistake behind a wrong answer to variant b of part 2."""
    if not _is_pair(got):
        return ""
    steps, threads, cycles = given
    rates = [("That counts loads: each brings 4 bytes", 1 / WORD),
             ("That is 8 times too much: a thread loads 4 bytes, and is no warp of 32", 8)]
    return _sweep_mistake((steps, [n / WARP for n in threads], cycles), (got[0] / WORD, got[1] / WARP), rates,
                          [("That is in warps: count threads", 1 / WARP)])


def _is_pair(got):
    return isinstance(got, (tuple, list)) and len(got) == 2


def _record_mistake(given, got):
    """Say why the record that was chosen can be true."""
    latency, throughput, records = given
    right = false_one(*given)
    if got == right + 1:
        return "Positions count from 0"
    if isinstance(got, (tuple, list)) or got not in range(len(records)):
        return f"It must be a position, 0 to {len(records) - 1}"
    warps, chains, cycles = records[int(got)]
    work = WARP * warps * chains
    return (f"Record {int(got)} claims {work} operations in {cycles} cycles, {work / cycles:.1f} in a cycle where {throughput:g} are "
            f"possible, and no less than the latency of {latency:g}: that can be")


def _drawn_chains(rng):
    """Draw clocks of machines with a latency of 4 to 24 cycles."""
    for _ in range(5):
        latency, lengths = int(rng.integers(16, 97)) / 4, LENGTHS[rng.integers(len(LENGTHS))]
        overhead = math.ceil(latency * lengths[-1] * rng.uniform(0.03, 0.1))
        yield (chain_clocks(latency, lengths, overhead, rng.integers(0, 2, len(lengths)).tolist(), int(rng.integers(1000, 10**6))),)


def machine(rng: np.random.Generator, fastest: float = 0.25) -> tuple[float, float]:
    """Draw (latency, cycles a warp) of a machine: knee between 5 and 18 warps, latency 4 cycles or more."""
    per_warp = fastest * 2 ** int(rng.integers(0, 5))
    return round(4 * per_warp * rng.uniform(max(5.0, 4 / per_warp), 18)) / 4, per_warp


def _drawn_warps(rng, fastest=0.25):
    """Draw sweeps, every second one with a cold first reading."""
    for number in range(6):
        cold = 1.0 if number % 2 else rng.uniform(1.2, 1.6)
        late = rng.integers(0, 4, len(WARPS)).tolist()
        yield STEPS, WARPS, sweep_cycles(*machine(rng, fastest), int(rng.integers(2, 7)), late, cold)


def _drawn_threads(rng):
    """Draw sweeps of loads, of which a multiprocessor starts two a cycle at most."""
    yield from ((steps, tuple(WARP * n for n in warps), cycles) for steps, warps, cycles in _drawn_warps(rng, 0.5))


def _drawn_records(rng):
    """Draw lists of five records; in the first three the false one beats the throughput, in the others the latency."""
    for number in range(6):
        latency, per_warp = machine(rng)
        throughput = WARP / per_warp
        records = [_record(rng, latency, throughput) for _ in range(3)]
        warps = round(latency / per_warp)                                    # at the knee, and as fast as can be
        records.append((warps, 1, math.ceil(1000 * least_round(latency, throughput, warps, 1)) / 1000))
        warps, chains = (1, 1) if number > 2 else (24, int(rng.integers(2, 5)))
        cycles = least_round(latency, throughput, warps, chains) / float(rng.uniform(1.5, 1.7 if number > 2 else 2.5))
        records.insert(int(rng.integers(0, 5)), (warps, chains, round(cycles, 3)))
        yield latency, throughput, tuple(records)


def _record(rng, latency, throughput):
    """Draw a record that takes up to a quarter longer than it must."""
    warps, chains = int(rng.integers(1, 33)), int(2 ** rng.integers(0, 4))
    return warps, chains, math.ceil(1000 * rng.uniform(1.0, 1.25) * least_round(latency, throughput, warps, chains)) / 1000


def recorded_sweep(name: str, **wanted: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (warps, cycles of 256 steps) as recorded on the H200, for whole warps."""
    cycles = recorded_cycles(name, **wanted)
    return tuple(threads // WARP for threads in cycles if threads >= WARP), tuple(round(STEPS * cycles[n]) for n in cycles if n >= WARP)


def _chien():
    """Return (warps, cycles of 256 steps) of Chien's Table 2, slowest thread; a thread is a warp there, too."""
    cycles = documents.CHIEN_2.column("maximum")
    return tuple(math.ceil(threads / WARP) for threads in cycles), tuple(round(STEPS * each) for each in cycles.values())


def _round(warps, chains):
    """Return the record of `micro_chains` with these: warps, chains, cycles of a round of the slowest warp."""
    row, = readings("micro").find(kernel="micro_chains", threads=WARP * warps, CHAINS=chains)
    return warps, chains, row["high"]


def _shown_chains():
    """Return the H200's multiply-add in chains of 64 and 256 steps, then two machines."""
    recorded = ((64, recorded_cycles("micro_chains", CHAINS=1)), (256, recorded_cycles("micro_fma", REGISTERS=2)))
    return ((tuple((steps, 0, round(steps * each[WARP])) for steps, each in recorded),), (chain_clocks(10, (16, 64), 30, (0, 0)),),
            (chain_clocks(23, (32, 64, 128, 256), 200, (1, 0, 1, 0), 700_000),))


SWEEP_TOLERANCE = 0.07
MACHINES = (sweep_cycles(20, 2, 4, (0, 1, 3, 0, 2, 1, 0, 3, 2), 1.5), sweep_cycles(9, 0.5, 6, (2, 0, 3, 1, 0, 2, 3, 0, 1)))
THREADS = tuple(WARP * n for n in WARPS)
SHOWN_WARPS = tuple((STEPS, *sweep) for sweep in (
    recorded_sweep("micro_fma", REGISTERS=2), recorded_sweep("micro_fma_shared"), _chien(), *((WARPS, cycles) for cycles in MACHINES)))
SHOWN_THREADS = tuple((STEPS, THREADS, cycles) for cycles in (recorded_sweep("micro_shared", spread=None)[1], *MACHINES))
RECORDS = (
    (4.0, 128.0, (_round(4, 4), _round(12, 2), _round(12, 4), _round(24, 8), _round(16, 1))),
    (4.0, 128.0, (_round(8, 8), _round(16, 2), _round(4, 8), _round(32, 4), _round(32, 1))),
    (31.5, 8.0, tuple((n // WARP, 1, documents.CHIEN_3.column("minimum")[n]) for n in (64, 192, 384, 224, 256))),
    (16.0, 64.0, ((8, 4, 16.2), (1, 1, 9.0), (16, 4, 32.5), (24, 1, 16.4), (4, 2, 16.0))),
)

PARTS = (
    FunctionSpec(EXERCISE, "latency", "Part 1: latency from several lengths", "latency", ("chains",), _shown_chains(), _drawn_chains,
                 from_chains, tolerance=0.01, guess=_chain_mistake),
    FunctionSpec(EXERCISE, "main", "Part 2: throughput and knee", "throughput_and_knee", ("steps", "warps", "cycles"), SHOWN_WARPS,
                 _drawn_warps, from_warps, tolerance=SWEEP_TOLERANCE, guess=_warps_mistake),
    FunctionSpec(EXERCISE, "main-b", "Part 2: bytes per cycle and knee", "bytes_and_knee", ("steps", "threads", "cycles"), SHOWN_THREADS,
                 _drawn_threads, from_threads, tolerance=SWEEP_TOLERANCE, guess=_threads_mistake),
    FunctionSpec(EXERCISE, "record", "Part 3: the record that cannot be", "false_record", ("latency", "throughput", "records"), RECORDS,
                 _drawn_records, false_one, guess=_record_mistake),
)
