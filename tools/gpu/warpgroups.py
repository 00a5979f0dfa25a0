"""Hold the kernels of bfloat16, FP8 and three parts to the simulator: the bits of C, and what Nsight Compute counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tools import ToolError
from tools.gpu.cases import Case, describe, matrices
from tools.gpu.winners import KINDS, WARPGROUPS, hard
from tools.nsight import MEASURED, number, watched

SHAPES = ((1, 1, 1), (130, 70, 45), (200, 264, 136), (384, 512, 192))
COPIED = ("l1tex__m_xbar2l1tex_read_{}_mem_global_op_tma_ld.sum", "l1tex__m_l1tex2xbar_write_{}_mem_global_op_tma_st.sum")
# By the same name on both sides; the multiplication by warpgroups, matrices loaded and stored by warps, copies by threads and in bulk.
SAME = ("smsp__inst_executed_pipe_tensor_op_gmma.sum", "smsp__sass_inst_executed_op_ldsm.sum", "smsp__sass_inst_executed_op_ldgsts.sum",
        "smsp__sass_inst_executed_op_tma_ld.sum", "smsp__sass_inst_executed_op_tma_st.sum",
        *(name.format(what) for name in COPIED for what in ("bytes", "sectors")))
COUNTED = MEASURED | {name: name for name in SAME}


def cases() -> Iterator[Case]:
    """Yield what Nsight Compute watches: each kernel at two sizes, with its defaults."""
    for name in WARPGROUPS:
        for shape in SHAPES[1:3]:
            yield name, {}, shape, 0


def section_warpgroups(record: dict[str, Any], out: Path) -> str:
    """Multiply hard matrices on the GPU and compare bits with the simulator's; then compare counters."""
    from course_lib.kernels import get
    from course_lib.run import mismatch, run
    wrong, unlike, count = [], [], 0
    for name, shape, kind in ((n, s, k) for n in WARPGROUPS for s in SHAPES for k in KINDS):
        rng, (M, N, K), kernel = np.random.default_rng([*shape, KINDS.index(kind)]), shape, get(name)
        A, B, C = (np.ascontiguousarray(hard(kind, rng, rows, cols, "float32")) for rows, cols in ((M, K), (K, N), (M, N)))
        for alpha, beta in ((1.0, 0.0),) if kernel.result else ((1.0, 0.0), (-1.5, 0.75)):
            start = None if kernel.result else C if beta else np.full_like(C, np.nan)
            there, here = (run(name, A, B, start, alpha=alpha, beta=beta, backend=where, counters=False) for where in ("gpu", "sim"))
            found = "" if kernel.result else mismatch(there.C, A, B, start, alpha=alpha, beta=beta, inputs=kernel.inputs)
            count += 1
            told = f"{name} {shape} {kind} beta {beta}"
            wrong += [f"{told}: {found or 'writes beside C'}"] if found or there.stray_writes else []
            unlike += [told] if there.C.tobytes() != here.C.tobytes() else []
    record.update(runs=count, wrong=wrong, unlike=unlike)
    counted = compare(record, out)
    words = f"{count} products, {len(wrong)} wrong, {len(unlike)} with other bits than the simulator's; {counted}"
    if wrong or unlike or record["differences"]:
        raise ToolError(f"{words}: {(wrong + unlike + record['differences'])[:12]}")
    return words


def compare(record: dict[str, Any], out: Path) -> str:
    """Set the simulator's counters beside Nsight Compute's, and say how many are equal."""
    from course_lib import gpu
    from course_lib.kernels import get
    from course_lib.run import run
    wanted, path = list(cases()), out / "warpgroups.cases.json"
    path.write_text(json.dumps({"arch": gpu.probe().arch, "cases": wanted, "beta": 0.0}))
    rows = watched(["gpu", "cases", path], COUNTED, [get(name).entry for name, *_ in wanted], out / "warpgroups.ncu.csv", "gemm")
    record["rows"], record["differences"] = [], []
    for case, row in zip(wanted, rows, strict=True):
        A, B, _ = matrices(case[2], 0)
        ours = run(case[0], A, B, alpha=1.5, backend="sim").counters
        counters = {metric: [number(row[metric]), ours.get(same, 0)] for metric, same in COUNTED.items()}
        record["rows"].append({"kernel": case[0], "shape": case[2], "counters": counters})
        record["differences"] += [f"{describe(case)} {metric}: measured {there}, simulated {here}"
                                  for metric, (there, here) in counters.items() if there != here]
    return f"{len(wanted) * len(COUNTED) - len(record['differences'])} of {len(wanted) * len(COUNTED)} counters equal"
