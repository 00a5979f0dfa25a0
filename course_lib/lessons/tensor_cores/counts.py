"""What feeds one `mma`, counted: loads, and wavefronts of the L1 and of shared memory."""

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.kernels import UserKernel, get
from course_lib.model import l1_wavefronts
from course_lib.plots import Table
from course_lib.run import RunResult, counter_name, run
from course_lib.widgets.compute import inputs

M, N, DEPTHS = 128, 256, (128, 256)            # counted is what the second half of K adds
MATRIX = "smsp__inst_executed_pipe_tensor_op_hmma.sum"
COPIED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"            # by asynchronous copies
MATRIX_LOADS = "smsp__sass_inst_executed_op_ldsm.sum"
OWN_A = {"ldmatrix(a[i], &As[warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);":
         "for (int e = 0; e < 4; ++e) a[i][e] = *(const unsigned*)&As[warp_row + 16 * i + g + e % 2 * 8][k + 2 * t + e / 2 * 8];"}
OWN_B = {"ldmatrix_transposed(b[j], &Bs[k + lane % 16][warp_col + 16 * j + lane / 16 * 8]);":
         "for (int e = 0; e < 4; ++e) { const unsigned short* p = &Bs[k + 2 * t + e % 2 * 8][warp_col + 16 * j + g + e / 2 * 8];"
         " b[j][e] = p[0] | unsigned(p[LDB]) << 16; }"}
LOADED: dict[str, Mapping[str, str]] = {        # name of a row -> what is changed in the text of `sbgemm_mma`
    "ldmatrix, padded rows": {},
    "each lane loads its own elements of A": OWN_A,
    "each lane loads its own elements of B": OWN_B,
    "ldmatrix, rows without padding": {"(BK + 8)": "BK", "(BN + 8)": "BN"},
}


def changed(changes: Mapping[str, str]) -> Any:
    """Return `sbgemm_mma` with other text in some places."""
    text = get("sbgemm_mma").source
    for old, new in changes.items():
        text = text.replace(old, new)
    return UserKernel.from_source(text, like="sbgemm_mma")


def counted(kernel: Any, K: int, **parameters: Any) -> dict[str, int]:
    """Run a kernel on the simulator and return its counts: matrix instructions, loads from shared memory, and wavefronts.

    These are *loaded* from shared memory, *stored* to it, also by asynchronous copies, and *fetched* through the L1 to registers.
    """
    A, B, _ = inputs(M, N, K)
    kernel = get(kernel) if isinstance(kernel, str) else kernel
    block = [((0, 0, 0), warp) for warp in range(math.prod(kernel.block(**parameters)) // 32)]
    result = run(kernel, A, B, backend="sim", trace=block, **parameters)
    counters = result.counters or {}
    return {"mma": counters[MATRIX], "loads": counters.get(MATRIX_LOADS, 0) + counters.get(counter_name("shared instructions", "load"), 0),
            "loaded": result.count("wavefronts"), "stored": result.count("wavefronts", "store") + counters[COPIED],
            "fetched": served_by_l1(result) * math.prod(result.grid)}


def of_an_mma(kernel: Any, **parameters: Any) -> dict[str, float]:
    """Return what one matrix instruction adds to each count of `counted`."""
    first, second = (counted(kernel, K, **parameters) for K in DEPTHS)
    return {what: (second[what] - first[what]) / (second["mma"] - first["mma"]) for what in second}


def wavefronts_of_an_mma(kernel: str, **parameters: int) -> float:
    """Return the wavefronts of shared loads for each matrix instruction."""
    return of_an_mma(kernel, **parameters)["loaded"]


def served_by_l1(result: RunResult) -> int:
    """Return the wavefronts in which the L1 serves the global loads of the traced warps, as `model.l1_wavefronts` counts them."""
    loads = [record for record in result.trace if record.operation.startswith("ld") and record.space == "global"]
    return sum(l1_wavefronts(record.addresses[record.addresses >= 0], record.width) for record in loads)


def wavefronts_from_l1(kernel: str, after_a: int = 0, after_b: int = 0) -> float:
    """Return the wavefronts in which the L1 serves the global loads of each matrix instruction, in the first warp of a reader's kernel.

    Rows of A and B are whole lines, and so many unused floats stand after each.
    """
    A, B = (np.pad(X, ((0, 0), (0, after)))[:, :X.shape[1]] for X, after in zip(inputs(128, 128, 128), (after_a, after_b), strict=False))
    mine = UserKernel.from_source(kernel, like="sgemm_mma")
    result = run(mine, A, B, backend="sim", trace=[((0, 0, 0), 0)])
    multiplied = (result.counters or {})[MATRIX] / (math.prod(result.grid) * math.prod(result.block) / 32)
    return served_by_l1(result) / multiplied


def of_six_loads(after_a: int = 0, after_b: int = 0, N: int = 4096) -> int:
    """Return the wavefronts in which the L1 serves the six loads of one `mma` of the lesson's kernel: four of A and two of B.

    >>> of_six_loads(), of_six_loads(after_a=4)
    (40, 12)
    """
    g, t = np.divmod(np.arange(32), 4)
    loads = [(g + row) * (N + after_a) + t + column for row in (0, 8) for column in (0, 4)]
    loads += [(t + row) * (N + after_b) + g for row in (0, 4)]
    return sum(l1_wavefronts(4 * words) for words in loads)


@functools.cache
def of_row(name: str) -> dict[str, float]:
    """Return what a matrix instruction adds in a row of `LOADED`."""
    return of_an_mma(changed(LOADED[name]))


def ways_to_load() -> Table:
    """Return the loads that feed a matrix instruction in `sbgemm_mma` as it is, and with one thing changed in its text."""
    rows = [(name, f"{of_row(name)['loads']:.4g}", f"{of_row(name)['loaded']:g}") for name in LOADED]
    return Table(("sbgemm_mma with", "load instructions", "wavefronts of loads"), rows, "For each mma, counted by the simulator")
