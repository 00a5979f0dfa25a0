"""An experiment for a GPU: `sgemm_unrolled` with instructions, or with wavefronts of shared memory, that nobody needs.

`python -m tools record ballast` runs it; the rows of an H200 are the readings `ballast`, and `experiments` draws them.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from course_lib import cp, kernels
from course_lib.errors import CourseError
from course_lib.lessons.unrolling.counts import FACTORS, KERNEL, TILE
from course_lib.toolchain import Compiled, compile_cuda, loops, sass

EXTRA, WAYS = (0, 2, 6), (1, 2)
ROUNDS = 9                                  # timed launches of each variant
N_COUNTED = 48                              # a multiple of the tile: the count per multiply-add is that of any other
SUM = "        for (int k = 0; k < TILE; ++k)\n            acc += As[ty][k] * Bs[k][tx];\n"
SPREAD = "tx % 8 + tx / 8 * 32"             # of 16 columns of Bs, two lie in the same bank


def text(extra: int = 0, ways: int = 1) -> str:
    """Return the kernel's text with `extra` additions per multiply-add, or with `ways` columns of the tile of B in each bank.

    A float addition may not be joined with another, so each is an instruction. The compiler cannot know that their sum is never below 0.

    Raises
    ------
    CourseError
        When the kernel is not the one that this was written for.
    """
    changes = {}
    if extra:
        changes = {"float acc = 0.0f;": "float acc = 0.0f, idle = 0.0f;",
                   SUM: SUM.replace("++k)\n", "++k) {\n") + "            idle += alpha;\n" * extra + "        }\n",
                   "    if (row < M && col < N) {": "    if (idle < 0.0f) acc = idle;\n    if (row < M && col < N) {"}
    if ways > 1:
        changes = {"Bs[TILE][TILE];": "Bs[TILE][40];", "Bs[ty][tx] =": f"Bs[ty][{SPREAD}] =", "* Bs[k][tx]": f"* Bs[k][{SPREAD}]"}
    found = kernels.get(KERNEL).source
    for old, new in changes.items():
        if found.count(old) != 1:
            raise CourseError(f"{KERNEL} no longer has the line that this experiment changes: {old.strip()}")
        found = found.replace(old, new)
    return found


def plan() -> Iterator[dict[str, int]]:
    """Yield what to measure: every UNROLL with more and more additions, and the least and the most unrolled with more wavefronts."""
    for factor in FACTORS:
        yield from ({"UNROLL": factor, "EXTRA": extra, "WAYS": 1} for extra in EXTRA)
    yield from ({"UNROLL": factor, "EXTRA": 0, "WAYS": 2} for factor in (FACTORS[0], FACTORS[-1]))


def compiled(values: dict[str, int], arch: str = "sm_90") -> Compiled:
    """Compile one variant."""
    return compile_cuda(text(values["EXTRA"], values["WAYS"]), name=f"{KERNEL}.cu", arch=arch,
                        defines={"TILE": TILE, "UNROLL": values["UNROLL"]})


def per_multiply_add(code: Compiled) -> float:
    """Return the machine instructions per multiply-add of a step along K: the outer loop once, the loop over k as often as it runs."""
    busy = [loop for loop in loops(sass(code, KERNEL)) if loop.counts["FFMA"]]
    outer, inner = busy[0], busy[-1]
    more = TILE // inner.counts["FFMA"] - 1
    return (outer.counts["instructions"] + more * inner.counts["instructions"]) / TILE


@cache
def wavefronts(unroll: int, ways: int) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores, counted by the simulator."""
    n, one, zero = np.int32(N_COUNTED), np.float32(1), np.float32(0)
    source = f"#define TILE {TILE}\n#define UNROLL {unroll}\n" + text(ways=ways)
    A, B, C = (cp.zeros((N_COUNTED, N_COUNTED), dtype=np.float32) for _ in "ABC")
    blocks = N_COUNTED // TILE
    cp.RawKernel(source, KERNEL)((blocks, blocks), (TILE, TILE), (n, n, n, one, A, n, B, n, zero, C, n))
    return 32 * sum(cp.last_launch().count("wavefronts", kind) for kind in ("load", "store")) / N_COUNTED**3
