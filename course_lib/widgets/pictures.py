"""The pictures beside the sliders: each takes a result, returns (Axes, alternative text)."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.kernels import Kernel
from course_lib.plots import bars, every_warp, owners, style, thread_grid, thread_share
from course_lib.plots.registers import Share
from course_lib.run import LaunchResult, RunResult, resolve, run
from course_lib.run.traces import Owners
from course_lib.widgets.compute import evaluate, inputs

SMALL = {"width": 5.9, "height": 4.4}      # inches: beside a table on a 1280-pixel screen
BESIDE = {"width": 5.2, "height": 3.9}     # the same, beside a wider table


def who_writes(kernel: str | Kernel, M: int = 32, N: int = 32, **parameters: int) -> Owners:
    """Run a kernel on a small problem, trace every warp, and return who writes each element of C."""
    A, B, _ = inputs(M, N, 1)
    options: dict[str, Any] = {"backend": "sim", **parameters}
    plan = run(kernel, A, B, **options)
    traced = run(kernel, A, B, trace=every_warp(plan.grid, plan.block), **options)
    return owners(traced)


def describe_owners(who: Owners, block: Sequence[int]) -> str:
    """Say in words what `thread_grid` draws.

    Parameters
    ----------
    block
        Along x, y, …: threads of a block.
    """
    rows, cols = np.nonzero((who.block_x == 0) & (who.block_y == 0) & (who.warp == 0))
    blocks = (int(who.block_x.max()) + 1) * (int(who.block_y.max()) + 1)
    return (f"C of {who.warp.shape[0]} × {who.warp.shape[1]} elements, {blocks} block{'s' * (blocks != 1)} of "
            f"{block[0]} × {block[1]} threads. Warp 0 of block (0, 0) writes {_span(rows, 'row')}, {_span(cols, 'column')}.")


def _span(values, word):
    first, last = int(values.min()), int(values.max())
    return f"{word} {first}" if first == last else f"{word}s {first} to {last}"


def thread_picture(result: LaunchResult) -> tuple[Axes, str]:
    """Draw who writes which element of a 32 × 32 C with the kernel and block of `result`."""
    who = who_writes(result.kernel, **result.parameters)
    title = f"{result.kernel.name}: blocks of {result.block[0]} × {result.block[1]}"
    return thread_grid(who, style.axes(None, **SMALL), title=title), describe_owners(who, result.block)


@functools.lru_cache(maxsize=16)
def _naive_sectors(N):
    result = evaluate("sgemm_naive", N, {"bx": 16, "by": 16}, backend="sim")
    return result.count("sectors") / N**3


def tile_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw the load sectors per multiply-add of a tiled kernel beside the naive kernel's and the formula's."""
    BM, BN = result.parameters["BM"], result.parameters["BN"]
    now = result.count("sectors") / (result.M * result.N * result.K)
    formula = (1 / BM + 1 / BN) / 8
    values = {"naive, 16 × 16": _naive_sectors(result.N), f"tiled, {BM} × {BN}": now, "(1/BM + 1/BN) / 8": formula}
    ax = bars(values, style.axes(width=5.9, height=3.0), title="Global load sectors per multiply-add",
              unit=f"sectors, {result.counters_label}")
    return ax, (f"Global load sectors per multiply-add at N = {result.N}: naive kernel {values['naive, 16 × 16']:.4f}, "
                f"tiled kernel with {BM} × {BN} tiles {now:.4f}, formula {formula:.4f}.")


def one_thread(kernel: str | Kernel, **parameters: int) -> Share:
    """Run one block of a register-blocked kernel, and return what thread (3, 0), or the last of a shorter row, computes and reads.

    Parameters
    ----------
    kernel
        With parameters BM, BN, BK or TA, TB, TW: the block's tile is then the whole problem.

    >>> one_thread("sgemm_1d_tile", BM=16, BN=16, BK=8, TM=2).outputs
    ((0, 3), (8, 3))
    """
    resolved = resolve(kernel)
    p = resolved.check(**parameters)
    M, N, K = (p[name] for name in (("BM", "BN", "BK") if "BM" in p else ("TA", "TB", "TW")))
    A, B, _ = inputs(M, N, K)
    options: dict[str, Any] = {"trace": [((0, 0, 0), 0)], **parameters}
    traced = run(resolved, A, B, backend="sim", **options)
    names = {variable.name for variable in traced.shared}
    return thread_share(traced, (min(3, traced.block[0] - 1), 0), ("As", "Bs") if "As" in names else ("a", "b"))
