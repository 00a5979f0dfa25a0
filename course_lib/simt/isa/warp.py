"""Atomics and instructions between lanes: their operands as the records that the runtime reads."""

from collections.abc import Iterator
from typing import Any

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa.protocols import Placed, Signature
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Reg, at_line, type_bytes
from course_lib.simt.runtime import abi

FORMS = {
    "Barriers and exchange between lanes": (
        ("shfl.sync.(up|down|bfly|idx).b32", "d[|p], a, b, c, e"), ("vote.sync.(all|any|uni).pred", "p, [!]a, b"),
        ("vote.sync.ballot.b32", "d, [!]a, b"), ("match.any.sync.(b32|b64)", "d, a, b"), ("match.all.sync.(b32|b64)", "d[|p], a, b"),
        ("activemask.b32", "d"), ("redux.sync.(add|min|max).(u32|s32)", "d, a, b"), ("redux.sync.(and|or|xor).b32", "d, a, b"),
    ),
}

CHANGES = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
NONE = 0xFFFFFFFF
SHUFFLES = ("up", "down", "bfly", "idx")
VOTES = ("all", "any", "uni", "ballot")
KINDS = ("shfl", "vote", "match", "redux", "activemask")


def refuse(ins: Instruction) -> UnsupportedInstruction:
    return UnsupportedInstruction(f"{at_line(ins)}the simulator does not know the form {ins.name}.", opcode=ins.name, line=ins.where)


def constants(ins: Instruction) -> Iterator[tuple[Imm, str]]:
    """Yield (Imm, LLVM type) for each literal operand that needs a slot of its own."""
    if ins.kind is Kind.ATOMIC:
        t = f"i{8 * type_bytes(ins.opcode[-1])}"
        yield from ((o, t) for o in ins.operands if isinstance(o, Imm))
    elif ins.kind is Kind.EXCHANGE:
        results, sources = signature(ins)
        yield from ((o, t) for o, t in zip(ins.operands, results + sources) if isinstance(o, Imm))


def signature(ins: Instruction) -> Signature:
    """Return (LLVM types of the results, of the sources but for an address) of an atomic or an instruction between lanes."""
    name, kind = ins.opcode[0], ins.opcode[-1]
    if ins.kind is Kind.ATOMIC:
        t = f"i{8 * type_bytes(kind)}"
        return (t,) * (name == "atom"), (t,) * (2 if "cas" in ins.opcode else 1)
    if name == "shfl":
        return ("i32", "i1")[:max(len(ins.operands) - 4, 1)], ("i32",) * 4
    if name == "match":
        return ("i32", "i1")[:max(len(ins.operands) - 2, 1)], ("i64" if kind == "b64" else "i32", "i32")
    if name == "vote":
        return ("i32" if "ballot" in ins.opcode else "i1",), ("i1", "i32")
    return ("i32",), ("i32",) * 2 if name == "redux" else ()


def slot(program: Placed, operand: Reg | Imm, t: str) -> int:
    """Return the byte offset of an operand in the register file."""
    return program.slots[operand.name if isinstance(operand, Reg) else f"#{t}:{operand.value}"][0]


def atomic(program: Placed, ins: Instruction, access: Any) -> Any:
    """Complete the Access of an atom or red instruction."""
    kind, change = ins.opcode[-1], next((p for p in ins.opcode if p in CHANGES), None)
    number = {"u": 0, "b": 0, "s": 1, "f": 2}.get(kind[0])
    if change is None or number is None or type_bytes(kind) < 4 or kind.endswith("x2") or number == 2 and change not in ("add", "exch"):
        raise refuse(ins)
    t, operands = f"i{8 * type_bytes(kind)}", list(ins.operands)
    result = operands.pop(0) if ins.opcode[0] == "atom" else None
    access.kind, access.tag, access.sign, access.item_bytes = 2, CHANGES.index(change), number, type_bytes(kind)
    access.item[0] = program.slots[result.name][0] if isinstance(result, Reg) and result.name != "_" else NONE
    access.item[1] = slot(program, operands[1], t)
    access.item[2] = slot(program, operands[2], t) if len(operands) > 2 else NONE
    return access


def cross(program: Placed, ins: Instruction, number: int) -> Any:
    """Return the Cross record of a shuffle, vote, match, reduction or activemask."""
    name, record = ins.opcode[0], abi.Cross(number=number, predicate=NONE, bytes=4)
    record.kind, record.mask = KINDS.index(name), NONE
    if "sync" in ins.opcode:  # the last operand names the lanes that take part
        record.mask = slot(program, ins.operands[-1], "i32")
    targets = ins.destinations
    record.result = program.slots[targets[0].name][0] if targets else NONE
    given = ins.operands[ins.results:]
    if name == "shfl":
        record.flavour = SHUFFLES.index(next(p for p in ins.opcode if p in SHUFFLES))
        record.a, record.b, record.c = (slot(program, o, "i32") for o in given[:3])
    elif name == "vote":
        record.flavour = VOTES.index(next(p for p in ins.opcode if p in VOTES))
        if not isinstance(given[0], Reg):
            raise refuse(ins)
        record.a, record.b = program.slots[given[0].name][0], given[0].negated
    elif name == "match":
        record.flavour, record.bytes = int("all" in ins.opcode), type_bytes(ins.opcode[-1]) if ins.opcode[-1][0] == "b" else 4
        record.a = slot(program, given[0], f"i{8 * record.bytes}")
    elif name == "redux":
        change = next((p for p in ins.opcode if p in CHANGES[:6]), None)
        if change is None or ins.opcode[-1] not in ("s32", "u32", "b32"):
            raise refuse(ins)
        record.flavour = 2 * CHANGES.index(change) + (ins.opcode[-1] == "s32")
        record.a = slot(program, given[0], "i32")
    if name in ("shfl", "match") and ins.results == 2:
        record.predicate = program.slots[ins.operands[1].name][0]
    return record
