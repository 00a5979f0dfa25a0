"""What is on its way to shared memory at each wait of a kernel that copies asynchronously, and who waits for what, from its trace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from course_lib.arch import WARP
from course_lib.errors import CourseError
from course_lib.run.types import Traced
from course_lib.simt.report import Index, TraceRecord

COPY, COMMIT, WAIT = "cp.async.", "cp.async.commit_group", "cp.async.wait_"
OTHERS = ("cp.async.bulk.", "cp.async.mbarrier.")     # an mbarrier tells of them: `report.pipeline`


@dataclass(frozen=True)
class CopyWait:
    """One wait of a warp for asynchronous copies: what is on its way when the warp comes to it, and what still may be behind it.

    Attributes
    ----------
    block, warp, line, step
        Who waits, in which source line, and after how many instructions of the warp.
    groups, groups_left
        Committed groups that no wait has ended yet, before this wait and behind it. Groups without a copy, or with copies of zeros
        alone, are among them.
    bytes, bytes_left
        What the warp has asked of global memory and not waited for, before this wait and behind it; a copy counts with its whole width,
        and not at all where it only writes zeros. Copies that no group holds yet are among them.
    """

    block: Index
    warp: int
    line: int
    step: int
    groups: int
    groups_left: int
    bytes: int
    bytes_left: int


@dataclass
class _Queue:
    """The copies of one warp: how many groups each lane has committed and ended, and [group of each lane, bytes of each lane] of a copy."""

    committed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(WARP, np.int64))
    ended: NDArray[np.int64] = field(default_factory=lambda: np.zeros(WARP, np.int64))
    copies: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)

    def groups(self) -> int:
        return int((self.committed - self.ended).max())

    def bytes(self) -> int:
        return int(sum(size.sum() for _, size in self.copies))

    def end(self, lanes: NDArray[np.bool_], left: int) -> None:
        """End the groups of these lanes but the last `left`."""
        self.ended = np.where(lanes, np.maximum(self.ended, self.committed - left), self.ended)
        still = ((group, np.where(group < self.ended, 0, size)) for group, size in self.copies)
        self.copies = [(group, size) for group, size in still if size.any()]


def stages_in_flight(result: Traced) -> tuple[CopyWait, ...]:
    """Return each wait for groups of asynchronous copies (`cp.async`) of every traced warp, in the order of the trace.

    Parameters
    ----------
    result
        Of a run with `trace=` naming the warps. Bytes are those of the waiting warp alone; all warps of a block together are the block's.

    Raises
    ------
    CourseError
        Without a trace, or when no traced warp waits for copies.

    Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group": a wait ends all groups but the last N that the thread has committed,
    and `wait_all` those copies, too, that are in no group.

    With two buffers the copies of one step are on their way at a wait, and none behind it.

    >>> from course_lib.run import run
    >>> ones = np.ones((128, 64), np.float32)
    >>> found = stages_in_flight(run("sgemm_double_buffered", ones, ones.T.copy(), backend="sim", trace=[(0, 0)]))
    >>> [(wait.bytes, wait.bytes_left) for wait in found]
    [(1024, 0), (1024, 0), (1024, 0), (1024, 0)]
    """
    if not result.trace:
        raise CourseError("this run has no trace: run it with trace=[((0, 0, 0), 0)] or every_warp(grid, block)")
    found = tuple(_waits(result.trace))
    if not found:
        raise CourseError("no traced warp waits for asynchronous copies: this is for kernels with cp.async and a wait for it")
    return found


def most_in_flight(result: Traced) -> int:
    """Return the bytes that the traced warps together have under way at most, each at the wait at which it has most.

    Raises
    ------
    CourseError
        As `stages_in_flight`.
    """
    most: dict[tuple[Index, int], int] = {}
    for wait in stages_in_flight(result):
        most[wait.block, wait.warp] = max(wait.bytes, most.get((wait.block, wait.warp), 0))
    return sum(most.values())


def copied_bytes(result: Traced) -> int:
    """Return the bytes of all asynchronous copies of the traced warps, each with its whole width; copies of zeros alone do not count."""
    copies = (r for r in result.trace if is_copy(r) and r.space == "global")
    return int(sum(r.width * (r.addresses >= 0).sum() for r in copies))


def is_copy(record: TraceRecord) -> bool:
    """Say whether a record is one of `cp.async`, its groups and its waits."""
    return record.operation.startswith(COPY) and not record.operation.startswith(OTHERS)


def _waits(trace: Sequence[TraceRecord]) -> Iterator[CopyWait]:
    queues: dict[tuple[Index, int], _Queue] = {}
    for record in filter(is_copy, trace):
        queue = queues.setdefault((record.block, record.warp), _Queue())
        lanes = (record.mask >> np.arange(WARP) & 1).astype(bool)
        if record.operation.startswith(WAIT):
            yield _wait(record, queue, lanes)
        elif record.operation == COMMIT:
            queue.committed = queue.committed + lanes
        elif record.space == "global":             # traced twice: where it reads, and where it writes
            queue.copies.append((queue.committed, np.where(record.addresses >= 0, record.width, 0)))


def _wait(record: TraceRecord, queue: _Queue, lanes: NDArray[np.bool_]) -> CopyWait:
    groups, size = queue.groups(), queue.bytes()
    _, _, left = record.operation.partition(" ")
    if not left:                                   # wait_all
        queue.committed = queue.committed + lanes  # as if what is in no group were one
    queue.end(lanes, int(left or 0))
    return CopyWait(record.block, record.warp, record.line, record.step, groups, queue.groups(), size, queue.bytes())


@dataclass(frozen=True)
class PipelineStep:
    """What a warp does with a stage of a pipeline: a row of "tiles in flight over time", with a lane for each warp.

    Attributes
    ----------
    block, warp, line
        Who, and in which source line.
    what
        "init", "expect", "arrive" or "wait" of an mbarrier, "copy", "product", or "wait for copies" or "wait for products" of a group.
    place, offset
        The `__shared__` variable of the mbarrier or the tile, and the byte in it; "" and 0 where the trace has none, as for products.
    first, last
        Time as the simulator has it: the places in the order in which the traced warps of the block executed something. A wait lasts from
        its first attempt to its last one; products and copies of one line, with nothing else of their warp between them, are one step.
    """

    block: Index
    warp: int
    line: int
    what: str
    place: str
    offset: int
    first: int
    last: int


STEPS = {"mbarrier.init": "init", "mbarrier.expect_tx": "expect", "mbarrier.complete_tx": "arrive", "mbarrier.arrive": "arrive",
         "mbarrier.try_wait": "wait", "mbarrier.test_wait": "wait", "cp.async.mbarrier.": "arrive",
         "cp.async.bulk.wait_group": "wait for copies", "cp.async.wait_": "wait for copies", "cp.async.bulk.": "copy",
         "cp.reduce.async.bulk.": "copy", "cp.async.": "copy", "wgmma.mma_async.": "product", "wgmma.wait_group.": "wait for products"}


def pipeline_steps(result: Traced) -> tuple[PipelineStep, ...]:
    """Return what each traced warp does at mbarriers and with copies and products of `wgmma`: block by block, in the order of beginning.

    Parameters
    ----------
    result
        Of a run with `trace=` naming the warps.

    Raises
    ------
    CourseError
        When no traced warp does any of this.
    """
    found: list[PipelineStep] = []
    latest: dict[tuple[Index, int], int] = {}          # of a warp, where its last step stands in `found`
    times: dict[Index, int] = {}
    for record in result.trace:
        times[record.block] = time = times.get(record.block, -1) + 1
        step, who = _step(result, record, time), (record.block, record.warp)
        if step is None:
            if not record.operation.startswith("cp."):
                latest.pop(who, None)
            continue
        before = found[latest[who]] if who in latest else None
        if before and _goes_on(before, step):
            found[latest[who]] = replace(before, last=time)
        else:
            latest[who] = len(found)
            found.append(step)
    if not found:
        raise CourseError("no traced warp uses an mbarrier, copies asynchronously or multiplies by wgmma: trace the warps that do")
    return tuple(found)


def _step(result: Traced, record: TraceRecord, time: int) -> PipelineStep | None:
    what = next((what for start, what in STEPS.items() if record.operation.startswith(start)), None)
    if what is None or "commit_group" in record.operation or what == "copy" and record.space != "shared":
        return None                                    # a copy is traced twice: where it reads, and where it writes
    at = int(record.addresses[record.addresses >= 0][0]) if record.space == "shared" else -1
    place, offset = next(((v.name, at - v.offset) for v in result.shared if v.offset <= at < v.offset + v.nbytes), ("", 0))
    return PipelineStep(record.block, record.warp, record.line, what, place, offset, time, time)


def _goes_on(before: PipelineStep, step: PipelineStep) -> bool:
    """Say whether a step is another attempt of a wait, or more of the same products or copies."""
    same = (before.line, before.what, before.place) == (step.line, step.what, step.place)
    return same and (step.what in ("product", "copy") or step.what == "wait" and before.offset == step.offset)
