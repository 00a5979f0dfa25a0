"""Cycles of the microbenchmarks: as recorded, as measured here, and the units of a multiprocessor that they describe."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course_lib.arch import WARP, device
from course_lib.data import documents, readings
from course_lib.model import read_sweep, timeline
from course_lib.model.timeline import Timeline
from course_lib.run.launch import choose_backend
from course_lib.run.micro import MicroResult, run_micro

MIB = 1024 * 1024
DRAM: dict[str, Any] = {"blocks": 1, "footprint": 256 * MIB}      # of micro_loads: one block, words that no cache holds


def recorded_cycles(name: str, what: str = "high", **wanted: Any) -> dict[int, float]:
    """Return threads -> cycles of a step of the slowest warp, as recorded.

    Parameters
    ----------
    name
        Of a microbenchmark.
    what
        "high", "low", "per_warp", or another figure of the rows.
    **wanted
        Other values of a row; None: the row does not have it.

    >>> recorded_cycles("micro_fma", REGISTERS=2)[32] < recorded_cycles("micro_fma", REGISTERS=2)[1024]
    True
    """
    return {row["threads"]: row[what] for row in readings("micro").find(kernel=name, **wanted)}


def measured_cycles(name: str, over: str = "threads", values: Iterable[int] = (32, 64, 128, 256, 512, 768, 1024),
                    **options: Any) -> dict[int, float]:
    """Return value of a parameter -> cycles of a step of the slowest warp on this machine's GPU; empty without one.

    >>> measured_cycles("micro_fma") if choose_backend() == "sim" else {}
    {}
    """
    if choose_backend() != "gpu":
        return {}
    return {value: run_micro(name, backend="gpu", **{over: value}, **options).cycles_per_step[1] for value in values}


def load_clocks(loads: int = 1) -> tuple[Sequence[tuple[int, int, int]], str]:
    """Return the clocks of 16 warps with `loads` independent loads from DRAM each, and where they are from.

    Measured on this machine's GPU where there is one, else as recorded.

    Returns
    -------
    bars, label
        (warp, begin, end) of each warp in cycles, as `course_lib.plots.clocks` takes them.

    >>> bars, label = load_clocks()
    >>> len(bars)
    16
    """
    if choose_backend() == "gpu":
        result = run_micro("micro_loads", backend="gpu", threads=512, LOADS=loads, **DRAM)
        return result.gantt(), result.label
    row, = readings("micro").find(kernel="micro_loads", threads=512, LOADS=loads, **DRAM)
    return row["gantt"], readings("micro").label


@dataclass(frozen=True)
class ThenAndNow:
    """Latency and issue of one instruction in cycles: on a Tesla C1060 by Chien's Table 5, on an H200 as recorded (None: not)."""

    what: str
    then: float
    then_issue: float
    now: float
    now_issue: float | None

    @property
    def nanoseconds(self) -> tuple[float, float]:
        """Return both latencies in nanoseconds, at the clocks of the device table."""
        return 1e3 * self.then / device("Tesla C1060").clock_mhz, 1e3 * self.now / device("H200").clock_mhz


def then_and_now() -> tuple[ThenAndNow, ...]:
    """Return what Chien's Table 5 lists beside what an H200 needs for the like.

    >>> [row.what for row in then_and_now()]
    ['multiply-add, registers', 'multiply-add, shared operand (no LDS waits for the chain)', 'shared memory', 'DRAM']
    """
    chien = {name: both for name, *both in documents.CHIEN_5.rows}
    fma, with_shared = read_sweep(recorded_cycles("micro_fma", REGISTERS=2)), read_sweep(recorded_cycles("micro_fma_shared"))
    hops = read_sweep(recorded_cycles("micro_shared", spread=None))
    rings = {row["footprint"]: row["low"] for row in readings("micro").find(kernel="micro_global", jump=33)}
    waiting = "multiply-add, shared operand (no LDS waits for the chain)"
    return tuple(ThenAndNow(what, *chien[name], *now) for what, name, now in (
        ("multiply-add, registers", "MAD dest, src1, src2, src3", (fma.latency, fma.per_warp)),
        (waiting, "MAD dest, [smem], src2, src3", (with_shared.latency, with_shared.per_warp)),
        ("shared memory", "MOV [smem], reg", (hops.latency, hops.per_warp)),
        ("DRAM", "MOV reg, [gmem]", (rings[max(rings)], None))))


@dataclass(frozen=True)
class Pipe:
    """What executes one kind of instruction: a scheduler with its arithmetic, or the path to a memory.

    Attributes
    ----------
    issue, latency
        Cycles that a warp's instruction keeps it, and until the result is there.
    shares
        Such pipes in a multiprocessor, among which its warps are divided.
    rounds
        Of instructions that a timeline of it shows.
    known
        What was measured: independent instructions to {threads: cycles}.
    source
        Of `known`.
    once
        What was measured is one round, from its begin until all results are there; else a round of many.
    kernels
        The microbenchmarks that measure it: independent instructions to (name, parameters).
    """

    gpu: str
    issue: float
    latency: float
    shares: int
    rounds: int
    known: Mapping[int, Mapping[int, float]] = field(hash=False, repr=False)
    source: str
    once: bool = False
    kernels: Mapping[int, tuple[str, dict[str, Any]]] = field(default_factory=dict, hash=False, repr=False)

    def run(self, warps: int, independent: int) -> MicroResult | None:
        """Run the microbenchmark of this position here, on a GPU or on the simulator.

        Returns
        -------
        The result, or None where the course has no kernel for it, or one that says nothing without a GPU.
        """
        if independent not in self.kernels or (self.once and choose_backend() != "gpu"):
            return None
        name, options = self.kernels[independent]
        return run_micro(name, threads=WARP * warps, **options)

    def timeline(self, warps: int, independent: int) -> Timeline:
        """Return the Timeline of the first of its pipes, `warps` being those of the multiprocessor."""
        steps = [(self.issue, self.latency)] * (self.rounds * independent)
        return timeline(math.ceil(warps / self.shares), steps, independent)


def _chain(name: str, shares: int, more: Sequence[int] = (), **wanted: Any) -> Pipe:
    """Return a Pipe whose two numbers are the ends of a recorded sweep; the issue in whole cycles. `more`: chains of micro_chains."""
    cycles = recorded_cycles(name, **wanted)
    most = max(cycles)
    issue = round(shares * cycles[most] / (most / WARP))
    kernels = {1: (name, {key: value for key, value in wanted.items() if value is not None})}
    kernels |= {chains: ("micro_chains", {"CHAINS": chains}) for chains in more}
    known = {1: cycles} | {chains: recorded_cycles("micro_chains", CHAINS=chains) for chains in more}
    return Pipe("H200", issue, round(cycles[WARP], 1), shares, 4, known, readings("micro").label, kernels=kernels)


def _loads() -> Pipe:
    """Return the Pipe of loads from DRAM: what one warp's first load takes, and what each of seven more adds."""
    known = {loads: recorded_cycles("micro_loads", "window", LOADS=loads, **DRAM) for loads in (1, 8)}
    first, all_eight = known[1][WARP], known[8][WARP]
    return Pipe("H200", round((all_eight - first) / 7), first, 1, 2, known, readings("micro").label, once=True,
                kernels={loads: ("micro_loads", {"LOADS": loads} | DRAM) for loads in (1, 2, 4, 8)})


def pipes() -> dict[str, Pipe]:
    """Return the pipes that were measured, today's and Chien's, by name.

    >>> found = pipes()
    >>> [(name, found[name].issue, found[name].latency) for name in ("FMA, 2 registers", "GT200: MAD, shared operand")]
    [('FMA, 2 registers', 1, 4.0), ('GT200: MAD, shared operand', 6, 34.6)]
    """
    chien = {name: (latency, issue) for name, latency, issue in documents.CHIEN_5.rows}
    tables = {"GT200: MAD, 3 registers": ("MAD dest, src1, src2, src3", documents.CHIEN_3),
              "GT200: MAD, shared operand": ("MAD dest, [smem], src2, src3", documents.CHIEN_2)}
    old = {}
    for name, (instruction, table) in tables.items():
        latency, issue = chien[instruction]
        old[name] = Pipe(table.device, issue, latency, 1, 4, {1: table.column("maximum")}, f"Chien, {table.place}")
    latency, issue = chien["MOV reg, [gmem]"]
    return {"FMA, 2 registers": _chain("micro_fma", 4, (2, 4, 8), REGISTERS=2), "FMA, 3 registers": _chain("micro_fma", 4, REGISTERS=None),
            "FMA, shared operand": _chain("micro_fma_shared", 1), "load, DRAM": _loads(), **old,
            "GT200: load": Pipe("Tesla C1060", issue, latency, 1, 2, {}, "", once=True)}
