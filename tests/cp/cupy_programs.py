"""Programs in CuPy's own words, after its documentation ("User-Defined Kernels"): each ends with the NumPy arrays it made, by name."""

PROGRAMS = {
    "add": '''
add = cp.RawKernel(r"""
extern "C" __global__ void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}""", "my_add")
x1 = cp.asarray(np.arange(25, dtype=np.float32).reshape(5, 5))
x2 = cp.asarray(np.arange(25, dtype=np.float32).reshape(5, 5))
y = cp.zeros((5, 5), dtype=np.float32)
add((5,), (5,), (x1, x2, y))
made = {"y": y.get(), "x1": cp.asnumpy(x1)}
''',
    "product": '''
kernel = cp.RawKernel(r"""
extern "C" __global__ void product(int M, int N, int K, float alpha, const float* A, const float* B, float* C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc;
}""", "product", options=("-lineinfo",))
rng = np.random.default_rng(3)
M, N, K = 33, 17, 21
A = cp.asarray(rng.standard_normal((M, K)), dtype=np.float32)
B = cp.asarray(rng.standard_normal((K, N)).astype(np.float32))
C = cp.full((M, N), np.nan, dtype=np.float32)
kernel((2, 3), (16, 16), (np.int32(M), np.int32(N), np.int32(K), np.float32(0.5), A, B, C))
made = {"C": C.get(), "A": A.get()}
''',
    "types": '''
kernel = cp.RawKernel(r"""
extern "C" __global__ void types(char a, short b, int c, long long d, unsigned e, float f, double g, bool h, double* y) {
    y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = g; y[7] = h;
}""", "types")
y = cp.empty(8)
kernel((1,), (1,), (np.int8(-1), np.int16(2), np.int32(-3), 1 << 40, np.uint32(5), np.float32(0.1), 0.1, True, y))
made = {"y": y.get()}
''',
    "shared": '''
kernel = cp.RawKernel(r"""
extern "C" __global__ void mirror(const int* x, int* y) {
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[FACTOR * (blockDim.x - 1 - threadIdx.x)];
}""", "mirror", ("-DFACTOR=1",))
x = cp.asarray(np.arange(64, dtype=np.int32))
y = cp.zeros(64, np.int32)
kernel((1,), (64,), (x, y), shared_mem=64 * 4)
made = {"y": y.get()}
''',
    "arrays": '''
by_columns = cp.asarray(np.arange(6).reshape(2, 3).T)
x = cp.asarray([1.5, 2.5])
view = cp.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))[1]
view[2] = 100
made = {"shape": np.array(by_columns.shape), "by columns": np.array([by_columns.flags.f_contiguous, by_columns.flags.c_contiguous]),
        "x": x.get(), "same": np.array([cp.asarray(x) is x, cp.asarray(x, dtype=np.float32) is x]), "view": view.get(),
        "zeros": cp.zeros(3).get(), "order": np.array(cp.full((2, 3), 7, order="F").strides), "full": cp.full((2,), 7).get(),
        "facts": np.array([view.ndim, view.size, view.itemsize, view.nbytes, len(view)]), "one": np.array(float(x[1])),
        "copy": cp.asarray(np.arange(12).reshape(3, 4)[:, ::2]).get(), "empty": np.array(cp.empty((2, 5), np.float16).shape)}
''',
}


def run(text: str, cp) -> dict:
    """Run a program with CuPy or what stands for it; return what it made."""
    import numpy as np

    names = {"cp": cp, "np": np}
    exec(compile(text, "program", "exec"), names)
    return names["made"]
