"""cuBLAS's arguments for all transpositions, by a library that reads memory as its documentation says; then a real GPU."""

import ctypes

import numpy as np
import pytest

from course_lib.gpu import GpuError, Queue, launch, library, to_device, to_host
from course_lib.toolchain import compile_cuda

COMBINATIONS = [(False, False), (True, False), (False, True), (True, True)]
M, N, K = 5, 7, 3


class ColumnMajor:
    """cublasSgemm_v2 in column-major order on this computer's memory ("cuBLAS Library", cublas<t>gemm())."""

    def __init__(self, status=0):
        self.status, self.stream = status, None

    def cublasSetStream_v2(self, handle, stream):  # noqa: N802
        self.stream, self.workspace = stream, None       # a stream brings cuBLAS's own workspace
        return 0

    def cublasSetWorkspace_v2(self, handle, workspace, size):  # noqa: N802
        self.workspace = workspace.value, size.value
        return 0

    def cublasSgemm_v2(self, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):  # noqa: N802
        def stored(pointer, rows, columns, ld):
            assert ld >= rows
            flat = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (columns * ld,))
            return flat.reshape(columns, ld)[:, :rows].T
        a = stored(A, k, m, lda).T if transa else stored(A, m, k, lda)
        b = stored(B, n, k, ldb).T if transb else stored(B, k, n, ldb)
        c = stored(C, m, n, ldc)
        c[...] = alpha._obj.value * (a @ b) + beta._obj.value * c
        return self.status


def operands(turned):
    rng = np.random.default_rng(3)
    shapes = (K, M) if turned[0] else (M, K), (N, K) if turned[1] else (K, N), (M, N)
    A, B, C = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    return A, B, C, 1.5 * ((A.T if turned[0] else A) @ (B.T if turned[1] else B)) - 0.5 * C


@pytest.mark.parametrize("turned", COMBINATIONS)
def test_the_library_is_asked_for_the_product_of_row_major_matrices(monkeypatch, turned):
    there = ColumnMajor()
    monkeypatch.setattr(library, "_cublas", lambda: (there, None))
    monkeypatch.setattr(library, "_workspace", lambda: 4096)
    A, B, C, right = operands(turned)
    call = library.bind_product(A, B, C, 1.5, -0.5, turned, "a stream", pointer=lambda x: x.ctypes.data)
    before = C.copy()
    assert np.array_equal(C, before), "nothing is done before the call"
    call()
    np.testing.assert_allclose(C, right, rtol=1e-5, atol=1e-6)
    assert there.stream == "a stream"
    assert there.workspace == (4096, library.WORKSPACE), "set in this order"


def test_a_status_of_the_library_is_an_error(monkeypatch):
    monkeypatch.setattr(library, "_cublas", lambda: (ColumnMajor(status=7), None))
    monkeypatch.setattr(library, "_workspace", lambda: 4096)
    A, B, C, _ = operands((False, False))
    with pytest.raises(GpuError, match="status 7"):
        library.bind_product(A, B, C, 1, 0, (False, False), None, pointer=lambda x: x.ctypes.data)()


SCALE = 'extern "C" __global__ void scale(int n, float* x) { const int i = threadIdx.x; if (i < n) x[i] *= 2; }\n'


def test_a_real_gpu_works_in_order_and_replays_a_graph(gpu):
    queue, compiled = Queue(), compile_cuda(SCALE, arch=gpu.arch)
    x = to_device(np.ones(8, np.float32))
    twice = queue.bind(compiled, "scale", 1, 32, (np.int32(8), x))
    with queue:
        queue.copy(x, np.arange(8, dtype=np.float32))
        twice()
        again = queue.record(twice)
        queue.wait()
        assert to_host(x).tolist() == [0, 2, 4, 6, 8, 10, 12, 14], "recording carries nothing out"
        again()
        again()
    assert to_host(x).tolist() == [8 * i for i in range(8)]
    launch(compiled, "scale", 1, 32, [np.int32(8), x])
    assert to_host(x)[1] == 16


@pytest.mark.parametrize("turned", COMBINATIONS)
def test_a_real_library_multiplies_with_and_without_a_graph(gpu, turned):
    queue, (A, B, C, right) = Queue(), operands(turned)
    there = [to_device(x) for x in (A, B, C)]
    call = queue.bind_library(*there, 1.5, -0.5, turned)
    with queue:
        call()
        np.testing.assert_allclose(to_host(there[2]), right, rtol=1e-5, atol=1e-6)
        again = queue.record(call)
        queue.copy(there[2], C)
        again()
        np.testing.assert_allclose(to_host(there[2]), right, rtol=1e-5, atol=1e-6)
