"""What all models check about their input, and the error that says what would be right."""

import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.arch import WARP
from course_lib.errors import CourseError

WIDTHS = (1, 2, 4, 8, 16)      # bytes that one lane can access with one instruction


class InputError(CourseError, ValueError):
    """A value that a model cannot work with; the message says what would be right."""


def lanes(addresses: ArrayLike, width: int, active: ArrayLike | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (32,) int64 addresses and (32,) bool active lanes of one access, checked.

    Raises
    ------
    InputError
        On a wrong shape, type or width, or a negative or misaligned active address.
    """
    addresses = np.asarray(addresses)
    active = np.ones(WARP, bool) if active is None else np.asarray(active)
    if addresses.shape != (WARP,) or active.shape != (WARP,):
        raise InputError(f"a warp needs {WARP} addresses and {WARP} lane flags, "
                         f"not shapes {addresses.shape} and {active.shape}")
    if addresses.dtype.kind not in "iu":
        raise InputError(f"addresses are whole numbers of bytes, not {addresses.dtype}")
    if active.dtype != bool:
        raise InputError(f"lane flags are True or False, not {active.dtype}")
    if width not in WIDTHS:
        raise InputError(f"width is {width!r}, but a lane accesses 1, 2, 4, 8 or 16 bytes")
    wrong = active & ((addresses < 0) | (addresses % width != 0))
    if wrong.any():
        lane = int(np.flatnonzero(wrong)[0])
        raise InputError(f"lane {lane} has address {addresses[lane]}, "
                         f"but an access of {width} bytes needs a multiple of {width} that is not negative", lane=lane)
    return addresses.astype(np.int64), active


def whole(name: str, value: SupportsIndex, low: int, high: int, why: str) -> int:
    """Return a value as an int.

    Raises
    ------
    InputError
        When it is no whole number from `low` to `high`; `why` says where the limit comes from.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}, but it must be a whole number from {low} to {high}") from None
    if isinstance(value, (bool, np.bool_)) or not low <= number <= high:
        raise InputError(f"{name} is {value!r}, but {why} {low} to {high}", name=name, value=value)
    return number
