"""How many thread blocks fit on one SM at a time, and what stops the next one."""

from dataclasses import dataclass

from course_lib.arch import WARP
from course_lib.errors import CourseError


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps that an SM holds; `fraction` of its most warps; `limiter`: what the next block lacks.

    `limits` maps each resource to the number of blocks that it alone would allow.
    """

    blocks: int
    warps: int
    fraction: float
    limiter: str
    limits: dict


def up(n, unit):
    return -(-n // unit) * unit


def by_registers(device, warps, registers):
    """Blocks that the register file allows; None when registers are no limit."""
    limits = device.limits
    if registers == 0:
        return None
    if device.cc[0] == 1:  # handed out per block, for an even number of warps
        return limits.registers // up(up(warps, limits.warp_unit) * WARP * registers, limits.register_unit)
    per_warp = up(registers * WARP, limits.register_unit)
    if per_warp * up(warps, limits.warp_unit) > 65536:  # the most that one block may hold
        return 0
    return limits.registers // limits.warp_unit // per_warp * limits.warp_unit // warps


def occupancy(device, threads_per_block, registers, shared_bytes):
    """Compute the occupancy of a kernel.

    Parameters
    ----------
    device : Device
    threads_per_block : int
    registers : int
        Per thread.
    shared_bytes : int
        Static and dynamic shared memory of a block, without what the system reserves.

    Returns
    -------
    Occupancy

    Raises
    ------
    CourseError
        When even one block does not fit; says which limit is exceeded.

    Source: NVIDIA's `cuda_occupancy.h`.

    >>> from course_lib.arch import device
    >>> occupancy(device("H200"), 256, 64, 0).fraction
    0.5
    """
    limits = device.limits
    most = 512 if device.cc[0] == 1 else 1024
    if not 1 <= threads_per_block <= most:
        raise CourseError(f"A block has {threads_per_block} threads; {device.name} allows 1 to {most}.", threads=threads_per_block)
    if not 0 <= registers <= limits.registers_per_thread:
        raise CourseError(f"{registers} registers a thread; {device.name} allows up to {limits.registers_per_thread}.",
                          registers=registers)
    if not 0 <= shared_bytes <= limits.shared_per_block:
        raise CourseError(f"{shared_bytes} bytes of shared memory a block; {device.name} allows up to {limits.shared_per_block}.",
                          shared_bytes=shared_bytes)
    warps = up(threads_per_block, WARP) // WARP
    shared = up(shared_bytes + limits.shared_reserved, limits.shared_unit)
    allowed = {
        "blocks": limits.blocks,
        "warps": limits.warps // warps,
        "registers": by_registers(device, warps, registers),
        "shared memory": limits.shared // shared if shared else None,
    }
    allowed = {name: n for name, n in allowed.items() if n is not None}
    limiter = min(allowed, key=lambda name: (allowed[name], list(allowed).index(name)))
    blocks = allowed[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limiter, allowed)


