"""What a launch returns: counters, counters per line, hazards, trace, and where everything lay in memory."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.simt.async_report import AsyncFinding, Finding, Pipeline, ProductFinding
from course_lib.simt.errors import SimtError, where
from course_lib.toolchain.code_stand_in import CodeStandIn

Index = tuple[int, ...]     # (x, y, z) of a thread or a block


@dataclass(frozen=True)
class DeviceArray:
    """Device addresses [address, address + nbytes) of an array argument; `name` is the kernel's parameter."""

    name: str
    address: int
    nbytes: int
    itemsize: int


@dataclass(frozen=True)
class SharedVariable:
    """A `__shared__` variable: byte offset and size in the block's shared memory."""

    name: str
    offset: int
    nbytes: int


def consequence(influence: str | None, values: str) -> str:
    """Return the sentence of a finding about undefined values on what depends on them; "" where that was not examined."""
    if influence is None:
        return ""
    if influence:
        return f" This launch depends on it: with other values {values}, {influence}."
    return f" Nothing in this launch depends on it: with other values {values}, all arrays, all output and all counters are the same."


@dataclass(frozen=True)
class Hazard:
    """Two accesses to shared memory that nothing puts in order (or a read before any write).

    One entry per kind and pair of lines: the first example, and in `count` how many there were. `address` is a byte
    offset in the block's shared memory; lines are source lines; threads are (x, y, z). `first_copies`, `second_copies`: that line
    is a `cp.async`, which writes later than it stands. `one_warp`: the two threads of the example belong to one warp. `array`: the
    `__shared__` variable at `address`, and `offset` the byte in it; "" and `address` where nothing is declared there. A header
    names the place in another file whose code was inlined at that line, "" when there is none. `influence`, of an uninitialised
    read: what differed when the launch was repeated with other values in the bytes that nobody had written ("y has other elements"), ""
    when nothing did, None where that was not examined. `bulk`: one of the two is a bulk copy.
    """

    kind: str
    address: int
    first_line: int
    second_line: int
    first_thread: Index
    second_thread: Index
    block: Index
    count: int
    first_copies: bool = field(default=False, compare=False)
    second_copies: bool = field(default=False, compare=False)
    one_warp: bool = field(default=False, compare=False)
    array: str = field(default="", compare=False)
    offset: int = field(default=0, compare=False)
    first_header: str = ""
    second_header: str = ""
    influence: str | None = None
    bulk: bool = field(default=False, compare=False)
    first_multiplies: bool = field(default=False, compare=False)       # a product of a warpgroup
    first_block: Index | None = None     # of the first thread, and the block whose shared memory it is, where a cluster shares it
    owner: Index | None = None

    def __str__(self) -> str:
        times = f"{self.count} time{'s' if self.count != 1 else ''}"
        here, there = where(self.first_line, self.first_header), where(self.second_line, self.second_header)
        at = f"byte {self.offset} of {self.array}" if self.array else f"shared byte {self.address}"
        if self.owner is not None:
            at = f"{at} of block {self.owner}"
        if self.kind == "uninitialised":
            return (f"uninitialised shared memory read at {here}, first by thread {self.first_thread} of "
                    f"block {self.block}: {at} ({times}). Shared memory begins with whatever was there: write it first, and put "
                    f"{'cluster.sync()' if self.owner else '__syncthreads()'} behind the write."
                    f"{consequence(self.influence, 'in the bytes that nobody has written')}")
        verbs = {"RAW": ("writes", "reads"), "WAR": ("reads", "writes"), "WAW": ("writes", "writes")}[self.kind]
        first, second = ({"writes": "begins to copy to", "reads": "copies from"}[verb] if copies else verb
                         for verb, copies in zip(verbs, (self.first_copies, self.second_copies), strict=True))
        if self.first_block is not None:
            return (f"{self.kind} hazard: thread {self.first_thread} of block {self.first_block} {first} {at} at {here}, thread "
                    f"{self.second_thread} of block {self.block} {second} it at {there}, and nothing orders the two ({times}). "
                    f"{self.advice}")
        return (f"{self.kind} hazard: thread {self.first_thread} {first} {at} at {here}, thread "
                f"{self.second_thread} {second} it at {there}, and nothing orders the two; "
                f"block {self.block} ({times}). {self.advice}")

    @property
    def advice(self) -> str:
        """Say in a sentence what would put the two accesses in order."""
        if self.first_block is not None:
            return ("Let the cluster meet between the two: barrier.cluster.arrive and .wait, as cluster.sync() does; with .relaxed they "
                    "order only inits that fence.mbarrier_init follows. Or let the thread of line "
                    f"{self.first_line} arrive at an mbarrier of the other block (.release.cluster), and wait.")
        if self.first_multiplies:
            return ("A product reads its factors until its warpgroup has waited for it: put wgmma.wait_group before the arrival or the "
                    f"barrier that lets line {self.second_line} go on.")
        if self.bulk and self.first_copies:
            return ("A bulk copy is under way until the phase of its mbarrier completes, or until its thread has waited for its group. "
                    f"Wait for that before line {self.second_line}, with each thread that goes on there, or with a barrier behind.")
        if self.bulk and self.second_copies:
            return ("Let the other threads arrive at an mbarrier or a barrier first, and the thread that copies wait there; behind their "
                    "stores they execute fence.proxy.async.")
        if self.first_copies:
            return (f"The copy may still be under way: before line {self.second_line} the thread that copies waits for it "
                    "(__pipeline_wait_prior), and behind the wait stands __syncthreads(). Where both are there, the buffer is filled "
                    "again too early: copy fewer tiles ahead, or take one more buffer.")
        if self.second_copies:
            return "Put __syncthreads() between the two, so that everybody has read the buffer before a copy fills it again."
        if self.kind == "WAW" and self.first_line == self.second_line:
            return "Let one thread write, or give each an element of its own; between two rounds of a loop, put __syncthreads()."
        if self.one_warp:
            return ("Threads of one warp need not run in step: put __syncwarp() between the two, or __syncthreads() when other warps "
                    "touch the same bytes.")
        return "Put __syncthreads() between the two; in a loop, that may be the end of a round."


@dataclass(frozen=True)
class LostAlignment:
    """A shared variable that does not lie where its alignment asks for it.

    From compute capability 8.0 on a block's shared memory begins at byte 1,024 of its window, and the assembler aligns variables to where
    it begins. So an address that is flipped bit by bit, to change from one buffer to another, leads elsewhere.
    """

    name: str
    wanted: int              # bytes
    address: int             # in the window of shared memory
    line: int                # of its first use; 0 where that is not known

    def __str__(self) -> str:
        place = f"{where(self.line, '')}: " if self.line else ""
        return (f"{place}{self.name} asks for an alignment of {self.wanted:,} bytes, but begins at byte {self.address:,} of shared memory: "
                f"this GPU keeps the first {self.address % self.wanted:,} for itself. Do not flip bits of its addresses; add and subtract.")


@dataclass(frozen=True)
class BarrierMeeting:
    """Warps of one block that waited for each other at barriers of one number in two lines.

    A GPU lets them go on, as the simulator does; the language asks every thread of a block to reach the same `__syncthreads()`.
    One entry per pair of lines: the first example, and in `count` how many there were. `number` is the barrier's, threads are (x, y, z).
    """

    number: int
    first_line: int
    second_line: int
    first_thread: Index
    second_thread: Index
    block: Index
    count: int

    def __str__(self) -> str:
        times = f"{self.count} time{'s' if self.count != 1 else ''}"
        return (f"barriers of two lines met: the warp of thread {self.first_thread} waited at line {self.first_line}, that of thread "
                f"{self.second_thread} at line {self.second_line}, block {self.block} ({times}). GPUs count arrivals at barrier "
                f"{self.number} wherever they come from, but CUDA asks all threads of a block to reach the same one")


@dataclass(frozen=True)
class StrayShuffle:
    """A shuffle that took its value from a lane which did not take part, so that the value is undefined.

    It is a finding and no error, because much right code does this and throws the value away: in the last warp of 48 threads,
    `__shfl_down_sync(0xffffffff, v, 8)` gives lane 10 the value of lane 18, which does not exist, and a reduction never uses what lane 10
    gets. With racecheck, `influence` says what differed when the launch was repeated with other values from such lanes, as in `Hazard`.
    One entry per line: the first example, and in `count` how many there were. `lane` is the lane that was read, `mask` that of the
    thread that read it, `why` what was wrong with the lane.
    """

    line: int
    thread: Index
    block: Index
    lane: int
    mask: int
    why: str
    count: int
    header: str = ""
    influence: str | None = None

    def __str__(self) -> str:
        times = f"{self.count} time{'s' if self.count != 1 else ''}"
        return (f"{where(self.line, self.header)}: the shuffle of thread {self.thread}, block {self.block}, reads lane {self.lane}, which "
                f"{self.why} ({times}). The value is undefined: use it nowhere, or let the shuffle reach only lanes that execute it."
                f"{consequence(self.influence, 'from such lanes')}")


@dataclass(frozen=True)
class TraceRecord:
    """One memory access or barrier of a traced warp, or a commit of asynchronous copies, or a wait for them.

    `mask`: bit l set when lane l takes part. `addresses`: (32,) int64, byte addresses, -1 for lanes that do not; for
    shared memory the offset in the block's shared memory. `width`: bytes per lane. `step`: warp instructions before it.
    A `cp.async` or a bulk copy gives two records, where it reads and where it writes (of a bulk copy the first 16 bytes); a lane that
    writes zeros alone reads nowhere. The operation of a `wait_group` ends with its number of groups.
    """

    step: int
    block: Index
    warp: int
    line: int
    operation: str
    mask: int
    addresses: NDArray[np.int64]
    width: int
    space: str | None


@dataclass(frozen=True)
class Report:
    """The result of `simt.launch`; counters carry Nsight Compute's names.

    `loops` tells what one turn of each loop executes on the GPU, which PTX does not show. `ptx`, `cubin`: what NVIDIA's
    compiler made of the source for the launch's arch and options; `cubin` is b"" when the source was PTX. `defines`: the launch's macros.
    """

    kernel: str
    counters: Mapping[str, int]
    lines: Mapping[int, Mapping[str, int]]
    level: Mapping[str, str]
    hazards: tuple[Hazard, ...] = ()
    trace: tuple[TraceRecord, ...] = ()
    arrays: tuple[DeviceArray, ...] = ()
    shared: tuple[SharedVariable, ...] = ()
    steps: int = 0
    seconds_compile: float = 0.0
    seconds_run: float = 0.0
    ptx: str = field(default="", repr=False)
    output: str = field(default="", repr=False)  # what the kernel printed, by block, then in the order of execution
    cubin: bytes | CodeStandIn = field(default=b"", repr=False)
    defines: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    meetings: tuple[BarrierMeeting, ...] = ()
    lost_alignments: tuple[LostAlignment, ...] = ()
    unfreed: int = 0         # allocations of the kernel (malloc, new) that it has not freed, and their bytes
    unfreed_bytes: int = 0
    stray_shuffles: tuple[StrayShuffle, ...] = ()
    products: tuple[ProductFinding, ...] = ()
    symbol: str = field(default="", repr=False)     # what PTX and the cubin call the kernel
    async_findings: tuple[AsyncFinding, ...] = ()
    pipeline: Pipeline | None = None    # None where no warp issued an asynchronous copy or a product, or waited for one

    @property
    def all_hazards(self) -> tuple[Hazard | Finding, ...]:
        """Return everything for which the result may be another one on a GPU: `hazards`, `async_findings`, `products`."""
        return (*self.hazards, *self.async_findings, *self.products)

    @functools.cached_property
    def loops(self) -> tuple[toolchain.Loop, ...]:
        """Return the loops of the kernel's machine code, outer before inner.

        `loop.counts` holds static counts of one turn of its body as the assembler unrolled it: "instructions", opcodes
        ("FFMA"), and memory instructions by width in bits ("LDS.128", "LDG.32"); `loop.lines` its source lines. The machine
        code is analysed at the first request, in about half a second, and not at all for those who do not ask.

        Raises
        ------
        SimtError
            When there is no machine code: the source was PTX, or `arch` a virtual architecture (compute_90).

        >>> from course_lib import simt
        >>> text = '''extern "C" __global__ void dot(const float* x, float* y, int n) {
        ...     float sum = 0;
        ... #pragma unroll 4
        ...     for (int i = 0; i < n; i += 1) sum += x[i] * x[i];
        ...     *y = sum;
        ... }'''
        >>> x, y = np.ones(8, np.float32), np.zeros(1, np.float32)
        >>> loop = simt.launch(text, "dot", 1, 1, [x, y, np.int32(8)]).loops[0]
        >>> loop.lines, loop.counts["FFMA"], loop.counts["LDG.32"]
        ((4,), 4, 4)
        """
        return toolchain.loops(self.sass)

    @functools.cached_property
    def sass(self) -> tuple[toolchain.SassInstruction, ...]:
        """Return the kernel's machine code; raises as `loops`."""
        if not self.cubin:
            raise SimtError(f"{self.kernel} has no machine code to find loops in: its source was PTX text or its arch a virtual one. "
                            "Launch it from CUDA C, with arch=\"sm_90\" for example.", kernel=self.kernel)
        return toolchain.sass(self.cubin, self.symbol or self.kernel)

    @functools.cached_property
    def resources(self) -> toolchain.Resources:
        """Return what the kernel takes: registers, shared and local memory (spills are among the latter)."""
        return toolchain.resources(self.cubin)[self.symbol or self.kernel]
