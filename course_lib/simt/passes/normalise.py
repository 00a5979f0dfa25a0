"""Instructions in one normal form, so that everything behind the parser sees fewer of them.

- Types come last: `max.s32.relu` becomes `max.relu.s32`.
- Hidden operands are written out: the carry flag.
- Two results stand in braces, except those of setp, shfl, match.
- Braces around a single value of a load, a store or a move go, and brackets around a texture or a tensor map and coordinates.
- Hints that change no value go: cache operators' policies, `::cta` of shared memory. Of the block's own variables `::cluster` goes, too.
"""

import dataclasses

from course_lib.simt.isa import carry, clusters, hints, images, tensor_copies, warp
from course_lib.simt.isa.fields import VIDEO
from course_lib.simt.isa.operand_shapes import without_lone_braces
from course_lib.simt.ptx.ir import Function, Instruction, Kind, Reg, Vec

TYPES = ("s32", "u32")
SPACES = {"shared__cta": "shared", "param__entry": "param", "param__func": "param"}


def normalise(function: Function) -> Function:
    """Return a function whose instructions have the normal form."""
    body = [_normal(item, function) if isinstance(item, Instruction) else item for item in function.body]
    return dataclasses.replace(function, body=body)


def _normal(ins: Instruction, function: Function) -> Instruction:
    name, opcode, operands = ins.opcode[0], ins.opcode, without_lone_braces(ins)
    if name in ("min", "max") and opcode[-1] == "relu":
        opcode = (*opcode[:1], "relu", *opcode[1:-1])
    elif name in VIDEO:
        opcode = (name, *(p for p in opcode[1:] if p not in TYPES), *(p for p in opcode[1:] if p in TYPES))
    elif carry.uses_flag(ins):
        return _with_carry(ins, function)
    elif name == "lop3" and opcode[1] in ("or", "and"):
        opcode = (f"lop3.{opcode[1]}", *opcode[2:])
        operands = (Vec(operands[:2]), *operands[2:])
    elif name == "prmt" and len(opcode) > 2:
        opcode = (f"prmt.{opcode[2]}", opcode[1])
    elif name in hints.NOTHING or name == "createpolicy":
        operands = operands[:1] if name == "createpolicy" else ()
    elif images.knows(ins):
        operands = images.flat(dataclasses.replace(ins, operands=operands)).operands
    elif tensor_copies.knows(ins):
        operands = tensor_copies.flat(operands)
    elif name in ("ld", "ldu", "st", "atom", "red") and ins.kind is not Kind.COPY:
        if "L2__cache_hint" in opcode and len(operands) > 2:
            operands = operands[:-1]
        opcode = tuple(SPACES.get(part, part) for part in clusters.own(ins))
        if ins.kind is Kind.ATOMIC and warp.elements(ins) > 1 and operands[0] == Reg("_"):
            operands = (Vec((Reg("_"),) * warp.elements(ins)), *operands[1:])
    return ins if (opcode, operands) == (ins.opcode, ins.operands) else dataclasses.replace(ins, opcode=opcode, operands=operands)


def _with_carry(ins: Instruction, function: Function) -> Instruction:
    """Write the carry flag out as an operand; the opcode's name takes `.cc` and `.lo` in: `mad.lo.cc`."""
    parts = [p for p in ins.opcode[1:-1] if p in ("lo", "hi")] + [p for p in ins.opcode[1:-1] if p == "cc"]
    name = ".".join([ins.opcode[0], *parts])
    function.registers[carry.CARRY] = "pred"
    flag, operands = Reg(carry.CARRY), ins.operands
    if "cc" in parts:
        operands = (Vec((*operands[:1], flag)), *operands[1:])
    if ins.opcode[0].endswith("c"):
        operands = (*operands, flag)
    return dataclasses.replace(ins, opcode=(name, ins.opcode[-1]), operands=operands)
