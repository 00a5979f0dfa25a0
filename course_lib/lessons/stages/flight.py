"""What the copies of a kernel do: at each wait, in a table; and in which order a warp copies, waits and multiplies."""

import re
from typing import Any

from course_lib.errors import CourseError
from course_lib.explorables.stages import BK, TILES
from course_lib.kernels import UserKernel, get
from course_lib.lessons.stages.tiles import SMALL
from course_lib.plots import Table
from course_lib.run import RunResult, reads_ahead, run, stages_in_flight
from course_lib.run.reads_ahead import copied_bytes
from course_lib.run.traces import is_barrier, is_load
from course_lib.widgets.compute import inputs

Event = tuple[str, int]           # "copy", "wait" or "multiply", and the step


def traced(kernel: str = "dgemm_stages", **parameters: int) -> RunResult:
    """Run a kernel on one block of eight steps and trace its first warp; `kernel` is a name, or the text of one like `dgemm_mma`."""
    chosen = get(kernel) if kernel.isidentifier() else UserKernel.from_source(kernel, like="dgemm_mma")
    own: dict[str, Any] = parameters if not kernel.isidentifier() else SMALL | parameters
    values = chosen.check(**own)
    A, B, _ = inputs(values["BM"], values["BN"], TILES * BK, "float64")
    return run(chosen, A, B, backend="sim", trace=[((0, 0, 0), 0)], **own)


def in_flight(kernel: str = "dgemm_stages", **parameters: int) -> Table:
    """Return, for each step, how many steps' copies may be on their way at its wait, behind it, and while the step is multiplied.

    Counted for the first warp of a block, from the copies and waits of its trace.
    """
    result = traced(kernel, **parameters)
    waits = [wait for wait in stages_in_flight(result) if wait.bytes]
    step_bytes = sum(map(copied_bytes, result.trace)) // TILES
    reads = [read.bytes for read in reads_ahead(result)]
    each = len(reads) // TILES
    rows = [(step, wait.bytes // step_bytes, wait.bytes_left // step_bytes, reads[(step + 1) * each - 1] // step_bytes)
            for step, wait in enumerate(waits)]
    header = ("step", "at its wait", "behind it", "during its product")
    return Table(header, rows, f"{result.kernel.name}: steps whose copies may still be on their way, counted in the trace of one warp")


def during_products(kernel: str = "dgemm_stages", **parameters: int) -> int:
    """Return how many steps' copies may be on their way during a product, while there is still something to copy."""
    return max(row[-1] for row in in_flight(kernel, **parameters).rows)


def with_wait(kernel: str, left: str) -> str:
    """Return a kernel's text in which each call `wait<…>()` leaves so many groups on their way.

    >>> with_wait("wait<1>();", "STAGES - 1")
    'wait<STAGES - 1>();'
    """
    if "wait" not in kernel:
        raise CourseError("the kernel has no wait that could be changed")
    return re.sub(r"wait\s*<[^>]*>\s*\(\s*\)", f"wait<{left}>()", kernel)


def order_of(result: RunResult) -> list[Event]:
    """Return what the traced warp did, in its order: "copy", "wait" or "multiply", each with the number of its step.

    A group of asynchronous copies is one "copy"; a group of zeros alone, behind the last step, is none. Where a kernel loads and stores its
    tiles instead, the loads of a step are its copy, and the barrier behind them is its wait.
    """
    happened = _asynchronous(result) if any(r.operation.startswith("cp.async") for r in result.trace) else _loaded(result)
    found: list[Event] = []
    for kind in happened:
        if kind == "wait" or not found or found[-1][0] != kind or kind == "copy":
            found.append((kind, sum(event == kind for event, _ in found)))
    return found


def _asynchronous(result):
    """Yield kinds of events; "multiply" once for each read."""
    asked = 0
    for record in result.trace:
        asked += copied_bytes(record)
        if record.operation == "cp.async.commit_group":
            if asked:
                yield "copy"
            asked = 0
        elif record.operation.startswith("cp.async.wait_group"):
            yield "wait"
        elif is_load(record) and record.space == "shared":
            yield "multiply"


def _loaded(result):
    """Yield the same of a kernel without asynchronous copies."""
    last = ""
    for record in result.trace:
        if is_load(record) and record.space == "global" and last != "copy":
            last = "copy"
            yield last
        elif is_barrier(record) and last == "copy":
            last = "wait"
            yield last
        elif is_load(record) and record.space == "shared":
            last = "multiply"
            yield last
