"""Load a cubin and launch a kernel of it."""

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.gpu.device import is_cupy
from course_lib.tensor_maps import MAP_BYTES, TensorMap

if TYPE_CHECKING:
    from course_lib.toolchain import Compiled

Size = int | tuple[int, ...]          # of a grid or a block, along x or along x, y, z
STATIC_SHARED_LIMIT = 48 * 1024     # bytes; a kernel must ask before its static and dynamic shared memory may be more

# What CUDA says, and what a reader can do about it. A failed kernel leaves the process without a usable GPU.
RESTART = "the GPU is lost to this notebook until you restart its kernel"
ADVICE = {
    "ILLEGAL_ADDRESS": "{entry} touched memory outside its arrays; " + RESTART
                       + ". Run it with backend='sim' to see the line, the thread and the address",
    "MISALIGNED_ADDRESS": "{entry} used an address that is no multiple of the access's width; " + RESTART
                          + ". Run it with backend='sim' to see the line and the thread",
    "LAUNCH_FAILED": "{entry} failed while it ran; " + RESTART + ". Run it with backend='sim' to see where",
    "LAUNCH_TIMEOUT": "{entry} ran longer than this GPU's driver allows a kernel while a screen is attached",
    "OUT_OF_MEMORY": "the GPU has too little free memory for these arrays: take smaller ones",
    "OUT_OF_RESOURCES": "a block of {entry} needs more registers than the GPU has: take a smaller block",
    "INVALID_VALUE": "the GPU refused the launch of {entry} with grid {grid} and block {block}",
    "NO_BINARY_FOR_GPU": "the compiled {entry} is for another GPU: compile it for this one's architecture",
    "INVALID_IMAGE": "this driver cannot load the compiled {entry}: it is older than the compiler; update the driver",
    "NOT_FOUND": "the compiled kernel holds no function {entry!r}",
}


# What CuPy, CUDA and the disk raise: CuPy's own are RuntimeErrors, its OutOfMemoryError a MemoryError, an array that it does not take a
# ValueError. Anything else is a fault of this library, and stays one.
CUDA_ERRORS = (RuntimeError, MemoryError, OSError, ValueError)


class GpuError(CourseError):
    """The GPU or its driver refused or failed. Attributes: entry, grid, block, cause (CUDA's own words)."""


@cache
def _folder():
    """Keep one folder for cubins as long as the process lives; it is removed at exit."""
    return tempfile.TemporaryDirectory(prefix="course-cubins-")


def load(compiled: "Compiled | bytes", entry: str) -> Any:
    """Return CuPy's kernel object for a function of a compiled kernel.

    Parameters
    ----------
    compiled
        From `course_lib.toolchain.compile_cuda`, or the bytes of a cubin.

    Raises
    ------
    GpuError
        When the driver cannot load it.
    """
    return _function(_module(compiled), entry)


def _module(compiled):
    """Return CuPy's module of a cubin; it reads the file when something is first asked of it."""
    import cupy

    from course_lib.toolchain import machine_code  # not sooner: whoever asks whether there is a GPU waits for this module

    cubin = compiled if isinstance(compiled, bytes) else machine_code(compiled)
    # CuPy remembers modules by path: the name must follow the content.
    path = Path(_folder().name) / f"{hashlib.sha256(cubin).hexdigest()}.cubin"
    if not path.exists():
        path.write_bytes(cubin)
    return cupy.RawModule(path=str(path))


def _function(module, entry):
    try:
        function = module.get_function(entry)
        function.compile()       # load now, so that a refusal is reported here
    except CUDA_ERRORS as error:
        raise explain(error, entry) from None
    return function


def launch(compiled: "Compiled | bytes", entry: str, grid: Size, block: Size, args: Sequence[Any], *, dynamic_shared: int = 0,
           constants: Mapping[str, np.ndarray] | None = None) -> tuple[Any, ...]:
    """Launch a kernel once and wait for it. Clusters of blocks are the kernel's own affair (`__cluster_dims__`): CuPy's launch has no size.

    Parameters
    ----------
    compiled
        A compiled kernel or a cubin.
    entry
        The function.
    grid, block
        Blocks, threads a block.
    args
        NumPy arrays (copied to the device, and back in place), CuPy arrays (used as they are) and NumPy
        scalars of the kernel's own types: `np.int32(5)`, `np.float32(1)`; and a `TensorMap` of an array of either kind.
    dynamic_shared
        Bytes of shared memory a block asks for at launch.
    constants
        NumPy arrays for `__constant__` variables, by name.

    Returns
    -------
    The arrays among `args`, of the kind that was given.
    """
    import cupy

    try:
        there = {id(a): place(a) for a in host_arrays(args)}
        on_device = arguments(args, there)
        function = prepare_function(compiled, entry, dynamic_shared, constants)
        function(triple(grid), triple(block), tuple(on_device), shared_mem=dynamic_shared)
        cupy.cuda.get_current_stream().synchronize()
        for given in host_arrays(args):
            if given.flags.writeable:
                given[...] = there[id(given)].get()
    except CUDA_ERRORS as error:
        raise explain(error, entry, grid, block) from None
    return tuple(a for a in args if isinstance(a, np.ndarray) or is_cupy(a))


def host_arrays(args: Sequence[Any]) -> list[np.ndarray]:
    """Return the NumPy arrays among arguments, those of tensor maps too."""
    arrays = (a.array if isinstance(a, TensorMap) else a for a in args)
    return [a for a in arrays if isinstance(a, np.ndarray)]


def place(array: np.ndarray) -> Any:
    """Return a copy of a NumPy array on the device, with the gaps that lie between its rows."""
    import cupy

    if array.flags.forc or min(array.strides) < 0:
        return cupy.array(array)
    low, high = np.lib.array_utils.byte_bounds(array)
    room = cupy.zeros(high - low, np.uint8)
    there = cupy.ndarray(array.shape, array.dtype, room.data, strides=array.strides)
    there[...] = cupy.asarray(array)
    return there


def arguments(args: Sequence[Any], there: Mapping[int, Any]) -> tuple[Any, ...]:
    """Return the arguments as CuPy takes them: arrays from `there`, by the id of NumPy's, and tensor maps as 128 bytes by value."""
    def on_device(given):
        if not isinstance(given, TensorMap):
            return there.get(id(given), given)
        return np.frombuffer(given.encode(there.get(id(given.array), given.array).data.ptr), f"V{MAP_BYTES}")
    return tuple(map(on_device, args))


def prepare_function(compiled: "Compiled | bytes", entry: str, dynamic_shared: int,
                     constants: Mapping[str, np.ndarray] | None = None) -> Any:
    """Load a function, let it use as much dynamic shared memory as asked for, and fill its `__constant__` variables."""
    import cupy

    module = _module(compiled)
    function = _function(module, entry)
    if dynamic_shared and dynamic_shared + function.shared_size_bytes > STATIC_SHARED_LIMIT:     # the limit is for both together
        function.max_dynamic_shared_size_bytes = dynamic_shared
    if dynamic_shared:
        function.preferred_shared_memory_carveout = 100     # percent: as many blocks an SM as its shared memory allows
    for name, value in (constants or {}).items():
        value = np.ascontiguousarray(value)
        there = cupy.ndarray(value.shape, value.dtype, module.get_global(name))
        there.set(value)
    return function


def triple(size: Size) -> tuple[int, int, int]:
    """Return a size along x, y, z.

    >>> triple(5), triple((2, 3))
    ((5, 1, 1), (2, 3, 1))
    """
    x, y, z = (*((size,) if isinstance(size, (int, np.integer)) else size), 1, 1)[:3]
    return int(x), int(y), int(z)


def explain(error: Exception, entry: str, grid: Size | None = None, block: Size | None = None) -> GpuError:
    """Turn an exception of CuPy or CUDA into a `GpuError` with one sentence."""
    cause = " ".join(str(error).split()) or type(error).__name__
    plain = cause.upper().replace("_", "")
    for word, advice in ADVICE.items():
        if word.replace("_", "") in plain:
            return GpuError(advice.format(entry=entry, grid=grid, block=block),
                            entry=entry, grid=grid, block=block, cause=cause)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return GpuError(ADVICE["OUT_OF_MEMORY"], entry=entry, grid=grid, block=block, cause=cause)
    return GpuError(f"the GPU could not run {entry}: {cause}", entry=entry, grid=grid, block=block, cause=cause)
