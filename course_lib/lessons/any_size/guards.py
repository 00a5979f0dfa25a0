"""Controls on the guards of Chien's methods and of Wang's kernel: any size, what each block does, what it costs."""

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib import kernels
from course_lib.kernels import Kernel
from course_lib.lessons.any_size.pictures import BlockSeen, block_map, blocks_seen, describe_blocks, path_of, tile_of
from course_lib.plots import every_warp, style
from course_lib.run import RunResult, run
from course_lib.toolchain import guard_loops
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Control, Explore

VERSIONS = {"method 5, v1": "sgemm_method5_v1", "method 5, v2": "sgemm_method5_v2", "method 5, v3": "sgemm_method5_v3",
            "method 6": "sgemm_method6", "Wang": "sgemm_outputs"}
FFMA, EXECUTED = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "smsp__inst_executed.sum"
ROWS, COLS, DEPTHS = (48, 64, 65, 128, 129, 150, 192), (16, 32, 33, 40, 64, 65, 128), (16, 32, 33, 40, 47, 48)


@dataclass(frozen=True)
class Guarded:
    """A launch on matrices of some size, block by block.

    Attributes
    ----------
    result
        With counters.
    """

    result: RunResult = field(repr=False)
    blocks: tuple[BlockSeen, ...] = field(repr=False)

    @property
    def multiply_adds(self) -> float:
        """Return the multiply-adds executed for each that the product needs; 1 when no thread works in vain."""
        r = self.result
        return self._counters[FFMA] / (r.M * r.N * r.K)

    @property
    def instructions(self) -> float:
        """Return PTX instructions of a thread for each multiply-add that the product needs."""
        r = self.result
        return 32 * self._counters[EXECUTED] / (r.M * r.N * r.K)

    @property
    def _counters(self) -> dict[str, int]:
        assert self.result.counters is not None            # `guarded` runs on the simulator, which counts
        return self.result.counters


def traced_run(kernel: str | Kernel, M: int, N: int, K: int, **parameters: int) -> RunResult:
    """Run a kernel on the simulator with every warp traced; A and B are all ones."""
    A, B = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
    options: dict[str, Any] = {"backend": "sim", **parameters}
    plan = run(kernel, A, B, **options)
    return run(kernel, A, B, trace=every_warp(plan.grid, plan.block), **options)


@functools.lru_cache(maxsize=16)
def _whole(name):
    """Trace the kernel on one block's worth of whole tiles."""
    kernel = kernels.get(name)
    rows, cols, depth = tile_of(kernel, kernel.check())
    return traced_run(kernel, rows, cols, 2 * depth)


@functools.lru_cache(maxsize=64)
def guarded(name: str, M: int, N: int, K: int) -> Guarded:
    """Run one of `VERSIONS`, or a kernel of their families by its name, and look at every block.

    What is traced has fewer columns of A, with the same rest beside the last whole tile: more of them only repeat the loop.

    Raises
    ------
    CourseError
        For a size that the version cannot do: version 2 needs 64 rows.

    >>> guarded("sgemm_method5_v3", 65, 33, 33).blocks[0].case
    'V'
    """
    name = VERSIONS.get(name, name)
    depth = _whole(name).K // 2
    short = traced_run(name, M, N, min(K, depth + (K - 1) % depth + 1))
    A, B, _ = inputs(M, N, K)
    return Guarded(run(name, A, B, backend="sim"), blocks_seen(short, _whole(name)))


def guard_facts(found: Guarded) -> dict[str, str]:
    """Return what the table shows of a launch, as a mapping of label to text."""
    r, paths = found.result, Counter(path_of(b) for b in found.blocks)
    parameters: dict[str, Any] = r.parameters
    idle = 1 - sum(b.rows * b.cols for b in found.blocks) / sum(b.tile_rows * b.tile_cols for b in found.blocks)
    names = ("fast", "guarded") if r.kernel.entry == "gemm_outputs" else ("I", "II", "III", "IV", "V", "VI")
    shown = {"blocks": f"{len(found.blocks)}"} | {f"blocks {name}": f"{paths[name]}" for name in names}
    shown |= {"tiles outside C": f"{idle:.0%}", "FFMA executed / needed": f"{found.multiply_adds:.2f}",
              "PTX / multiply-add": f"{found.instructions:.2f}", "sectors a load request": f"{r.sectors_per_request():.2f}",
              "registers a thread": f"{r.resources.registers}"}
    return shown | {f"SASS / multiply-add: {name}": f"{turn.per_multiply_add:.2f}"
                    for name, turn in guard_loops(r.kernel, **parameters).items()}


def guard_picture(found: Guarded) -> tuple[Axes, str]:
    """Draw the blocks of a launch over C; return (Axes, alternative text)."""
    r = found.result
    ax = block_map(found.blocks, r.M, r.N, style.axes(width=5.7, height=4.2))
    return ax, describe_blocks(found.blocks, r.M, r.N)


def guard_sliders(version: str = "method 5, v1", M: int = 150, N: int = 40, K: int = 40) -> Explore:
    """Put controls on the version of the guard and on the three sizes."""
    controls = (Control("guard", "who tests what", tuple(VERSIONS), version), Control("M", "rows of A and C", ROWS, M),
                Control("N", "columns of B and C", COLS, N), Control("K", "columns of A, rows of B", DEPTHS, K))
    return Explore(controls, guarded, facts=guard_facts, picture=guard_picture, doing="running and looking at every block",
                   done="run and looked at, simulated, sm_90,")
