"""Record what the kernels of tests/hardware do.

They run on a real GPU, under Nsight Compute: what they computed and what it counted becomes a record.

`run` needs CuPy, NumPy, click and `ncu` alone, so that it also runs where the course is not installed. A record is compared
with the simulator by the tests, on any machine.
"""

import datetime
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from tools import ROOT, ToolError, again, from_tests
from tools.nsight import find_ncu, kernel_of, number, version_of, watched
from tools.options import FOLDER, Names

_catalog = from_tests("hardware", "hardware_catalog")
CASES, wrong = _catalog.CASES, _catalog.wrong

STACK = 8192            # bytes of stack a thread, for the recursive ones
PATIENCE = 120          # seconds for all kernels, run without the profiler
LSU = "l1tex__{}_pipe_lsu_mem_{}_op_{}.sum"
SHARED = ("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", "smsp__sass_inst_executed_op_shared_{}.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum")
METRICS = (
    [form.format(op) for form in SHARED for op in ("ld", "st")]
    + [LSU.format(what, space, op) for what in ("t_requests", "t_sectors") for space in ("global", "local") for op in ("ld", "st")]
    + ["smsp__inst_executed.sum", "smsp__sass_branch_targets_threads_divergent.sum"]
    + [f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("ffma", "fadd", "fmul", "dfma", "dadd", "dmul")]
)
EXACT = METRICS[:4] + [LSU.format(what, "global", op) for what in ("t_requests", "t_sectors") for op in ("ld", "st")]
BORING = re.compile("smsp__inst_executed_op|_lgds|_memory_|lookup")     # told in other words already
# What else may tell something; only those that this version of Nsight Compute knows are asked for.
CURIOUS = re.compile(
    r"l1tex__t_(?:requests|sectors)_pipe_lsu_mem_global_op_(?:red|atom|ldgsts|ldgsts_cache_\w+)"
    r"|smsp__sass_inst_executed_op_(?:ldgsts\w*|ldsm|local_\w+|global_\w+|shared|shared_\w+|st|ld|atom\w*|memory\w*|ldsm\w*|stsm\w*)"
    r"|smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared\w*|smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared\w*"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_(?:shared|lg)\w*|smsp__inst_executed_op_(?:ldsm|shared\w*|ldgsts|generic\w*|local\w*)"
    r"|smsp__inst_executed_pipe_(?:tensor|fp64)\w*"
    r"|smsp__sass_inst_executed_op_tma_\w+|l1tex__m_(?:xbar2l1tex_read|l1tex2xbar_write)_bytes_mem_global_op_tma_\w+")


def build(folder: Path, arch: str = "sm_90") -> None:
    """Compile every kernel; say with which NVRTC."""
    from course_lib import toolchain
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in CASES.items():
        (folder / f"{name}.cubin").write_bytes(toolchain.machine_code(toolchain.compile_cuda(case.source, name=f"{name}.cu", arch=arch)))
    (folder / "nvrtc.json").write_text(json.dumps(list(toolchain.nvrtc_version())))


def launch(folder: Path, names: Sequence[str], out: Path | None) -> None:
    """Launch kernels once each, in order; keep their outputs in OUT/NAME.npz when `out` is a folder."""
    import cupy
    cupy.cuda.runtime.deviceSetLimit(0, STACK)
    for name in names:
        case = CASES[name]
        args, _ = case.arguments()
        there = [cupy.asarray(a) if isinstance(a, np.ndarray) else by_value(a) for a in args]
        module = cupy.RawModule(path=str(folder / f"{name}.cubin"))
        for variable, values in (case.constants or {}).items():
            module.get_global(variable).copy_from_host(values.ctypes.data, values.nbytes)
        module.get_function(name)(case.grid, case.block, tuple(there), shared_mem=case.dynamic_shared)
        cupy.cuda.get_current_stream().synchronize()
        if out:
            found = {str(i): there[i].get() for i in case.outputs(args)}
            np.savez(out / f"{name}.npz", **found)


def by_value(argument: Any) -> Any:
    """Turn a structure parameter into what CuPy passes on as it is."""
    return argument if isinstance(argument, np.generic) else np.frombuffer(bytes(argument), f"V{len(bytes(argument))}").reshape(())


def run_all(folder: Path, out: Path) -> dict[str, str]:
    """Run every kernel; a fault ends its process, so the next ones get a new one. Returns {name: what went wrong}."""
    left, failed = list(CASES), {}
    while left:
        answer = subprocess.run(again("record", "hardware", "launch", folder, ",".join(left), out), cwd=ROOT,
                                capture_output=True, text=True, timeout=PATIENCE)
        done = [n for n in left if (out / f"{n}.npz").exists()]
        left = left[len(done):]
        if answer.returncode == 0 and not left:
            break
        if not left:
            raise ToolError(answer.stderr[-2000:])
        failed[left[0]] = answer.stderr.strip()[-300:]
        print("failed:", left[0], failed[left[0]], flush=True)
        left = left[1:]
    return failed


def metrics(ncu: str) -> list[str]:
    """Return METRICS, and the curious ones that exist."""
    answer = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, timeout=120)
    known = {line.split()[0] for line in answer.stdout.splitlines() if line.strip()}
    more = sorted(f"{name}.sum" for name in known if CURIOUS.fullmatch(name))
    return METRICS + [m for m in more if m not in METRICS]


def profile(folder: Path, names: Sequence[str], wanted: Sequence[str], out: Path) -> dict[str, dict[str, int]]:
    """Read the counters of one launch of each kernel: name -> {metric: count}."""
    rows = watched(["record", "hardware", "launch", folder, ",".join(names)], wanted, names, out / "ncu.csv", patience=400)
    return {kernel_of(row): {m: number(row[m]) for m in wanted if row.get(m) not in (None, "", "n/a")} for row in rows}


def measure(folder: Path, out: Path) -> str:
    """Run, check against the references, profile, and write the record."""
    import cupy
    raw = out / "outputs"
    raw.mkdir(parents=True, exist_ok=True)
    failed = run_all(folder, raw)
    ran = [n for n in CASES if n not in failed]
    outputs, bad = collect(ran, raw)
    shutil.rmtree(raw)
    np.savez_compressed(out / "outputs.npz", **outputs)
    ncu = find_ncu()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    told = {"device": properties["name"].decode(), "driver": driver.stdout.strip(), "date": datetime.date.today().isoformat(),
            "ncu": version_of(ncu), "nvrtc": json.loads((folder / "nvrtc.json").read_text()),
            "made_by": "python -m tools record hardware; ncu --clock-control none", "failed": failed, "wrong": bad, "kernels": {}}
    (out / "hardware.json").write_text(json.dumps(told, indent=1))
    told["kernels"] = profile(folder, ran, metrics(ncu), out)
    (out / "hardware.json").write_text(json.dumps(told, indent=1))
    if failed or bad:
        raise ToolError(f"{len(failed)} kernels failed, {len(bad)} are wrong: {failed} {bad}"[:2000])
    return f"{len(told['kernels'])} kernels recorded, {len(failed)} failed ({list(failed)}), {len(bad)} wrong: {bad}"


def collect(names: Sequence[str], raw: Path) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """Read the outputs back and compare them with the references: ({key: array}, {name: what is wrong})."""
    outputs: dict[str, np.ndarray] = {}
    bad: dict[str, list[str]] = {}
    for name in names:
        _, want = CASES[name].arguments()
        with np.load(raw / f"{name}.npz") as found:
            for i in found.files:
                outputs[f"{name}.{i}"] = found[i]
            for i, expected in want.items():
                at = wrong(found[str(i)], expected, CASES[name].tolerance)
                if len(at):
                    there, here = np.ravel(found[str(i)])[at[:5]], np.ravel(expected)[at[:5]]
                    bad.setdefault(name, []).append(f"argument {i}: {len(at)} differ, at {at[:5]}: {there}, expected {here}")
    return outputs, bad


def keep(out: Path) -> None:
    """Take a record over into tests/data: counters, a digest of each output, and those that the references do not give to the bit."""
    told = json.loads((out / "hardware.json").read_text())
    kernels, unlike = told.pop("kernels"), {}
    told["outputs"], told["wrong"] = digests, wrong_ones = {}, {}
    with np.load(out / "outputs.npz") as outputs:
        for key in outputs.files:
            name, _, argument = key.rpartition(".")
            found, expected = outputs[key], CASES[name].arguments()[1].get(int(argument))
            digests[key] = digest(found)
            if expected is not None and len(wrong(found, expected, CASES[name].tolerance)):
                wrong_ones[key] = "differs from the reference"
            if expected is None or digest(np.asarray(expected).astype(found.dtype)) != digests[key]:
                unlike[key] = found
    counted = [f'  "{name}": {json.dumps({m: n for m, n in counts.items() if m in EXACT or n and not BORING.search(m)})}'
               for name, counts in kernels.items()]
    text = json.dumps({**told, "kernels": {}}, indent=1).replace('"kernels": {}', '"kernels": {\n' + ",\n".join(counted) + "}")
    (ROOT / "tests" / "data" / "h200_kernels.json").write_text(text + "\n")
    np.savez_compressed(ROOT / "tests" / "data" / "h200_kernels.npz", **unlike)


def digest(array: np.ndarray) -> str:
    """Return the SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


@click.group()
def command() -> None:
    """Group the steps."""


@command.command("build")
@click.argument("folder", type=FOLDER)
def _build(folder: Path) -> None:
    """Compile every kernel to FOLDER/NAME.cubin (needs no GPU)."""
    build(folder)


@command.command("run")
@click.argument("folder", type=FOLDER)
@click.argument("out", type=FOLDER)
def _run(folder: Path, out: Path) -> None:
    """Run and profile FOLDER's cubins; write OUT/hardware.json and OUT/outputs.npz."""
    print(measure(folder, out))


@command.command("keep")
@click.argument("out", type=FOLDER)
def _keep(out: Path) -> None:
    """Take a record over into tests/data."""
    keep(out)


@command.command("launch", hidden=True)
@click.argument("folder", type=FOLDER)
@click.argument("names", type=Names())
@click.argument("out", type=FOLDER, required=False)
def _launch(folder: Path, names: tuple[str, ...], out: Path | None) -> None:
    """Launch kernels once each."""
    launch(folder, names, out)
