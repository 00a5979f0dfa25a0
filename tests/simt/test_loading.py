"""Machine code is loaded wherever there is room, also in a process whose address space is full of large reservations."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# As a GPU's driver does: everything near is taken but for one small hole; the rest of the room is 64 GiB away.
CROWDED = textwrap.dedent("""
    import ctypes, mmap
    import numpy as np
    from course_lib import kernels, simt
    from course_lib.simt.codegen import native
    kernel = kernels.get("sgemm_1d_tile")
    A = np.ones((40, 40), np.float32)
    C = np.zeros_like(A)
    n, one = np.int32(40), np.float32(1)
    args = [n, n, n, one, A, n, A, n, np.float32(0), C, n]
    launch = lambda: simt.launch(kernel.path, kernel.entry, kernel.grid(40, 40), kernel.block(), args, defines=kernel.defines())
    simt.launch('extern "C" __global__ void f(float* a) { a[threadIdx.x] = 1; }', "f", 1, 32, [np.zeros(32, np.float32)])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    def reserve(size):
        return libc.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, -1, 0)   # PROT_NONE, MAP_NORESERVE
    big = reserve(64 << 30)
    for size in (1 << 30, 1 << 26, 1 << 24, 1 << 22, 1 << 20, 1 << 18, 1 << 16, 1 << 14, 1 << 12):
        for _ in range(4096):
            at = reserve(size)
            if at < big:
                libc.munmap(at, size)
                break
    libc.munmap(big + (63 << 30), 1 << 14)
    print(big, flush=True)
    launch()
    assert np.array_equal(C, np.full_like(A, 40)), "wrong answer"
    print("loaded")
""")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fills the address space by Linux's rules")
def test_code_and_constants_stay_near_each_other():
    answer = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert answer.stdout.endswith("loaded\n"), answer.stderr[-1500:]
