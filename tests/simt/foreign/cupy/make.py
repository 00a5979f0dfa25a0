"""Write this folder's PTX anew: `pip install cupy-cuda13x nvidia-cuda-nvrtc`, then `python make.py`; no GPU is needed.

CuPy writes CUDA C and has NVRTC compile it. Its own functions write the text here; only the launch, which needs a device, is left out.
"""

from pathlib import Path
from types import SimpleNamespace

import cupy
import numpy as np
from cuda.bindings import nvrtc
from cupy._core import _carray, _fusion_thread_local, _kernel, _reduction, _scalar, core, fusion
from cupyx.jit import _builtin_funcs, _compile, _cuda_types
from programs import ELEMENTWISE, FUSED, JIT, MODULES, REDUCTIONS

HERE, SITE, BLOCK = Path(__file__).parent, Path(cupy.__file__).parents[1], 128
_builtin_funcs.device = SimpleNamespace(get_compute_capability=lambda: "80")  # CuPy would ask the device
cupy._core._get_warpsize, cupy._core._full_mask = lambda: 32, lambda: 0xffffffff
HEADERS = "".join(f"#include <{name}>\n" for name in core._cupy_header_list)


def array(dtype, ndim, contiguous=True):
    return _kernel._ArgInfo(1, cupy.ndarray, np.dtype(dtype), ndim, contiguous, True)


def indexer(ndim):
    return _kernel._ArgInfo(2, _carray.Indexer, None, ndim, True, True)


def scalar(dtype):
    return _kernel._ArgInfo(3, _scalar.CScalar, np.dtype(dtype), 0, True, True)


def described(what):
    """Return the _ArgInfo of `("f4", 2)`, `("f4", 2, False)` (strides that are not C's) or `("f4",)` (a number)."""
    return array(*what) if len(what) > 1 else scalar(*what)


def types_of(kernel, arguments):
    """Return the types of a kernel's parameters, by the name of the type in the text."""
    given = [np.dtype(a[0]).type for a in arguments]
    return _kernel._decide_params_type(kernel.in_params, kernel.out_params, tuple(given[:kernel.nin]), tuple(given[kernel.nin:]))[2]


def elementwise(kernel, arguments, ndim):
    return _kernel._get_elementwise_kernel_code(
        (*map(described, arguments), indexer(ndim)), types_of(kernel, arguments), kernel.params, kernel.operation, kernel.name,
        kernel.preamble)


def reduction(kernel, arguments, ndims):
    extra = _kernel._get_param_info("CIndexer _in_ind, CIndexer _out_ind", False) + _kernel._get_param_info("int32 _block_stride", True)
    types = types_of(kernel, arguments)
    types = _kernel._TypeMap((*types._pairs, ("IndexT", "int32")))
    return _reduction._ReductionKernel_get_cached_function_code(
        kernel.nin, kernel.nout, kernel.in_params + kernel.out_params + extra,
        (*map(described, arguments), *map(indexer, ndims), scalar("i4")), types, kernel.name, BLOCK, kernel.reduce_type, kernel.identity,
        kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr, kernel.preamble, kernel.options)


def fused(function, arguments):
    """Return the kernel that cupy.fuse makes of a function; the arrays' memory does not exist, and nothing reads it."""
    memory = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(1 << 40, 1 << 20, None, 0), 0)
    arrays = [cupy.ndarray((4,) * a[1], a[0], memptr=memory) for a in arguments[:function.__code__.co_argcount]]
    history = fusion._FusionHistory()
    local = _fusion_thread_local.thread_local
    local.history, local.is_old_fusing = history, True
    try:
        return history.get_fusion(function, arrays, function.__name__)[0]
    finally:
        local.history, local.is_old_fusing = None, False


def jit(function, arguments):
    types = tuple(_cuda_types.CArray(np.dtype(a[0]), a[1], True, True) if len(a) > 1
                  else _cuda_types.Scalar(np.dtype(a[0])) for a in arguments)
    return _compile.transpile(function, ['extern "C"', "__global__"], "cuda", types, _cuda_types.void)


def compiled(text, name, *options):
    """Return PTX for compute capability 8.0, with the options that CuPy gives NVRTC."""
    include = Path(cupy.__file__).parent / "_core/include"
    folders = [include, *(include / "cupy/_cccl" / part for part in ("libcudacxx", "cub", "thrust")), SITE / "nvidia/cu13/include"]
    options = ["-arch=compute_80", "-ftz=true", "-std=c++17", "--device-as-default-execution-space", "-lineinfo", *options,
               *(f"-I{folder}" for folder in folders)]
    _, program = nvrtc.nvrtcCreateProgram((HEADERS + text).encode(), f"{name}.cu".encode(), 0, [], [])
    error, = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    if error:
        log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
        nvrtc.nvrtcGetProgramLog(program, log)
        raise ValueError(f"{name}: {text}\n{log.decode()}")
    ptx = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.decode().rstrip("\0")


def write(name, how, text, *options):
    ptx = compiled(text, name, *options)
    entry = ptx.split(".entry ")[1].split("(")[0].strip()
    head = f"// cupy {cupy.__version__}, NVRTC {'.'.join(map(str, nvrtc.nvrtcVersion()[1:]))}: {how}, compute_80\n// entry {entry}\n"
    (HERE / f"{name}.ptx").write_text(head + ptx.replace(f"{SITE}/", "") + "\n")
    print(head, end="")


def main():
    for kernel, arguments, ndim in ELEMENTWISE:
        write(kernel.name, f"ElementwiseKernel, {arguments}", elementwise(kernel, arguments, ndim))
    for kernel, arguments, ndims in REDUCTIONS:
        write(kernel.name, f"ReductionKernel, {arguments}, block {BLOCK}", reduction(kernel, arguments, ndims))
    for function, arguments, ndims in FUSED:
        kernel = fused(function, arguments)
        one = elementwise if isinstance(kernel, _kernel.ElementwiseKernel) else reduction
        write(function.__name__, f"fuse, {arguments}", one(kernel, arguments, ndims))
    for function, arguments in JIT:
        made = jit(function, arguments)
        write(made.func_name, f"jit.rawkernel, {arguments}", made.code, *made.options)
    for name, text, options in MODULES:
        write(name, "RawModule", text, *options)


main()
