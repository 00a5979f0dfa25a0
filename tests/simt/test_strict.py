"""Faults of a kernel: typed errors that carry where, who, what and how far."""

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import kernels, simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"trace": [(0, 0)]}]


# -- out of bounds ------------------------------------------------------------------------------------------------------
COPY = """extern "C" __global__ void f(const TYPE* in, TYPE* out, int n, int read, int write) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i + write] = in[i + read];
}"""
TYPES = {"char": np.int8, "short": np.int16, "float": np.float32, "double": np.float64, "float2": "V8", "float4": "V16"}


@pytest.mark.sampled(test=29)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("read", "write"), [(1, 0), (-1, 0), (0, 1), (0, -1)])
@pytest.mark.parametrize("kind", TYPES)
def test_one_element_outside(kind, read, write, how):
    n = 96
    arrays = [np.zeros(n, TYPES[kind]) for _ in range(2)]
    error = fault(simt.OutOfBounds, COPY, [*arrays, INT(n), INT(read), INT(write)], grid=2, block=64, defines={"TYPE": kind}, **how)
    index = n if read + write > 0 else -1
    assert (error.kernel, error.array, error.index, error.bounds) == ("f", "in" if read else "out", index, (0, n))
    assert error.line == 4
    assert (error.block, error.thread) == (((1, 0, 0), (31, 0, 0)) if index == n else ((0, 0, 0), (0, 0, 0)))
    assert error.width == arrays[0].itemsize
    for word in ("f, line", error.array, str(index), str(error.thread), str(error.block)):
        assert word in str(error)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_first_failing_block_is_named_whatever_the_workers(workers):
    """Blocks 7 and beyond fail."""
    n = 32 * 7
    error = fault(simt.OutOfBounds, COPY, [np.zeros(n, FLT), np.zeros(n, FLT), INT(10**6), INT(0), INT(0)], grid=200, block=32,
                  defines={"TYPE": "float"}, workers=workers)
    assert (error.block, error.thread, error.index) == ((7, 0, 0), (0, 0, 0), n)


@pytest.mark.parametrize(("kind", "size"), [("short", 2), ("float", 4), ("double", 8), ("float4", 16)])
@pytest.mark.parametrize("missing", [1, None])
def test_one_byte_outside(kind, size, missing):
    """The array ends one byte, or all bytes but one, before the end of the last element."""
    missing = missing or size - 1
    data = np.zeros(4 * size - missing, np.uint8)
    error = fault(simt.OutOfBounds, COPY, [data, np.zeros(64, np.uint8), INT(4), INT(0), INT(0)], defines={"TYPE": kind})
    assert (error.array, error.thread, error.width) == ("in", (3, 0, 0), size)
    assert launch(COPY, [data, np.zeros(64, np.uint8), INT(3), INT(0), INT(0)], defines={"TYPE": kind})


QUICK = ("sgemm_swapped", "sgemm_tiled", "sgemm_1d_tile", "sgemm_vectorized", "sgemm_double_buffered", "dgemm_outputs", "sgemm_method6")


@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize("matrix", ["A", "B", "C"])
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow)
                                  for n, kernel in kernels.KERNELS.items() if not kernel.boxes])      # a tensor map ends by itself
def test_a_matrix_that_is_one_element_short(name, matrix):
    kernel = kernels.get(name)
    kind, p = np.dtype(kernel.dtype).type, kernel.check()
    M, N, K = 20, 20, 20
    if kernel.sizes_of(M, N, K, p):                    # those that take whole tiles
        M, N, K = p["THREADS"] * p["VECTORS"] * p["GAP"], p["COLS"], p["BK"]
    sizes = {"A": M * K, "B": K * N, "C": M * N}
    data = {m: np.zeros(size - (m == matrix), np.uint16 if kernel.stored and m != "C" else kind) for m, size in sizes.items()}
    ld = (M, K, M) if kernel.layout == "column" else (K, N, N)
    args = [INT(M), INT(N), INT(K), kind(1), data["A"], INT(ld[0]), data["B"], INT(ld[1]), kind(0), data["C"], INT(ld[2])]
    args += [np.zeros(count, dtype) for dtype, count in kernel.workspace()]
    error = fault(simt.OutOfBounds, kernel.source, args, grid=kernel.grid(M, N), block=kernel.block(), name=kernel.entry,
                  defines=kernel.defines(), dynamic_shared=kernel.dynamic_bytes())
    last = sizes[matrix] - 1
    assert (error.array, error.bounds) == (matrix, (0, last))
    item = data[matrix].itemsize
    assert error.index <= last < error.index + error.width // item
    reads = (f"{matrix}[", f"*{matrix.lower()}[", "float4", "cp.async", "p[2 * n]", "(from)", "from[")
    assert matrix == "C" or any(word in kernel.source.splitlines()[error.line - 1] for word in reads)
    assert error.address % (1 << 40) == error.index * item


def test_an_overrun_never_lands_in_the_next_array():
    """However far an index goes, it is the array that it started from which is named."""
    for index in (1000, 10**6, 2**31 - 1, -(10**6), -(2**31)):
        error = fault(simt.OutOfBounds, 'extern "C" __global__ void f(const float* a, float* b, int i) { b[0] = a[i]; }',
                      [np.zeros(8, FLT), np.zeros(8, FLT), INT(index)], block=1)
        assert (error.array, error.index) == ("a", index)


def test_writes_to_a_read_only_array():
    a, b = np.ones(32, FLT), np.zeros(32, FLT)
    a.flags.writeable = False
    source = 'extern "C" __global__ void f(float* a, float* b) {\n b[threadIdx.x] = a[threadIdx.x];\n a[threadIdx.x] = 2;\n}'
    for how in WAYS:
        error = fault(simt.OutOfBounds, source, [a, b], **how)
        assert (error.array, error.line, error.thread) == ("a", 3, (0, 0, 0))
        assert "read-only" in str(error)


def test_a_failed_launch_leaves_the_arrays_alone():
    out = np.arange(16, dtype=np.int32)
    error = fault(simt.OutOfBounds, 'extern "C" __global__ void f(int* out) { out[threadIdx.x] = -1; }', [out])
    assert (error.index, error.thread) == (16, (16, 0, 0))
    assert (out == np.arange(16)).all()


def test_a_pointer_that_no_array_gave():
    source = 'extern "C" __global__ void f(int* out, const int* p) { out[0] = *p; }'
    error = fault(simt.OutOfBounds, source, [np.zeros(4, INT), np.uint64(0)])
    assert (error.array, error.address) == (None, 0)
    assert error.bounds is None


@pytest.mark.parametrize(("index", "address"), [(40, 160), (-1, 2**32 - 4)])
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_shared_memory_one_element_outside(index, address, how):
    source = """extern "C" __global__ void f(int* out, int i) {
        __shared__ int tile[40];
        tile[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x ? 0 : i];
    }"""
    error = fault(simt.OutOfBounds, source, [np.zeros(32, INT), INT(index)], **how)
    assert (error.array, error.bounds, error.line, error.thread) == ("shared", (0, 160), 5, (0, 0, 0))
    assert error.address == address
    assert "shared memory" in str(error)


def test_dynamic_shared_memory_ends_where_the_launch_says():
    source = 'extern "C" __global__ void f(int n) { extern __shared__ char s[]; s[n - 1] = 1; }'
    launch(source, [INT(100)], dynamic_shared=100)
    for n in (105, 0):
        assert fault(simt.OutOfBounds, source, [INT(n)], dynamic_shared=100).array == "shared"


def test_dynamic_shared_memory_ends_at_the_byte():
    source = 'extern "C" __global__ void f(int n) { extern __shared__ char s[]; s[n - 1] = 1; }'
    assert fault(simt.OutOfBounds, source, [INT(101)], dynamic_shared=100).bounds == (0, 100)


LOCAL = """extern "C" __global__ void f(int* out, int i) {
    int mine[10];
    for (int k = 0; k < 10; ++k) mine[k] = k * threadIdx.x;
    out[threadIdx.x] = mine[i + threadIdx.x / 31];
}"""


def test_local_arrays_have_bounds():
    out = np.zeros(32, INT)
    launch(LOCAL, [out, INT(8)])
    assert out.tolist() == [8 * i for i in range(31)] + [9 * 31]
    for i, thread in ((12, 0), (9, 31), (-1, 0)):
        error = fault(simt.OutOfBounds, LOCAL, [out, INT(i)])
        assert (error.array, error.thread, error.line) == ("local", (thread, 0, 0), 4)


def test_local_arrays_end_at_the_byte():
    error = fault(simt.OutOfBounds, LOCAL, [np.zeros(32, INT), INT(9)])
    assert (error.array, error.thread, error.bounds) == ("local", (31, 0, 0), (0, 40))


# -- misaligned ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("vector", "width", "shift"), [
    ("float2", 8, 1), ("float4", 16, 1), ("float4", 16, 2), ("double", 8, 1), ("int", 4, 0),
])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_misaligned_vectors(vector, width, shift, space, how):
    source = """extern "C" __global__ void f(float* data, int shift) {
        __shared__ alignas(16) float tile[256];
        float* base = SPACE;
        VECTOR* v = (VECTOR*)((char*)(base + shift) + BYTES);
        if (threadIdx.x >= 2) v[threadIdx.x] = VECTOR();
        __syncthreads();
        data[threadIdx.x] = tile[threadIdx.x];
    }"""
    defines = {"VECTOR": vector, "SPACE": "tile" if space == "shared" else "data", "BYTES": 2 if vector == "int" else 0}
    error = fault(simt.Misaligned, source, [np.zeros(256, FLT), INT(shift)], defines=defines, **how)
    assert (error.kernel, error.line, error.width, error.thread) == ("f", 5, width, (2, 0, 0))
    assert error.address % (1 << 32) == 2 * width + 4 * shift + (2 if vector == "int" else 0)
    assert str(width) in str(error)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("first", "line"), [("data", 3), ("data + 1", 2), ("data + 2", 2), ("data + shift", 2)])
def test_misaligned_for_all_lanes_together(first, line, how):
    """Both accesses go through one address; the second is off by a constant, the first by what `data` is."""
    source = f"""extern "C" __global__ void f(float* data, float4* out, int shift) {{ const float* p = {first};
        out[threadIdx.x] = reinterpret_cast<const float4*>(p)[threadIdx.x + shift - 3];
        out[threadIdx.x + 32] = reinterpret_cast<const float4*>(p + 2)[threadIdx.x];
    }}"""
    error = fault(simt.Misaligned, source, [np.zeros(300, FLT), np.zeros((64, 4), FLT), INT(3)], **how)
    assert (error.line, error.thread, error.width) == (line, (0, 0, 0), 16)


# -- barriers -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("condition", ["threadIdx.x < 16", "threadIdx.x == 40", "threadIdx.x & 1"])
def test_threads_of_one_warp_at_different_barriers(condition):
    source = f"""extern "C" __global__ void f(int* out) {{
        if ({condition}) {{
            out[threadIdx.x] = 1;
            __syncthreads();
        }}
        out[threadIdx.x] += 1;
        __syncthreads();
    }}"""
    for how in WAYS:
        error = fault(simt.DivergentBarrier, source, [np.zeros(64, INT)], block=64, **how)
        assert {error.line, error.other_line} == {4, 7}
        assert error.block == (0, 0, 0)
        assert "__syncthreads" in str(error)


def test_threads_that_have_left_do_not_hold_up_a_barrier():
    source = """extern "C" __global__ void f(int* out, int n) {
        __shared__ int s[64];
        if (threadIdx.x >= n) return;
        s[threadIdx.x] = threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = s[n - 1 - threadIdx.x];
    }"""
    for n in (64, 33, 32, 20, 1):
        out = np.full(64, -1, INT)
        launch(source, [out, INT(n)], block=64)
        assert out.tolist() == [n - 1 - i if i < n else -1 for i in range(64)]


def test_barriers_in_loops_of_different_length_between_warps():
    """The warp that turns more often waits alone in the end."""
    source = """extern "C" __global__ void f(int* out) {
        for (int k = 0; k <= threadIdx.x / 32; ++k) { out[threadIdx.x] += 1; __syncthreads(); }
    }"""
    out = np.zeros(96, INT)
    launch(source, [out], block=96)
    assert out.tolist() == [1] * 32 + [2] * 32 + [3] * 32


# -- endless loops ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("condition", ["1", "threadIdx.x == 7", "out[threadIdx.x] == 0"])
def test_endless_loops_end(condition, how):
    source = f"""extern "C" __global__ void f(volatile int* out) {{
        int n = 0;
        if ({condition})
            while (out[0] == 0)
                ++n;
        out[threadIdx.x + 32] = n;
    }}"""
    error = fault(simt.StepBudgetExceeded, source, [np.zeros(64, INT)], max_steps=20_000, **how)
    assert error.line in (4, 5)
    assert (error.max_steps, error.kernel, error.block) == (20_000, "f", (0, 0, 0))
    assert "20,000" in str(error)


def test_the_budget_counts_instructions_of_one_warp():
    source = """extern "C" __global__ void f(int* out, int n) {
        int x = 0;
        for (int k = 0; k < n; ++k) x = x * 3 + out[k & 1];
        out[threadIdx.x] = x;
    }"""
    steps = launch(source, [np.zeros(32, INT), INT(1000)]).steps
    launch(source, [np.zeros(32, INT), INT(1000)], max_steps=steps)
    launch(source, [np.zeros(64, INT), INT(1000)], max_steps=steps, block=64, grid=5)
    fault(simt.StepBudgetExceeded, source, [np.zeros(32, INT), INT(1000)], max_steps=steps - 20)
