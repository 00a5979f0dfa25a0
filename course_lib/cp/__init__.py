"""The lines that launch a kernel outside the course, in a lesson: CuPy on a GPU, on the simulator a stand-in for it.

    from course_lib import cp                                   # outside the course: import cupy as cp
    x = cp.asarray(np.arange(8, dtype=np.float32))
    double = cp.RawKernel(source, "double_it")
    double((1,), (8,), (x, np.int32(8)))
    x.get()

`asarray`, `asnumpy`, `empty`, `full`, `zeros` and everything else are CuPy's own where a GPU works. `RawKernel` is ours on both: it
launches as CuPy's does, and first refuses the arguments that CuPy would pass on although the kernel cannot read them. Two names are the
course's alone: `last_launch()` tells what the simulator counted, `take_home(...)` writes the whole program for CuPy. The stand-in refuses
by name what it lacks.
"""

from typing import Any

import numpy as np

from course_lib import gpu
from course_lib.cp import arrays
from course_lib.cp.arrays import NotCovered, ndarray
from course_lib.cp.launches import Launch, last_launch
from course_lib.cp.raw_kernel import RawKernel
from course_lib.cp.take_home import TakeHomeProgram, take_home
from course_lib.run import choose_backend

ARRAYS = ("asarray", "asnumpy", "empty", "full", "zeros")
__all__ = [*ARRAYS, "Launch", "TakeHomeProgram", "RawKernel", "last_launch", "take_home"]
_TYPES = ("bool_", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def __getattr__(name: str) -> Any:
    """Return CuPy's own where a GPU works, else what stands in for it."""
    if name.startswith("__"):
        raise AttributeError(name)
    if choose_backend() == "gpu":
        return getattr(gpu.cupy(), name)
    if name in _TYPES:
        return getattr(np, name)
    if name == "ndarray":
        return ndarray
    if name not in ARRAYS:
        raise NotCovered(f"cp.{name} is not there without a GPU: the simulator's stand-in for CuPy has {', '.join(ARRAYS)}, RawKernel and "
                         "the number types; copy arrays to NumPy with .get() for anything else", wanted=name)
    return getattr(arrays, name)


def __dir__() -> list[str]:
    return [*__all__, "ndarray", *_TYPES]
