"""NVIDIA's own product and a copy in the GPU's memory, measured as our kernels are."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from course_lib.gpu.launch import CUDA_ERRORS, GpuError, explain
from course_lib.gpu.timing import Timing, time_call

NAMES = {"win32": ("cublas64_13.dll", "cublas64_12.dll")}.get(sys.platform, ("libcublas.so.13", "libcublas.so.12", "libcublas.so"))
GEMM = {"float32": ("cublasSgemm_v2", ctypes.c_float), "float64": ("cublasDgemm_v2", ctypes.c_double)}
BFLOAT16, FLOAT32, SUMS_IN_FLOAT32, USUAL = 14, 0, 68, -1      # CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT
NOT_TRANSPOSED, TRANSPOSED = 0, 1


WORKSPACE = 64 * 2**20        # bytes for cuBLAS's sums of parts; "cuBLAS Library", cublasSetWorkspace(), recommends 32 MiB for CC 9.0


def time_product(A: Any, B: Any, C: Any, **options: Any) -> Timing:
    """Measure C = A B by cuBLAS.

    Parameters
    ----------
    A, B, C : (M, K), (K, N), (M, N) CuPy arrays
        Of float32 or float64, without padding; C is written.
    **options
        As for `time_call`.

    Notes
    -----
    cuBLAS is called by ctypes: CuPy refuses to call it while a stream is captured, which cuBLAS itself allows. Row-major
    matrices are its column-major ones transposed, so it is asked for B' A'.
    """
    try:
        (M, K), N, dtype = A.shape, B.shape[1], A.dtype.name
        library, handle = _cublas()
        name, real = GEMM[dtype]
        one, zero = real(1), real(0)
        a, b, c = (ctypes.c_void_p(x.data.ptr) for x in (A, B, C))

        def call(stream):
            _use_stream(ctypes.c_void_p(stream.ptr))
            _checked(getattr(library, name)(handle, NOT_TRANSPOSED, NOT_TRANSPOSED, N, M, K, ctypes.byref(one), b, N, a, K,
                                            ctypes.byref(zero), c, N))
        return time_call(call, **options)
    except CUDA_ERRORS as error:
        raise explain(error, "cuBLAS") from None


def bind_product(A: Any, B: Any, C: Any, alpha: float, beta: float, transposed: tuple[bool, bool], stream: ctypes.c_void_p,
                 pointer: Callable[[Any], int] = lambda x: x.data.ptr) -> Callable[[], None]:
    """Return the call that makes C = alpha op(A) op(B) + beta C by cuBLAS and does not wait.

    Parameters
    ----------
    A, B, C : float32 or float64 CuPy arrays
        Without padding, as they are stored: A is (K, M) when transposed[0], B is (N, K) when transposed[1]; C is (M, N).
        A and B of uint16 are the bits of bfloat16; C is float32 then (`cublasGemmEx`).
    pointer
        Gives an array's address.
    """
    (M, N), K, (library, handle), (name, real) = C.shape, A.shape[0 if transposed[0] else 1], _cublas(), GEMM[C.dtype.name]
    ops = [TRANSPOSED if transpose else NOT_TRANSPOSED for transpose in transposed]
    short = A.dtype == "uint16"
    a, b, gemm = real(alpha), real(beta), getattr(library, "cublasGemmEx" if short else name)
    stored, result, how = ((BFLOAT16,), (FLOAT32,), (SUMS_IN_FLOAT32, USUAL)) if short else ((), (), ())
    factors = [part for X in (B, A) for part in (ctypes.c_void_p(pointer(X)), *stored, X.shape[1])]     # B' A', as in time_product
    arguments = (handle, ops[1], ops[0], N, M, K, ctypes.byref(a), *factors, ctypes.byref(b), ctypes.c_void_p(pointer(C)), *result, N, *how)

    def call():
        _use_stream(stream)
        _checked(gemm(*arguments))
    return call


def time_copy(source: Any, target: Any, **options: Any) -> Timing:
    """Measure a copy from one CuPy array to another in the GPU's memory; options and result as for `time_call`."""
    def call(stream):
        target.data.copy_from_device_async(source.data, source.nbytes, stream)
    try:
        return time_call(call, **options)
    except CUDA_ERRORS as error:
        raise explain(error, "copy") from None


def library_version() -> str:
    """Return cuBLAS's version, e.g. "13.1.0"."""
    library, handle = _cublas()
    version = ctypes.c_int()
    _checked(library.cublasGetVersion_v2(handle, ctypes.byref(version)))
    return f"{version.value // 10000}.{version.value // 100 % 100}.{version.value % 100}"


@cache
def _cublas():
    """Return cuBLAS and a handle of our own; CuPy has loaded the library by then."""
    import cupy

    cupy.matmul(cupy.ones((2, 2), cupy.float32), cupy.ones((2, 2), cupy.float32))
    for name in NAMES:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise GpuError(f"cuBLAS cannot be loaded ({' or '.join(NAMES)}), though CuPy can be", entry="cuBLAS")
    handle = ctypes.c_void_p()
    _checked(library.cublasCreate_v2(ctypes.byref(handle)))
    return library, handle


def _use_stream(stream):
    """Let cuBLAS work on a stream, with a workspace of its own: another stream takes the last one away."""
    library, handle = _cublas()
    _checked(library.cublasSetStream_v2(handle, stream))
    _checked(library.cublasSetWorkspace_v2(handle, ctypes.c_void_p(_workspace()), ctypes.c_size_t(WORKSPACE)))


@cache
def _memory():
    import cupy

    return cupy.zeros(WORKSPACE, cupy.uint8)


def _workspace():
    """Return the address of cuBLAS's workspace."""
    return _memory().data.ptr


def _checked(status):
    if status:
        raise GpuError(f"cuBLAS answered with status {status}", entry="cuBLAS", cause=str(status))
