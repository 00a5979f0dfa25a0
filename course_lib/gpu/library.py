"""NVIDIA's own product and a copy in the GPU's memory, measured as our kernels are."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from course_lib.gpu.launch import CUDA_ERRORS, GpuError, explain
from course_lib.gpu.timing import Timing, time_call

NAMES = {"win32": ("cublas64_13.dll", "cublas64_12.dll")}.get(sys.platform, ("libcublas.so.13", "libcublas.so.12", "libcublas.so"))
LT_NAMES = tuple(name.replace("cublas", "cublasLt") for name in NAMES)
GEMM = {"float32": ("cublasSgemm_v2", ctypes.c_float), "float64": ("cublasDgemm_v2", ctypes.c_double)}
BFLOAT16, FLOAT32, SUMS_IN_FLOAT32, USUAL = 14, 0, 68, -1      # CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT
E4M3, MOST_WORKSPACE = 28, 1      # CUDA_R_8F_E4M3, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
TRANSA, FAST_ACCUM = 3, 25        # CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_FAST_ACCUM
ALGORITHM_WORDS = 12              # of 64 bits in a cublasLtMatmulHeuristicResult_t, which begins with the algorithm
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
        A and B of uint16 are the bits of bfloat16; C is float32 then, or bfloat16 too (`cublasGemmEx`). A and B of uint8 are the bits of
        FP8, and C is bfloat16 (`cublasLtMatmul`): B is given transposed then, and nothing is added.
    pointer
        Gives an array's address.
    """
    if A.dtype == "uint8":
        return _bind_eights(A, B, C, alpha, stream, pointer)
    (M, N), K, (library, handle) = C.shape, A.shape[0 if transposed[0] else 1], _cublas()
    name, real = GEMM["float32" if C.dtype == "uint16" else C.dtype.name]
    ops = [TRANSPOSED if transpose else NOT_TRANSPOSED for transpose in transposed]
    short = A.dtype == "uint16"
    a, b, gemm = real(alpha), real(beta), getattr(library, "cublasGemmEx" if short else name)
    to = BFLOAT16 if C.dtype == "uint16" else FLOAT32
    stored, result, how = ((BFLOAT16,), (to,), (SUMS_IN_FLOAT32, USUAL)) if short else ((), (), ())
    factors = [part for X in (B, A) for part in (ctypes.c_void_p(pointer(X)), *stored, X.shape[1])]     # B' A', as in time_product
    arguments = (handle, ops[1], ops[0], N, M, K, ctypes.byref(a), *factors, ctypes.byref(b), ctypes.c_void_p(pointer(C)), *result, N, *how)

    def call():
        _use_stream(stream)
        _checked(gemm(*arguments))
    return call


def _bind_eights(A, B, C, alpha, stream, pointer):
    """Return the call of cuBLASLt for FP8: C' = alpha B A', with B and C' by columns, and sums as short as the tensor cores make them."""
    (M, N), K, handle, lt = C.shape, A.shape[1], _cublas()[1], _cublas_lt()         # a handle of cuBLAS is one of cuBLASLt, too
    wanted, preference, found, algorithm = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int(), (ctypes.c_uint64 * ALGORITHM_WORDS)()
    _checked(lt.cublasLtMatmulDescCreate(ctypes.byref(wanted), SUMS_IN_FLOAT32, FLOAT32))
    for attribute, value in ((TRANSA, ctypes.c_int32(TRANSPOSED)), (FAST_ACCUM, ctypes.c_int8(1))):
        _checked(lt.cublasLtMatmulDescSetAttribute(wanted, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))))
    layouts = [ctypes.c_void_p() for _ in range(3)]
    for layout, kind, rows, cols in zip(layouts, (E4M3, E4M3, BFLOAT16), (K, K, N), (N, M, M), strict=True):
        sizes = ctypes.c_uint64(rows), ctypes.c_uint64(cols), ctypes.c_int64(rows)
        _checked(lt.cublasLtMatrixLayoutCreate(ctypes.byref(layout), kind, *sizes))
    room = ctypes.c_uint64(WORKSPACE)
    _checked(lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference)))
    _checked(lt.cublasLtMatmulPreferenceSetAttribute(preference, MOST_WORKSPACE, ctypes.byref(room), ctypes.c_size_t(8)))
    _checked(lt.cublasLtMatmulAlgoGetHeuristic(handle, wanted, *layouts, layouts[2], preference, 1, algorithm, ctypes.byref(found)))
    factor, zero = ctypes.c_float(alpha), ctypes.c_float(0)
    b, a, c = ((ctypes.c_void_p(pointer(x)), layout) for x, layout in zip((B, A, C), layouts, strict=True))
    arguments = (handle, wanted, ctypes.byref(factor), *b, *a, ctypes.byref(zero), *c, *c, algorithm, ctypes.c_void_p(_workspace()),
                 ctypes.c_size_t(WORKSPACE), stream)
    return lambda: _checked(lt.cublasLtMatmul(*arguments))


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
    library, handle = _loaded(NAMES), ctypes.c_void_p()
    _checked(library.cublasCreate_v2(ctypes.byref(handle)))
    return library, handle


@cache
def _cublas_lt():
    """Return cuBLASLt, which cuBLAS has loaded."""
    return _loaded(LT_NAMES)


def _loaded(names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise GpuError(f"cuBLAS cannot be loaded ({' or '.join(names)}), though CuPy can be", entry="cuBLAS")


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
