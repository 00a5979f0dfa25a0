"""What a kernel of an exercise must be and do: its name and arguments, its launch, its inputs, its gates."""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from course_lib import simt
from course_lib.check.case import LARGEST_TILE, Case
from course_lib.check.finding import Finding
from course_lib.check.operation import Operation, Tile
from course_lib.grading.judge.made_of import Again
from course_lib.kernels.kernel import ceil_div

Traced = Sequence[tuple[tuple[int, int, int], int]]
SECTORS_LOADED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SECTORS_STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
REQUESTS_LOADED = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
REQUESTS_STORED = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
_LITTLE = 1e-6                        # relative: what dividing rounds


class Input(Protocol):
    """One input of an operation: `check.case.Case` for matrices, `check.mxv.VectorsCase` for vectors. As a text it says its sizes."""

    @property
    def name(self) -> str:
        """Return what the input is for, in words."""


@dataclass(frozen=True)
class Reading:
    """What a gate read: the value, where it comes from in words ("512 / 4096"), and shares by source line, where there are any.

    Of wavefronts, `conflicts` has those by source line that bank conflicts add. `advice` says what to do where the reading itself shows
    why it is too high.
    """

    value: float
    words: str
    shares: Mapping[int, float] = field(default_factory=dict, repr=False)
    conflicts: Mapping[int, float] = field(default_factory=dict, repr=False)
    advice: str = ""


@dataclass(frozen=True)
class Gate:
    """A bound on something counted.

    Attributes
    ----------
    name
        "global sectors loaded per multiply-add".
    read
        (the simulator's report, or of loops their `LoopsRun`; the work of the launch) -> `Reading`. `per_work` and `per_count` make
        those of counters.
    limit
        The largest value that passes.
    starter
        Where the starter stands; None when it is not right yet.
    achievable
        What the worked solution reaches; tests hold both to the simulator.
    advice
        What to do when the value is too high.
    banks, store_banks
        What to do about bank conflicts, and about those of stores; `judge.reasons` tells which there are. Default: `advice`.
    sectors
        "load" or "store" where it counts sectors: then it is looked whether lanes that lie apart are the reason.
    """

    name: str
    read: Callable[[Any, float], Reading] = field(repr=False)
    limit: float
    starter: float | None
    achievable: float
    advice: str = ""
    banks: str = ""
    store_banks: str = ""
    sectors: str = ""

    def __str__(self) -> str:
        start = "" if self.starter is None else f"the starter stands at {self.starter:.4f}, "
        return f"{self.name}: {start}{self.achievable:.4f} is achievable, at most {self.limit:.4f} passes"


Total = Callable[[simt.Report, Any, Tile, float], float]
"""(the simulator's report, the input, the kernel's tile, the work) -> a number."""


@dataclass(frozen=True)
class Bound:
    """What a total may be.

    Attributes
    ----------
    name
        "global sectors loaded, as a share of those that the blocks' tiles fill".
    read
        A `Total`.
    low, high
        What to say when the total is below `least`, or above `most`.
    """

    name: str
    read: Total = field(repr=False)
    least: float = 0.0
    low: str = ""
    most: float = math.inf
    high: str = ""

    def finding(self, report: simt.Report, case: Any, tile: Tile, work: float) -> Finding | None:
        """Return a finding of kind "bound" when the total lies outside, or None."""
        value = self.read(report, case, tile, work)
        if value < self.least * (1 - _LITTLE):
            limit, why = f"at least {self.least:.4g} is needed", self.low
        elif not value <= self.most * (1 + _LITTLE):
            limit, why = f"at most {self.most:.4g} passes", self.high
        else:
            return None
        return Finding("bound", f"{self.name}: {value:.4f} ({case}), {limit}. {why}", facts={"gate": self.name, "value": value})


def by_line(report: simt.Report, names: Sequence[str]) -> dict[int, int]:
    """Return the sum of these counters for each source line where there is any."""
    return {line: count for line, values in report.lines.items() if (count := sum(values.get(name, 0) for name in names))}


def conflicts_by_line(report: simt.Report, wavefronts: Sequence[str]) -> dict[int, int]:
    """Return, for each source line that has any, the wavefronts that bank conflicts add to these counters of wavefronts."""
    return by_line(report, [name.replace("data_pipe_lsu_wavefronts", "data_bank_conflicts_pipe_lsu") for name in wavefronts])


def per_work(counter: str) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads a counter (Nsight Compute's name) divided by the work, for example by the multiply-adds."""
    return lambda report, work: _reading(report, counter, work)


def per_count(counter: str, other: str) -> Callable[[simt.Report, float], Reading]:
    """Return how a gate reads a counter divided by another, for example sectors by requests; 0 when the other is 0."""
    return lambda report, work: _reading(report, counter, report.counters[other])


def _reading(report, counter, divisor):
    count = report.counters[counter]
    shares = {line: values[counter] for line, values in report.lines.items() if values.get(counter)}
    return Reading(count / divisor if divisor else 0.0, f"{count} / {divisor}", shares)


@dataclass(frozen=True)
class Spec:
    """One part of an exercise.

    Attributes
    ----------
    entry
        The name that the kernel must have.
    operation
        What is computed. Its trials may have `constants`, name -> values for the kernel's `__constant__` variables, as in
        `course_lib.check.mxv`.
    tile
        The numbers that the kernel's text sets with `#define`; they decide launch and inputs.
    grid, block
        (case, tile) -> launch shape; tile -> threads.
    cases
        tile -> inputs, from plain to hard.
    gate_case
        tile -> the input on which counters are read.
    gate_drawn
        (tile, generator) -> one more for grading, of sizes that only the seed knows, so that a kernel that does the idea at the size of
        `gate_case` alone does not pass.
    atomics
        Whether the kernel may have atomic operations, which the counters of gates do not have.
    drawn
        (tile, generator) -> further inputs for grading, of sizes that only the seed knows. Default: three for
        C = alpha A B + beta C, of whole tiles where all of `cases` are.
    dynamic_shared
        tile -> bytes of shared memory that a block asks for at launch.
    max_steps
        Instructions a warp may execute; the right kernels here need a few thousand.
    trace
        (input, tile, generator) -> (block, warp) pairs, whose accesses and barriers are recorded, in order, on an input of the gates. The
        generator's seed is known to grading alone, so that no warp can be kept clean because it is the one looked at.
    made_of
        What the result must be made of, of `judge.made_of`; looked at when all gates are passed.
    bounds
        Totals that are held, on the inputs of the gates, against what the data need; `course_lib.grading.judge.bounds`.
    """

    exercise: str
    part: str
    title: str
    entry: str
    operation: Operation = field(repr=False)
    tile: tuple[str, ...]
    grid: Callable[[Any, Tile], tuple[int, ...]] = field(repr=False)
    block: Callable[[Tile], tuple[int, ...]] = field(repr=False)
    cases: Callable[[Tile], tuple[Input, ...]] = field(repr=False)
    gate_case: Callable[[Tile], Input] = field(repr=False)
    gates: tuple[Gate, ...] = ()
    drawn: Callable[[Tile, np.random.Generator], Iterable[Input]] | None = field(default=None, repr=False)
    gate_drawn: Callable[[Tile, np.random.Generator], Input] | None = field(default=None, repr=False)
    atomics: bool = False
    dynamic_shared: Callable[[Tile], int] = field(default=lambda tile: 0, repr=False)
    max_steps: int = 300_000
    trace: Callable[[Any, Tile, np.random.Generator], Traced] = field(default=lambda case, tile, rng: (), repr=False)
    made_of: tuple[Callable[[Again], str], ...] = field(default=(), repr=False)
    bounds: tuple[Bound, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.title} (kernel `{self.entry}`)", *(f"  {gate}" for gate in self.gates)])


def tile_grid(case: Case, tile: Tile) -> tuple[int, int, int]:
    """Return the blocks that cover C with tiles of BM × BN."""
    return (ceil_div(case.N, tile["BN"]), ceil_div(case.M, tile["BM"]), 1)


def tile_problem(spec: Spec, values: Tile) -> str | None:
    """Return a sentence on what is wrong with a kernel's tile sizes, or None.

    Parameters
    ----------
    values
        What the text defines, as `course_lib.kernels.user.written_values` finds it.
    """
    missing = [name for name in spec.tile if name not in values]
    if missing:
        return (f"{' and '.join(missing)} must be set in the kernel's text as plain numbers, "
                f"`#define {missing[0]} 16`: the check launches the kernel by them")
    for name in spec.tile:
        if not 1 <= operator.index(values[name]) <= LARGEST_TILE:
            return f"{name} = {values[name]} is outside 1 to {LARGEST_TILE}, the range that is checked"
    x, y, *_ = spec.block(values)
    if x * y > 1024:
        return f"a block of {x} × {y} = {x * y} threads is too large: at most 1024 are allowed"
    return None
