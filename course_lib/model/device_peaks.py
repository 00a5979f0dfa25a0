"""What a device can compute and move, in the units of Koppelman's report; the part that a table of it shows."""

from dataclasses import dataclass

from course_lib.arch import Device

DOUBLE, SINGLE = 8, 4      # bytes


@dataclass(frozen=True)
class Balance:
    """Peaks of one device.

    Attributes
    ----------
    gfmas, gfmas_double
        Fused multiply-adds, each counted as one operation, in 10^9 a second.
    per_element, per_element_double
        The ratio of computation to communication: multiply-adds per number that the memory can deliver.
    dp_per_sm
        Double-precision units of an SM that yield the peak.
    """

    gfmas: float
    gfmas_double: float
    per_element: float
    per_element_double: float
    dp_per_sm: int


def balance(device: Device) -> Balance:
    """Return the Balance of a Device.

    Source: Koppelman, homework on `vtx-xform-size`, Program Output: PEAK and COMP/COMM.

    >>> from course_lib.arch import device
    >>> found = balance(device("Quadro M2200"))
    >>> round(found.gfmas), round(found.gfmas_double), round(found.per_element, 1), round(found.per_element_double, 1)
    (1061, 33, 48.2, 3.0)
    """
    single, double = device.peak_gflops / 2, device.peak_gflops_double / 2
    rate = device.bandwidth_gb_s
    return Balance(single, double, single * SINGLE / rate, double * DOUBLE / rate, round(device.cores_per_sm * device.dp_ratio))
