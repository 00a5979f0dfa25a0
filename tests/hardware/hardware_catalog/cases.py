"""What a launch of one of these kernels is: arguments, grid and block, and what it must compute."""

import functools
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).parents[1] / "kernels"
CASES = {}


@dataclass(frozen=True)
class Case:
    """One launch.

    Attributes
    ----------
    name : str
        The kernel's file and function.
    make : callable
        Random generator -> (arguments, {argument's number: expected array}).
    tolerance : float
        0: bits (a NaN equals any NaN); else the largest error relative to the largest expected element of its row (the last axis).
    ulps : int
        How far the simulator may be from the hardware, in units in the last place; 0 for kernels whose arithmetic is
        defined to the bit. Only approximate functions are not.
    """

    name: str
    grid: tuple
    block: tuple
    make: object = field(repr=False)
    tolerance: float = 0.0
    ulps: int = 0
    dynamic_shared: int = 0
    constants: object = None
    scratch: tuple = ()  # arguments whose final value depends on timing

    @property
    def source(self):
        """Return the kernel's text."""
        return (KERNELS / f"{self.name}.cu").read_text()

    def arguments(self):
        """Return fresh arguments and the expected arrays; the same numbers every time."""
        return self.make(np.random.default_rng(zlib.crc32(self.name.encode())))

    def outputs(self, args):
        """Return the arrays that the kernel may have changed, by number of argument."""
        return {i: a for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.flags.writeable and i not in self.scratch}


def case(grid, block, **how):
    """Make a Case of a function that is named like its kernel."""
    def register(make):
        CASES[make.__name__] = Case(make.__name__, triple(grid), triple(block), make, **how)
        return make
    return register


def triple(size):
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return sizes + (1,) * (3 - len(sizes))


def read_only(*arrays):
    """Mark inputs, which neither a launch copies back nor a record keeps."""
    for array in arrays:
        array.setflags(write=False)
    return arrays if len(arrays) > 1 else arrays[0]


def floats(rng, *shape):
    """Return random single-precision numbers, read-only."""
    return read_only(rng.standard_normal(shape).astype(np.float32))


def whole(rng, low, high, *shape, dtype=np.int32):
    """Return random whole numbers of [low, high), read-only."""
    return read_only(rng.integers(low, high, shape).astype(dtype))


def wrong(found, expected, tolerance):
    """Return the flat positions where `found` is not `expected`."""
    if not tolerance:
        if found.dtype.kind in "fc":
            same = (found.view(bits_of(found)) == expected.astype(found.dtype).view(bits_of(found))) | np.isnan(found) & np.isnan(expected)
            return np.flatnonzero(~same)
        return np.flatnonzero(found != expected)
    scale = np.abs(expected).max(axis=-1, keepdims=True, initial=1e-30)
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~(np.abs(found - expected) <= tolerance * scale))


@functools.cache
def _integer(nbytes):
    return np.dtype(f"u{nbytes}")


def bits_of(array):
    """Return the integer type of an array's elements' size (of a half of it for complex numbers)."""
    return _integer(array.dtype.itemsize if array.dtype.kind != "c" else array.dtype.itemsize // 2)
