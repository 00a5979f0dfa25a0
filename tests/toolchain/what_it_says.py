"""Run as a program: what kernels compute and what is known of their machine code, as JSON; the same with NVRTC and without."""

import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

from course_lib import kernels, simt, toolchain
from course_lib.errors import CourseError
from course_lib.kernels import ALL
from course_lib.magic import from_cell
from course_lib.run import run, run_gather, run_micro, run_multiply, run_split, run_sum, run_transpose, run_vectors
from course_lib.toolchain import nvrtc

QUICK = {"sgemm_naive": {}, "sgemm_tiled": {"BM": 8, "BN": 16, "BK": 32}, "sgemm_2d_tile": {"BM": 32, "BN": 64, "TM": 4, "TN": 2},
         "sgemm_method1": {}, "dgemm_outputs": {"TA": 32, "TB": 32, "TW": 8, "bx": 8, "by": 8}, "mxv_sh": {"CHUNK": 4},
         "micro_fma": {"STEPS": 64}}


def launched(name, values):
    """Run a kernel of the catalog; return its result and the arrays that it wrote."""
    kernel, rng = ALL[name], np.random.default_rng(1)
    p = kernel.check(**values)

    def matrix(*shape):
        return rng.random(shape).astype(kernel.dtype)

    if kernel.kind == "micro":
        got = run_micro(name, **values)
        return got, (got.out, got.begin, got.end)
    if kernel.kind == "vectors":
        got = run_vectors(name, matrix(p["M"], p["N"]), matrix(40, p["N"]), **values)
    elif kernel.kind == "gather":
        got = run_gather(name, matrix(1, 700)[0], 300, offset=4, stride=2, **values)
    elif kernel.kind == "transpose":
        got = run_transpose(name, matrix(37, 45), **values)
    elif kernel.kind == "split":
        got = run_split(name, matrix(37, 45), **values)
    elif kernel.kind == "multiply":
        got = run_multiply(name, matrix(37, 29), matrix(29, 45), **values)
    elif kernel.kind == "sum":
        got = run_sum(name, matrix(37, 45), matrix(37, 45), alpha=1.5, beta=0.5, **values)
    else:
        M, N, K = (p["THREADS"] * p["VECTORS"] * p["GAP"], p["COLS"], p["BK"]) if "GAP" in p else (37, 45, 29)
        adds = {} if kernel.result else {"C": matrix(M, N), "beta": 0.5}
        got = run(name, matrix(M, K), matrix(K, N), alpha=1.5, **adds, **values)
        return got, (got.C,)
    return got, (got.out,)


def result(name, values):
    """Return what a launch gave: the arrays as hashes, counters, resources."""
    got, arrays = launched(name, values)
    return {"arrays": [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in arrays],
            "counters": {n: int(v) for n, v in got.counters.items()}, "lines": repr(got.lines), "level": dict(got.level),
            "resources": asdict(got.resources)}


def code(name, values):
    """Return what the toolchain says of one position."""
    kernel = ALL[name]
    compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, defines=kernel.defines(**values))
    instructions = toolchain.sass(compiled)
    return {"ptx": compiled.ptx, "log": compiled.log, "ptxas": compiled.ptxas_log, "sass": [i.text for i in instructions],
            "lines": [i.line for i in instructions], "offsets": [i.offset for i in instructions],
            "loops": repr(toolchain.loops(instructions)), "resources": {n: asdict(r) for n, r in toolchain.resources(compiled).items()}}


def refusal(ask):
    """Return the words of a refusal, and of its diagnostics."""
    try:
        ask()
    except CourseError as error:
        return [type(error).__name__, str(error), repr(getattr(error, "diagnostics", ""))]
    return "no error"


def report():
    """Launch directly; a report's own level, loops and machine code."""
    source, y = kernels.get("matrix_sum").source, np.zeros(64, np.float32)
    n, one = np.int32(8), np.float32(1)
    found = simt.launch(source, "matrix_sum", 1, (16, 16), [n, n, one, np.ones(64, np.float32), n, one, y, n])
    return {"level": dict(found.level), "loops": repr(found.loops), "y": y.tolist()}


def typing_error():
    """Return the kernel of lesson 03 that does not compile: a refusal that is shipped."""
    lesson = Path(__file__).resolve().parents[2] / "notebooks" / "03_first_kernel.ipynb"
    cells = ("".join(cell["source"]) for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"])
    return from_cell(next(text for text in cells if text.startswith("%%cuda typo")))[1] + "\n"     # as IPython hands it over


def everything(chosen):
    """Return all of it for kernels and their parameters."""
    return {"results": {name: result(name, values) for name, values in chosen.items()},
            "code": {name: code(name, values) for name, values in chosen.items()},
            "versions": [nvrtc.nvrtc_version(), nvrtc.supported_architectures()],
            "error": refusal(lambda: toolchain.compile_cuda(typing_error(), name="typo")),
            "report": report()}


if __name__ == "__main__":
    told = everything(json.loads(sys.argv[1]) or QUICK)
    print(json.dumps(told | {"nvrtc": nvrtc.nvrtc_is_there()}))
