"""A 16 × 16 tile on numba's CUDA simulator, for comparison. Run by a Python that has numba: it imports nothing of the course.

    python numba_tile.py N REPEATS     prints {"version": …, "N": …, "seconds": [CPU seconds of each launch]}
"""

import json
import os
import sys
import time
from typing import Any

TILE = 16
cuda: Any           # bound by `kernel`
float32: Any


def kernel() -> Any:
    """Return the kernel; numba is imported here, after the variable that chooses its simulator is set.

    It exchanges a kernel's global `cuda` for one that knows threads and blocks, so it must be global.
    """
    global cuda, float32
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    import numba.cuda  # type: ignore[import-not-found]    # it is in the other Python

    cuda, float32 = numba.cuda, numba.float32

    @cuda.jit
    def tiled(A, B, C):
        As = cuda.shared.array((TILE, TILE), float32)
        Bs = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        acc = float32(0)
        for k0 in range(0, A.shape[1], TILE):
            As[ty, tx] = A[row, k0 + tx]
            Bs[ty, tx] = B[k0 + ty, col]
            cuda.syncthreads()
            for k in range(TILE):
                acc += As[ty, k] * Bs[k, tx]
            cuda.syncthreads()
        C[row, col] = acc

    return tiled


def main(N: int, repeats: int) -> None:
    """Launch once and then `repeats` times; print the times."""
    import numpy as np

    tiled = kernel()
    import numba

    rng = np.random.default_rng(1)
    A, B = (rng.standard_normal((N, N)).astype(np.float32) for _ in range(2))
    C = np.zeros((N, N), np.float32)
    seconds = []
    for _ in range(repeats + 1):
        start = time.process_time()
        tiled[(N // TILE, N // TILE), (TILE, TILE)](A, B, C)
        seconds.append(time.process_time() - start)
    if not np.allclose(C, A @ B, atol=1e-3):
        raise SystemExit("numba's answer is wrong")
    print(json.dumps({"version": numba.__version__, "N": N, "seconds": seconds[1:]}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
