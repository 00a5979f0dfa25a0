"""Write tests/data/executed.json: machine code, counters and what Nsight Compute counted, for `toolchain.executed` to be held to.

    python -m tools nvrtc-versions install 13.0
    python tests/toolchain/executed_record.py

The compiler is the one whose code was profiled; `course_lib/data/traffic.json` has the profiler's counts.
"""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = "13.0"
KERNELS = ("sgemm_naive", "sgemm_tiled", "sgemm_unrolled", "sgemm_coalesced", "sgemm_ilp", "sgemm_1d_tile", "sgemm_2d_tile",
           "sgemm_warp_tile", "sgemm_readonly", "sgemm_op", "sgemm_volkov", "sgemm_outer_rows", "sgemm_dots", "sgemm_rank1")


def main():
    """Compile, run and write."""
    from tools import nvrtc_versions
    nvrtc_versions.load(VERSION)
    import numpy as np

    from course_lib import data, kernels, toolchain
    from course_lib.grading.judge.machine_code import counts_of
    from course_lib.run import run
    profiled, rows = data.readings("traffic"), []
    for name in KERNELS:
        row, = profiled.find(kernel=name)
        kernel, N = kernels.get(name), row["N"]
        A = np.random.default_rng(1).uniform(-1, 1, (N, N)).astype(np.float32)
        result = run(kernel, A, A, backend="sim")
        defines = kernel.defines(**result.parameters)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch="sm_90", defines=defines)
        counted = [[line, opcode, times] for (line, opcode), times in counts_of(result).items() if times]
        code = toolchain.written(toolchain.sass(compiled, kernel.entry))
        rows.append({"kernel": name, "N": N, "profiled": row["instructions"], "sass": code, "counted": counted})
    told = {"device": profiled.device, "driver": profiled.driver, "date": profiled.date, "nvrtc": list(toolchain.nvrtc_version()),
            "made_by": "tests/toolchain/executed_record.py; profiled: smsp__inst_executed.sum", "rows": rows}
    (ROOT / "tests/data/executed.json").write_text(json.dumps(told, indent=0) + "\n")


if __name__ == "__main__":
    main()
