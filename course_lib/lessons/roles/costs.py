"""What one more product costs in warp instructions: everybody copies and multiplies, or each has a role."""

import functools
from typing import Any

from course_lib import data
from course_lib.plots import Table
from course_lib.run import run
from course_lib.widgets.compute import inputs

M, N, DEPTHS = 256, 512, (512, 1024)         # counted is what the second half of K adds
PRODUCT = 64 * 256 * 16                      # multiply-adds of one product of a warpgroup
STEP = 128 * 256 * 64                        # and of a step of the tiles of both
KERNELS = ("sbgemm_stages", "sbgemm_tma")
COUNTED = {
    "copies": ("smsp__sass_inst_executed_op_ldgsts.sum", "smsp__sass_inst_executed_op_tma_ld.sum"),
    "to registers": ("smsp__sass_inst_executed_op_ldsm.sum",),
    "products": ("smsp__inst_executed_pipe_tensor_op_hmma.sum", "smsp__inst_executed_pipe_tensor_op_gmma.sum"),
    "all": ("smsp__inst_executed.sum",)}


@functools.cache
def per_product(kernel: str) -> dict[str, float]:
    """Return the warp instructions that a product of 64 × 256 × 16 costs: names of `COUNTED`, and each role where there are roles."""
    first, second = (_counts(kernel, K) for K in DEPTHS)
    products = M * N * (DEPTHS[1] - DEPTHS[0]) / PRODUCT
    return {what: (second[what] - first[what]) / products for what in second}


def _counts(kernel: str, K: int) -> dict[str, int]:
    A, B, _ = inputs(M, N, K)
    blocks: dict[str, Any] = {"blocks": 2} if kernel == "sbgemm_tma" else {}
    result = run(kernel, A, B, backend="sim", **blocks)
    counters, roles = result.counters or {}, result.pipeline
    found = {what: sum(counters.get(name, 0) for name in names) for what, names in COUNTED.items()}
    if roles and roles.instructions["products"]:
        found |= {"producer": roles.instructions["copies"], "consumers": roles.instructions["products"]}
    return found


def copies_per_step(kernel: str) -> int:
    """Return the copy instructions of a block in each step of 64 along K, for a tile of 128 × 256."""
    return round(per_product(kernel)["copies"] * STEP / PRODUCT)


def costs() -> Table:
    """Return what a product costs in each of the two kernels."""
    rows = [(kernel, *(f"{per_product(kernel)[what]:.3g}" for what in ("copies", "products", "all"))) for kernel in KERNELS]
    return Table(("kernel", "copies", "products", "all instructions"), rows, "Warp instructions for each 64 × 256 × 16 multiply-adds, "
                 "counted in PTX by the simulator: what K = 1024 needs more than K = 512, with M = 256 and N = 512. Both kernels compute "
                 "tiles of 128 × 256")


def speeds() -> Table:
    """Return the recorded speeds of `sbgemm_tma` and of the library, which ran in turns, and the ratios of three runs."""
    recorded, rows = data.readings("warpgroups"), []
    for row in recorded.find(kernel="sbgemm_tma"):
        work, chosen = 2e-12 * row["M"] * row["N"] * row["K"], row["parameters"]
        rows.append((f"{row['N']}: 128 × {chosen['BN']}, {chosen['STAGES']}", f"{work / row['ours']:.0f}", f"{work / row['library']:.0f}",
                     f"{row['low']:.2f} to {row['high']:.2f}"))
    return Table(("N: tile of C, stages", "sbgemm_tma, TFLOP/s", "cuBLAS, TFLOP/s", "of cuBLAS's speed"), rows,
                 f"{recorded.label}. Three runs, in each of which both took turns: the speeds are medians of the runs; the last column has "
                 "the least and the largest of their ratios, each the median of the turns")
