"""An experiment for a GPU: `sgemm_unrolled` with instructions, or with wavefronts of shared memory, that nobody needs.

`python -m tools record ballast` runs it; the rows of an H200 are the readings `ballast`, and `charts` draws them.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from course_lib import cp
from course_lib.lessons.unrolling.counts import FACTORS, TILE
from course_lib.toolchain import Compiled, compile_cuda, loops, sass

ENTRY, FILE = "ballast", Path(__file__).with_name("ballast.cu")
EXTRA, WAYS = (0, 1, 2, 3, 4, 6), (1, 2, 4)
N_COUNTED = 48                              # a multiple of the tile: the count per multiply-add is that of any other


def plan() -> Iterator[dict[str, int]]:
    """Yield what to measure: every UNROLL with more and more additions, and the least and the most unrolled with more wavefronts."""
    for factor in FACTORS:
        yield from ({"UNROLL": factor, "EXTRA": extra, "WAYS": 1} for extra in EXTRA)
    for factor in (FACTORS[0], FACTORS[-1]):
        yield from ({"UNROLL": factor, "EXTRA": 0, "WAYS": ways} for ways in WAYS[1:])


def compiled(values: dict[str, int], arch: str = "sm_90") -> Compiled:
    """Compile one variant."""
    return compile_cuda(FILE.read_text(encoding="utf-8"), name=FILE.name, arch=arch, defines=values)


def per_multiply_add(code: Compiled) -> float:
    """Return the machine instructions per multiply-add of a step along K: the outer loop once, the loop over k as often as it runs."""
    busy = [loop for loop in loops(sass(code, ENTRY)) if loop.counts["FFMA"]]
    outer, inner = busy[0], busy[-1]
    more = TILE // inner.counts["FFMA"] - 1
    return (outer.counts["instructions"] + more * inner.counts["instructions"]) / TILE


@cache
def wavefronts(unroll: int, ways: int) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores, counted by the simulator."""
    n, one, zero = np.int32(N_COUNTED), np.float32(1), np.float32(0)
    text = f"#define UNROLL {unroll}\n#define EXTRA 0\n#define WAYS {ways}\n" + FILE.read_text(encoding="utf-8")
    A, B, C = (cp.zeros((N_COUNTED, N_COUNTED), dtype=np.float32) for _ in "ABC")
    blocks = N_COUNTED // TILE
    cp.RawKernel(text, ENTRY)((blocks, blocks), (TILE, TILE), (n, n, n, one, A, n, B, n, zero, C, n, one))
    return 32 * sum(cp.last_launch().count("wavefronts", kind) for kind in ("load", "store")) / N_COUNTED**3
