"""A dozen kernels for CuPy; `make.py` turns each into PTX text.

Arguments are described as (type, dimensions[, contiguous]), a number as (type,).
"""

import cupy
from cupyx import jit

ELEMENTWISE = [
    (cupy.ElementwiseKernel("T a, T x", "T y", "y = a * x + y", "saxpy"), [("f4",), ("f4", 1), ("f4", 1)], 1),
    (cupy.ElementwiseKernel("T x, S y", "T z", "z = (x - y) * (x - y)", "squared_difference"),
     [("f8", 2, False), ("f4", 2, False), ("f8", 2, False)], 2),
    (cupy.ElementwiseKernel("raw T x, int64 n", "T y", "y = 0.25 * (x[(i + n - 1) % n] + 2 * x[i] + x[(i + 1) % n])", "stencil"),
     [("f8", 1), ("i8",), ("f8", 1)], 1),
    (cupy.ElementwiseKernel("float16 x, float16 y", "float16 z, bool less", "z = x * y + x; less = x < y", "halves"),
     [("f2", 1), ("f2", 1), ("f2", 1), ("?", 1)], 1),
    (cupy.ElementwiseKernel("complex64 c, int32 most", "int32 steps",
                            "complex<float> z = c; steps = 0; while (steps < most && norm(z) <= 4) { z = z * z + c; ++steps; }",
                            "mandelbrot"), [("c8", 1), ("i4",), ("i4", 1)], 1),
    (cupy.ElementwiseKernel("complex128 z", "complex128 w", "w = exp(z) / (z + 1.0)", "complex_functions"), [("c16", 1), ("c16", 1)], 1),
    (cupy.ElementwiseKernel("raw uint8 v", "raw uint64 counts", "atomicAdd(&counts[v[i]], 1)", "histogram"),
     [("u1", 1), ("u8", 1)], 1),
]

REDUCTIONS = [
    (cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length"), [("f4", 2, False), ("f4", 1)], (2, 1)),
    (cupy.ReductionKernel("T x", "bool y", "x != 0", "a && b", "y = a", "true", "all_nonzero"), [("i8", 1), ("?", 0)], (1, 0)),
    (cupy.ReductionKernel("float16 x", "float32 y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean"),
     [("f2", 2), ("f4", 1)], (2, 1)),
    (cupy.ReductionKernel(
        "T x, raw int64 where", "int64 y", "best<T>(x, _J)", "a.value > b.value || a.value == b.value && a.at < b.at ? a : b", "y = a.at",
        "best<double>(-1e300, 0x7fffffff)", "argmax", reduce_type="best<double>",
        preamble="template <typename T> struct best { T value; int at; __device__ best() {} "
                 "__device__ best(T v, int i) : value(v), at(i) {} };"),
     [("f8", 2), ("i8", 1), ("i8", 1)], (2, 1)),
]


def gelu(x):
    return 0.5 * x * (1 + cupy.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def log_sum(x):
    return cupy.log(cupy.sum(cupy.exp(x) + 1e-3, axis=0))


FUSED = [(gelu, [("f4", 1), ("f4", 1)], 1), (log_sum, [("f8", 2), ("f8", 1)], (2, 1))]


def transpose(x, y):
    tile = jit.shared_memory(cupy.float32, 33 * 32)
    tx, ty = cupy.int32(jit.threadIdx.x), cupy.int32(jit.threadIdx.y)
    bx, by = cupy.int32(jit.blockIdx.x), cupy.int32(jit.blockIdx.y)
    col, row = bx * 32 + tx, by * 32 + ty
    for j in range(0, 32, 8):
        if row + j < x.shape[0] and col < x.shape[1]:
            tile[(ty + j) * 33 + tx] = x[row + j, col]
    jit.syncthreads()
    col, row = by * 32 + tx, bx * 32 + ty
    for j in range(0, 32, 8):
        if row + j < y.shape[0] and col < y.shape[1]:
            y[row + j, col] = tile[tx * 33 + ty + j]


def row_sum(x, y):
    lane, row = cupy.int32(jit.threadIdx.x), jit.blockIdx.x
    total = cupy.float64(0)
    for j in range(lane, x.shape[1], 32):
        total += x[row, j]
    for d in range(5):
        total += jit.shfl_xor_sync(0xffffffff, total, 16 >> d)
    if lane == 0:
        y[row] = total


def scatter(values, at, sums, largest):
    i = jit.grid(1)
    if i < values.size:
        jit.atomic_add(sums, at[i], values[i])
        jit.atomic_max(largest, at[i], at[i] + cupy.int32(i))


JIT = [(transpose, [("f4", 2), ("f4", 2)]), (row_sum, [("f8", 2), ("f8", 1)]),
       (scatter, [("f4", 1), ("i4", 1), ("f4", 1), ("i4", 1)])]

MODULES = [
    ("matmul", r'''
extern "C" __global__ void matmul(const double* A, const double* B, double* C, int M, int N, int K) {
    __shared__ double As[8][8], Bs[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    double acc = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}''', ()),
    ("scan", r'''
#include <cub/block/block_scan.cuh>
#include <cub/block/block_load.cuh>
template <typename T> __device__ void scanned(const T* x, T* y, int n) {
    typedef cub::BlockScan<T, 128> Scan;
    __shared__ typename Scan::TempStorage space;
    T items[4];
    for (int k = 0; k < 4; ++k) items[k] = threadIdx.x * 4 + k < n ? x[threadIdx.x * 4 + k] : T(0);
    Scan(space).InclusiveSum(items, items);
    for (int k = 0; k < 4; ++k) if (threadIdx.x * 4 + k < n) y[threadIdx.x * 4 + k] = items[k];
}
extern "C" __global__ void scan(const long long* x, long long* y, int n) { scanned(x, y, n); }
''', ()),
]
