"""Record cycles and wavefronts for lessons 16 and 21.

One launch of each, of 4096 × 4096 matrices. Lesson 21: Triton's PTX that is given floats, with 3 stages and with 1, and sgemm_bf16 with
Triton's tile. Lesson 16: warp_mma, sgemm_mma, sbgemm_mma and sbgemm_stages. Triton's machine code is what `record short --ptxas` made.

Writes cycles.json into the output folder: for each kernel the cycles of the busiest multiprocessor, and over all of them the wavefronts of
the data pipe that shared memory and the L1 have in common.
"""

import re
from pathlib import Path
from typing import Any

import click

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import get
from course_lib.kernels.triton import SETTINGS, written
from tools.nsight import number, watched
from tools.options import out_option
from tools.record.short import TRITONS_TILE, WRITTEN, Contestant, Matrices, N, prepared
from tools.recordings import usable_gpu, write_recording

METRICS = ("sm__cycles_elapsed.max", "sm__cycles_active.avg", "l1tex__data_pipe_lsu_wavefronts.sum",
           "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "smsp__inst_executed.sum")


def contestants() -> list[Contestant]:
    """Return what is watched."""
    floats = [s for s in SETTINGS if s.floats and s.masked and not s.any_size]
    return [*(Contestant("float32", f"Triton {s.name}", setting=s) for s in floats), Contestant("float32", "sgemm_bf16", TRITONS_TILE),
            *(Contestant("float32", name) for name in ("warp_mma", "sgemm_mma")),
            *(Contestant("bf16", name) for name in ("sbgemm_mma", "sbgemm_stages"))]


@click.command()
@click.option("--launch", is_flag=True, help="Only launch each once, for Nsight Compute to watch.")
@out_option("cycles")
def command(launch: bool, out: Path) -> None:
    """Record every kernel."""
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    known = contestants()
    if launch:
        there = Matrices(N)
        for one in known:
            prepared(one, there, status.arch, sms)[0]()
        return
    entries = [written(one.setting).facts["entry"] if one.setting else one.kernel for one in known]
    out.mkdir(parents=True, exist_ok=True)
    pattern = "|".join(map(re.escape, dict.fromkeys(entries)))
    found = watched(["record", "cycles", "--launch"], METRICS, entries, out / "cycles.ncu.csv", pattern)
    rows: list[dict[str, Any]] = []
    for one, row in zip(known, found, strict=True):
        setting = one.setting
        values = {"BM": setting.BM, "BN": setting.BN, "BK": setting.BK, "stages": setting.stages} if setting else one.parameters
        rows.append({"kernel": one.kernel, "N": N, "parameters": values, "counters": {name: number(row[name]) for name in METRICS}})
        print(rows[-1])
    ours = {one.kernel for one in known if not one.setting} - set(WRITTEN)
    sources = {name: fingerprint_of(get(name)) for name in sorted(ours)}
    write_recording(out, "cycles", rows, sources, "record cycles", status.name, status.driver)
