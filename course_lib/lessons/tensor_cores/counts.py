"""What one product takes beside itself, counted: instructions and wavefronts of shared memory, and how the next tiles come."""

import functools
from collections.abc import Mapping
from typing import Any

from course_lib.kernels import UserKernel, get
from course_lib.plots import Table
from course_lib.run import RunResult, counter_name, run, stages_in_flight
from course_lib.run.reads_ahead import copied_bytes
from course_lib.run.traces import is_barrier
from course_lib.widgets.compute import inputs

STEPS = 6                                      # of the block that is traced
M, N, DEPTHS = 128, 256, (128, 256)            # counted is what the second half of K adds
PRODUCTS, EXECUTED = "smsp__inst_executed_pipe_tensor_op_hmma.sum", "smsp__inst_executed.sum"
MATRIX_LOADS = "smsp__sass_inst_executed_op_ldsm.sum"
COPIED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"      # of cp.async, which are no stores
LOADS = {                                       # a fragment's loads in `sbgemm_mma` by ldmatrix, and the same by each lane for itself
    "ldmatrix(a[i], &As[warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);":
    "for (int e = 0; e < 4; ++e) a[i][e] = *(const unsigned*)&As[warp_row + 16 * i + g + e % 2 * 8][k + 2 * t + e / 2 * 8];",
    "ldmatrix_transposed(b[j], &Bs[k + lane % 16][warp_col + 16 * j + lane / 16 * 8]);":
    "for (int e = 0; e < 4; ++e) { const unsigned short* p = &Bs[k + 2 * t + e % 2 * 8][warp_col + 16 * j + g + e / 2 * 8];"
    " b[j][e] = p[0] | unsigned(p[LDB]) << 16; }"}
PADDING = {"(BK + 8)": "BK", "(BN + 8)": "BN"}
FED: dict[str, tuple[Mapping[str, str], Mapping[str, Any]]] = {        # name of a row -> what is changed in the text, and in the sizes
    "ldmatrix, padded rows, 64 × 32 per warp": ({}, {}),
    "each lane loads its own elements": (LOADS, {}),
    "rows without padding": (PADDING, {}),
    "32 × 32 per warp": ({}, {"WM": 32}),
    "64 × 64 per warp": ({}, {"WN": 64}),
}
STAGED: dict[str, tuple[str, dict[str, Any]]] = {
    "sbgemm_mma": ("sbgemm_mma", {}),
    "sbgemm_stages, tiles of the same size": ("sbgemm_stages", {"BN": 128, "WN": 32}),
    "sbgemm_stages, as it is": ("sbgemm_stages", {}),
}


def changed(changes: Mapping[str, str]) -> Any:
    """Return `sbgemm_mma` with other text in some places."""
    text = get("sbgemm_mma").source
    for old, new in changes.items():
        text = text.replace(old, new)
    return UserKernel.from_source(text, like="sbgemm_mma")


def counted(kernel: Any, K: int, **parameters: Any) -> dict[str, int]:
    """Run a kernel on the simulator and return its counts: products, instructions, loads, wavefronts of loads and of stores, conflicts."""
    A, B, _ = inputs(M, N, K)
    result = run(kernel, A, B, backend="sim", **parameters)
    counters = result.counters or {}
    return {"products": counters[PRODUCTS], "instructions": counters[EXECUTED],
            "loads": counters.get(MATRIX_LOADS, 0) + counters.get(counter_name("shared instructions", "load"), 0),
            "loaded": result.count("wavefronts"), "stored": result.count("wavefronts", "store") + counters.get(COPIED, 0),
            "conflicts": result.count("conflicts")}


def of_a_product(kernel: Any, **parameters: Any) -> dict[str, float]:
    """Return what one product, an `mma` of 16 × 8 × 16, adds to each count of `counted`."""
    first, second = (counted(kernel, K, **parameters) for K in DEPTHS)
    products = second["products"] - first["products"]
    return {what: (second[what] - first[what]) / products for what in second}


@functools.cache
def of_row(name: str) -> dict[str, float]:
    """Return what a product adds in a row of `FED`."""
    changes, parameters = FED[name]
    return of_a_product(changed(changes), **parameters)


def wavefronts_of_a_product(kernel: str, **parameters: int) -> float:
    """Return the wavefronts of shared loads for each product."""
    return of_a_product(kernel, **parameters)["loaded"]


def feeding() -> Table:
    """Return what a product takes in `sbgemm_mma` as it is, and with one thing changed."""
    rows = [(name, f"{(found := of_row(name))['loads']:.4g}", f"{found['loaded']:g}", f"{found['stored']:g}",
             f"{found['loaded'] + found['stored']:g}") for name in FED]
    header = ("sbgemm_mma with", "load instructions", "wavefronts of loads", "of stores", "of both")
    return Table(header, rows, "For each product of 16 × 8 × 16, shared memory, counted by the simulator")


def one_warp(name: str) -> RunResult:
    """Run a row of `STAGED` on one block and `STEPS` steps, its first warp traced."""
    kernel, parameters = STAGED[name]
    values = get(kernel).check(**parameters)
    A, B, _ = inputs(values["BM"], values["BN"], STEPS * values["BK"])
    return run(kernel, A, B, backend="sim", trace=[((0, 0, 0), 0)], **parameters)


def ahead(result: RunResult) -> int:
    """Return how many steps' tiles may be on their way when the traced warp comes to where it waits for some, at most."""
    each = sum(map(copied_bytes, result.trace)) // STEPS
    if each:
        return max(wait.bytes for wait in stages_in_flight(result)) // each
    order = [record.operation for record in result.trace if is_barrier(record) or record.space == "global"]
    return int(any(first.startswith("bar") and then.startswith("ld") for first, then in zip(order, order[1:], strict=False)))


def barriers(result: RunResult) -> int:
    """Return the barriers of a step; those before the first and behind the last do not make one more."""
    return sum(map(is_barrier, result.trace)) // STEPS


def next_tiles() -> Table:
    """Return how a kernel with one stage and one with three bring their tiles, and what a product takes."""
    rows = []
    for name, (kernel, parameters) in STAGED.items():
        result, found = one_warp(name), of_a_product(kernel, **parameters)
        shared = result.resources.static_shared_bytes + result.kernel.dynamic_bytes(**result.parameters)
        rows.append((name, barriers(result), ahead(result), f"{found['instructions']:.2f}", f"{found['loaded'] + found['stored']:g}",
                     f"{shared:,}", result.occupancy.warps))
    header = ("kernel", "barriers per step", "steps ordered", "instructions per product", "wavefronts per product", "shared bytes", "warps")
    return Table(header, rows, "Counted by the simulator. Steps ordered: whose tiles may be on their way when the warp comes to wait for "
                 "some. Warps: that fit a multiprocessor, modelled for H200")
