"""`cp.async`: copies from global to shared memory that arrive when a wait says so, as the records that `runtime/async.cuh` reads."""

from typing import Any

from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import STORE, Tensor, address, malformed
from course_lib.simt.isa.warp import NONE, refuse
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Operand, Reg
from course_lib.simt.runtime import abi

FORMS = {
    "Asynchronous copies": (
        ("cp.async.(ca|cg).(shared|shared::cta).global[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]", "[a], [b], 16[, c]"),
        ("cp.async.(commit_group|wait_all)", ""), ("cp.async.wait_group", "imm"),
    ),
}

HINTS = ("L2__64B", "L2__128B", "L2__256B")
COMMIT, WAIT_GROUP, WAIT_ALL = range(3)


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is a copy; `memory.py` asks first about those that tell mbarriers and bulk copies."""
    return ins.kind is Kind.COPY


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record, access) of a cp.async instruction.

    Raises
    ------
    UnsupportedInstruction, PtxSyntaxError
    """
    words = ins.opcode
    if words[2] == "commit_group" and len(words) == 3 and not ins.operands:
        return Tensor("copy_group", abi.CopyGroup(number=number, kind=COMMIT))
    if words[2] == "wait_all" and len(words) == 3 and not ins.operands:
        return Tensor("copy_group", abi.CopyGroup(number=number, kind=WAIT_ALL))
    if words[2] == "wait_group" and len(words) == 3:
        if len(ins.operands) != 1 or not isinstance(ins.operands[0], Imm) or not 0 <= ins.operands[0].value < 1 << 31:
            raise malformed(ins, "the number of groups is a literal")
        return Tensor("copy_group", abi.CopyGroup(number=number, kind=WAIT_GROUP, left=ins.operands[0].value))
    return copy(program, ins, number)


def copy(program: Placed, ins: Instruction, number: int) -> Tensor:
    words, operands = list(ins.opcode), list(ins.operands)
    hints = words[5:]
    if words[2] not in ("ca", "cg") or words[3:4] not in (["shared"], ["shared__cta"]) or words[4:5] != ["global"]:
        raise refuse(ins)
    if any(h not in (*HINTS, "L2__cache_hint") for h in hints):
        raise refuse(ins)
    if "L2__cache_hint" in hints:
        operands = operands[:-1]  # the policy says nothing about results
    sizes = (4, 8, 16) if words[2] == "ca" else (16,)
    if len(operands) not in (3, 4) or not isinstance(operands[2], Imm) or operands[2].value not in sizes:
        raise malformed(ins, "it takes [shared], [global], the size 4, 8 or 16 (cg: 16), and what may be left out")
    size = operands[2].value
    record = abi.Copy(number=number, bytes=size, from_size=size, size_slot=NONE, ignore_slot=NONE)
    target = abi.Access(kind=STORE, space=abi.SPACES["shared"], width=size, count=1, line=ins.line, number=number)
    source = abi.Access(space=abi.SPACES["global"], width=size, count=1, line=ins.line, number=number)
    address(program, ins, operands[0], target)
    address(program, ins, operands[1], source)
    record.target, record.source = target, source
    if len(operands) == 4:
        smaller(program, ins, operands[3], record)
    # What a report, a trace or an error says about it: its addresses are of both spaces.
    access = abi.Access(kind=STORE, space=abi.SPACES["generic"], width=size, count=1, line=ins.line, number=number)
    return Tensor("copy_async", record, access)


def smaller(program: Placed, ins: Instruction, operand: Operand, record: Any) -> None:
    """The fourth operand: how many bytes to read (the others become 0), or a predicate that says to read none."""
    if isinstance(operand, Imm) and not operand.float_bytes and 0 <= operand.value <= record.bytes:
        record.from_size = operand.value
    elif isinstance(operand, Reg) and operand.name in program.slots:
        at, t = program.slots[operand.name]
        if t == "i1":
            record.ignore_slot, record.ignore_negated = at, operand.negated
        elif t == "i32" and not operand.negated:
            record.size_slot = at
        else:
            raise malformed(ins, f"{operand.name} is neither a size of 32 bits nor a predicate")
    else:
        raise malformed(ins, "the bytes to read are a register or a literal between 0 and the size")
