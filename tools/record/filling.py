"""Record how C fills while each kernel runs.

The kernels are those of the ladder, the matrices 4096 × 4096. Writes filling.json.

C begins full of NaN. A watcher, a block of 1024 threads that was launched before, reads 32 × 32 elements of C again and again, and notes
when each has got its number. It runs beside the kernel on one multiprocessor, so each kernel is also timed without it.
"""

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import data, gpu, toolchain
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.gpu.launch import prepare_function, triple
from course_lib.gpu.library import bind_product
from course_lib.kernels import get
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

N, SIDE, RUNS, MOST_S = 4096, 32, 5, 5
TEXT = r"""
__device__ unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
extern "C" __global__ void stamp(unsigned long long* at) { *at = now(); }
extern "C" __global__ void watch(const float* C, int N, int side, unsigned long long most, unsigned long long* when, unsigned* seen) {
    const int step = N / side, row = threadIdx.x / side * step + step / 2, col = threadIdx.x % side * step + step / 2;
    const float* mine = C + (size_t)row * N + col;
    const unsigned long long start = now();
    unsigned long long t;
    unsigned bits;
    do {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(mine) : "memory");
        t = now();
    } while (bits == 0x7fffffffu && t - start < most);
    when[threadIdx.x] = t;
    seen[threadIdx.x] = bits;
}
"""


class Filling:
    """The matrices, the watcher, and two streams: the watcher's and the kernel's."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        rng = np.random.default_rng(3 * N)
        self.A, self.B = (cupy.asarray(rng.standard_normal((N, N), np.float32)) for _ in "AB")
        self.C = cupy.empty((N, N), cupy.float32)
        self.ours, self.theirs = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        module = cupy.RawModule(code=TEXT)
        self.stamp, self.watch = module.get_function("stamp"), module.get_function("watch")
        self.ends = cupy.zeros(2, cupy.uint64)
        self.when, self.seen = cupy.zeros(SIDE**2, cupy.uint64), cupy.zeros(SIDE**2, cupy.uint32)
        self.right = self.A @ self.B

    def call_of(self, record: Any) -> Callable[[], Any]:
        """Return the function that puts a kernel on the second stream."""
        if record.kernel == "cuBLAS":
            return bind_product(self.A, self.B, self.C, 1.0, 0.0, (False, False), ctypes.c_void_p(self.theirs.ptr))
        kernel, values = get(record.kernel), record.parameters
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.path.name, arch=gpu.probe().arch, defines=kernel.defines(**values))
        function = prepare_function(compiled, kernel.entry, 0)
        n, one, zero = np.int32(N), np.float32(1), np.float32(0)
        arguments = (n, n, n, one, self.A, n, self.B, n, zero, self.C, n)
        grid, block = triple(kernel.grid(N, N, **values)), triple(kernel.block(**values))
        return lambda: function(grid, block, arguments)

    def once(self, call: Callable[[], Any], watched: bool) -> tuple[int, np.ndarray]:
        """Multiply once; return the nanoseconds it took, and for each watched element those until it had its number."""
        cupy = self.cupy
        self.C.view(cupy.uint32).fill(0x7fffffff)
        cupy.cuda.Device().synchronize()
        if watched:
            with self.ours:
                self.watch((1,), (SIDE**2,), (self.C, np.int32(N), np.int32(SIDE), np.uint64(MOST_S * 10**9), self.when, self.seen))
            time.sleep(0.005)                    # the watcher runs by then
        with self.theirs:
            self.stamp((1,), (1,), (self.ends[:1],))
            call()
            self.stamp((1,), (1,), (self.ends[1:],))
        cupy.cuda.Device().synchronize()
        start, end = (int(t) for t in self.ends.get())
        return end - start, self.when.get().astype(np.int64) - start

    def row(self, record: Any) -> dict[str, Any]:
        """Return what is recorded of one kernel."""
        cupy, call = self.cupy, self.call_of(record)
        self.once(call, False)
        alone = [self.once(call, False)[0] for _ in range(RUNS)]
        runs = sorted((self.once(call, True) for _ in range(RUNS)), key=lambda run: run[0])
        taken, filled = runs[RUNS // 2]
        step = N // SIDE
        last = self.C[step // 2::step, step // 2::step].ravel().view(cupy.uint32)
        first_is_last = bool((last == self.seen).all())
        right = bool(cupy.allclose(self.C, self.right, atol=0.02))
        spread = np.mean([np.abs(other / total - filled / taken).mean() for total, other in runs])
        return {"kernel": record.kernel, "N": N, "parameters": record.parameters, "alone_us": round(np.median(alone) / 1e3, 1),
                "watched_us": round(taken / 1e3, 1), "runs_differ": round(float(spread), 4), "first_is_last": first_is_last,
                "correct": right, "filled_us": [round(t / 1e3) for t in filled.tolist()]}


@click.command()
@out_option("filling")
def command(out: Path) -> None:
    """Record every kernel of the ladder at N = 4096."""
    status, filling = usable_gpu(), Filling()
    rows = []
    for record in data.load("ladder").find(N=N):
        rows.append(filling.row(record))
        told = rows[-1]
        print(f"{told['kernel']:24} recorded {1e6 * record.median_s:9.1f} us, alone {told['alone_us']:9.1f}",
              f"watched {told['watched_us']:9.1f}",
              f"first {min(told['filled_us'])}, last {max(told['filled_us'])}, runs differ by {told['runs_differ']}",
              f"right {told['correct']}, first is last {told['first_is_last']}", sep="; ")
    sources = {row["kernel"]: fingerprint_of(get(row["kernel"])) for row in rows if row["kernel"] != "cuBLAS"}
    write_recording(out, "filling", rows, sources, "record filling", status.name, status.driver)
