"""Check all that only a real GPU can show.

One call does it and leaves a record.

Each section reports what it found and never stops the next one. gpu_check.json in the output folder holds every figure with the device, the
driver and the date; a short table comes last on the screen. Exit status 0 when all sections that could run are right.

Profiling needs Nsight Compute (`ncu`) on the PATH and permission to read the counters; without them that section says so.
"""

import concurrent.futures
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import click
import numpy as np

from tools import ROOT, ToolError, from_tests
from tools.gpu.cases import SHAPES, cases, describe, matrices, products, profile
from tools.gpu.operands import section_operands
from tools.gpu.pipelines import section_pipelines
from tools.gpu.warpgroups import section_warpgroups
from tools.gpu.winners import section_adversarial, section_sanitizer
from tools.options import only_option, out_option

LESSONS_AT_A_TIME = 4


def section_environment(record: dict[str, Any]) -> str:
    """Write down the machine and the versions."""
    packages = {}
    for name in ("numpy", "llvmlite", "cupy-cuda13x", "cupy-cuda12x", "cuda-bindings", "nvidia-cuda-nvrtc"):
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    from course_lib import toolchain
    record.update(python=platform.python_version(), packages=packages, nvrtc=list(toolchain.nvrtc_version()))
    return f"Python {record['python']}, NVRTC {'.'.join(map(str, record['nvrtc']))}, {packages}"


def section_probe(record: dict[str, Any]) -> str:
    """Try the GPU as the lessons do."""
    from course_lib import gpu
    started = time.perf_counter()
    status = gpu.probe()
    record.update({k: getattr(status, k) for k in ("usable", "reason", "name", "cc", "arch", "cuda", "driver")})
    record["seconds"] = time.perf_counter() - started
    if not status.usable:
        raise ToolError(status.reason)
    return f"{status.reason}; driver {status.driver}, CUDA {status.cuda}; probe took {record['seconds']:.1f} s"


def section_correct(record: dict[str, Any]) -> str:
    """Hold every case to float64, and its bits to the simulator's."""
    from course_lib.kernels import get
    from course_lib.run import mismatch, run
    wrong, different, count = [], [], 0
    for case in (*cases(SHAPES), *products()):
        name, parameters, shape, padding = case
        A, B, C = matrices(shape, padding, get(name).dtype)
        for alpha, beta, start in ((1.0, 0.0, None), (-1.5, 0.75, C), (2.0, 0.0, np.full_like(C, np.nan))):
            count += 1
            try:
                there = run(name, A, B, start, alpha=alpha, beta=beta, backend="gpu", counters=False, **parameters)
                here = run(name, A, B, start, alpha=alpha, beta=beta, backend="sim", **parameters)
                found = mismatch(there.C, A, B, start, alpha=alpha, beta=beta, inputs=get(name).inputs)
                if found or there.stray_writes:
                    wrong.append(f"{describe(case)} alpha {alpha} beta {beta}: {found}, stray {there.stray_writes}")
                if there.C.tobytes() != here.C.tobytes():
                    different.append(f"{describe(case)} alpha {alpha} beta {beta}")
            except Exception as error:
                wrong.append(f"{describe(case)}: {type(error).__name__}: {error}")
    record.update(runs=count, wrong=wrong, bits_differ=different)
    if wrong or different:
        raise ToolError(f"{len(wrong)} of {count} wrong, {len(different)} differ in bits: {(wrong + different)[:3]}")
    return f"{count} runs right against float64 and equal to the simulator's bit for bit"


def section_time(record: dict[str, Any]) -> str:
    """Time the kernels and the library's product."""
    import cupy

    from course_lib.run import run
    record["times"] = rows = []
    for N in (256, 512, 1024, 2048, 4096):
        A, B, _ = matrices((N, N, N), 0)
        for name in ("sgemm_swapped", "sgemm_naive", "sgemm_tiled"):
            result = run(name, A, B, backend="gpu", counters=False)
            rows.append({"kernel": name, "N": N, "parameters": result.parameters, "gflops": result.gflops, **result.time.__dict__})
        a, b = cupy.asarray(A), cupy.asarray(B)
        samples = library_times(cupy, a, b)
        median, low, high = (float(np.percentile(samples, q)) for q in (50, 25, 75))
        rows.append({"kernel": "cuBLAS", "N": N, "parameters": {}, "median_s": median, "low_s": low, "high_s": high,
                     "gflops": 2 * N**3 / median / 1e9})
    return "GFLOP/s at N = 4096: " + ", ".join(f"{r['kernel']} {r['gflops']:.0f}" for r in rows if r["N"] == 4096)


def library_times(cupy: Any, a: Any, b: Any, repeats: int = 25) -> list[float]:
    """Time CuPy's product (cuBLAS) of two device matrices in seconds; 20 products between each pair of events."""
    out = cupy.empty_like(a)
    for _ in range(3):
        cupy.matmul(a, b, out=out)
    samples = []
    for _ in range(repeats):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for _ in range(20):
            cupy.matmul(a, b, out=out)
        stop.record()
        stop.synchronize()
        samples.append(cupy.cuda.get_elapsed_time(start, stop) / 1e3 / 20)
    return samples


def section_tests(record: dict[str, Any]) -> str:
    """Run the tests that need a GPU."""
    environment = {k: v for k, v in os.environ.items() if k != "COURSE_BACKEND"}
    # Without the project's settings, which ask for a pytest and plugins that a bare machine may not have.
    answer = subprocess.run([sys.executable, "-m", "pytest", "-q", "-ra", "-c", os.devnull, "--rootdir", str(ROOT),
                             "-p", "no:cacheprovider", "-m", "not slow", "tests/gpu", "tests/run"],
                            cwd=ROOT, capture_output=True, text=True, timeout=300,
                            env={**environment, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"})
    record["output"] = answer.stdout[-4000:]
    last = answer.stdout.strip().rpartition("\n")[2]
    if answer.returncode or "no GPU to test on" in answer.stdout:
        raise ToolError(f"{last}\n{answer.stdout[-2500:]}{answer.stderr[-500:]}")
    return last


def section_lessons(record: dict[str, Any]) -> str:
    """Run every lesson to its end on the GPU, several at a time: no figure is compared."""
    os.environ.pop("COURSE_BACKEND", None)
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    if not paths:
        raise ToolError("there are no lessons in notebooks/")
    with concurrent.futures.ThreadPoolExecutor(LESSONS_AT_A_TIME) as workers:
        record["lessons"] = found = dict(zip((path.stem for path in paths), workers.map(_run_lesson, paths), strict=True))
    bad = {k: v for k, v in found.items() if v.startswith("FAILED")}
    if bad:
        raise ToolError(str(bad))
    return str(found)


def _run_lesson(path: Path) -> str:
    """Return how long a lesson took, or why it failed."""
    import nbformat
    from nbclient import NotebookClient
    started = time.perf_counter()
    try:
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
        return f"ran in {time.perf_counter() - started:.0f} s"
    except Exception as error:
        return f"FAILED: {str(error)[-1200:]}"


def section_kernels(record: dict[str, Any], out: Path) -> str:
    """Run the kernels of tests/hardware, profile them, and compare with the record that the tests use."""
    from course_lib import gpu
    from tools.record import hardware
    hardware.build(out / "cubins", gpu.probe().arch)
    words = hardware.measure(out / "cubins", out / "kernels")
    now = json.loads((out / "kernels" / "hardware.json").read_text())["kernels"]
    before = json.loads((ROOT / "tests" / "data" / "h200_kernels.json").read_text())["kernels"]
    record["unlike_the_record"] = unlike = {
        f"{name} {metric}": (before[name][metric], counts[metric]) for name, counts in now.items()
        for metric in hardware.EXACT if name in before and counts[metric] != before[name][metric]}
    record["wrongly_claimed"] = wrong = wrongly_claimed(now)
    if wrong:
        raise ToolError(f"{words}; {len(wrong)} counters that the simulator calls the hardware's are not: {wrong}"[:2000])
    return f"{words}; {len(unlike)} counters are not those on record, and all that the simulator calls the hardware's are"


def wrongly_claimed(measured: dict[str, dict[str, int]]) -> dict[str, tuple[int, int]]:
    """Return the counters that the simulator calls the hardware's and are not: {"kernel, counter": (measured, simulated)}.

    It runs here, with the compiler that made the machine code which was measured: another version joins other loads.
    """
    recorded = from_tests("hardware", "hardware_catalog.record")
    wrong = {}
    for name, there in measured.items():
        found, level = recorded.counts(name, there), recorded.simulated(name)[2].level
        wrong |= {f"{name}, {short}": found[short] for short, (_, ours) in recorded.COUNTERS.items()
                  if level[ours] == "hardware" and found[short][0] != found[short][1]}
    return wrong


def section_exercises(record: dict[str, Any], out: Path) -> str:
    """Run the worked kernels of the exercises, and hold their counters to Nsight Compute's."""
    from tools.record.exercises import compare
    return compare(record, out)


SECTIONS = {"environment": section_environment, "probe": section_probe, "correct": section_correct,
            "adversarial": section_adversarial, "sanitizer": section_sanitizer, "pipelines": section_pipelines,
            "profile": profile, "kernels": section_kernels, "exercises": section_exercises, "operands": section_operands,
            "time": section_time, "tests": section_tests, "lessons": section_lessons,
            "warpgroups": section_warpgroups}
WITH_FILES = ("profile", "kernels", "exercises", "sanitizer", "warpgroups", "pipelines")      # sections that leave more than a record


@click.command()
@out_option("gpu_check")
@only_option(*SECTIONS)
def command(out: Path, only: tuple[str, ...]) -> None:
    """Run the sections, write the record, print the table."""
    out.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"date": datetime.date.today().isoformat(), "sections": {}}
    table = []
    for name in only:
        record = report["sections"][name] = {}
        print(f"-- {name}", flush=True)
        started = time.perf_counter()
        try:
            arguments = (record, out) if name in WITH_FILES else (record,)
            record["ok"], record["says"] = True, SECTIONS[name](*arguments)
        except Exception as error:
            record["ok"], record["says"] = False, f"{type(error).__name__}: {error}"
            record["traceback"] = traceback.format_exc()
        table.append((name, "right" if record["ok"] else "WRONG", time.perf_counter() - started, record["says"]))
        print(record["says"][:3000], flush=True)
        (out / "gpu_check.json").write_text(json.dumps(report, indent=1, default=str))
    print()
    for name, verdict, took, says in table:
        print(f"{name:<12} {verdict:<6} {took:6.1f} s  {' '.join(str(says).split())[:180]}")
    sys.exit(any(verdict != "right" for _, verdict, _, _ in table))
