"""Record microbenchmarks, and what ncu counts.

Nsight Compute (ncu) counts what every product and the homework's kernels do on a real GPU.

Writes micro.json, traffic.json and vectors.json into the output folder; copy them into course_lib/data/.
"""

import json
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from course_lib.kernels.micro import TABLE
from tools import ToolError
from tools.gpu import operands
from tools.nsight import find_ncu, number, version_of, watched
from tools.options import only_option, out_option
from tools.recordings import write_recording

KIB, MIB = 1024, 1024 * 1024
FOOTPRINTS = tuple(k * KIB for k in (4, 16, 64, 128, 192, 256, 512)) + tuple(m * MIB for m in (1, 2, 4, 8, 16, 32, 48, 64, 128, 256))
# Nsight Compute's name -> ours: sectors, bytes, instructions, nanoseconds
TRAFFIC = {
    "lts__t_sectors.sum": "l2_sectors", "lts__t_sectors_srcunit_tex.sum": "l2_sectors_from_l1",
    "lts__t_sectors_srcunit_tex_op_read.sum": "l2_sectors_read", "lts__t_sectors_srcunit_tex_op_write.sum": "l2_sectors_written",
    "dram__bytes_read.sum": "dram_bytes_read", "dram__bytes_write.sum": "dram_bytes_written",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "l1_sectors_read", "smsp__inst_executed.sum": "instructions",
    "gpu__time_duration.sum": "nanoseconds",
}
# The same for the homework's kernels: what its launch table and its "p mode" count.
VECTORS = {
    "gpu__time_duration.sum": "nanoseconds", "smsp__inst_executed.sum": "instructions",
    "smsp__thread_inst_executed.sum": "thread_instructions",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "multiply_adds",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "load_requests", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "load_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "store_requests", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "store_sectors",
    "lts__t_sectors_srcunit_tex_op_read.sum": "l2_sectors_read", "lts__t_sectors_srcunit_tex_op_write.sum": "l2_sectors_written",
    "dram__bytes_read.sum": "dram_bytes_read", "dram__bytes_write.sum": "dram_bytes_written",
}
SIZES = (1024, 1536, 2048)     # of the square matrices: the larger ones where whole tiles must fit


def plan() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield (kernel, options) of every microbenchmark to record."""
    for name in ("micro_fma", "micro_fma_shared", "micro_shared"):
        for threads in TABLE:
            yield name, {"threads": threads}
    for threads in TABLE:
        yield "micro_fma", {"threads": threads, "REGISTERS": 2}
        for chains in (1, 2, 4, 8):
            yield "micro_chains", {"threads": threads, "CHAINS": chains}
    for spread in (0, 2, 4, 8, 16, 32):
        yield "micro_shared", {"threads": 32, "spread": spread}
    for footprint in FOOTPRINTS:
        for jump in (1, 33) if footprint >= MIB else (1,):
            yield "micro_global", {"threads": 32, "footprint": footprint, "jump": jump}
    for threads in TABLE:
        yield "micro_global", {"threads": threads, "footprint": 4 * MIB}
        for blocks, footprint in ((1, 32 * MIB), (1, 256 * MIB), (132, 32 * MIB), (132, 256 * MIB)):
            for loads in (1, 8):
                yield "micro_loads", {"threads": threads, "LOADS": loads, "blocks": blocks, "footprint": footprint}
    for options in operands.plan():
        yield "micro_outer", options


def micro() -> list[dict[str, Any]]:
    """Return a row for each microbenchmark: cycles per step of the fastest and the slowest warp."""
    from course_lib.run import run_micro
    rows = []
    for name, options in plan():
        result = run_micro(name, backend="gpu", **options)
        low, high = result.cycles_per_step
        window = (result.end.max(axis=1) - result.begin.min(axis=1))           # a block's, in cycles of its multiprocessor
        row = {"kernel": name} | options | {"steps": result.steps, "low": round(low, 3), "high": round(high, 3),
                                            "per_warp": round(result.cycles_per_warp, 4), "right": result.right}
        if name == "micro_loads":
            row |= {"window": int(window.max()), "bytes_per_cycle": round(4 * result.steps * result.block[0] / float(window.mean()), 4)}
            if options["threads"] == 512 and options["blocks"] == 1:
                row["gantt"] = result.gantt()
        rows.append(row)
    wrong = [row for row in rows if not row["right"]]
    if wrong:
        raise ToolError(f"{len(wrong)} chains went wrong: {wrong[:3]}")
    return rows


def cases() -> Iterator[tuple[str, dict[str, Any], tuple[int, int, int], int]]:
    """List (kernel, {}, (N, N, N), 0) of every product at the first size it can do."""
    from course_lib.kernels import KERNELS
    for name, kernel in KERNELS.items():
        N = next(N for N in SIZES if kernel.sizes_of(N, N, N, kernel.check()) is None)
        yield name, {}, (N, N, N), 0


def traffic(out: Path) -> list[dict[str, Any]]:
    """Return a row for each product: what Nsight Compute counts in L2 and DRAM, with all caches empty at its start."""
    wanted = list(cases())
    found = counted({"cases": wanted, "beta": 0.0}, "^[sd]?gemm", TRAFFIC, [name for name, *_ in wanted], out / "traffic_cases.json")
    return [{"kernel": name, "N": N} | counts for (name, _, (N, _, _), _), counts in zip(wanted, found, strict=True)]


def vectors(out: Path) -> list[dict[str, Any]]:
    """Return a row for each of the homework's kernels and each number of warps, caches empty at its start."""
    from course_lib.bench.plans import MXV, WARPS
    from course_lib.bench.plans import VECTORS as S
    wanted = [(name, {"threads": 32 * warps}, S) for name in MXV for warps in WARPS]
    found = counted({"cases": [], "vectors": wanted}, "^mxv_", VECTORS, [name for name, *_ in wanted], out / "vectors_cases.json")
    return [{"kernel": name, "warps": values["threads"] // 32, "S": S, "M": 16, "N": 16} | counts
            for (name, values, S), counts in zip(wanted, found, strict=True)]


def counted(task: Mapping[str, Any], pattern: str, metrics: Mapping[str, str], names: Sequence[str], path: Path) -> list[dict[str, int]]:
    """Have Nsight Compute watch the launches of a task, which a file holds; return {our name: count} for each launch."""
    from course_lib import gpu
    from course_lib.kernels import get
    path.write_text(json.dumps({"arch": gpu.probe().arch} | task))
    found = watched(["gpu", "cases", path], metrics, [get(name).entry for name in names], path.with_suffix(".csv"), pattern, patience=200)
    print(version_of(find_ncu()))
    return [{ours: number(there[theirs]) for theirs, ours in metrics.items() if theirs in there} for there in found]


def sources(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the hash of the code of every kernel that the rows measured."""
    from course_lib.bench.fingerprint import fingerprint_of
    from course_lib.kernels import get
    return {name: fingerprint_of(get(name)) for name in dict.fromkeys(row["kernel"] for row in rows)}


@click.command()
@out_option("micro")
@only_option("micro", "traffic", "vectors")
def command(out: Path, only: tuple[str, ...]) -> None:
    """Record what was asked for; one part that fails does not stop the other."""
    out.mkdir(parents=True, exist_ok=True)
    from course_lib import gpu
    parts = {"micro": micro, "traffic": lambda: traffic(out), "vectors": lambda: vectors(out)}
    status, good = gpu.probe(), True
    print(status.reason, status.driver)
    for part in only:
        started = time.perf_counter()
        try:
            rows = parts[part]()
            write_recording(out, part, rows, sources(rows), "record micro", status.name, status.driver)
            print(f"{part}: {len(rows)} rows in {time.perf_counter() - started:.0f} s", flush=True)
        except Exception:
            good = False
            traceback.print_exc()
    sys.exit(not good)
