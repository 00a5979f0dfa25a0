"""A dozen kernels in Numba's CUDA Python; `make.py` turns each into PTX text.

Each stands in KERNELS with the types of its arguments as Numba writes them.
"""

import math

from numba import cuda, float32, float64, int32, uint32
from numba.cuda import libdevice

KERNELS = {}
LINKED = ("halves", "devices")   # made a second time, with what Numba would link in before a launch


def kernel(signature, name=None, **options):
    """Register a kernel under its own name, or one more variant of it under another."""
    def keep(function):
        KERNELS[name or function.__name__] = (function, signature, options)
        return function
    return keep


@kernel("void(float32, float32[::1], float32[::1])")
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@kernel("void(float64[:,:], float64[:,:])")
def stencil(x, y):
    row, col = cuda.grid(2)
    if 0 < row < x.shape[0] - 1 and 0 < col < x.shape[1] - 1:
        y[row, col] = 0.25 * (x[row - 1, col] + x[row + 1, col] + x[row, col - 1] + x[row, col + 1])


@kernel("void(float32[:,::1], float32[:,::1])")
def transpose(x, y):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for j in range(0, 32, 8):
        if row + j < x.shape[0] and col < x.shape[1]:
            tile[ty + j, tx] = x[row + j, col]
    cuda.syncthreads()
    col, row = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for j in range(0, 32, 8):
        if row + j < y.shape[0] and col < y.shape[1]:
            y[row + j, col] = tile[tx, ty + j]


@kernel("void(float64[::1], float64[::1])")
def reduction(x, total):
    partial = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s += x[i]
    partial[t] = s
    cuda.syncthreads()
    half = 128
    while half:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(total, 0, partial[0])


@kernel("void(uint8[::1], int32[::1])")
def histogram(values, counts):
    mine = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, mine[t])


@kernel("void(float32[:,::1], float32[:,::1], float32[:,::1])", "matmul_debug", debug=True, opt=False)
@kernel("void(float32[:,::1], float32[:,::1], float32[:,::1])")
def matmul(A, B, C):
    As = cuda.shared.array((16, 16), float32)
    Bs = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k0 in range(0, A.shape[1], 16):
        As[ty, tx] = A[row, k0 + tx] if row < A.shape[0] and k0 + tx < A.shape[1] else float32(0)
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < A.shape[1] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@kernel("void(float32[:,::1], float32[:,::1])", fastmath=True)
def softmax(x, y):
    """One warp per row, with shuffles; approximate functions."""
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    top = float32(-math.inf)
    for j in range(lane, x.shape[1], 32):
        top = max(top, x[row, j])
    for d in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xffffffff, top, d))
    total = float32(0)
    for j in range(lane, x.shape[1], 32):
        total += math.exp(x[row, j] - top)
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xffffffff, total, d)
    for j in range(lane, x.shape[1], 32):
        y[row, j] = math.exp(x[row, j] - top) / total


@kernel("void(int64[::1], int64[::1])", "scan_debug", debug=True, opt=False)
@kernel("void(int64[::1], int64[::1])")
def scan(x, y):
    """Inclusive prefix sums of one block: within warps by shuffles, then of the warps' totals."""
    totals = cuda.shared.array(32, int32)
    t, lane, warp = cuda.threadIdx.x, cuda.laneid, cuda.threadIdx.x // 32
    s = int32(x[t]) if t < x.size else int32(0)
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(0xffffffff, s, d)
        if lane >= d:
            s += other
        d *= 2
    if lane == 31:
        totals[warp] = s
    cuda.syncthreads()
    for w in range(warp):
        s += totals[w]
    if t < y.size:
        y[t] = s


@kernel("void(complex64[:,::1], int32, int32[:,::1])")
def mandelbrot(c, most, steps):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        z, n = c[row, col], 0
        while n < most and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + c[row, col]
            n += 1
        steps[row, col] = n


@kernel("void(float32[::1], int32[::1])")
def argmax(x, where):
    """Index of the largest element, the first of equals; one block. A vote says whether a warp holds a NaN."""
    values = cuda.shared.array(128, float32)
    places = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    best, place = float32(-math.inf), int32(2147483647)
    for i in range(t, x.size, 128):
        if x[i] > best:
            best, place = x[i], i
    values[t], places[t] = best, place
    half = 64
    while half:
        cuda.syncthreads()
        if t < half:
            other = values[t + half]
            if other > values[t] or other == values[t] and places[t + half] < places[t]:
                values[t], places[t] = other, places[t + half]
        half >>= 1
    nan = cuda.any_sync(0xffffffff, best != best)
    if t == 0:
        where[0] = -1 if nan else places[0]


@kernel("void(float64[:,:], float64[:], float64[:], float64[:,:], float64)", "layernorm_unoptimised", opt=False)
@kernel("void(float64[:,:], float64[:], float64[:], float64[:,:], float64)")
def layernorm(x, gain, bias, y, eps):
    """A row per thread, in arrays with any strides; Welford's recurrence."""
    row = cuda.grid(1)
    if row >= x.shape[0]:
        return
    mean, squares = 0.0, 0.0
    for j in range(x.shape[1]):
        delta = x[row, j] - mean
        mean += delta / (j + 1)
        squares += delta * (x[row, j] - mean)
    scale = 1.0 / math.sqrt(squares / x.shape[1] + eps)
    for j in range(x.shape[1]):
        y[row, j] = (x[row, j] - mean) * scale * gain[j] + bias[j]


@kernel("void(float32[:,:,::1], float32[:,:,:,::1], float32[:,:,::1])")
def conv(x, w, y):
    """3 x 3 convolution over channels; the patch in a local array."""
    patch = cuda.local.array(9, float32)
    col, row, out = cuda.grid(3)
    if row < y.shape[1] and col < y.shape[2] and out < y.shape[0]:
        acc = float32(0)
        for channel in range(x.shape[0]):
            for i in range(9):
                patch[i] = x[channel, row + i // 3, col + i % 3]
            for i in range(9):
                acc += patch[i] * w[out, channel, i // 3, i % 3]
        y[out, row, col] = acc


@kernel("void(float32[::1], float64[::1], float32[::1], float64[::1])")
def functions(x, u, y, v):
    """NVIDIA's mathematical library, as bitcode that Numba links in."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i]) + math.exp(-x[i] * x[i]) + math.log1p(abs(x[i])) + libdevice.fast_cosf(x[i])
        v[i] = math.pow(abs(u[i]), 1.5) + math.tanh(u[i]) + math.erf(u[i]) + math.fmod(u[i], 0.7)


@kernel("void(float16[::1], float16[::1], float16[::1], uint32[::1])")
def halves(x, y, z, bits):
    i = cuda.grid(1)
    if i < x.size:
        z[i] = cuda.fp16.hfma(x[i], y[i], x[i]) if cuda.fp16.hlt(x[i], y[i]) else x[i] - y[i]
        bits[i] = cuda.popc(cuda.brev(bits[i])) + cuda.clz(bits[i]) * 64 + cuda.ffs(bits[i]) * 4096


@cuda.jit(device=True, inline=False)
def collatz(n):
    steps = int32(0)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@kernel("void(uint32[::1], uint32[::1], float64[::1], uint32[::1])")
def devices(x, found, best, lock):
    """Atomics with results, a device function, and compare and swap."""
    i = cuda.grid(1)
    if i < x.size:
        found[cuda.atomic.add(found, 0, 1) + 1] = collatz(x[i])
        cuda.atomic.max(best, 0, float64(x[i]) * 0.5)
        cuda.atomic.min(best, 1, float64(x[i]) * 0.5)
        cuda.atomic.cas(lock, 0, uint32(0), uint32(i + 1))
        cuda.atomic.inc(lock, 1, uint32(30))
        cuda.atomic.xor(lock, 2, x[i])


@kernel("void(int32[::1], int32, int32[::1])", debug=True, opt=False)
def quotients(x, by, y):
    """What debug=True checks: the index and the divisor. A failure writes a number into a variable and ends the thread."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] // by


@kernel("void(int64[::1], float64)")
def prints(x, a):
    i = cuda.grid(1)
    if i < x.size:
        print("element", i, x[i], a)
