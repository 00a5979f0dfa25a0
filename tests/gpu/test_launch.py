"""Launching, measuring and failing on a GPU; what can be tested without one is."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.gpu import GpuError, Timing, is_cupy, launch, library, time_copy, time_kernel, time_product, timing
from course_lib.gpu.launch import arguments, explain, place, triple
from course_lib.tensor_maps import TensorMap

AXPY = """
extern "C" __global__ void axpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""


@pytest.mark.parametrize(("cause", "words"), [
    ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access", "memory outside its arrays; the GPU is lost"),
    ("cudaErrorIllegalAddress: an illegal memory access was encountered", "backend='sim' to see the line"),
    ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources", "needs more registers"),
    ("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image", "compile it for this one's architecture"),
    ("CUDA_ERROR_INVALID_VALUE: invalid argument", "grid (1, 2) and block 5"),
    ("CUDA_ERROR_NOT_FOUND: named symbol not found", "no function 'mine'"),
    ("something\n  new", "could not run mine: something new"),
])
def test_errors_of_cuda_become_one_sentence(cause, words):
    error = explain(RuntimeError(cause), "mine", (1, 2), 5)
    assert isinstance(error, GpuError)
    assert words in str(error)
    assert error.cause == " ".join(cause.split())


def test_out_of_memory_by_type():
    class OutOfMemoryError(Exception):
        pass
    assert "take smaller ones" in str(explain(OutOfMemoryError("Out of memory allocating 9 bytes"), "mine"))


def test_triples():
    assert triple(np.int64(3)) == (3, 1, 1)
    assert triple([2, 3, 4]) == (2, 3, 4)


class Clock:
    """A stream and events whose time passes by what each launch is said to cost."""

    def __init__(self, cost):
        self.cost, self.now, self.captured, self.launches = cost, 0.0, None, 0

    def once(self):
        self.launches += 1
        if self.captured is None:
            self.now += self.cost
        else:
            self.captured += 1

    def begin_capture(self):
        self.captured = 0

    def end_capture(self):
        clock, count = self, self.captured
        self.captured = None

        class Graph:
            def launch(self):
                clock.now += count * clock.cost
        return Graph()


@pytest.fixture
def measure(monkeypatch):
    def run(cost, **limits):
        clock = Clock(cost)

        def elapsed(stream, work, flush=None):
            before = stream.now
            work()
            return stream.now - before
        monkeypatch.setattr(timing, "_elapsed", elapsed)
        return timing._measure(clock, clock.once, **({"repeats": 25, "warmup": 3, "budget_s": 1.0} | limits)), clock
    return run


@pytest.mark.parametrize(("cost", "launches", "graph", "repeats"), [
    (5e-6, 400, True, 25), (1e-7, 1000, True, 25), (1e-3, 1, False, 25), (0.1, 1, False, 10), (0.9, 1, False, 5),
])
def test_short_kernels_go_into_a_graph_and_long_ones_take_few_samples(measure, cost, launches, graph, repeats):
    found, _ = measure(cost)
    assert (found.launches, found.graph, found.repeats) == (launches, graph, repeats)
    assert found.median_s == pytest.approx(cost)


def test_a_very_long_kernel_is_warmed_up_once(measure):
    found, clock = measure(30.0, repeats=2)
    assert (found.warmup, found.repeats, clock.launches) == (1, 2, 3)


def test_quartiles():
    found = Timing.of([4.0, 1.0, 2.0, 3.0, 100.0], warmup=2)
    assert (found.low_s, found.median_s, found.high_s) == (2.0, 3.0, 4.0)
    assert str(Timing.of([1e-4] * 3, warmup=0)) == "100.000 us (100.000 us … 100.000 us)"


@pytest.fixture
def axpy(gpu):
    from course_lib.toolchain import compile_cuda
    return compile_cuda(AXPY, name="axpy.cu", arch=gpu.arch)


def test_numpy_arrays_are_written_back(axpy):
    n = 1000
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = launch(axpy, "axpy", 8, 128, [np.int32(n), np.float32(2), x, y])
    assert out[1] is y
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_cupy_arrays_are_used_in_place(axpy):
    import cupy
    x, y = cupy.arange(100, dtype="float32"), cupy.ones(100, "float32")
    out = launch(axpy.cubin, "axpy", 1, 128, [np.int32(100), np.float32(2), x, y])
    assert is_cupy(out[1])
    assert float(y[99]) == 199


def test_timing_leaves_the_callers_arrays_alone(axpy):
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    found = time_kernel(axpy, "axpy", 1, 128, [np.int32(100), np.float32(2), x, y])
    assert (y == 1).all()
    assert found.graph
    assert 0 < found.low_s <= found.median_s <= found.high_s < 1e-3


def test_an_entry_that_is_not_there(axpy):
    with pytest.raises(GpuError, match="no function 'nothing'"):
        launch(axpy, "nothing", 1, 1, [])


def test_a_block_that_is_too_large(axpy):
    with pytest.raises(GpuError, match="refused the launch of axpy"):
        launch(axpy, "axpy", 1, 2048, [np.int32(0), np.float32(0), np.ones(1, np.float32), np.ones(1, np.float32)])


def test_a_cold_l2_costs_time(axpy):
    import cupy
    n = 2**20
    args = [np.int32(n), np.float32(2), cupy.ones(n, "float32"), cupy.ones(n, "float32")]
    warm, cold = (time_kernel(axpy, "axpy", n // 256, 256, args, cold=flush) for flush in (False, True))
    assert (warm.cold, cold.cold, cold.launches, cold.graph) == (False, True, 1, False)
    assert cold.median_s > warm.median_s


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_library_multiplies_rectangles(gpu, dtype):
    import cupy
    A, B = (cupy.random.random(shape).astype(dtype) for shape in ((30, 50), (50, 70)))
    C = cupy.empty((30, 70), dtype)
    found = time_product(A, B, C)
    assert found.graph
    np.testing.assert_allclose(C.get(), A.get() @ B.get(), rtol=1e-5)


def test_a_copy_arrives(gpu):
    import cupy
    source, target = cupy.arange(1000, dtype="float32"), cupy.zeros(1000, "float32")
    assert time_copy(source, target).median_s > 0
    assert (source == target).all()


class OnDevice:
    """An array as CuPy has it: shape, strides and an address on the GPU."""

    def __init__(self, array, address):
        self.shape, self.strides, self.dtype, self.ndim, self.size = array.shape, array.strides, array.dtype, array.ndim, array.size
        self.data = SimpleNamespace(ptr=address)


def test_a_tensor_map_goes_by_value_with_the_devices_address():
    rows = np.zeros((64, 48), np.float16)
    there = OnDevice(rows, 0x7F1200000400)
    wanted = TensorMap(rows, (8, 32), swizzle=64).encode(0x7F1200000400)
    for given, placed in ((rows, {id(rows): there}), (there, {})):
        count, found = arguments((np.int32(5), TensorMap(given, (8, 32), swizzle=64)), placed)
        assert (count, found.size, found.tobytes()) == (5, 1, wanted)


def test_gaps_between_rows_are_there_on_the_device(gpu):
    apart = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)[:, :40]
    for given in (apart, apart.T, np.broadcast_to(np.float32(3), (4, 5)), apart[::-1]):
        there = place(given)
        np.testing.assert_array_equal(there.get(), given)
        assert there.strides == given.strides or min(given.strides) < 0


BOXES = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
extern "C" __global__ void boxes(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
    __shared__ __align__(128) float s[8][16];
    __shared__ unsigned long long bar;
    const unsigned at = (unsigned)__cvta_generic_to_shared(s), b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;\n"
                 "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2, {8, -3}], [%0];\n"
                 "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra AGAIN; }\n"
                 "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%3, {0, 0}], [%1];\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                 :: "r"(b), "r"(at), "l"(&in), "l"(&out) : "memory");
}
"""


def test_boxes_of_numpy_and_cupy_arrays(gpu):
    if gpu.cc < (9, 0):
        pytest.skip("no TMA before compute capability 9.0")
    import cupy

    from course_lib.toolchain import compile_cuda
    x, out = np.arange(320, dtype=np.float32).reshape(20, 16), cupy.ones((8, 16), np.float32)
    launch(compile_cuda(BOXES, name="boxes.cu", arch=gpu.arch), "boxes", 1, 1, [TensorMap(x, (8, 16)), TensorMap(out, (8, 16))])
    wanted = np.zeros((8, 16), np.float32)
    wanted[3:, :8] = x[:5, 8:]
    np.testing.assert_array_equal(out.get(), wanted)


def test_a_product_of_fp8_says_what_it_is_before_it_is_made(monkeypatch):
    """C' = B A', with B and C' by columns, as cuBLASLt takes FP8; nothing is asked again when the call is made."""
    asked = []

    class Library:
        def __getattr__(self, name):
            def call(*arguments):
                asked.append((name, [getattr(a, "value", a) for a in arguments]))
                return 0
            return call

    monkeypatch.setattr(library, "_cublas", lambda: (None, "handle"))
    monkeypatch.setattr(library, "_cublas_lt", lambda: Library())
    monkeypatch.setattr(library, "_workspace", lambda: 44)
    A, B, C = np.zeros((16, 48), np.uint8), np.zeros((32, 48), np.uint8), np.zeros((16, 32), np.uint16)
    addresses = {id(A): 11, id(B): 22, id(C): 33}
    call = library.bind_product(A, B, C, 1.0, 0.0, (False, True), "stream", pointer=lambda x: addresses[id(x)])
    prepared = len(asked)
    layouts = [tuple(arguments[1:]) for name, arguments in asked if name == "cublasLtMatrixLayoutCreate"]
    assert layouts == [(28, 48, 32, 48), (28, 48, 16, 48), (14, 32, 16, 32)], "type, rows, columns, elements from one column to the next"
    assert [arguments[1] for name, arguments in asked if name == "cublasLtMatmulDescSetAttribute"] == [3, 25]
    call(), call()
    assert [name for name, _ in asked[prepared:]] == ["cublasLtMatmul"] * 2
    handle, _, _, b, _, a, _, _, c, _, d, *_, workspace, room, stream = asked[-1][1]
    assert (handle, b, a, c, d, workspace, room, stream) == ("handle", 22, 11, 33, 33, 44, library.WORKSPACE, "stream")


def test_products_of_bfloat16_name_the_types_of_all_matrices(monkeypatch):
    asked = []

    def gemm(*arguments):
        asked.append(arguments)
        return 0

    monkeypatch.setattr(library, "_cublas", lambda: (SimpleNamespace(cublasGemmEx=gemm, cublasSgemm_v2=None), "handle"))
    monkeypatch.setattr(library, "_use_stream", lambda stream: None)
    A, B, C = np.zeros((3, 5), np.uint16), np.zeros((5, 7), np.uint16), np.zeros((3, 7), np.float32)
    addresses = {id(A): 11, id(B): 22, id(C): 33}
    library.bind_product(A, B, C, 1.0, 0.0, (False, False), "stream", pointer=lambda x: addresses[id(x)])()
    short = np.zeros((3, 7), np.uint16)
    library.bind_product(A, B, short, 1.0, 0.0, (False, False), "stream", pointer=lambda x: addresses.get(id(x), 44))()
    assert (asked[1][14].value, *asked[1][15:]) == (44, 14, 7, 68, -1), "C of bfloat16"
    del asked[1]
    (handle, opa, opb, M, N, K, _, b, b_type, ldb, a, a_type, lda, _, c, c_type, ldc, compute, algorithm), = asked
    assert (handle, opa, opb, M, N, K, ldb, lda, ldc) == ("handle", 0, 0, 7, 3, 5, 7, 5, 7), "B' A', as columns"
    assert (b.value, a.value, c.value, b_type, a_type, c_type, compute, algorithm) == (22, 11, 33, 14, 14, 0, 68, -1)
