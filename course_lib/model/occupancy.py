"""How many thread blocks fit on one SM at a time, and what stops the next one."""

from dataclasses import dataclass

from course_lib.arch import MAX_REGISTERS_PER_BLOCK, WARP, Device
from course_lib.model.inputs import whole


@dataclass(frozen=True)
class Occupancy:
    """What an SM holds at a time.

    Attributes
    ----------
    blocks, warps
        0 when not even one block fits.
    fraction
        `warps` over the most that the SM can hold.
    limiter
        What the next block lacks: "blocks", "warps", "registers" or "shared memory"; the first of `limiters`.
    limits
        Blocks that each resource alone would allow; without those of which the kernel takes nothing.
    """

    blocks: int
    warps: int
    fraction: float
    limiter: str
    limits: dict[str, int]

    @property
    def limiters(self) -> tuple[str, ...]:
        """Everything that the next block lacks."""
        return tuple(name for name, allowed in self.limits.items() if allowed == self.blocks)


def occupancy(device: Device, threads_per_block: int, registers: int, shared_bytes: int) -> Occupancy:
    """Compute the occupancy of a kernel, with all of the SM's shared memory available as such.

    Parameters
    ----------
    registers
        Per thread.
    shared_bytes
        Static and dynamic shared memory of a block, without what the system reserves.

    Returns
    -------
    With 0 blocks when one block needs more registers than it may have.

    Raises
    ------
    InputError, a ValueError
        When a figure is beyond what any launch on the device may ask for.

    Source: NVIDIA's `cuda_occupancy.h`, and for CC 1.3 NVIDIA's occupancy calculator.

    >>> from course_lib.arch import device
    >>> half = occupancy(device("H200"), 256, 64, 0)
    >>> half.fraction, half.limiter, half.limits
    (0.5, 'registers', {'blocks': 32, 'warps': 8, 'registers': 4, 'shared memory': 228})
    """
    limits, allows = device.limits, f"{device.name} allows"
    threads = whole("threads_per_block", threads_per_block, 1, limits.threads_per_block, allows)
    registers = whole("registers", registers, 0, limits.registers_per_thread, f"{device.name} allows a thread")
    shared = whole("shared_bytes", shared_bytes, 0, limits.shared_per_block, f"{device.name} allows a block")
    warps = _up(threads, WARP) // WARP
    shared = _up(shared + limits.shared_reserved, limits.shared_unit)
    allowed = {"blocks": limits.blocks, "warps": limits.warps // warps}
    if registers:
        allowed["registers"] = _by_registers(device, warps, registers)
    if shared:
        allowed["shared memory"] = limits.shared // shared
    limiter = min(allowed, key=lambda name: allowed[name])
    blocks = allowed[limiter]
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limiter, allowed)


def max_threads(device: Device, registers: int, shared_bytes: int = 0) -> int:
    """Return the most threads, in whole warps, that one block of such a kernel can have.

    Parameters, errors and source as for `occupancy`.

    >>> from course_lib.arch import device
    >>> [max_threads(device("Quadro M2200"), registers) for registers in (32, 64, 65, 128)]
    [1024, 1024, 896, 512]
    """
    sizes = range(device.limits.threads_per_block, 0, -WARP)
    return next((n for n in sizes if occupancy(device, n, registers, shared_bytes).blocks), 0)


def _up(n, unit):
    """Round up to a multiple."""
    return -(-n // unit) * unit


def _by_registers(device, warps, registers):
    """Return the blocks that the register file allows."""
    limits = device.limits
    if device.cc[0] == 1:       # handed out per block, for an even number of warps
        return limits.registers // _up(_up(warps, limits.warp_unit) * WARP * registers, limits.register_unit)
    per_warp = _up(registers * WARP, limits.register_unit)
    if per_warp * _up(warps, limits.warp_unit) > MAX_REGISTERS_PER_BLOCK:    # the hardware checks it rounded up
        return 0
    # Each sub-partition has its share of the registers, and keeps a warp's together.
    return limits.registers // limits.warp_unit // per_warp * limits.warp_unit // warps
