"""Barriers of a block and of a warp, and memory fences: their operands as the record that the runtime reads."""

from collections.abc import Iterator
from typing import Any

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa.protocols import Numbered, Placed
from course_lib.simt.isa.warp import NONE
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Reg, at_line
from course_lib.simt.runtime import abi

SCOPE = "cta|cluster|gpu|sys"
FORMS = {
    "Hints, fences and other instructions without a value": (
        ("membar.(cta|gl|sys)", ""), (f"fence[.sc|.acq_rel|.acquire|.release].({SCOPE})", ""),
        ("fence.(proxy.alias|proxy.async|proxy.async.global|proxy.async.shared::cta)", ""),
        ("nanosleep.u32", "a"),
    ),
    "Barriers and exchange between lanes": (
        ("bar[.cta].sync", "a[, b]"), ("bar[.cta].arrive", "a, b"), ("bar[.cta].red.popc.u32", "d, a[, b], [!]c"),
        ("bar[.cta].red.(and|or).pred", "p, a[, b], [!]c"),
        ("barrier[.cta].sync[.aligned]", "a[, b]"), ("barrier[.cta].arrive[.aligned]", "a, b"),
        ("barrier[.cta].red.popc[.aligned].u32", "d, a[, b], [!]c"), ("barrier[.cta].red.(and|or)[.aligned].pred", "p, a[, b], [!]c"),
        ("bar.warp.sync", "a"),
    ),
}

REDUCTIONS = ("popc", "and", "or")
PARTS = {"bar", "barrier", "cta", "sync", "red", "arrive", "aligned", "popc", "and", "or", "u32", "pred"}


def knows(ins: Instruction) -> bool:
    """Say whether the simulator knows this form of bar, barrier, membar, fence or nanosleep."""
    if ins.kind is Kind.FENCE:
        return True  # lanes see memory in the order of their instructions; coverage.py knows the forms
    if ins.kind is Kind.SLEEP:
        return ins.opcode[1:] == ("u32",)
    if ins.opcode[:2] == ("barrier", "cluster"):
        return True  # isa/clusters.py has the forms
    if ins.opcode[:3] == ("bar", "warp", "sync"):
        return len(ins.opcode) == 3 and len(ins.operands) == 1
    if not set(ins.opcode) <= PARTS or sum(p in ins.opcode for p in ("sync", "red", "arrive")) != 1:
        return False
    if "red" in ins.opcode:
        popc = "popc" in ins.opcode and ins.opcode[-1] == "u32"
        return (popc or bool({"and", "or"} & set(ins.opcode)) and ins.opcode[-1] == "pred") and len(ins.operands) in (3, 4)
    return len(ins.operands) == 2 or len(ins.operands) == 1 and "sync" in ins.opcode


def constants(ins: Instruction) -> Iterator[tuple[Imm, str]]:
    """Yield the literal operands of barriers that need a slot: the mask of a warp's barrier."""
    if ins.kind is Kind.WARP_BARRIER:
        yield from ((o, "i32") for o in ins.operands if isinstance(o, Imm))


def barrier(program: Placed, ins: Instruction, number: int) -> Any:
    """Return the Bar record of a barrier of the block."""
    slots, operands = program.slots, list(ins.operands)
    record = abi.Bar(number=number, id_slot=NONE, count_slot=NONE, result=NONE, arrive="arrive" in ins.opcode)
    if "cluster" in ins.opcode:
        record.cluster, record.relaxed = 1 + ("aligned" in ins.opcode), "relaxed" in ins.opcode
        return record
    if "red" in ins.opcode:
        result, predicate = operands.pop(0), operands.pop()
        if not isinstance(predicate, Reg):
            raise UnsupportedInstruction(f"{at_line(ins)}the simulator does not know {ins.name} of a constant.", opcode=ins.name,
                                         line=ins.where)
        record.reduce = 1 + REDUCTIONS.index(next(p for p in ins.opcode if p in REDUCTIONS))
        record.result = slots[result.name][0] if result.name != "_" else NONE
        record.predicate, record.negated = slots[predicate.name][0], predicate.negated
    for operand, field in zip(operands, ("id", "count")):
        if isinstance(operand, Reg):
            setattr(record, f"{field}_slot", slots[operand.name][0])
        else:
            setattr(record, field, operand.value & 0xFFFFFFFF)
    record.plain = len(operands) == 1 and (ins.opcode[0] == "bar" or "aligned" in ins.opcode)
    record.counted = len(operands) == 2
    return record


def records(program: Numbered) -> dict[int, Any]:
    """Return instruction number -> Bar of all barriers of a program."""
    return {block.first + i: barrier(program, ins, block.first + i) for block in program.blocks
            for i, ins in enumerate(block.instructions) if ins.kind in (Kind.BARRIER, Kind.ARRIVAL)}
