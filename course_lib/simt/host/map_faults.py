"""Errors of bulk copies of tensors: what is wrong with a tensor map, or with the place of a box in shared memory."""

from course_lib.simt.errors import InvalidOperand, Misaligned, SimtError
from course_lib.simt.host.fault_places import Facts, place
from course_lib.simt.host.running import Running
from course_lib.simt.isa import tensor_copies
from course_lib.simt.isa.warp import CHANGES
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import MapMisuse


def explain(run: Running, found: int, ins: Instruction, facts: Facts) -> SimtError:
    """Return the exception for a fault; `found` is a MapMisuse in its upper half, and a number in its lower."""
    why, value = MapMisuse(found >> 32), found & 0xFFFFFFFF
    name = ins.name.replace("__", "::")
    facts |= {"operation": name, "value": value}
    if why == MapMisuse.LOOSE_TILE:
        return Misaligned(
            f"{place(facts)}: {name} has a box at address {value:#x} of shared memory, which is no multiple of {abi.TILE_ALIGNMENT}. "
            "Declare the array with __align__(128), or with __align__(1024) for the pattern of a swizzle of 128 bytes to begin with it.",
            width=abi.TILE_ALIGNMENT, address=value, **facts)
    return InvalidOperand(f"{place(facts)}: {name} {words(why, value, ins)}.", **facts)


def signed(value: int) -> int:
    """Return 32 bits as a signed number."""
    return value - (value >> 31 << 32)


def words(why: MapMisuse, value: int, ins: Instruction) -> str:
    """Return what is wrong with a map, as the end of a sentence and what to do."""
    return {
        MapMisuse.NO_PLACE: "finds no memory at the address of its tensor map, whose 128 bytes lie among the parameters, in constant "
                            "or in global memory",
        MapMisuse.COPIED_MAP: "finds its tensor map in a copy, in local or shared memory. Declare the parameter const __grid_constant__, "
                              "and pass its own address",
        MapMisuse.LOOSE_MAP: f"has a tensor map at an address that is no multiple of {abi.MAP_ALIGNMENT}: declare its type alignas(64)",
        MapMisuse.NO_MAP: "finds no tensor map at the address: 128 bytes that TensorMap, or the driver, did not write for tiles",
        MapMisuse.OTHER_RANK: f"is for {tensor_copies.coordinates(ins)} dimensions, and its tensor map has {value}",
        MapMisuse.OTHER_NUMBERS: "has a map of tf32 or of numbers that flush subnormals, and what the copy changes in them is not known to "
                                 "the simulator",
        MapMisuse.LOOSE_COLUMN: f"has a box that begins {signed(value)} bytes from the beginning of its rows, which is no multiple of 16: "
                                "a GPU ends the kernel with an illegal instruction. Let the first coordinate be a multiple of 16 bytes",
        MapMisuse.BEHIND_START: f"begins at the coordinate {signed(value)}: a load may begin outside of the tensor, a store may not, and a "
                                "GPU ends the kernel with an illegal instruction. Let each coordinate of a store be 0 or more",
        MapMisuse.NO_REDUCTION: f"reduces with .{next((p for p in ins.opcode if p in CHANGES), '')}, which there is not for the elements "
                                "of its map",
    }[why]
