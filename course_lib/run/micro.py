"""Microbenchmarks: cycles per step, per warp, read from the multiprocessor's clock."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get, own_chain
from course_lib.kernels.user import is_source
from course_lib.run.launch import KernelLaunch, choose_backend, execute, take_options
from course_lib.run.result import LaunchResult
from course_lib.run.types import Argument, Rows

# The kernel's first arguments, the array for its results, and what must stand there in the end.
Chain: TypeAlias = tuple[tuple[Argument, ...], np.ndarray, np.ndarray]
ONE = np.float32(1)


def run_micro(name: str | Kernel, **options: Any) -> "MicroResult":
    """Run a microbenchmark and return what its clocks said.

    Parameters
    ----------
    name
        `micro_fma`, `micro_chains`, `micro_fma_shared`, `micro_shared`, `micro_global`, `micro_loads`, `micro_outer`; or CUDA text of your
        own, see `own_chain`.
    **options
        As for `run`: backend, racecheck, trace, counters (on a GPU default False), device, warp_order, progress; the others
        are parameters of the kernel, such as `threads=512` or `footprint=2**20`.

    Raises
    ------
    CourseError
        For everything that a reader can get wrong.

    >>> result = run_micro("micro_fma", threads=64, STEPS=32, backend="sim")
    >>> result.right, result.clock, result.begin.shape
    (True, 'instructions', (1, 2))
    """
    kernel = name if isinstance(name, Kernel) else own_chain(name) if is_source(name) else get(name)
    if kernel.kind != "micro":
        raise CourseError(f"{kernel.name} reads no clock: take one of the micro kernels", kernel=kernel.name)
    launch = take_options(options)
    launch.setdefault("counters", choose_backend(launch.get("backend")) == "sim")
    values = kernel.check(**options)
    inputs, out, expected = INPUTS[getattr(kernel, "like", kernel.name)](values)
    grid, block = kernel.grid(**values), kernel.block(**values)
    clocks = [np.full((grid[0], math.ceil(block[0] / WARP)), -1, np.int64) for _ in range(2)]
    arguments = (*inputs, *clocks, out)
    written = tuple(range(len(arguments) - 3, len(arguments)))
    rings = (0,) if kernel.name == "micro_global" else ()
    done = execute(KernelLaunch(kernel, values, arguments, (*rings, *written), grid, block), **launch)
    begin, end, out = done.outputs[-3:]
    return MicroResult(begin=begin, end=end, out=out, expected=expected,
                       steps=values["STEPS" if "STEPS" in values else "LOADS"], **done.facts)


def _fma(p: Mapping[str, int]) -> Chain:
    a, chains = np.arange(p["threads"], dtype=np.float32), p.get("CHAINS", 1)
    return (a, ONE, ONE), np.full_like(a, np.nan), chains * (a + 2 * p["STEPS"]) + chains * (chains - 1) // 2


def _chains(p: Mapping[str, int]) -> Chain:
    (a, b, _), out, expected = _fma(p)
    return (a, b), out, expected


def _fma_shared(p: Mapping[str, int]) -> Chain:
    """Factors of 1 and -1 keep everything a whole number: a float holds it exactly, and each step matters."""
    a = np.arange(p["threads"], dtype=np.float32)
    factors = np.where(np.random.default_rng(0).random(p["STEPS"]) < 0.5, -1, 1).astype(np.float32)
    expected = a.astype(np.int64)
    for factor in (*factors, *factors):
        expected = expected * int(factor) + 1
    return (a, factors, ONE), np.full_like(a, np.nan), expected.astype(np.float32)


def _shared(p: Mapping[str, int]) -> Chain:
    t = np.arange(p["threads"])
    return (np.int32(p["spread"]),), np.full(p["threads"], -1, np.int32), ((t * p["spread"] + 2 * p["STEPS"]) % p["SLOTS"]).astype(np.int32)


def _global(p: Mapping[str, int]) -> Chain:
    slots, start = p["footprint"] // p["stride"], np.arange(p["threads"]) // WARP
    expected = (start % slots + p["jump"] * (p["WARM"] + p["STEPS"])) % slots
    arguments = (np.zeros(slots * p["stride"] // 8, np.uint64), np.int32(slots), np.int32(p["stride"] // 8), np.int32(p["jump"]))
    return arguments, np.full(p["threads"], -1, np.int32), expected.astype(np.int32)


def _loads(p: Mapping[str, int]) -> Chain:
    words = np.resize(np.arange(1021, dtype=np.float32), p["footprint"] // 4)
    row = math.ceil(p["threads"] / WARP) * WARP
    used = words[:2 * p["blocks"] * p["LOADS"] * row].reshape(2, p["blocks"], p["LOADS"], row)[1, :, :, :p["threads"]]
    return (words,), np.full((p["blocks"], p["threads"]), np.nan, np.float32), used.sum(axis=1)


def _outer(p: Mapping[str, int]) -> Chain:
    """Whole numbers of either sign: a float holds every sum c exactly; those of the weighted ones are rounded here as by a fused one."""
    values = np.random.default_rng(0).integers(-7, 8, (p["TM"] + p["TN"], p["blocks"] * p["threads"])).astype(np.float32)
    expected = np.zeros(values.shape[1], np.float32)
    for weight, (i, j) in enumerate(np.ndindex(p["TM"], p["TN"]), 1):
        c = 2 * p["STEPS"] * values[i].astype(np.float64) * values[p["TM"] + j]
        expected = (weight * c + expected).astype(np.float32)
    return (values,), np.full_like(expected, np.nan), expected


INPUTS = {"micro_fma": _fma, "micro_chains": _chains, "micro_fma_shared": _fma_shared, "micro_shared": _shared,
          "micro_global": _global, "micro_loads": _loads, "micro_outer": _outer}


@dataclass(frozen=True, repr=False)
class MicroResult(LaunchResult):
    """What the clocks of a microbenchmark said.

    Attributes, beside those of every launch
    ----------------------------------------
    begin, end
        (blocks, warps); the clock of each warp's multiprocessor before and after its steps; see `clock` for the unit.
    steps
        Steps between the two readings.
    out, expected
        What the chain arrived at, and where it must arrive when no step is left out.
    """

    begin: NDArray[np.int64] = field(repr=False)
    end: NDArray[np.int64] = field(repr=False)
    out: np.ndarray = field(repr=False)
    expected: np.ndarray = field(repr=False)
    steps: int

    @property
    def clock(self) -> str:
        """Return the unit of `begin` and `end`: "cycles" on a GPU, "instructions" (that the warp has executed) on the simulator."""
        return "cycles" if self.backend == "gpu" else "instructions"

    @property
    def right(self) -> bool:
        """Return whether every thread arrived where it must."""
        return bool(np.array_equal(self.out, self.expected))

    @property
    def counts_per_step(self) -> tuple[float, float]:
        """Return the clock's counts per step, fewest and most over the warps; cycles only on a GPU."""
        each = (self.end - self.begin) / self.steps
        return float(each.min()), float(each.max())

    @property
    def cycles_per_step(self) -> tuple[float, float]:
        """Return the cycles per step of the fastest and of the slowest warp.

        Raises
        ------
        CourseError
            On the simulator, whose clock counts instructions and knows no time.
        """
        if self.clock != "cycles":
            raise CourseError("the simulator's clock counts the instructions that a warp has executed, it is no time: run on a GPU for "
                              "cycles, or look at the recorded ones (course_lib/data/micro.json)", backend=self.backend)
        return self.counts_per_step

    @property
    def cycles_per_warp(self) -> float:
        """Return the cycles per step, slowest warp, divided by the warps of a multiprocessor: the throughput when there are enough."""
        return self.cycles_per_step[1] / self.begin.shape[1]

    def gantt(self, block: int = 0) -> tuple[tuple[int, int, int], ...]:
        """Return (warp, begin, end) of each warp of a block, in the clock's unit from the first begin: the bars of a Gantt picture."""
        first = self.begin[block].min()
        return tuple((w, int(b - first), int(e - first)) for w, (b, e) in enumerate(zip(self.begin[block], self.end[block])))

    def head_rows(self) -> Rows:
        """Return the rows on what the clocks said, in the form of Chien's Tables 2 and 3."""
        blocks, warps = self.begin.shape
        rows = [("launch", f"{blocks} block{'s' * (blocks != 1)} of {self.block[0]} threads, {self.steps} steps; {self.label}")]
        low, high = self.counts_per_step
        if self.clock == "cycles":
            rows += [("minimum time", f"{low:.1f} cycles a step"), ("maximum time", f"{high:.1f} cycles a step"),
                     ("throughput", f"{self.cycles_per_warp:.2f} cycles a warp and step, {warps} warps")]
        else:
            rows.append(("clock", f"{low:.2f} … {high:.2f} instructions a step, as the simulator counts them: no time"))
        return (*rows, ("chain", "every thread arrived where it must" if self.right else "WRONG: a step was left out"))
