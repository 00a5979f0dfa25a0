"""What a worker needs for instructions of warpgroups: products under way, shadows of the register files, registers to hand out."""

from typing import Any, Protocol

from course_lib import toolchain
from course_lib.simt.host.memory import aligned
from course_lib.simt.host.running import Running
from course_lib.simt.runtime import abi


class Pinning(Running, Protocol):
    """A launch that keeps alive what native code points to."""

    warps: int

    @property
    def launch(self) -> Any: ...

    def pin(self, thing: Any) -> int: ...


def make(run: Pinning, racecheck: bool) -> int:
    """Return the address of an abi.Products with all that it points to."""
    warps, launch = run.warps, run.launch
    nbytes = launch.uniform_offset - launch.register_offset
    places = nbytes // abi.SLOT_UNIT
    owned = (abi.OwnProducts * -(-warps // abi.GROUP_WARPS * abi.GROUP_WARPS))()     # the last warpgroup may not be whole
    for one in owned:
        one.shadow = run.pin(aligned(nbytes, 64))
        one.held, one.lent, one.touched = (run.pin(aligned(8 * places + 8)) for _ in range(3))
    found = abi.Products(own=run.pin(owned), scratch=run.pin(abi.Scratch()), first_registers=registers(run))
    if racecheck:
        found.readings = run.pin((abi.ProductReading * ((launch.shared_bytes >> launch.granule_shift) + 1))())
    return run.pin(found)


def registers(run: Pinning) -> int:
    """Return with how many registers a thread begins where `setmaxnreg` may change that; 0 where the kernel declares no limit.

    "PTX ISA": without one the instruction has no effect. The machine code says how many there are; where there is none, the limit does.
    """
    limit = run.program.max_registers
    if not limit or not any(ins.opcode[0] == "setmaxnreg" for ins in run.program.instructions):
        return 0
    return toolchain.resources(run.kernel.cubin)[run.program.entry].registers if run.kernel.cubin else limit
