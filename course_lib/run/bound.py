"""The modelled lower bound of a product that was run: its work, from the counters and the machine code."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib import toolchain
from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.model.bound import Bound, Work, l1_wavefronts, lower_bound, product_sectors
from course_lib.run.operands import kernel_reads
from course_lib.run.product import run
from course_lib.run.result import RunResult
from course_lib.run.shared_steps import shared_work, shares_out_steps

DEPTH = 64                 # of the small product whose requests are looked at: enough for a few steps along K


def work_of(result: RunResult) -> Work:
    """Return the `Work` of a launch.

    Instructions are those of the shortest path through a step along K in machine code (`toolchain.shortest_path`), for each multiply-add
    that was counted; what reading operands takes at least is counted in the whole step (`kernel_reads`); the sectors that are distinct
    in a block come from the shape of its tile; their wavefronts in the L1 from the traced requests of one block.

    Parameters
    ----------
    result
        Of a row-major kernel, with counters, beta 0.

    Raises
    ------
    CourseError
        Without counters, for a column-major kernel, or one without a loop of multiply-adds.
    """
    kernel, c = result.kernel, result.counters
    if c is None:
        raise CourseError("this run has no counters: run it with counters=True", kernel=kernel.name)
    if kernel.layout != "row":
        raise CourseError(f"{kernel.name} is column-major, but the tile's shape is known for row-major kernels only", kernel=kernel.name)
    if shares_out_steps(kernel):
        return shared_work(kernel, result.M, result.N, result.K, result.parameters, lda=result.lda, ldb=result.ldb, device=result.device)
    if kernel.inputs:
        return _tensor_work(result)
    op, blocks = ("dfma" if kernel.dtype == "float64" else "ffma"), math.prod(result.grid)
    fmas = c[f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"] / 32
    requests = {kind: result.count("requests", kind) for kind in ("load", "store")}
    parameters: dict[str, Any] = result.parameters
    path = toolchain.shortest_path(kernel, requests["load"] / fmas, **parameters)
    warps = blocks * -(-math.prod(result.block) // 32)
    near, far = product_sectors(*tile_of(result), result.M, result.N, result.K, np.dtype(kernel.dtype).itemsize)
    return Work(
        blocks, fmas, fmas * path.per_multiply_add, sum(result.count("wavefronts", k) for k in requests),
        sum(result.count("sectors", k) for k in requests), _l1_wavefronts(result, requests), near, far,
        requests["load"] / warps / path.loads if path.loads else 0.0, result.occupancy.blocks, op == "dfma",
        operand_cycles=1.0 if op == "dfma" else kernel_reads(kernel, **parameters).step.per_multiply_add)


def _tensor_work(result: RunResult) -> Work:
    """Return the Work of a kernel for tensor cores: every warp of every block makes the same steps along K, at the edges too."""
    p: dict[str, Any] = result.parameters
    blocks, step = math.prod(result.grid), toolchain.tensor_step(result.kernel, **p)
    warps, requests = blocks * math.prod(result.block) // 32, {kind: result.count("requests", kind) for kind in ("load", "store")}
    steps, number = warps * -(-result.K // p["BK"]), result.kernel.inputs.removesuffix("x3")
    near, far = product_sectors(*tile_of(result), result.M, result.N, result.K, factor_bytes=result.kernel.factor_bytes)
    return Work(
        blocks, 0.0, steps * step.instructions, sum(result.count("wavefronts", k) for k in requests),
        sum(result.count("sectors", k) for k in requests), _l1_wavefronts(result, requests), near, far,
        requests["load"] / warps / step.loads if step.loads else 0.0, result.occupancy.blocks,
        tensor=float(steps * step.multiply_adds), number=number, mma=number if step.opcodes["HMMA"] else "")


def tile_of(result: RunResult) -> tuple[float, float]:
    """Return rows and columns of C that one block computes, or computes at a time, the first number along the grid's y."""
    if shares_out_steps(result.kernel):
        return min(result.parameters["BM"], result.M), min(result.parameters["BN"], result.N)
    return result.M / result.grid[1], result.N / result.grid[0]


def one_block(result: RunResult, depth: int = DEPTH, warps: Sequence[int] | None = None) -> RunResult:
    """Simulate the same kernel on so much of the matrices that little more than one block has work, and trace it.

    The leading dimensions stay, so that the addresses of the first block are what they were.

    Parameters
    ----------
    result
        Of a row-major kernel.
    depth
        Columns of A that are left.
    warps
        Which are traced; default all of the block.
    """
    parameters: dict[str, Any] = result.parameters
    side, K = math.ceil(max(tile_of(result))), min(depth, result.K)
    a, b = ((K, side)[::-1 if not result.parameters.get("TRANSA") else 1], (side, K)[::-1 if not result.parameters.get("TRANSB") else 1])
    A, B, C = (np.ones((rows, ld), result.kernel.dtype)[:, :cols] for (rows, cols), ld in (
        (a, result.lda), (b, result.ldb), ((side, side), result.ldc)))
    count = -(-math.prod(result.block) // 32)
    trace = [((0, 0, 0), w) for w in (range(count) if warps is None else warps) if w < count]
    return run(result.kernel, A, B, C, backend="sim", trace=trace, **parameters)


def _l1_wavefronts(result: RunResult, requests: dict[str, int]) -> float:
    """Return the wavefronts of all global requests in the L1: those of the first block's are representative."""
    passes, seen = dict.fromkeys(requests, 0), dict.fromkeys(requests, 0)
    for record in one_block(result).trace:
        first = record.addresses[record.addresses >= 0]
        kind = {"ld": "load", "st": "store"}.get(record.operation[:2])
        if record.space == "global" and kind and len(first):
            passes[kind] += l1_wavefronts(first, record.width)
            seen[kind] += 1
    return sum(requests[kind] * (passes[kind] / seen[kind] if seen[kind] else 1.0) for kind in requests)


def bound_of(result: RunResult) -> Bound:
    """Return the lower bound for the time of a product, modelled for the result's device.

    Raises
    ------
    CourseError
        As `work_of`, and for devices older than CC 7.0.

    >>> result = run("sgemm_naive", np.ones((64, 64), np.float32), np.ones((64, 64), np.float32), backend="sim")
    >>> bound_of(result).seconds > 0
    True
    """
    return lower_bound(work_of(result), device(result.device))
