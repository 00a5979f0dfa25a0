"""Record products of short numbers, Triton's and ours.

They take turns.

\\b
- bf16: A and B are stored as bfloat16; cuBLAS, sbgemm_mma, sbgemm_stages, sbgemm_tma
- f16: as float16; what Triton wrote for `sm_80` and `sm_90a` with 1 to 4 stages
- float32: rounded to bfloat16 on the way; what Triton wrote, and sgemm_bf16 with Triton's tile and with its own. sgemm_mma and lesson
  16's warp_mma round to TF32, lesson 08's column rounds nothing

Writes short.json into the output folder: for each kernel the median and the quartiles of the rounds, and the clock in launches of its own
afterwards. With --ptxas it only makes machine code of Triton's PTX, in build/triton, by the assembler that is named. That needs no GPU, and
must be done before: the driver of a GPU may be older than what Triton writes.
"""

import re
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import nbformat
import numpy as np

from course_lib import magic, toolchain
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import Kernel, UserKernel, get
from course_lib.kernels.triton import SETTINGS, Setting, written
from course_lib.model.number_formats import from_bf16, to_bf16
from course_lib.run.accuracy import tolerance
from course_lib.run.inputs import factor_map
from course_lib.run.triton import ARGUMENTS
from tools import ROOT
from tools.options import out_option
from tools.record.together import clock_mhz, timed
from tools.recordings import usable_gpu, write_recording

N, ROUNDS, SAMPLE_S = 4096, 9, 5e-3
CUBINS = ROOT / "build" / "triton"
TRITONS_TILE = {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32}
WRITTEN = {"warp_mma": ("16_tensor_cores", "sgemm_mma"), "column": ("08_register_blocking", "sgemm_1d_tile")}     # lesson, launched like
ROUNDED = {"bf16": ("bf16", True), "f16": ("tf32", True), "float32": ("bf16", False)}      # as `tolerance` wants it


@dataclass(frozen=True)
class Contestant:
    """A kernel, what A and B are stored as, and its parameters: of the catalog, or one of Triton's texts by its setting."""

    given: str
    kernel: str
    parameters: dict[str, int] = field(default_factory=dict)
    setting: Setting | None = None
    text: Kernel | None = None          # where the catalog does not have it


def contestants() -> Iterator[Contestant]:
    """Yield everything that is measured."""
    yield Contestant("bf16", "cuBLAS")
    yield Contestant("bf16", "sbgemm_mma")
    yield Contestant("bf16", "sbgemm_stages")
    yield Contestant("bf16", "sbgemm_tma", {"BN": 256, "STAGES": 4})
    for setting in SETTINGS:
        if setting.masked and not setting.any_size:
            yield Contestant("float32" if setting.floats else "f16", f"Triton {setting.name}", setting=setting)
    yield Contestant("float32", "sgemm_bf16", TRITONS_TILE)
    for name in ("sgemm_bf16", "sgemm_mma", *WRITTEN):
        yield Contestant("float32", name)


def kernel_of(name: str) -> Kernel:
    """Return a kernel of the catalog, or one that a lesson's reader writes, as the lesson has it worked out."""
    if name not in WRITTEN:
        return get(name)
    lesson, like = WRITTEN[name]
    cells = (magic.from_cell(cell.source) for cell in nbformat.read(ROOT / f"notebooks/{lesson}.ipynb", 4).cells
             if cell.source.startswith(f"%%cuda {name}\n"))
    return UserKernel.from_source(next(cells)[1], like=like)


def assemble(ptxas: str) -> None:
    """Make machine code for an H200 of Triton's texts, in `CUBINS`."""
    CUBINS.mkdir(parents=True, exist_ok=True)
    for setting in (one.setting for one in contestants() if one.setting):
        text, made = CUBINS / f"{setting.name}.ptx", CUBINS / f"{setting.name}.cubin"
        text.write_text(written(setting).ptx, encoding="utf-8")
        subprocess.run([ptxas, f"-arch={'sm_90a' if setting.arch == 'sm_90a' else 'sm_90'}", text, "-o", made], check=True)


class Matrices:
    """A, B in each format, C, and the exact product of what each format stores."""

    def __init__(self, n: int = N) -> None:
        import cupy
        rng = np.random.default_rng(n)
        floats = [rng.standard_normal((n, n), np.float32) for _ in "AB"]
        bits: list[Any] = [to_bf16(x) for x in floats]
        halves: list[Any] = [x.astype(np.float16) for x in floats]
        self.given = {name: list(map(cupy.asarray, pair)) for name, pair in {"bf16": bits, "f16": halves, "float32": floats}.items()}
        values: dict[str, list[Any]] = {"bf16": [from_bf16(x) for x in bits], "f16": halves, "float32": floats}
        self.values = {name: [cupy.asarray(x).astype(float) for x in pair] for name, pair in values.items()}
        self.C = cupy.empty((n, n), np.float32)

    def wrong(self, one: Contestant, launch: Callable[[], None]) -> int:
        """Return how many elements a launch gets wrong; C is NaN before."""
        self.C[...] = np.nan
        launch()
        A, B = self.values[one.given]
        inputs, stored = ROUNDED[one.given]
        depth = len(B)
        allowed = (tolerance(depth, inputs=inputs, stored=stored) + tolerance(depth, np.float64)) * (abs(A) @ abs(B))
        return int((~(abs(self.C - A @ B) <= allowed)).sum())


def prepared(one: Contestant, there: Matrices, arch: str, sms: int) -> tuple[Callable[[], None], dict[str, int]]:
    """Return what launches a product, and its parameters."""
    import ctypes

    import cupy

    from course_lib.gpu.launch import arguments, prepare_function
    from course_lib.gpu.library import bind_product
    (A, B), C, n = there.given[one.given], there.C, np.int32(len(there.C))
    if one.kernel == "cuBLAS":
        bound = bind_product(A, B, C, 1.0, 0.0, (False, False), ctypes.c_void_p(cupy.cuda.get_current_stream().ptr))
        return lambda: bound() and None, {}
    if one.setting:
        made, s = written(one.setting), one.setting
        cubin, shared = (CUBINS / f"{s.name}.cubin").read_bytes(), made.facts["shared"]
        grid, block = (int(n) // s.BN, int(n) // s.BM, 1), (32 * s.warps, 1, 1)
        own = [np.uint64(0)] * (len(re.findall(r"^\s*\.param", made.ptx, re.M)) - ARGUMENTS)
        function, given = prepare_function(cubin, made.facts["entry"], shared), (A, B, C, n, n, n, *own)
        values = {"BM": s.BM, "BN": s.BN, "BK": s.BK, "stages": s.stages}
    else:
        kernel = one.text or kernel_of(one.kernel)
        blocks = {"blocks": sms} if kernel.boxes else {}
        values = kernel.check(**blocks | one.parameters)
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**values))
        shared, grid, block = kernel.dynamic_bytes(**values), kernel.grid(int(n), int(n), **values), kernel.block(**values)
        function = prepare_function(compiled, kernel.entry, shared)
        factors = [factor_map(x, box) for x, box in zip((A, B), kernel.boxes, strict=True)] if kernel.boxes else [A, n, B, n]
        given = (n, n, n, np.float32(1), *factors, np.float32(0), C, n)
    on_device = tuple(arguments(given, {}))
    return lambda: function(grid, block, on_device, shared_mem=shared), dict(values)


def measured(given: Iterable[Contestant], arch: str, sms: int, n: int = N) -> list[dict[str, Any]]:
    """Return a row for each kernel, of n x n matrices."""
    there, ready = Matrices(n), []
    for one in given:
        launch, values = prepared(one, there, arch, sms)
        wrong = there.wrong(one, launch)
        ready.append((one, launch, values, wrong, max(1, round(SAMPLE_S / timed(launch, 1)))))
    times: list[list[float]] = [[] for _ in ready]
    for number in range(ROUNDS):               # there and back, so that nobody always comes after the same one
        for (_, launch, _, _, many), found in list(zip(ready, times, strict=True))[::-1 if number % 2 else 1]:
            found.append(timed(launch, many))
    rows = []
    for (one, launch, values, wrong, _), found in zip(ready, times, strict=True):
        low, median, high = statistics.quantiles(found, n=4)
        rows.append({"given": one.given, "kernel": one.kernel, "N": n, "parameters": values,
                     "median_s": median, "low_s": low, "high_s": high, "tflops": round(2e-12 * n**3 / median, 1),
                     "mhz": round(clock_mhz(launch, median)), "wrong": wrong})
    return rows


@click.command()
@click.option("--ptxas", default="", metavar="PROGRAM", help="Only assemble Triton's texts, with this program.")
@out_option("short")
def command(ptxas: str, out: Path) -> None:
    """Record every kernel."""
    if ptxas:
        return assemble(ptxas)
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    rows = measured(contestants(), status.arch, sms)
    for row in rows:
        print(f"{row['given']:8} {row['kernel']:24} {row['tflops']:6.1f} TFLOP/s {row['mhz']} MHz, {row['wrong']} wrong")
    ours = {one.kernel for one in contestants() if not one.setting} - {"cuBLAS", *WRITTEN}
    write_recording(out, "short", rows, {name: fingerprint_of(get(name)) for name in ours}, "record short", status.name, status.driver)
