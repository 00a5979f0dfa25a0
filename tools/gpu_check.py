"""Check everything that only a real GPU can show, in one call, and leave a record of it.

    python tools/gpu_check.py [--out FOLDER] [--only probe,correct,profile,time,tests,lessons]

Each section reports what it found and never stops the next one. `gpu_check.json` in the output folder ($OUT, or
build/gpu_check) holds every figure with the device, the driver and the date; a short table comes last on the
screen. Exit status 0 when all sections that could run are right.

Profiling needs Nsight Compute (`ncu`) on the PATH and permission to read the counters; without them that section
says so.
"""

import argparse
import csv
import datetime
import importlib.metadata
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

GLOBAL = ("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum")
INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
# What the hardware repeats exactly, and the name of the same count in the simulator's report.
MEASURED = {name.format(op): name.format(op) for name in (*GLOBAL, INSTRUCTIONS) for op in ("ld", "st")} | {
    f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum":
    f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")}

BLOCKS = ((16, 16), (32, 8), (32, 32), (8, 8), (7, 5), (1, 64), (1024, 1))
TILES = ((32, 32, 32), (16, 16, 16), (8, 16, 24), (32, 8, 40), (4, 4, 64), (5, 7, 3), (16, 64, 8))
SHAPES = ((1, 1, 1), (17, 1, 33), (1, 17, 5), (31, 33, 7), (65, 63, 129), (101, 97, 103), (128, 128, 128))
PROFILED = ((64, 64, 64), (65, 33, 17), (101, 97, 103), (256, 256, 256), (512, 512, 512))


def cases(shapes):
    """List (kernel, parameters, (M, N, K), padding of the rows): every size of block or tile, every shape."""
    for shape in shapes:
        for name in ("sgemm_swapped", "sgemm_naive"):
            for bx, by in BLOCKS:
                yield name, {"bx": bx, "by": by}, shape, 0
        for BM, BN, BK in TILES:
            yield "sgemm_tiled", {"BM": BM, "BN": BN, "BK": BK}, shape, 0
    for name in ("sgemm_swapped", "sgemm_naive", "sgemm_tiled"):      # padded rows: 77 and so on, no multiple of 8
        yield name, {}, (67, 71, 73), 4


def matrices(shape, padding):
    """Return A, B, C with rows that are `padding` elements apart; never symmetric, never constant."""
    M, N, K = shape
    rng = np.random.default_rng([M, N, K, padding])

    def matrix(rows, cols):
        return rng.standard_normal((rows, cols + padding)).astype(np.float32)[:, :cols]

    return matrix(M, K), matrix(K, N), matrix(M, N)


def describe(case):
    """Write a case on one line."""
    name, parameters, shape, padding = case
    values = ",".join(f"{k}{v}" for k, v in parameters.items()) or "defaults"
    return f"{name} {values} {'x'.join(map(str, shape))}" + (f" padded by {padding}" if padding else "")


def section_environment(record):
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


def section_probe(record):
    """Try the GPU as the lessons do."""
    from course_lib import gpu
    started = time.perf_counter()
    status = gpu.probe()
    record.update({k: getattr(status, k) for k in ("usable", "reason", "name", "cc", "arch", "cuda", "driver")})
    record["seconds"] = time.perf_counter() - started
    if not status.usable:
        raise RuntimeError(status.reason)
    return f"{status.reason}; driver {status.driver}, CUDA {status.cuda}; probe took {record['seconds']:.1f} s"


def section_correct(record):
    """Hold every case to float64, and its bits to the simulator's."""
    from course_lib.run import mismatch, run
    wrong, different, count = [], [], 0
    for case in cases(SHAPES):
        name, parameters, shape, padding = case
        A, B, C = matrices(shape, padding)
        for alpha, beta, start in ((1.0, 0.0, None), (-1.5, 0.75, C), (2.0, 0.0, np.full_like(C, np.nan))):
            count += 1
            try:
                there = run(name, A, B, start, alpha=alpha, beta=beta, backend="gpu", counters=False, **parameters)
                here = run(name, A, B, start, alpha=alpha, beta=beta, backend="sim", **parameters)
                found = mismatch(there.C, A, B, start, alpha=alpha, beta=beta)
                if found or there.stray_writes:
                    wrong.append(f"{describe(case)} alpha {alpha} beta {beta}: {found}, stray {there.stray_writes}")
                if not np.array_equal(there.C.view(np.uint32), here.C.view(np.uint32)):
                    different.append(f"{describe(case)} alpha {alpha} beta {beta}")
            except Exception as error:
                wrong.append(f"{describe(case)}: {type(error).__name__}: {error}")
    record.update(runs=count, wrong=wrong, bits_differ=different)
    if wrong or different:
        raise RuntimeError(f"{len(wrong)} of {count} wrong, {len(different)} differ in bits: {(wrong + different)[:3]}")
    return f"{count} runs right against float64 and equal to the simulator's bit for bit"


def section_time(record):
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


def library_times(cupy, a, b, repeats=25):
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


def launch_cases(path):
    """Launch each case of a file exactly once; this is what Nsight Compute watches."""
    from course_lib import gpu, kernels, toolchain
    from course_lib.run.inputs import problem
    task = json.loads(Path(path).read_text())
    for name, parameters, shape, padding in task["cases"]:
        kernel = kernels.get(name)
        sgemm = problem(*matrices(shape, padding), alpha=1.5, beta=0.5)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=task["arch"],
                                          defines=kernel.defines(**parameters))
        buffers = [matrix.buffer for matrix in (sgemm.A, sgemm.B, sgemm.C)]
        gpu.launch(compiled, kernel.entry, kernel.grid(sgemm.M, sgemm.N, **parameters), kernel.block(**parameters),
                   sgemm.arguments(*buffers))


def section_profile(record, out):
    """Hold the simulator's counters to Nsight Compute's, case by case."""
    from course_lib import gpu
    ncu = shutil.which("ncu") or next(iter(sorted(map(str, Path("/usr/local").glob("cuda*/bin/ncu")))), None)
    if ncu is None:
        raise RuntimeError("Nsight Compute (ncu) is not on the PATH")
    wanted = list(cases(PROFILED))
    path = out / "cases.json"
    path.write_text(json.dumps({"arch": gpu.probe().arch, "cases": wanted}))
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
               "--kernel-name", "regex:^sgemm", "--metrics", ",".join(MEASURED),
               sys.executable, __file__, "--launch-cases", str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=420)
    (out / "ncu.csv").write_text(answer.stdout)
    rows = parse_ncu(answer.stdout)
    record.update(ncu=version_of(ncu), cases=len(wanted), profiled=len(rows))
    if len(rows) != len(wanted):
        tail = (answer.stdout + answer.stderr)[-1500:]
        raise RuntimeError(f"ncu reported {len(rows)} launches of {len(wanted)}, status {answer.returncode}: {tail}")
    return compare(record, wanted, rows)


def compare(record, wanted, rows):
    """Run each case on the simulator and set its counters beside the measured ones."""
    from course_lib.run import run
    record["rows"], differences, compared = [], [], 0
    for case, row in zip(wanted, rows, strict=True):
        name, parameters, shape, padding = case
        A, B, C = matrices(shape, padding)
        ours = run(name, A, B, C, alpha=1.5, beta=0.5, backend="sim", **parameters).counters
        entry = {"kernel": name, "parameters": parameters, "shape": shape, "padding": padding, "counters": {}}
        if not row["Kernel Name"].startswith(name):
            raise RuntimeError(f"the order of launches is lost: {row['Kernel Name']} is not {name}")
        for measured, simulated in MEASURED.items():
            there, here = number(row[measured]), ours.get(simulated, 0)
            entry["counters"][measured] = [there, here]
            compared += 1
            if there != here:
                differences.append(f"{describe(case)} {measured}: measured {there}, simulated {here}")
        record["rows"].append(entry)
    record.update(compared=compared, differences=differences)
    exact = [d for d in differences if "_global_" in d]
    words = f"{compared - len(differences)} of {compared} counters equal, {len(exact)} global ones differ"
    if differences:
        raise RuntimeError(words + ": " + "; ".join(differences[:6]))
    return words


def parse_ncu(text):
    """Read `ncu --csv --page raw`: one row a launch, without the row of units.

    >>> parse_ncu('==PROF== x\\n"ID","Kernel Name","m.sum"\\n"","","sector"\\n"0","sgemm_naive","1,024"\\n')
    [{'ID': '0', 'Kernel Name': 'sgemm_naive', 'm.sum': '1,024'}]
    """
    start = text.find('"ID"')
    rows = csv.DictReader(io.StringIO(text[start:])) if start >= 0 else ()
    return [row for row in rows if (row["ID"] or "").isdigit()]


def number(text):
    """Read a count as ncu writes it: "1,024"."""
    return int(float(text.replace(",", "")))


def version_of(tool):
    """Return the last line of what a tool says about its version."""
    answer = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60)
    return answer.stdout.strip().rpartition("\n")[2]


def section_tests(record):
    """Run the tests that need a GPU."""
    environment = {k: v for k, v in os.environ.items() if k != "COURSE_BACKEND"}
    answer = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=-ra",
                             "-o", "timeout=0", "tests/gpu", "tests/run"],
                            cwd=ROOT, capture_output=True, text=True, timeout=300, env=environment)
    record["output"] = answer.stdout[-4000:]
    last = answer.stdout.strip().rpartition("\n")[2]
    if answer.returncode:
        raise RuntimeError(f"{last}\n{answer.stdout[-2500:]}{answer.stderr[-500:]}")
    return last


def section_lessons(record):
    """Run every lesson to its end on the GPU."""
    import nbformat
    from nbclient import NotebookClient
    os.environ.pop("COURSE_BACKEND", None)
    record["lessons"] = found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        started = time.perf_counter()
        try:
            notebook = nbformat.read(path, as_version=4)
            NotebookClient(notebook, timeout=240, kernel_name="python3",
                           resources={"metadata": {"path": str(path.parent)}}).execute()
            found[path.stem] = f"ran in {time.perf_counter() - started:.0f} s"
        except Exception as error:
            found[path.stem] = f"FAILED: {str(error)[-1200:]}"
    if not found:
        raise RuntimeError("there are no lessons in notebooks/")
    bad = {k: v for k, v in found.items() if v.startswith("FAILED")}
    if bad:
        raise RuntimeError(str(bad))
    return str(found)


SECTIONS = {"environment": section_environment, "probe": section_probe, "correct": section_correct,
            "profile": section_profile, "time": section_time, "tests": section_tests, "lessons": section_lessons}


def main():
    """Run the sections, write the record, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=os.environ.get("OUT", ROOT / "build" / "gpu_check"))
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--launch-cases", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch_cases:
        return launch_cases(options.launch_cases)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    report = {"date": datetime.date.today().isoformat(), "sections": {}}
    table = []
    for name in options.only.split(","):
        record = report["sections"][name] = {}
        print(f"-- {name}", flush=True)
        started = time.perf_counter()
        try:
            arguments = (record, out) if name == "profile" else (record,)
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
    return 0 if all(verdict == "right" for _, verdict, _, _ in table) else 1


if __name__ == "__main__":
    sys.exit(main())
