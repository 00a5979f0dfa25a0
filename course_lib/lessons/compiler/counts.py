"""What one k-step of one block costs: counted for Triton's PTX at each setting, and for a kernel of ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from course_lib.kernels.triton import Setting
from course_lib.run import run
from course_lib.run.result import counter_name
from course_lib.run.traces import is_barrier
from course_lib.run.triton import multiply
from course_lib.simt.report import TraceRecord
from course_lib.widgets.compute import inputs

OURS = "sgemm_bf16"
TILE = {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32}         # the same tiles and as many warps as Triton's
DEPTHS = (256, 512)              # K of the two launches that are compared: every count is a straight line in K
EXECUTED = "smsp__inst_executed.sum"
MULTIPLIED = "smsp__inst_executed_pipe_tensor_op_hmma.sum"
COPIES = "smsp__sass_inst_executed_op_ldgsts.sum"
COPY_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
COPY_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"
LDMATRIX = "smsp__sass_inst_executed_op_ldsm.sum"
STORES = counter_name("shared instructions", "store")
SECTORS = counter_name("sectors", "load")
WAVEFRONTS = (counter_name("wavefronts", "load"), counter_name("wavefronts", "store"), COPY_WAVEFRONTS)
CONFLICTS = (counter_name("conflicts", "load"), counter_name("conflicts", "store"), COPY_CONFLICTS)


@dataclass(frozen=True)
class Step:
    """The counters of one k-step of a block of four warps, in total and by source line; the barriers that a warp meets in it."""

    counters: Mapping[str, int]
    lines: Mapping[int, Mapping[str, int]]
    barriers: int

    def sum(self, names: tuple[str, ...]) -> int:
        """Return a sum of counters."""
        return sum(self.counters.get(name, 0) for name in names)


def difference(more: Mapping[str, int], less: Mapping[str, int], steps: int) -> dict[str, int]:
    """Return what one of `steps` steps adds to each counter.

    >>> difference({"a": 70, "b": 5}, {"a": 30, "b": 5}, 4)
    {'a': 10, 'b': 0}
    """
    return {name: (more.get(name, 0) - less.get(name, 0)) // steps for name in more}


@lru_cache
def step_of(setting: Setting) -> Step:
    """Return the counts of what Triton wrote."""
    found = [multiply(*inputs(64, 64, K)[:2], setting, trace=[(0, 0)]).report for K in DEPTHS]
    steps = (DEPTHS[1] - DEPTHS[0]) // setting.BK
    lines = {line: difference(counts, found[0].lines.get(line, {}), steps) for line, counts in found[1].lines.items()}
    return Step(difference(found[1].counters, found[0].counters, steps), lines, _barriers([r.trace for r in found], steps))


@lru_cache
def our_step() -> Step:
    """Return the counts of `OURS` with the same tiles."""
    values: dict[str, Any] = TILE
    found = [run(OURS, *inputs(64, 64, K)[:2], backend="sim", trace=[((0, 0, 0), 0)], **values) for K in DEPTHS]
    counters: list[Any] = [result.counters for result in found]
    steps = (DEPTHS[1] - DEPTHS[0]) // TILE["BK"]
    return Step(difference(counters[1], counters[0], steps), {}, _barriers([r.trace for r in found], steps))


def _barriers(traces: list[tuple[TraceRecord, ...]], steps: int) -> int:
    less, more = (sum(map(is_barrier, trace)) for trace in traces)
    return (more - less) // steps
