"""The device report: what a GPU has, side by side for several of them."""

from course_lib.arch import DEFAULT_DEVICE, KIB, Device, device
from course_lib.run.table import Table

MIB = KIB * KIB


def _rows(d):
    """Return label and text for one device."""
    limits = d.limits
    return {
        "compute capability": f"{d.cc[0]}.{d.cc[1]}",
        "multiprocessors (SMs)": f"{d.sms:,}",
        "cores per SM, single precision": f"{d.cores_per_sm:,}",
        "threads per SM, at most": f"{d.threads_per_sm:,}",
        "registers per SM, KiB": f"{limits.registers * 4 // KIB:,}",
        "shared memory per SM, KiB": f"{limits.shared // KIB:,}",
        "L2 cache, MiB": _short(d.l2_bytes / MIB) if d.l2_bytes else "none",
        "clock, MHz": _short(d.clock_mhz),
        "peak, single precision, GFLOP/s": f"{d.peak_gflops:,.0f}",
        "peak, double precision, GFLOP/s": f"{d.peak_gflops_double:,.0f}",
        "memory bandwidth, GB/s": _short(d.bandwidth_gb_s),
        "operations a byte, single precision": f"{d.balance:.1f}",
    }


def _short(value):
    return f"{value:,.1f}".removesuffix(".0")


def device_report(*devices: str | Device) -> Table:
    """Set the facts of devices side by side.

    Parameters
    ----------
    *devices
        Names of the device table, or entries of it; default the device that is modelled when there is no GPU.

    Returns
    -------
    Table
        Peaks and the last row are computed from the rows above; the sources are in `course_lib.arch.DEVICES`.

    Raises
    ------
    CourseError
        When a name is not in the table; it lists the names.
    """
    chosen = [d if isinstance(d, Device) else device(d) for d in devices or (DEFAULT_DEVICE,)]
    columns = [_rows(d) for d in chosen]
    rows = [(label, *(column[label] for column in columns)) for label in columns[0]]
    return Table(("", *(d.name for d in chosen)), rows, "Device report")
