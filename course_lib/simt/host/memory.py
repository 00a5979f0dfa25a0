"""Device memory of a launch: array arguments at fixed device addresses, far apart, so that no overrun goes unseen."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.errors import LaunchError
from course_lib.simt.report import DeviceArray

FIRST_ADDRESS = 1 << 40  # of the first array; each further one starts 1 TiB later
ALIGNMENT = 256
LARGE = 1 << 16  # bytes of a buffer that is worth using again
MOST_SPARE, MOST_SIZES = 64 << 20, 32


def aligned(nbytes: int, align: int = ALIGNMENT) -> NDArray[np.uint8]:
    """Return an uninitialised uint8 array whose first byte lies at a multiple of `align`."""
    raw = spare.take(nbytes + align) if nbytes > LARGE else np.empty(nbytes + align, np.uint8)
    start = -raw.ctypes.data % align
    return raw[start:start + nbytes]


class Spare:
    """Large buffers for the next launch of the same size: fresh pages from the system cost more than a small kernel."""

    def __init__(self) -> None:
        self.lock, self.nbytes = threading.Lock(), 0
        self.free: dict[int, list[NDArray[np.uint8]]] = {}

    def take(self, nbytes: int) -> NDArray[np.uint8]:
        """Return a buffer of exactly this size, with whatever it holds."""
        with self.lock:
            found = self.free.get(nbytes)
            if found:
                self.nbytes -= nbytes
                return found.pop()
        return np.empty(nbytes, np.uint8)

    def give(self, buffers: Iterable[NDArray[np.uint8]]) -> None:
        """Take back what `aligned` returned; nobody may use it any more."""
        with self.lock:
            for raw in (buffer.base for buffer in buffers):
                if isinstance(raw, np.ndarray) and raw.nbytes > LARGE and self.nbytes + raw.nbytes <= MOST_SPARE:
                    self.free.setdefault(raw.nbytes, []).append(raw)
                    self.nbytes += raw.nbytes
            if len(self.free) > MOST_SIZES:
                self.free.clear()
                self.nbytes = 0


spare = Spare()


@dataclass
class Allocation:
    """One stretch of device memory; `host` holds its bytes while the kernel runs."""

    address: int
    host: NDArray[np.uint8]
    writable: bool
    low: int  # host address of the argument's first byte


class DeviceMemory:
    """Copies of the array arguments. Arguments that overlap in host memory share one allocation."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.allocations: list[Allocation] = []
        ranges = sorted({byte_bounds(a) for a in arrays})
        merged: list[list[int]] = []
        for low, high in ranges:
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(high, merged[-1][1])
            else:
                merged.append([low, high])
        order = [byte_bounds(a)[0] for a in arrays]
        merged.sort(key=lambda r: min((i for i, low in enumerate(order) if r[0] <= low <= r[1]), default=0))
        for i, (low, high) in enumerate(merged):
            host = aligned(high - low)
            self.allocations.append(Allocation(FIRST_ADDRESS * (i + 1), host, False, low))
        for array in arrays:
            allocation, view = self.view(array)
            view[...] = array
            allocation.writable |= array.flags.writeable

    def view(self, array: NDArray[Any]) -> tuple[Allocation, NDArray[Any]]:
        """Return the allocation that holds an argument, and an array over its copy with the same shape and strides."""
        low, high = byte_bounds(array)
        for allocation in self.allocations:
            if allocation.low <= low and high <= allocation.low + allocation.host.nbytes:
                offset = allocation.low
                start = array.ctypes.data - offset
                view = np.ndarray(array.shape, array.dtype, allocation.host, start, array.strides)
                return allocation, view
        raise LaunchError("An array argument was lost; this is an error of the simulator.")

    def describe(self, array: NDArray[Any], name: str) -> DeviceArray:
        """Return the DeviceArray of an argument."""
        allocation, _ = self.view(array)
        low, high = byte_bounds(array)
        return DeviceArray(name, allocation.address + low - allocation.low, high - low, array.itemsize)

    def write_back(self) -> None:
        """Copy what the kernel wrote into the caller's arrays."""
        for array in self.arrays:
            if array.flags.writeable:
                array[...] = self.view(array)[1]


def byte_bounds(array: NDArray[Any]) -> tuple[int, int]:
    """Return the host addresses of an array's first byte and of the byte behind its last."""
    if array.size == 0:
        return array.ctypes.data, array.ctypes.data
    return np.lib.array_utils.byte_bounds(array)


def up(n: SupportsIndex, align: int = 64) -> int:
    """Round up to a multiple."""
    return -(-int(n) // align) * align
