"""Record kernels of lessons 03 to 08 in turns, with the clock.

They are the kernels that a lesson compares, all in one process. Every kernel is launched once per round, so that whatever drifts meets all
of them alike. A row of together.json has the median and the quartiles of the rounds, and `mhz`: the cycles of a multiprocessor divided by
the time, read by one thread that counts both while the kernel runs. The rows of each lesson:

\b
- 03: both first kernels in blocks that give their warps six shapes
- 05: line 29 as it was, and changed; the kernels beside them; the copy of 2²⁶ floats
- 06: the padded products and the transposition by their padding; the naive kernel with padded rows
- 08: the rungs, and 2 × 2 outputs with two depths of the tile, each with 32 and with 48 warps per multiprocessor
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import toolchain
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.kernels import get
from course_lib.lessons.register_blocking import again
from tools.options import out_option
from tools.record.coalescing import ALONG, DOWN
from tools.recordings import usable_gpu, write_recording

N, MANY, ROUNDS = 4096, 2**26, 7
WATCHED = 0.02                           # seconds that the clock is read, at least
SHORT = 1e-3                             # a kernel below this is launched 20 times per sample
OWN = {again.ENTRY: again.FILE}      # kernels of no catalog
CLOCK = """
extern "C" __global__ void watch_clock(unsigned long long nanoseconds, unsigned long long* seen) {
    unsigned long long begun, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    const long long first = clock64();
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begun < nanoseconds);
    seen[0] = clock64() - first;
    seen[1] = now - begun;
}
"""


@dataclass(frozen=True)
class Case:
    """What is launched: a kernel of the catalog (or of OWN), its parameters, and what else differs.

    `padding`: unused floats at the end of each row of A and B. `shared`: bytes of shared memory that each block gets and does not use.
    `along`: line 29 of `sgemm_uncoalesced` goes along a row of B.
    """

    lesson: str
    kernel: str
    parameters: dict[str, int] = field(default_factory=dict)
    N: int = N
    padding: int = 0
    shared: int = 0
    along: bool = False

    def row(self) -> dict[str, Any]:
        """Return what identifies the case, for the file."""
        return {name: getattr(self, name) for name in ("lesson", "kernel", "N", "parameters", "padding", "shared", "along")}

    def text(self) -> str:
        """Return the CUDA C text that is compiled."""
        if self.kernel in OWN:
            return OWN[self.kernel].read_text(encoding="utf-8")
        source = get(self.kernel).source
        return source.replace(DOWN, ALONG) if self.along else source


def square(side: int, BK: int, **parameters: int) -> dict[str, int]:
    """Return a tile of side × side elements of C."""
    return {"BM": side, "BN": side, "BK": BK} | parameters


def plan() -> list[Case]:
    """Return everything that is measured."""
    shapes = [1, 2, 4, 8, 16, 32]
    cases = [Case("03", "sgemm_naive", {"bx": wide, "by": 256 // wide}) for wide in shapes]
    cases += [Case("03", "sgemm_swapped", {"bx": high, "by": 256 // high}) for high in shapes]
    cases += [Case("05", "sgemm_uncoalesced", {"TILE": 16}, along=along) for along in (False, True)]
    cases += [Case("05", "sgemm_tiled", square(16, 16)), Case("05", "sgemm_coalesced", {"TILE": 16})]
    cases += [Case("05", "copy_strided", {"stride": stride, "offset": 0, "VEC": 1, "threads": 256}, N=MANY) for stride in (1, 2, 4, 8)]
    cases += [Case("05", "copy_strided", {"stride": 1, "offset": 0, "VEC": 4, "threads": 256}, N=MANY)]
    cases += [Case("06", "sgemm_padded", {"TILE": 16, "PAD": pad}) for pad in (0, 8, 4, 2, 1)]
    cases += [Case("06", "transpose", {"TILE": 32, "ROWS": 8, "PAD": pad}) for pad in (0, 16, 8, 4, 2, 1)]
    cases += [Case("06", "sgemm_naive", {"bx": side, "by": side}, N=size, padding=pad)
              for size in (1024, N) for side in (16, 32) for pad in (0, 8)]
    cases += [Case("08", "sgemm_1d_tile", square(64, 8, TM=8)), Case("08", "sgemm_block"), Case("08", "sgemm_ilp")]
    cases += [Case("08", "sgemm_2d_tile", square(64, 16, TM=4, TN=4)), Case("08", "sgemm_2d_tile", square(128, 8, TM=8, TN=8))]
    # 228 KiB of shared memory, 1 KiB of it reserved per block: six blocks of 8 warps with 37 KiB each, four with 56 KiB.
    cases += [Case("08", "sgemm_2d_tile", square(32, BK, TM=2, TN=2), shared=shared - 2 * 4 * 32 * BK)
              for BK in (16, 32) for shared in (36 * 1024, 55 * 1024)]
    return cases + [Case("08", "sgemm_2d_tile", square(32, BK, TM=2, TN=2)) for BK in (16, 32)]


# ---- on the GPU --------------------------------------------------------------------------------------------------------------------

class Store:
    """Matrices of two sizes with and without padded rows, their product in float64, and what copies read."""

    def __init__(self) -> None:
        self.matrices: dict[tuple[int, int], Any] = {}
        self.exact: dict[int, Any] = {}
        self.numbers: Any = None

    def product(self, size: int, padding: int) -> tuple[Any, Any, Any]:
        """Return A and B, with so many unused floats (NaN) at the end of each row, and A B in float64."""
        import cupy
        if (size, 0) not in self.matrices:
            rng = np.random.default_rng(size)
            A, B = (cupy.asarray(rng.standard_normal((size, size), np.float32)) for _ in "AB")
            self.matrices[size, 0], self.exact[size] = (A, B), A.astype(float) @ B.astype(float)
        if (size, padding) not in self.matrices:
            self.matrices[size, padding] = tuple(
                cupy.pad(x, ((0, 0), (0, padding)), constant_values=np.nan) for x in self.matrices[size, 0])
        return *self.matrices[size, padding], self.exact[size]

    def floats(self, count: int) -> Any:
        """Return 0, 1, 2, … as 32-bit numbers, at least so many."""
        import cupy
        if self.numbers is None or self.numbers.size < count:
            self.numbers = cupy.arange(count, dtype=cupy.uint32)
        return self.numbers


def compiled_as(case: Case) -> tuple[str, dict[str, Any]]:
    """Return the function of a case's text, and what the compiler gets with -D."""
    if case.kernel in OWN:
        return case.kernel, dict(case.parameters)
    kernel = get(case.kernel)
    return kernel.entry, dict(kernel.defines(**case.parameters))


def function_of(case: Case) -> Any:
    """Compile a case's kernel and load it."""
    from course_lib import gpu
    from course_lib.gpu.launch import prepare_function
    entry, defines = compiled_as(case)
    code = toolchain.compile_cuda(case.text(), name=f"{entry}.cu", arch=gpu.probe().arch, defines=defines)
    return prepare_function(code, entry, case.shared, None)


def shape(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (grid, block)."""
    if case.kernel in OWN:
        tile = again.TILE if case.kernel == again.ENTRY else 16
        return (case.N // tile, case.N // tile), (16, 16)
    kernel = get(case.kernel)
    covered = (case.N,) if case.kernel == "copy_strided" else (case.N, case.N)
    return kernel.grid(*covered, **case.parameters), kernel.block(**case.parameters)


def prepared(case: Case, store: Store) -> tuple[Callable[[], None], Callable[[], bool], int]:
    """Return (launch, check, how many blocks a multiprocessor holds); a check first fills the result with NaN, and launches."""
    import cupy
    if case.kernel == "copy_strided":
        stride, VEC = case.parameters["stride"], case.parameters["VEC"]
        numbers, out = store.floats(2**29), cupy.empty(case.N, cupy.uint32)
        args, right = (np.int32(case.N), numbers, np.int32(0), np.int32(stride), out), numbers[:stride * case.N:stride]
        if VEC > 1 and stride > 1:
            raise ValueError("the check is for single floats, or for neighbours")
    elif case.kernel == "transpose":
        A, _, _ = store.product(case.N, 0)
        out, n = cupy.empty((case.N, case.N), np.float32), np.int32(case.N)
        args, right = (n, n, A, n, out, n), A.T
    else:
        A, B, right = store.product(case.N, case.padding)
        out, n, (lda, ldb) = cupy.empty((case.N, case.N), np.float32), np.int32(case.N), (np.int32(x.shape[1]) for x in (A, B))
        args = (n, n, n, np.float32(1), A, lda, B, ldb, np.float32(0), out, n)
    function, (grid, block) = function_of(case), shape(case)
    held = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.kernel.ptr, math.prod(block), case.shared)

    def launch() -> None:
        function(grid, block, args, shared_mem=case.shared)

    def check() -> bool:
        out.view(cupy.uint32)[...] = 0xFFFFFFFF
        launch()
        return bool((out == right).all()) if case.kernel in ("copy_strided", "transpose") else right_product(out, right)
    return launch, check, int(held)


def right_product(C: Any, exact: Any) -> bool:
    """Return whether every element of C is the float64 product but for rounding; NaN is wrong."""
    return bool((abs(C - exact) < 1e-6 * C.shape[0]).all())


def timed(launch: Callable[[], None], many: int) -> float:
    """Return the seconds of one of `many` launches, by events."""
    import cupy
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(many):
        launch()
    stop.record()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) / 1e3 / many


def clock_mhz(launch: Callable[[], None], seconds: float) -> float:
    """Return a multiprocessor's cycles per microsecond while the kernel is launched for 25 ms, or once if that is longer."""
    import cupy
    watch, seen = cupy.RawKernel(CLOCK, "watch_clock"), cupy.zeros(2, cupy.uint64)
    beside = cupy.cuda.Stream(non_blocking=True)
    many = max(1, round(1.25 * WATCHED / seconds))
    watch.compile()
    launch()
    cupy.cuda.get_current_stream().synchronize()
    with beside:
        watch((1,), (1,), (np.uint64(0.8e9 * many * seconds), seen))
    for _ in range(many):
        launch()
    cupy.cuda.get_current_stream().synchronize()
    beside.synchronize()
    cycles, nanoseconds = (int(x) for x in seen.get())
    return 1e3 * cycles / nanoseconds


def measured(cases: list[Case], store: Store, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Return a row for each case; what the GPU refuses is printed, and left out."""
    launched, ready, right = [], [], []
    for case in cases:
        try:
            launch, check, blocks = prepared(case, store)
            right.append(check())
        except Exception as error:
            print(f"LEFT OUT: {case.row()}: {error}", flush=True)
        else:
            ready.append((launch, blocks))
            launched.append(case)
    samples: list[list[float]] = [[] for _ in launched]
    many = [20 if timed(launch, 2) < SHORT else 1 for launch, _ in ready]
    for _ in range(rounds):
        for (launch, _), count, found in zip(ready, many, samples, strict=True):
            found.append(timed(launch, count))
    rows = []
    for case, (launch, blocks), good, found in zip(launched, ready, right, samples, strict=True):
        low, median, high = (float(f"{s:.5g}") for s in np.percentile(found, [25, 50, 75]))
        rows.append(case.row() | {"median_s": median, "low_s": low, "high_s": high, "repeats": rounds,
                                  "mhz": round(clock_mhz(launch, median)), "blocks": blocks, "correct": good})
    return rows


@click.command()
@out_option("together")
def command(out: Path) -> None:
    """Measure everything and write the file."""
    record(out)


def record(out: Path) -> None:
    """Measure everything and write the file; exit status 1 when an answer is wrong, or a case is left out."""
    status, cases = usable_gpu(), plan()
    rows = measured(cases, Store())
    for row in rows:
        print(row["lesson"], row["kernel"], row["parameters"], row["padding"], row["shared"], f"{1e3 * row['median_s']:.3f} ms",
              f"{row['mhz']} MHz", "" if row["correct"] else "WRONG", flush=True)
    sources = {name: fingerprint_of(get(name)) for name in sorted({case.kernel for case in cases})}
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    write_recording(out, "together", rows, sources, f"record together; NVRTC {nvrtc}", status.name, status.driver)
    sys.exit(len(rows) < len(cases) or not all(row["correct"] for row in rows))
