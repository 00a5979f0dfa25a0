"""Launch cases once each, for Nsight Compute to watch.

A file names them. `gpu check` and `record micro` need their counters.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from tools import ToolError
from tools.nsight import MEASURED, find_ncu, number, version_of, watched

BLOCKS = ((16, 16), (32, 8), (32, 32), (8, 8), (7, 5), (1, 64), (1024, 1))
TILES = ((32, 32, 32), (16, 16, 16), (8, 16, 24), (32, 8, 40), (4, 4, 64), (5, 7, 3), (16, 64, 8))
SHAPES = ((1, 1, 1), (17, 1, 33), (1, 17, 5), (31, 33, 7), (65, 63, 129), (101, 97, 103), (128, 128, 128))
OTHERS = ((130, 67, 45, 4), (256, 192, 64, 0))      # M, N, K, padding for the kernels beyond the first three
WHOLE = (2048, 48, 32, 4)                           # for those that take whole tiles only
PROFILED = ((64, 64, 64), (65, 33, 17), (101, 97, 103), (256, 256, 256), (512, 512, 512))


Case = tuple[str, dict[str, int], tuple[int, int, int], int]      # kernel, parameters, (M, N, K), padding of the rows


def cases(shapes: Iterable[tuple[int, int, int]]) -> Iterator[Case]:
    """List (kernel, parameters, (M, N, K), padding of the rows): every size of block or tile, every shape."""
    for shape in shapes:
        for name in ("sgemm_swapped", "sgemm_naive"):
            for bx, by in BLOCKS:
                yield name, {"bx": bx, "by": by}, shape, 0
        for BM, BN, BK in TILES:
            yield "sgemm_tiled", {"BM": BM, "BN": BN, "BK": BK}, shape, 0
    for name in ("sgemm_swapped", "sgemm_naive", "sgemm_tiled"):      # padded rows: 77 and so on, no multiple of 8
        yield name, {}, (67, 71, 73), 4


def products() -> Iterator[Case]:
    """List every other product of the catalog, with its defaults."""
    from course_lib.kernels import KERNELS
    for name, kernel in KERNELS.items():
        if name in ("sgemm_swapped", "sgemm_naive", "sgemm_tiled"):
            continue
        takes_all = kernel.sizes_of(*OTHERS[0][:3], kernel.check()) is None
        for M, N, K, padding in OTHERS if takes_all else (WHOLE,):
            yield name, {}, (M, N, K), padding


def matrices(shape: tuple[int, int, int], padding: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B, C with `padding` unused elements behind each row; never symmetric, never constant."""
    M, N, K = shape
    rng = np.random.default_rng([M, N, K, padding])

    def matrix(rows: int, cols: int) -> np.ndarray:
        return rng.standard_normal((rows, cols + padding)).astype(dtype)[:, :cols]

    return matrix(M, K), matrix(K, N), matrix(M, N)


def describe(case: Case) -> str:
    """Write a case on one line."""
    name, parameters, shape, padding = case
    values = ",".join(f"{k}{v}" for k, v in parameters.items()) or "defaults"
    return f"{name} {values} {'x'.join(map(str, shape))}" + (f" padded by {padding}" if padding else "")


def launch_cases(path: Path) -> None:
    """Launch each case of a file exactly once; this is what Nsight Compute watches."""
    from course_lib import gpu, kernels, toolchain
    from course_lib.run.inputs import problem
    task = json.loads(Path(path).read_text())
    launch_vectors(task.get("vectors", ()), task["arch"])
    for name, parameters, shape, padding in task["cases"]:
        kernel = kernels.get(name)
        A, B, C = matrices(shape, padding, kernel.dtype)
        adds = {} if kernel.result else {"C": C, "beta": task.get("beta", 0.5)}
        sgemm = problem(A, B, alpha=1.5, dtype=kernel.dtype, layout=kernel.layout, stored=kernel.stored, boxes=kernel.boxes,
                        result=kernel.result, **adds)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=task["arch"],
                                          defines=kernel.defines(**parameters))
        buffers = [matrix.buffer for matrix in (sgemm.A, sgemm.B, sgemm.C)]
        workspace = (np.zeros(count, dtype) for dtype, count in kernel.workspace(**parameters))
        gpu.launch(compiled, kernel.entry, kernel.grid(sgemm.M, sgemm.N, **parameters), kernel.block(**parameters),
                   (*sgemm.arguments(*buffers), *workspace), dynamic_shared=kernel.dynamic_bytes(**parameters))


def launch_vectors(wanted: Iterable[Any], arch: str) -> None:
    """Launch each (kernel, parameters, S) of the homework's kernels once, on a 16 x 16 matrix and S vectors."""
    from course_lib import gpu, kernels, toolchain
    rng = np.random.default_rng(16)
    matrix = rng.standard_normal((16, 16), np.float32)
    for name, parameters, S in wanted:
        kernel = kernels.get(name)
        there, out = (gpu.to_device(x) for x in (rng.standard_normal((S, 16), np.float32), np.full((S, 16), np.nan, np.float32)))
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=arch, defines=kernel.defines(**parameters))
        gpu.launch(compiled, kernel.entry, kernel.grid(S, **parameters), kernel.block(**parameters), [np.int32(S), there, out],
                   constants={"matrix": matrix})


def profile(record: dict[str, Any], out: Path) -> str:
    """Hold the simulator's counters to Nsight Compute's, case by case."""
    from course_lib import gpu
    from course_lib.kernels import get
    wanted = [*cases(PROFILED), *products()]
    path = out / "cases.json"
    path.write_text(json.dumps({"arch": gpu.probe().arch, "cases": wanted}))
    rows = watched(["gpu", "cases", path], MEASURED, [get(name).entry for name, *_ in wanted], out / "ncu.csv", "^[sd]?gemm")
    record.update(ncu=version_of(find_ncu()), cases=len(wanted), profiled=len(rows))
    return compare(record, wanted, rows)


def compare(record: dict[str, Any], wanted: Iterable[Case], rows: Iterable[dict[str, str]]) -> str:
    """Run each case on the simulator and set its counters beside the measured ones."""
    from course_lib.kernels import get
    from course_lib.run import run
    record["rows"], differences, compared = [], [], 0
    for case, row in zip(wanted, rows, strict=True):
        name, parameters, shape, padding = case
        A, B, C = matrices(shape, padding, get(name).dtype)
        ours = run(name, A, B, C, alpha=1.5, beta=0.5, backend="sim", **parameters).counters
        entry = {"kernel": name, "parameters": parameters, "shape": shape, "padding": padding, "counters": {}}
        if not row["Kernel Name"].startswith(get(name).entry):
            raise ToolError(f"the order of launches is lost: {row['Kernel Name']} is not {name}")
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
        raise ToolError(words + ": " + "; ".join(differences[:6]))
    return words


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def command(file: Path) -> None:
    """Launch them."""
    launch_cases(file)
