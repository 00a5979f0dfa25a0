"""Hold the fastest kernels to more than random matrices: data that make sums hard, and compute-sanitizer's four tools."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tools import ROOT, ToolError, again

KERNELS = ("sgemm_prefetched", "sgemm_stages", "sgemm_serpentine", "sgemm_wide_stores", "sgemm_stream_k", "dgemm_mma", "dgemm_stages",
           "dgemm_stream_k")
SHAPES = ((1, 1, 1), (17, 1, 33), (1, 129, 5), (31, 33, 7), (65, 63, 129), (101, 97, 103), (128, 64, 16), (130, 67, 45))
KINDS = ("plain", "exponents", "cancelling", "denormal")
WARPGROUPS = ("sbgemm_mma", "sbgemm_stages", "sbgemm_tma", "sbgemm_clusters", "sbgemm_wide_stores", "bgemm_clusters", "b8gemm_clusters",
              "sgemm_parts")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
PADDING = 3            # unused elements behind each row


def hard(kind: str, rng: np.random.Generator, rows: int, cols: int, dtype: str) -> np.ndarray:
    """Return a matrix with padded rows: exponents from -30 to 30, neighbours that cancel, or numbers below the smallest normal one.

    >>> hard("cancelling", np.random.default_rng(1), 1, 4, "float32").sum()
    np.float32(0.0)
    """
    x = rng.standard_normal((rows, cols + PADDING))
    if kind == "exponents":
        x *= 2.0 ** rng.integers(-30, 30, x.shape)
    if kind == "cancelling":
        x[:, 1::2] = -x[:, :-1:2][:, :x.shape[1] // 2]
    if kind == "denormal":
        x *= 1e-39 if dtype == "float32" else 1e-309
    return x.astype(dtype)[:, :cols]


def section_adversarial(record: dict[str, Any]) -> str:
    """Multiply hard matrices on the GPU, over a C of NaN and with alpha and beta; compare with float64, and bits with the simulator's."""
    from course_lib.kernels import get
    from course_lib.run import mismatch, run
    wrong, unlike, count = [], [], 0
    for name, shape, kind in ((n, s, k) for n in KERNELS for s in SHAPES for k in KINDS):
        rng, (M, N, K), dtype = np.random.default_rng([*shape, KINDS.index(kind)]), shape, get(name).dtype
        A, C = (hard(kind, rng, M, cols, dtype) for cols in (K, N))
        B = hard("plain" if kind == "denormal" else kind, rng, K, N, dtype)          # or all products would be 0
        for alpha, beta, start in ((1.0, 0.0, np.full_like(C, np.nan)), (-1.5, 0.75, C)):
            there, here = (run(name, A, B, start, alpha=alpha, beta=beta, backend=where, counters=False) for where in ("gpu", "sim"))
            found = mismatch(there.C, A, B, start, alpha=alpha, beta=beta, inputs=get(name).inputs)
            count += 1
            if found or there.stray_writes:
                wrong.append(f"{name} {shape} {kind} beta {beta}: {found or 'writes beside C'}")
            if there.C.tobytes() != here.C.tobytes():
                unlike.append(f"{name} {shape} {kind} beta {beta}")
    record.update(runs=count, wrong=wrong, unlike=unlike)
    words = f"{count} products, {len(wrong)} wrong, {len(unlike)} with other bits than the simulator's"
    if wrong or unlike:
        raise ToolError(f"{words}: {(wrong + unlike)[:6]}")
    return words


def sanitized() -> Iterator[tuple[str, list[Any]]]:
    """Yield each kernel and the cases that compute-sanitizer watches: its defaults, and small tiles with several stages and shares."""
    from course_lib.kernels import get
    single, double = {"BM": 32, "BN": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4}, {"BM": 32, "BN": 32, "WM": 16, "WN": 32}
    for name in KERNELS:
        small: dict[str, int] = {**(single if get(name).dtype == "float32" else double), "RESIDENT": 1, "blocks": 7}
        known = {p.name for p in get(name).parameters}
        parameters = {key: value for key, value in small.items() if key in known}
        yield name, [[name, p, [130, 67, 45], PADDING] for p in ({}, parameters) if not get(name).problems(**p)]
    for name in WARPGROUPS:
        yield name, [[name, {}, [130, 67, 45], PADDING]]


def sanitizer() -> str:
    """Return the path of compute-sanitizer."""
    program = shutil.which("compute-sanitizer") or next(map(str, Path("/usr/local").glob("cuda*/bin/compute-sanitizer")), None)
    if not program:
        raise ToolError("compute-sanitizer is missing; it comes with the CUDA Toolkit")
    return program


def section_sanitizer(record: dict[str, Any], out: Path) -> str:
    """Launch the kernels under each of compute-sanitizer's tools."""
    from course_lib import gpu
    program = sanitizer()
    for name, wanted in sanitized():
        (out / f"{name}.cases.json").write_text(json.dumps({"arch": gpu.probe().arch, "cases": wanted}))

    def watch(job):
        tool, name = job
        command = [program, "--tool", tool, "--print-limit", "20", *again("gpu", "cases", out / f"{name}.cases.json")]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150)
        (out / f"{tool}.{name}.txt").write_text(said.stdout + said.stderr)
        return f"{tool} {name}", summary(said.stdout + said.stderr)

    with ThreadPoolExecutor(8) as pool:
        record["found"] = found = dict(pool.map(watch, [(tool, name) for tool in TOOLS for name, _ in sanitized()]))
    bad = {job: words for job, words in found.items() if not re.fullmatch(r"(ERROR|RACECHECK) SUMMARY: 0 (errors|hazards).*", words)}
    if bad:
        raise ToolError(f"{len(bad)} of {len(found)} runs were not clean: {dict(list(bad.items())[:6])}")
    return f"{len(found)} runs of {len(KERNELS) + len(WARPGROUPS)} kernels under {', '.join(TOOLS)}: nothing found"


def summary(said: str) -> str:
    """Return what compute-sanitizer says at the end, or that it said nothing.

    >>> summary("========= x" + chr(10) + "========= ERROR SUMMARY: 0 errors")
    'ERROR SUMMARY: 0 errors'
    """
    lines = [line.strip("= ") for line in said.splitlines() if "SUMMARY" in line]
    return lines[-1] if lines else f"no summary: {said[-200:]}"
