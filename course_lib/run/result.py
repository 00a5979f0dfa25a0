"""What one run gave: the answer, where it is from, what it cost, and how to read it."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course_lib.gpu import Timing
from course_lib.kernels import Kernel
from course_lib.model.occupancy import Occupancy
from course_lib.run.types import Array, Rows
from course_lib.simt.async_report import AsyncFinding, Finding, Pipeline, ProductFinding
from course_lib.simt.report import BarrierMeeting, DeviceArray, Hazard, LostAlignment, SharedVariable, StrayShuffle, TraceRecord
from course_lib.toolchain.resources import Resources

OPERATIONS = {"load": "ld", "store": "st"}


def counter_name(what: str, kind: str) -> str:
    """Return Nsight Compute's name for a count of global or shared accesses.

    >>> counter_name("sectors", "load")
    'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum'
    """
    op = OPERATIONS[kind]
    return {
        "requests": f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum",
        "sectors": f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum",
        "wavefronts": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",
        "conflicts": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum",
        "shared instructions": f"smsp__sass_inst_executed_op_shared_{op}.sum",
    }[what]


@dataclass(frozen=True)
class LaunchResult:
    """What every launch tells, whatever its kernel computes.

    Attributes
    ----------
    parameters
        Every parameter, defaults filled in.
    grid, block
        Along x, y, z.
    backend, label
        "gpu" or "sim"; "measured on NVIDIA H200" or "simulated".
    time
        Only from a GPU.
    counters, counters_label
        Nsight Compute's names to counts, always from the simulator: "simulated"; None and "" when not asked for.
    lines
        Source line to the same counters.
    level
        Counter to "hardware" (what a profiler reads) or "PTX level" (close to it).
    resources
        Registers, shared memory and spills, from the compiled kernel.
    occupancy, device
        How many of these blocks one multiprocessor of that device holds; modelled.
    hazards
        Races in shared memory, then `async_findings` and `products`; None when they were not looked for.
    meetings
        Barriers of two source lines at which warps of a block met, as the simulator noticed; empty on a GPU alone.
    lost_alignments
        Shared variables that do not lie where their alignment asks for it, as the simulator noticed.
    stray_shuffles
        Shuffles that read a lane which took no part, so that the value is undefined, as the simulator noticed.
    async_findings
        Missing fences and waits of bulk copies, and ordinary accesses to mbarriers, as the simulator noticed; most of them need racecheck.
    products
        What the rules of `wgmma` ask for and the kernel lacks, as the simulator's search for races noticed.
    pipeline
        How far copies ran ahead, and the instructions of warps that copy and of warps that multiply; None without asynchronous work.
    trace, arrays, shared
        Of a traced run: its records, and the address ranges of arrays and shared variables.
    """

    kernel: Kernel
    parameters: dict[str, int]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    backend: str
    label: str
    time: Timing | None
    counters: dict[str, int] | None = field(repr=False)
    counters_label: str
    lines: dict[int, dict[str, int]] | None = field(repr=False)
    level: dict[str, str] | None = field(repr=False)
    resources: Resources = field(repr=False)
    occupancy: Occupancy = field(repr=False)
    device: str
    hazards: tuple[Hazard | Finding, ...] | None = field(repr=False)
    meetings: tuple[BarrierMeeting, ...] = field(repr=False)
    lost_alignments: tuple[LostAlignment, ...] = field(repr=False)
    stray_shuffles: tuple[StrayShuffle, ...] = field(repr=False)
    async_findings: tuple[AsyncFinding, ...] = field(repr=False)
    products: tuple[ProductFinding, ...] = field(repr=False)
    pipeline: Pipeline | None = field(repr=False)
    trace: tuple[TraceRecord, ...] = field(repr=False)
    arrays: tuple[DeviceArray, ...] = field(repr=False)
    shared: tuple[SharedVariable, ...] = field(repr=False)

    def count(self, what: str, kind: str = "load") -> int | Any:         # as `re.Match.group` is typed: who asks knows that it is there
        """Return a count: what is "requests", "sectors", "wavefronts", "conflicts" or "shared instructions".

        None when the run was made without counters.
        """
        name = counter_name(what, kind)
        return None if self.counters is None else self.counters.get(name, 0)

    def sectors_per_request(self, kind: str = "load") -> float | Any:
        """Return 32-byte sectors per global request of a warp; 0 when there was none, None without counters."""
        if self.counters is None:
            return None
        requests = self.count("requests", kind)
        return self.count("sectors", kind) / requests if requests else 0.0

    def rows(self) -> Rows:
        """Return the table as (what, value) pairs of strings."""
        values = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return ((self.kernel.name, values), *self.head_rows(), *_launch_rows(self), *self.tail_rows())

    def head_rows(self) -> Rows:
        """Return the rows on what was computed."""
        return ()

    def tail_rows(self) -> Rows:
        """Return the rows on what was noticed."""
        return ()

    def __repr__(self) -> str:
        """Return the table as text; on the simulator it is the same in every run."""
        rows = self.rows()
        width = max(len(what) for what, _ in rows)
        return "\n".join(f"{what:<{width}}  {value}".rstrip() for what, value in rows)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        cells = "".join(f'<tr><th scope="row" style="text-align:left">{html.escape(what)}</th>'
                        f'<td style="text-align:left">{html.escape(value)}</td></tr>' for what, value in self.rows())
        return f"<table>{cells}</table>"


@dataclass(frozen=True, repr=False)
class RunResult(LaunchResult):
    """One matrix product: one kernel, one input, one answer.

    Attributes, beside those of every launch
    ----------------------------------------
    M, N, K, lda, ldb, ldc
        Sizes, and elements from one row to the next in A, B and C on the device.
    C
        (M, N); the answer in an array of its own without padding, of the kind that was given (NumPy or CuPy).
    stray_writes
        Elements between the rows of a padded C that the kernel wrote though they are none of its business.
    """

    M: int
    N: int
    K: int
    lda: int
    ldb: int
    ldc: int
    C: Array = field(repr=False)
    stray_writes: int

    @property
    def flops(self) -> int:
        """Return the floating-point operations of the product, 2 M N K."""
        return self.kernel.flops(self.M, self.N, self.K)

    @property
    def gflops(self) -> float | None:
        """Return 10**9 floating-point operations per second, or None without a measured time."""
        return self.flops / self.time.median_s / 1e9 if self.time else None

    def head_rows(self) -> Rows:
        """Return the rows on what was computed."""
        gx, gy, _ = self.grid
        bx, by, _ = self.block
        rows = [("C", f"{self.M} × {self.N}, K = {self.K}, {self.label}"),
                ("launch", f"grid {gx} × {gy}, block {bx} × {by}: {gx * gy * bx * by} threads for {self.M * self.N} elements")]
        if self.time:
            rows.append(("time", f"{self.time}, {self.gflops:.1f} GFLOP/s"))
        return tuple(rows)

    def tail_rows(self) -> Rows:
        """Return the rows on what was noticed."""
        if not self.stray_writes:
            return ()
        return (("padding of C", f"{self.stray_writes} elements between the rows were overwritten"),)


def _launch_rows(r: LaunchResult) -> Iterator[tuple[str, str]]:
    if r.counters is not None:
        yield from _counter_rows(r)
    yield from _resource_rows(r)
    if r.hazards is not None:
        yield "hazards", _hazards(r.hazards)
    for meeting in r.meetings:
        yield "barriers", str(meeting)
    for lost in r.lost_alignments:
        yield "alignment", str(lost)
    for stray in r.stray_shuffles:
        yield "shuffles", str(stray)
    for finding in r.async_findings:
        yield "copies", str(finding)
    for product in r.products:
        yield "wgmma", str(product)


def _counter_rows(r: LaunchResult) -> Iterator[tuple[str, str]]:
    for kind in OPERATIONS:
        yield (f"global {kind}s", f"{r.count('requests', kind)} requests, {r.count('sectors', kind)} sectors: "
               f"{r.sectors_per_request(kind):.2f} sectors a request ({r.counters_label})")
    for kind in OPERATIONS:
        if instructions := r.count("shared instructions", kind):
            yield (f"shared {kind}s", f"{instructions} instructions, {r.count('wavefronts', kind)} wavefronts, "
                   f"{r.count('conflicts', kind)} bank conflicts ({r.counters_label})")


def _resource_rows(r: LaunchResult) -> Iterator[tuple[str, str]]:
    spilled = f", {r.resources.local_bytes} bytes of local memory" if r.resources.local_bytes else ""
    yield ("resources", f"{r.resources.registers} registers a thread, "
           f"{r.resources.static_shared_bytes + r.kernel.dynamic_bytes(**r.parameters)} bytes of shared memory a block{spilled}")
    o = r.occupancy
    yield ("occupancy", f"{o.fraction:.0%}: {o.blocks} block{'s' * (o.blocks != 1)} on a multiprocessor, "
           f"limited by {o.limiter} (modelled for {r.device})")


def _hazards(hazards: Sequence[Hazard | Finding]) -> str:
    if not hazards:
        return "none"
    first = hazards[0]
    total = sum(h.count for h in hazards)
    return (f"{total}, the first kind {first.kind}: lines {first.first_line} and {first.second_line}, "
            f"threads {first.first_thread} and {first.second_thread} of block {first.block}")


def per_line(result: LaunchResult) -> tuple[tuple[int, str, Mapping[str, int]], ...]:
    """List the source lines that did something countable.

    Returns
    -------
    tuple of (line number, text, counters)
        Counters: what `RunResult.lines` holds for the line.
    """
    text = result.kernel.source.splitlines()
    return tuple((number, text[number - 1].strip() if number <= len(text) else "", counters)
                 for number, counters in sorted((result.lines or {}).items()))


def line_table(result: LaunchResult) -> str:
    """Return a text table: global requests, sectors and shared wavefronts of each source line that has any.

    Loads and stores are added up; one line rarely does both.
    """
    def total(counters: Mapping[str, int], what: str) -> int:
        return sum(counters.get(counter_name(what, kind), 0) for kind in OPERATIONS)

    rows = ["line   requests    sectors  per request  wavefronts  source"]
    for number, text, counters in per_line(result):
        requests, sectors, wavefronts = (total(counters, w) for w in ("requests", "sectors", "wavefronts"))
        if requests or wavefronts:
            ratio = f"{sectors / requests:.2f}" if requests else ""
            rows.append(f"{number:>4} {requests:>10} {sectors:>10} {ratio:>12} {wavefronts:>11}  {text}")
    return "\n".join(rows)
