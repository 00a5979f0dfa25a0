"""Arrays on the device and back."""

from types import ModuleType
from typing import Any

import numpy as np


def is_cupy(array: Any) -> bool:
    """Tell a CuPy array without importing CuPy.

    >>> is_cupy(np.zeros(3))
    False
    """
    return type(array).__module__.partition(".")[0] == "cupy"


def to_device(array: Any) -> Any:
    """Return a NumPy array as a CuPy array; a CuPy array comes back as it is."""
    if is_cupy(array):
        return array
    import cupy

    return cupy.asarray(array)


def to_host(array: Any) -> np.ndarray:
    """Return a CuPy array as a NumPy array; a NumPy array comes back as it is."""
    return array.get() if is_cupy(array) else np.asarray(array)


def cupy() -> ModuleType:
    """Return CuPy itself, for those who hand a reader's lines on to it."""
    import cupy

    return cupy
