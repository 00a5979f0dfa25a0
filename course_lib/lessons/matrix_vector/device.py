"""The device report of Koppelman's homework, line for line."""

from course_lib.arch import CONSTANT_BYTES, DEFAULT_DEVICE, KIB, Device, device
from course_lib.model import balance


def homework_report(which: str | Device = DEFAULT_DEVICE, memory_bytes: int | None = None, number: int = 0) -> str:
    """Write what a GPU has as Koppelman's homework does, line for line.

    Parameters
    ----------
    which
        A name of the device table, an entry of it, or what `course_lib.gpu.live_device` returns.
    memory_bytes
        Of the device memory, which the table does not hold.
    number
        Of the GPU in its machine.

    Returns
    -------
    str
        Five lines. PEAK counts a fused multiply-add as one operation, COMP/COMM is multiply-adds per number that the
        memory delivers.

    Raises
    ------
    CourseError
        When a name is not in the table; it lists the names.

    >>> print(homework_report("Quadro M2200", 4010 << 20))
    GPU 0: Quadro M2200 @ 1.04 GHz WITH 4010 MiB GLOBAL MEM
    GPU 0: L2: 1024 kiB MEM<->L2: 88.1 GB/s
    GPU 0: CC: 5.2 MP: 8 CC/MP: 128 DP/MP: 4 TH/BL: 1024
    GPU 0: SHARED: 49152 B/BL 98304 B/MP CONST: 65536 B # REGS: 65536
    GPU 0: PEAK: 1061 SP GFLOPS 33 DP GFLOPS COMP/COMM: 48.2 SP 3.0 DP
    """
    d = which if isinstance(which, Device) else device(which)
    limits, found = d.limits, balance(d)
    memory = f" WITH {memory_bytes >> 20} MiB GLOBAL MEM" if memory_bytes is not None else ""
    lines = (
        f"{d.name} @ {d.clock_mhz / 1e3:.2f} GHz{memory}",
        f"L2: {d.l2_bytes // KIB} kiB MEM<->L2: {d.bandwidth_gb_s:.1f} GB/s",
        f"CC: {d.cc[0]}.{d.cc[1]} MP: {d.sms} CC/MP: {d.cores_per_sm} DP/MP: {found.dp_per_sm} TH/BL: {limits.threads_per_block}",
        f"SHARED: {limits.static_shared} B/BL {limits.shared} B/MP CONST: {CONSTANT_BYTES} B # REGS: {limits.registers}",
        f"PEAK: {found.gfmas:.0f} SP GFLOPS {found.gfmas_double:.0f} DP GFLOPS "
        f"COMP/COMM: {found.per_element:.1f} SP {found.per_element_double:.1f} DP")
    return "\n".join(f"GPU {number}: {line}" for line in lines)
