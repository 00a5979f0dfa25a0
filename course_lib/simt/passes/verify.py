"""Refuse what is not PTX before anything is translated: operands, types and widths of every instruction."""

import re
from collections.abc import Collection
from typing import NoReturn

from course_lib.simt.errors import PtxSyntaxError
from course_lib.simt.isa import hints, images, warp
from course_lib.simt.isa.operations import OPS, ir_type
from course_lib.simt.isa.special import kind as special_kind
from course_lib.simt.ptx.ir import (
    ACCESSES,
    BARRIERS,
    Function,
    Imm,
    Instruction,
    Kind,
    Mem,
    Operand,
    Reg,
    Sym,
    Vec,
    at_line,
    opened,
    type_bytes,
)
from course_lib.simt.ptx.names import plain, written

TYPES = re.compile(r"pred|[busf](?:16|32|64)|[bus]8|bf16|b?f16x2|[us]16x2|b128|tf32|e4m3x2|e5m2x2")
PACKED = re.compile(TYPES.pattern + "|[us][24]")
UNTYPED = ("isspacep", *hints.NOTHING)


def verify(function: Function, special: Collection[str]) -> None:
    """Check the body of a kernel or function.

    Raises
    ------
    PtxSyntaxError
        Names the source line and the instruction.
    """
    labels = [item for item in function.body if not isinstance(item, Instruction)]
    if len(set(labels)) < len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        raise PtxSyntaxError(f"The label {twice!r} stands twice in {function.name}.", line=line_after(function, twice))
    verifier = _Verifier(function, special, set(labels))
    for item in function.body:
        if isinstance(item, Instruction):
            verifier.instruction(item)


def line_after(function: Function, label: str) -> int:
    """Return the source line of the instruction behind the last place of a label (or the one before)."""
    at = len(function.body) - 1 - function.body[::-1].index(label)
    near = [i.where for i in function.body[at:] + function.body[at::-1] if isinstance(i, Instruction)]
    return near[0] if near else 0


class _Verifier:
    def __init__(self, function: Function, special: Collection[str], labels: Collection[str]) -> None:
        self.function, self.special, self.labels = function, special, labels
        self.given = {p.name: p.nbytes for p in function.params if function.kernel}  # cannot be written
        variables = [*function.params, *function.returns, *(v for v in function.variables.values() if v.space == "param")]
        self.param_bytes = {p.name: p.nbytes for p in variables}

    def fail(self, ins: Instruction, why: str) -> NoReturn:
        raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: {why}.", line=ins.where, opcode=ins.name)

    def instruction(self, ins: Instruction) -> None:
        name = ins.opcode[0]
        types = TYPES if ins.opcode[:2] != ("cvt", "pack") else PACKED
        strange = next((part for part in ins.opcode[1:] if re.fullmatch(r"[busf]\d+", part) and not types.fullmatch(part)), None)
        if strange and name not in ("ld", "ldu", "st"):
            self.fail(ins, f"there is no type .{strange}")
        if ins.guard is not None and self.register(ins, ins.guard) != "i1":
            self.fail(ins, f"the guard {written(ins.guard.name)} is no predicate")
        if any(r.name == "_" for r in ins.sources):
            self.fail(ins, "_ takes a result and holds no value")
        if ins.kind in ACCESSES:
            self.memory(ins)
        elif name in OPS:
            self.arithmetic(ins)
        elif ins.kind in BARRIERS:
            self.barrier(ins)
        elif ins.kind in (Kind.EXCHANGE, Kind.ATOMIC):
            self.exchange(ins)
        elif ins.kind is Kind.IMAGE:
            self.image(ins)
        elif ins.kind is Kind.INDEXED_BRANCH:
            index, targets = ins.operands if len(ins.operands) == 2 else (None, None)
            if not isinstance(index, Reg) or self.register(ins, index) != "i32" or not isinstance(targets, Sym) \
                    or targets.name not in self.function.tables:
                self.fail(ins, "it takes an index register and the label of a .branchtargets list")
        elif ins.kind is Kind.CALL:
            target = next((o for o in ins.operands if not isinstance(o, Vec)), None)
            if ins.operands[:2].count(target) != 1 or isinstance(ins.operands[-1], Mem):
                self.fail(ins, "it takes results, a function and parameters")
            if not isinstance(target, (Sym, Reg)) or isinstance(target, Reg) and self.register(ins, target) != "i64":
                self.fail(ins, "it takes the name of a function or a 64-bit register")
        elif ins.kind is Kind.BRANCH:
            if len(ins.operands) != 1 or not isinstance(ins.operands[0], Sym):
                self.fail(ins, "it takes the label to go to")
            if ins.operands[0].name not in self.labels:
                self.fail(ins, f"{ins.operands[0].name!r} is no label of this function")

    def register(self, ins: Instruction, operand: Reg) -> str:
        """Return the LLVM type of a register operand."""
        if operand.name in self.special:
            return special_kind(operand.name)
        kind = self.function.register_type(operand.name)
        if kind is None:
            self.fail(ins, f"the register {written(operand.name)} was not declared")
        if not TYPES.fullmatch(kind):
            self.fail(ins, f"the register {written(operand.name)} has the type .{kind}, which does not exist")
        t = ir_type(kind)
        if operand.negated and t != "i1":
            self.fail(ins, f"only a predicate can be negated, not {written(operand.name)}")
        return t

    def arithmetic(self, ins: Instruction) -> None:
        kind = "b64" if ins.opcode[0] in UNTYPED else ins.opcode[-1]
        if not TYPES.fullmatch(kind) or ins.opcode[0] == "cvt" and not TYPES.fullmatch(ins.opcode[-2]):
            self.fail(ins, f"there is no type .{kind if not TYPES.fullmatch(kind) else ins.opcode[-2]}")
        results, wanted = OPS[ins.opcode[0]][0](ins)
        count = len(results) if ins.opcode[0] == "setp" else 1
        targets = list(ins.operands[:count])
        if len(targets) == 1 and isinstance(targets[0], Vec):
            targets = [*targets[0].items]
        given = ins.inputs if ins.opcode[0] != "cvta" else ins.operands[1:]
        if len(targets) != len(results) or len(given) != len(wanted):
            self.fail(ins, f"it takes {len(results)} result{'s' * (len(results) > 1)} and {len(wanted)} operands")
        if any(isinstance(item, Sym) for o in ins.operands if isinstance(o, Vec) for item in o.items):
            self.fail(ins, "in braces stand registers and literals, no names of variables")
        wider = ins.opcode[0] == "cvt"
        for operand, t in zip(targets, results):
            if not isinstance(operand, Reg):
                self.fail(ins, "a result must be a register")
            if operand.name != "_":
                self.fits(ins, operand, t, wider)
        for operand, t in zip(given, wanted):
            self.source(ins, operand, t, wider, kind)

    def barrier(self, ins: Instruction) -> None:
        given = list(ins.operands)
        if "red" in ins.opcode:
            result, predicate = given.pop(0), given.pop()
            wanted = "i1" if ins.opcode[-1] == "pred" else "i32"
            if not isinstance(result, Reg) or result.name != "_" and self.register(ins, result) != wanted:
                self.fail(ins, f"the result must be a register of {wanted[1:]} bits")
            if isinstance(predicate, Reg) and self.register(ins, predicate) != "i1":
                self.fail(ins, f"{written(predicate.name)} is no predicate")
        for operand in given:
            literal = isinstance(operand, Imm) and not operand.float_bytes
            if not literal and not (isinstance(operand, Reg) and self.register(ins, operand) == "i32"):
                self.fail(ins, "the barrier, the threads and the mask are 32-bit registers or literals")

    def exchange(self, ins: Instruction) -> None:
        """An atomic, or an instruction between lanes."""
        results, wanted = warp.signature(ins)
        operands = list(opened(ins.operands))
        if ins.kind is Kind.ATOMIC:
            count = warp.elements(ins)
            if any(len(tuple(opened((o,)))) != count for o in ins.operands if not isinstance(o, Mem)):
                self.fail(ins, f"{count} registers in braces are wanted" if count > 1 else "registers in braces")
            where = operands.pop(len(results))
            if not isinstance(where, Mem):
                self.fail(ins, "the address stands in brackets")
            self.address(ins, where, ins.opcode[-1], 1)
        if len(operands) != len(results) + len(wanted):
            self.fail(ins, f"it takes {len(results)} result{'s' * (len(results) > 1)} and {len(wanted)} operands")
        for operand, t in zip(operands, results):
            if not isinstance(operand, Reg) or operand.negated:
                self.fail(ins, "a result must be a register")
            if operand.name != "_":
                self.fits(ins, operand, t, False)
        for operand, t in zip(operands[len(results):], wanted):
            if not isinstance(operand, Reg | Imm) or isinstance(operand, Imm) and t == "i1":
                self.fail(ins, "an operand must be a register, or a literal where no predicate is wanted")
            if isinstance(operand, Imm) and (t == "i128" or "noftz" in ins.opcode):
                self.fail(ins, "an operand must be a register")
            self.source(ins, operand, t, False, ins.opcode[-1])

    def image(self, ins: Instruction) -> None:
        """A texture or a surface: a handle, coordinates, and data in registers of one width."""
        results, wanted = images.signature(ins)
        targets, given = tuple(opened(ins.operands[:ins.results])), ins.inputs
        if len(targets) != len(results) or len(given) != len(wanted):
            self.fail(ins, f"it takes {len(results) or len(wanted) - 1 - images.dimensions(ins)} registers of data")
        for i, (operand, t) in enumerate(zip((*targets, *given), (*results, *wanted))):
            if isinstance(operand, Reg):
                if operand.name != "_":
                    self.fits(ins, operand, t, False)
            elif not isinstance(operand, Imm) or i < len(results):
                self.fail(ins, "results must be registers, and operands registers or literals")

    def source(self, ins: Instruction, operand: Operand, t: str, wider: bool, kind: str) -> None:
        if isinstance(operand, Reg):
            self.fits(ins, operand, t, wider)
        elif isinstance(operand, Imm):
            if operand.float_bytes and kind[0] in "su":
                self.fail(ins, "a floating-point literal in an integer instruction")
            if kind in ("f32", "f64") and not operand.float_bytes and t != "imm" and ins.opcode[0] != "slct":
                self.fail(ins, f"the integer {operand.value} in a floating-point instruction; write {operand.value}.0")
            if t == "imm" and not 0 <= operand.value <= 255:
                self.fail(ins, f"the table {operand.value} is not between 0 and 255")
        elif t == "imm" or not isinstance(operand, Sym):
            self.fail(ins, "an operand must be a register, a literal or the name of a variable")

    def fits(self, ins: Instruction, operand: Reg, t: str, wider: bool) -> None:
        have = self.register(ins, operand)
        if operand.name in self.special and have == "i32" and t == "i16":  # the lower half, as PTX allows
            return
        if t == "imm" or (have == "i1") != (t == "i1") or (int(have[1:]) < int(t[1:]) if wider else have != t):
            self.fail(ins, f"the register {written(operand.name)} has {have[1:]} bits, {t[1:] if t != 'imm' else 'a literal'} is wanted")

    def memory(self, ins: Instruction) -> None:
        store = ins.kind is Kind.STORE
        kind = ins.opcode[-1]
        if len(ins.operands) != 2 or not TYPES.fullmatch(kind) or kind in ("pred", "b128"):
            self.fail(ins, "a load or store takes data and [address], of a type up to 64 bits")
        data, where = ins.operands[store], ins.operands[not store]
        if not isinstance(where, Mem):
            self.fail(ins, "the address stands in brackets")
        items = data.items if isinstance(data, Vec) else (data,)
        count = next((int(p[1:]) for p in ins.opcode if re.fullmatch(r"v\d+", p)), 1)
        if len(items) != count or count not in (1, 2, 4) or count * type_bytes(kind) > 16:
            self.fail(ins, f"{len(items)} data operands of {8 * type_bytes(kind)} bits")
        for item in items:
            if isinstance(item, Reg) and item.name != "_":
                have = self.register(ins, item)
                if have == "i1" or int(have[1:]) < 8 * type_bytes(kind):
                    self.fail(ins, f"the register {written(item.name)} is too narrow")
            elif not (store and isinstance(item, Imm)) and not isinstance(item, Reg):
                self.fail(ins, "data must be registers")
            if isinstance(item, Imm) and kind in ("f32", "f64") and not item.float_bytes:
                self.fail(ins, f"the integer {item.value} in a floating-point instruction; write {item.value}.0")
        self.address(ins, where, kind, count)

    def address(self, ins: Instruction, where: Mem, kind: str, count: int) -> None:
        if isinstance(where.base, Reg):
            have = self.register(ins, where.base)
            if have != "i64" and not (have == "i32" and {"shared", "shared__cluster", "local", "const"} & set(ins.opcode)):
                self.fail(ins, f"the address register {written(where.base.name)} has {have[1:]} bits")
        if any(p.startswith("param") for p in ins.opcode):
            if ins.kind is Kind.STORE and (not isinstance(where.base, Sym) or where.base.name in self.given):
                self.fail(ins, "the parameters of a kernel cannot be written")
            if isinstance(where.base, Sym):
                at = self.param_bytes.get(where.base.name)
                if at is None or not 0 <= where.offset <= at - count * type_bytes(kind):
                    self.fail(ins, f"that is outside the parameter {plain(where.base.name)}")
