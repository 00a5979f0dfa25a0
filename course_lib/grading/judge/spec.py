"""What a kernel of an exercise must be and do: its name and arguments, its launch, its inputs, its gates."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course_lib.check.case import LARGEST_TILE, Case
from course_lib.kernels.kernel import ceil_div

SECTORS_LOADED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SECTORS_STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
REQUESTS_LOADED = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
REQUESTS_STORED = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"


@dataclass(frozen=True)
class Reading:
    """What a gate read: the value, where it comes from in words ("512 / 4096"), and shares by source line, where there are any.

    Of wavefronts, `conflicts` has those by source line that bank conflicts add.
    """

    value: float
    words: str
    shares: dict = field(default_factory=dict, repr=False)
    conflicts: dict = field(default_factory=dict, repr=False)

    def without_conflicts(self):
        """Return what the value would be if no access had bank conflicts."""
        return self.value * (1 - sum(self.conflicts.values()) / sum(self.shares.values())) if self.conflicts else self.value


@dataclass(frozen=True)
class Gate:
    """A bound on something counted.

    Attributes
    ----------
    name : str
        "global sectors loaded per multiply-add".
    read : callable
        (the simulator's report, the work of the launch) -> `Reading`; `per_work` and `per_count` make those of counters.
    limit : float
        The largest value that passes.
    starter : float or None
        Where the starter stands; None when it is not right yet.
    achievable : float
        What the worked solution reaches; tests hold both to the simulator.
    advice : str
        What to do when the value is too high.
    banks : str
        What to do when it is too high for bank conflicts alone. Default: `advice`.
    """

    name: str
    read: Callable = field(repr=False)
    limit: float
    starter: float | None
    achievable: float
    advice: str = ""
    banks: str = ""

    def __str__(self):
        start = "" if self.starter is None else f"the starter stands at {self.starter:.4f}, "
        return f"{self.name}: {start}{self.achievable:.4f} is achievable, at most {self.limit:.4f} passes"


def by_line(report, names):
    """Return the sum of these counters for each source line where there is any."""
    return {line: count for line, values in report.lines.items() if (count := sum(values.get(name, 0) for name in names))}


def conflicts_by_line(report, wavefronts):
    """Return, for each source line that has any, the wavefronts that bank conflicts add to these counters of wavefronts."""
    return by_line(report, [name.replace("data_pipe_lsu_wavefronts", "data_bank_conflicts_pipe_lsu") for name in wavefronts])


def per_work(counter):
    """Return how a gate reads a counter (Nsight Compute's name) divided by the work, for example by the multiply-adds."""
    return lambda report, work: _reading(report, counter, work)


def per_count(counter, other):
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
    exercise, part, title : str
    entry : str
        The name that the kernel must have.
    operation : object
        What is computed: `signature`, `trial`, `judge`, `guess` and `work`, as in `course_lib.check.sgemm`. A trial may have
        `constants`, name -> values for the kernel's `__constant__` variables, as in `course_lib.check.mxv`.
    tile : tuple of str
        The numbers that the kernel's text sets with `#define`; they decide launch and inputs.
    grid, block : callable
        (case, tile) -> launch shape; tile -> threads.
    cases : callable
        tile -> inputs, from plain to hard.
    gate_case : callable
        tile -> the input on which counters are read.
    gates : tuple of Gate
    drawn : callable, optional
        (tile, NumPy generator) -> further inputs for grading, of sizes that only the seed knows. Default: three for
        C = alpha A B + beta C, of whole tiles where all of `cases` are.
    max_steps : int
        Instructions a warp may execute; the right kernels here need a few thousand.
    trace : tuple of (block, warp)
        Whose accesses and barriers are kept, in order, on the input of the gates.
    """

    exercise: str
    part: str
    title: str
    entry: str
    operation: object = field(repr=False)
    tile: tuple[str, ...]
    grid: Callable[[Case, Mapping[str, int]], tuple[int, ...]] = field(repr=False)
    block: Callable[[Mapping[str, int]], tuple[int, ...]] = field(repr=False)
    cases: Callable[[Mapping[str, int]], tuple[Case, ...]] = field(repr=False)
    gate_case: Callable[[Mapping[str, int]], Case] = field(repr=False)
    gates: tuple[Gate, ...] = ()
    drawn: Callable | None = field(default=None, repr=False)
    max_steps: int = 300_000
    trace: tuple = ()

    def __str__(self):
        return "\n".join([f"{self.title} (kernel `{self.entry}`)", *(f"  {gate}" for gate in self.gates)])


def tile_grid(case, tile):
    """Return the blocks that cover C with tiles of BM × BN."""
    return (ceil_div(case.N, tile["BN"]), ceil_div(case.M, tile["BM"]), 1)


def tile_problem(spec, values):
    """Return a sentence on what is wrong with a kernel's tile sizes, or None.

    Parameters
    ----------
    values : dict
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
