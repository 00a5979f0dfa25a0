"""Lesson 15's pictures of a warp's tile and of tiles on their way: in a cell of their own, and beside sliders."""

from typing import Any

from matplotlib.axes import Axes

from course_lib.kernels import Kernel
from course_lib.lessons.closing_in.overlap import describe_overlap, overlap, overlap_rows
from course_lib.lessons.closing_in.warp_tile import describe_warp_tiles, warp_tile, warp_tiles
from course_lib.plots import Picture, render, style
from course_lib.run import RunResult, resolve, run
from course_lib.widgets.compute import inputs
from course_lib.widgets.pictures import BESIDE


def one_warp(kernel: str | Kernel, depth: int = 1, **parameters: int) -> RunResult:
    """Run one block of a product with tiles BM, BN, BK on `depth` tiles along K, its first warp traced.

    Returns
    -------
    RunResult
        Simulated.

    >>> one_warp("sgemm_vectorized", BM=32, BN=32, TM=4, TN=4).grid
    (1, 1, 1)
    """
    resolved = resolve(kernel)
    p = resolved.check(**parameters)
    A, B, _ = inputs(p["BM"], p["BN"], depth * p["BK"])
    options: dict[str, Any] = {"trace": [((0, 0, 0), 0)], **parameters}
    return run(resolved, A, B, backend="sim", **options)


def on_the_way(*kernels: str) -> Picture:
    """Draw for each kernel when four tiles of depth 8 are on their way, and when they are multiplied."""
    found = [overlap(one_warp(kernel, 4, BK=8)) for kernel in kernels]
    return render(overlap_rows(found), describe_overlap(found))


def warp_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw which part of its block's tile of C a warp computes, with the kernel and the tile of `result`."""
    tile = warp_tile(one_warp(result.kernel, **result.parameters))
    return warp_tiles([tile], style.axes(None, **BESIDE)), describe_warp_tiles([tile])


def overlap_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw when four tiles are on their way and when they are multiplied, with the kernel and the tile of `result`."""
    found = overlap(one_warp(result.kernel, 4, **result.parameters))
    return overlap_rows([found], style.axes(None, **BESIDE)), describe_overlap([found])
