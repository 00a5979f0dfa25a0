"""Types that several functions of `run` take or return."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from course_lib.kernels import CpuKernel, Kernel
from course_lib.simt.report import DeviceArray, SharedVariable, TraceRecord
from course_lib.tensor_maps import TensorMap

Array: TypeAlias = Any                                  # NumPy's or CuPy's
Argument: TypeAlias = np.ndarray | np.generic | TensorMap           # of a kernel
KernelLike: TypeAlias = str | Path | Kernel
CpuKernelLike: TypeAlias = str | CpuKernel
Extent: TypeAlias = tuple[int, int, int]                # along x, y, z
Warp: TypeAlias = tuple[Extent, int]                    # index of a block, number of a warp in it
TracedWarps: TypeAlias = Iterable[tuple[Extent | int, int]]
Progress: TypeAlias = Callable[[int, int], object] | bool | None
Rows: TypeAlias = tuple[tuple[str, str], ...]           # of a table: what, value


class Traced(Protocol):
    """A launch that was traced: a `LaunchResult`, the simulator's report."""

    @property
    def trace(self) -> Sequence[TraceRecord]: ...

    @property
    def arrays(self) -> Sequence[DeviceArray]: ...

    @property
    def shared(self) -> Sequence[SharedVariable]: ...
