"""The roofline: the most that memory and arithmetic units allow together."""

def attainable(device, intensity, double=False):
    """Return the bound in GFLOP/s for a kernel of `intensity` operations per byte of device memory.

    Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", 2009.

    >>> from course_lib.arch import device
    >>> round(attainable(device("H200"), 1.0)), round(attainable(device("H200"), 1000.0))
    (4800, 66908)
    """
    if not intensity >= 0:
        raise ValueError(f"intensity is {intensity}; operations per byte cannot be negative")
    peak = device.peak_gflops_double if double else device.peak_gflops
    return min(peak, intensity * device.bandwidth_gb_s)

def knee(device, double=False):
    """Return the intensity, in operations per byte, from which on arithmetic is the limit."""
    return (device.peak_gflops_double if double else device.peak_gflops) / device.bandwidth_gb_s
