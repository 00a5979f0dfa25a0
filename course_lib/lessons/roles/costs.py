"""What one more product costs in warp instructions: everybody copies and multiplies, or each has a role."""

import functools
from typing import Any

from course_lib import data
from course_lib.plots import Table
from course_lib.run import run
from course_lib.widgets.compute import inputs

M, N, DEPTHS = 256, 512, (512, 1024)         # counted is what the second half of K adds
PRODUCT = 64 * 256 * 16                      # multiply-adds of one product of a warpgroup
STEP = 128 * 256 * 64                        # and of a step of the tiles that two of the kernels have
KERNELS = ("sbgemm_mma", "sbgemm_stages", "sbgemm_tma")
COUNTED = {
    "copies": ("smsp__sass_inst_executed_op_ldgsts.sum", "smsp__sass_inst_executed_op_tma_ld.sum",
               "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum"),
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
    if kernel == "sbgemm_stages":             # whose cp.async are requests to global memory, too
        found["copies"] = counters[COUNTED["copies"][0]]
    if roles and roles.instructions["products"]:
        found |= {"producer": roles.instructions["copies"], "consumers": roles.instructions["products"]}
    return found


def copies_per_step(kernel: str) -> int:
    """Return the copy instructions of a block in each step of 64 along K, for a tile of 128 × 256."""
    return round(per_product(kernel)["copies"] * STEP / PRODUCT)


def costs() -> Table:
    """Return what a product costs in each of the kernels."""
    rows = []
    for kernel in KERNELS:
        found = per_product(kernel)
        rest = found["all"] - found["copies"] - found["to registers"] - found["products"]
        rows.append((kernel, *(f"{n:.3g}" for n in (found["copies"], found["to registers"], found["products"], rest, found["all"]))))
    header = ("kernel", "copies", "loads to registers", "products", "everything else", "all")
    return Table(header, rows, "Warp instructions for each 64 × 256 × 16 multiply-adds, counted in PTX by the simulator: what K = 1024 "
                 "needs more than K = 512, with M = 256 and N = 512")


def by_role() -> Table:
    """Return who executes the instructions of `sbgemm_tma`."""
    found = per_product("sbgemm_tma")
    rows = [(words, f"{found[role]:.3g}", f"{found[role] / found['all']:.0%}") for role, words in
            (("producer", "the producer"), ("consumers", "a consumer: the four warps of a warpgroup"))]
    return Table(("sbgemm_tma", "instructions", "of all"), rows, "Warp instructions for each 64 × 256 × 16 multiply-adds, as above")


def speeds() -> Table:
    """Return the recorded speeds of `sbgemm_tma` and of the library, which ran in turns, and the median of their ratios."""
    recorded, rows = data.readings("warpgroups"), []
    for row in recorded.find(kernel="sbgemm_tma"):
        work = 2e-12 * row["M"] * row["N"] * row["K"]
        rows.append((row["N"], f"{work / row['ours']:.0f}", f"{work / row['library']:.0f}", f"{row['ratio']:.3f}"))
    return Table(("N", "sbgemm_tma, TFLOP/s", "cuBLAS, TFLOP/s", "of cuBLAS"), rows, f"{recorded.label}; both ran in turns")
