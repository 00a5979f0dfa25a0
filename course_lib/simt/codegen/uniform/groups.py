"""Groups of memory accesses: those of a chain that share a base register and differ only in their constant offsets."""

from dataclasses import dataclass, field

from course_lib.simt.codegen.uniform.roots import SplitValue
from course_lib.simt.ptx.ir import Instruction, Reg, type_bytes


def offset(ins: Instruction) -> int:
    """Return the constant part of an access's address."""
    return ins.address.offset


def nbytes(ins: Instruction) -> int:
    """Return the bytes per lane of a load or store."""
    return type_bytes(ins.opcode[-1]) * len(ins.data)


@dataclass
class Group:
    """Accesses that share a base register; `members` are (number, instruction).

    Once it has been opened, `value` is the base's, with a root for its lanes; `address` its scalar part as an i64, and `pointer` where
    that lies in the host's memory.
    """

    base: Reg | None
    space: str
    members: list[tuple[int, Instruction]] = field(default_factory=list)
    opened: bool = False
    value: SplitValue = field(init=False)
    address: str = field(init=False)
    pointer: str = field(init=False)

    def offsets(self) -> list[int]:
        """Return the members' offsets."""
        return [offset(i) for _, i in self.members]

    def extent(self) -> int:
        """Return the bytes from the beginning of the first access to the end of the last one, in one lane."""
        return max(offset(i) + nbytes(i) for _, i in self.members) - min(self.offsets())
