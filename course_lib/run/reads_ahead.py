"""What is on its way to shared memory while a kernel reads there: how far its copies run ahead of its products, from its trace."""

from collections import defaultdict
from dataclasses import dataclass

from course_lib.run.in_flight import CopyWait, stages_in_flight
from course_lib.run.traces import is_load
from course_lib.run.types import Traced
from course_lib.simt.report import Index, TraceRecord


@dataclass(frozen=True)
class ReadAhead:
    """One read of shared memory by a warp, and the bytes that this warp has asked of global memory by then and not waited for."""

    block: Index
    warp: int
    line: int
    bytes: int


def copied_bytes(record: TraceRecord) -> int:
    """Return the bytes that a record of a `cp.async` asks of global memory; 0 for any other record, and for a copy of zeros alone."""
    copies = record.operation.startswith("cp.async.c") and record.space == "global" and record.width > 0
    return record.width * int((record.addresses >= 0).sum()) if copies else 0


def reads_ahead(result: Traced) -> tuple[ReadAhead, ...]:
    """Return each read of shared memory of every traced warp, with the bytes that are on their way to its stages at that moment.

    What a warp still waits for through registers, as with plain loads, is not counted.

    Parameters
    ----------
    result
        Of a run with `trace=` naming the warps.

    Raises
    ------
    CourseError
        Without a trace, or when no traced warp waits for asynchronous copies.

    While a step of `sgemm_double_buffered` is multiplied, B's next tile is on its way: 16 × 128 floats, by eight warps.

    >>> import numpy as np
    >>> from course_lib.run import run
    >>> ones = np.ones((128, 64), np.float32)
    >>> found = reads_ahead(run("sgemm_double_buffered", ones, ones.T.copy(), backend="sim", trace=[(0, 0)]))
    >>> sorted({read.bytes for read in found})
    [0, 1024]
    """
    waits: dict[tuple[Index, int], list[CopyWait]] = defaultdict(list)
    for wait in stages_in_flight(result):
        waits[wait.block, wait.warp].append(wait)
    under_way: dict[tuple[Index, int], int] = defaultdict(int)
    found = []
    for record in result.trace:
        who = record.block, record.warp
        if record.operation.startswith("cp.async.wait"):
            under_way[who] = waits[who].pop(0).bytes_left
        elif is_load(record) and record.space == "shared":
            found.append(ReadAhead(*who, record.line, under_way[who]))
        else:
            under_way[who] += copied_bytes(record)
    return tuple(found)
