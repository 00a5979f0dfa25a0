"""The roofline: the most that memory and arithmetic units allow together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.arch import Device
from course_lib.model.inputs import InputError


def peak(device: Device, double: bool = False) -> float:
    """Return the arithmetic peak in GFLOP/s.

    >>> from course_lib.arch import device
    >>> round(peak(device("Tesla K80"), double=True))
    1370
    """
    return device.peak_gflops_double if double else device.peak_gflops


def attainable(device: Device, intensity: ArrayLike, double: bool = False,
               bandwidth_gb_s: float | None = None) -> float | NDArray[np.float64]:
    """Return the bound in GFLOP/s for a kernel of `intensity` operations per byte of device memory.

    Parameters
    ----------
    intensity
        Operations per byte.
    double
        Double precision instead of single.
    bandwidth_gb_s
        A measured bandwidth in 10^9 bytes a second, instead of the data sheet's.

    Returns
    -------
    float, or array of the shape of `intensity`

    Raises
    ------
    InputError, a ValueError
        On a negative intensity or a bandwidth that is not positive.

    Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", 2009.

    >>> from course_lib.arch import device
    >>> round(attainable(device("H200"), 1.0)), round(attainable(device("H200"), 1000.0))
    (4800, 66908)
    """
    values = np.asarray(intensity, dtype=float)
    if not (values >= 0).all():      # also for NaN
        raise InputError(f"intensity is {intensity!r}, but operations per byte are a number from 0 up")
    bound = np.minimum(peak(device, double), values * _bandwidth(device, bandwidth_gb_s))
    return bound if bound.ndim else float(bound)


def knee(device: Device, double: bool = False, bandwidth_gb_s: float | None = None) -> float:
    """Return the intensity, in operations per byte, from which on arithmetic is the limit.

    Parameters and errors as for `attainable`.

    >>> from course_lib.arch import device
    >>> round(knee(device("H200")), 2)
    13.94
    """
    return peak(device, double) / _bandwidth(device, bandwidth_gb_s)


def elements_per_second(bandwidth_gb_s: float, element_bytes: int = 8) -> float:
    """Return how many numbers the memory delivers, in 10^9 a second.

    Source: Wang and Jin, Q5.a: 240 GB/s are 30 Gdouble/s.

    >>> elements_per_second(240), elements_per_second(154)
    (30.0, 19.25)
    """
    if not bandwidth_gb_s > 0 or not element_bytes > 0:
        raise InputError(f"the bandwidth is {bandwidth_gb_s!r} GB/s and an element {element_bytes!r} bytes, but both are positive")
    return bandwidth_gb_s / element_bytes


def operations_per_element(gflops: float, bandwidth_gb_s: float, element_bytes: int = 8) -> float:
    """Return q: the operations per number loaded at which memory of this bandwidth allows `gflops`.

    With the peak it is the knee in operations per element; with a measured speed, the least reuse that explains it.

    Parameters
    ----------
    gflops, bandwidth_gb_s
        10^9 operations and bytes a second.
    element_bytes
        8 for float64.

    Raises
    ------
    InputError, a ValueError
        On a bandwidth or a size that is not positive.

    Source: Wang and Jin, Q5.a and Q5.b.

    >>> from course_lib.arch import device
    >>> k80 = peak(device("Tesla K80"), double=True)
    >>> [round(operations_per_element(*pair), 1) for pair in ((k80, 240), (693, 240), (k80, 154), (693, 154))]
    [45.7, 23.1, 71.2, 36.0]
    """
    return gflops / elements_per_second(bandwidth_gb_s, element_bytes)


def _bandwidth(device, measured):
    if measured is None:
        return device.bandwidth_gb_s
    if not measured > 0:
        raise InputError(f"the bandwidth is {measured!r}, but it is a positive number of 10^9 bytes a second")
    return measured
