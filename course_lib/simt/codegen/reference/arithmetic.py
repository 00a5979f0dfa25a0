"""Storage and arithmetic of reference code: registers and constants by name, a small function for each form of an instruction."""

from collections.abc import Sequence
from typing import Any

from course_lib.simt.codegen.llvm import Code, bytes_constant
from course_lib.simt.isa.operations import OPS, compute
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Imm, Instruction, Reg, Vec, type_bytes

Slot = tuple[str, bool] | None     # a source: (type in the register file, negated), None for a constant


class Storage:
    """Where code finds the registers and constants of a Program; `constants` are definitions that stand before the function."""

    def __init__(self, program: Program, code: Code) -> None:
        self.program, self.code = program, code
        self.constants: dict[tuple[str, object], str] = {}

    def slot_type(self, register: Reg) -> str:
        """Return the LLVM type of a register's lanes."""
        return self.program.slots[register.name][1]

    def slot(self, register: Reg) -> str:
        """Return a pointer to a register's lanes."""
        return self.code.op(f"getelementptr i8, ptr %regs, i64 {self.program.slots[register.name][0]}")

    def constant(self, t: str, operand: Imm) -> str:
        """Return the name of a constant that holds a literal in every lane."""
        value = operand.value
        key = (t, value)
        if key not in self.constants:
            name = f"@c{len(self.constants)}"
            if t == "i1":
                text = f"{name} = internal constant i32 {-1 if value else 0}"
            else:
                bits = value & ((1 << int(t[1:])) - 1)
                text = f"{name} = internal constant <32 x {t}> splat ({t} {bits}), align 64"
            self.constants[key] = text
        return self.constants[key].split(" ")[0]

    def record(self, letter: str, structure: Any, number: int) -> str:
        """Return the name of a constant that holds a record for the runtime."""
        return self.raw(letter, number, bytes(structure))

    def raw(self, letter: str, key: object, raw: bytes) -> str:
        """Return the name of a constant with these bytes; the same key names the same constant."""
        if (letter, key) not in self.constants:
            name = f"@{letter}{key if isinstance(key, int) else len(self.constants)}"
            self.constants[letter, key] = bytes_constant(name, raw)
        return self.constants[letter, key].split(" ")[0]

    def predicate(self, register: Reg) -> str:
        """Return the lanes in which a predicate holds, bit by bit."""
        value = self.code.op(f"load i32, ptr {self.slot(register)}")
        return self.code.op(f"xor i32 {value}, -1") if register.negated else value


class Arithmetic:
    """Emits calls of functions that compute, one for each form; `helpers`: form -> (name, text)."""

    def __init__(self, storage: Storage) -> None:
        self.storage, self.code = storage, storage.code
        self.helpers: dict[tuple, tuple[str, str]] = {}

    def compute(self, ins: Instruction) -> None:
        """Call the function for an arithmetic instruction's form."""
        targets, given = ins.destinations, ins.inputs
        immediate = tuple(o.value if isinstance(o, Imm) and t == "imm" else None
                          for o, t in zip(given, signature(ins)[1]))
        types = tuple(self.storage.slot_type(r) for r in targets)
        kinds = tuple((self.storage.slot_type(o), o.negated) if isinstance(o, Reg) else None for o in given)
        helper = self._helper(ins, types, kinds, immediate)
        pointers = [self.storage.slot(r) for r in targets]
        for operand, wanted, literal in zip(given, signature(ins)[1], immediate):
            if literal is None:
                pointers.append(self.storage.slot(operand) if isinstance(operand, Reg) else self.storage.constant(wanted, operand))
        self.code.do(f"call void @{helper}(" + ", ".join(f"ptr {p}" for p in ["%p.mask", *pointers]) + ")")

    def _helper(self, ins: Instruction, types: tuple[str, ...], kinds: tuple[Slot, ...], immediate: tuple[int | None, ...]) -> str:
        key = (ins.opcode, types, kinds, immediate, tuple(isinstance(o, Vec) for o in ins.operands))
        if key not in self.helpers:
            name = f"h{len(self.helpers)}"
            self.helpers[key] = (name, helper_text(name, ins, types, kinds, immediate))
        return self.helpers[key][0]

    def load_parameter(self, ins: Instruction) -> None:
        """`ld.param`: the same value for every lane, straight from the parameter block."""
        width = 8 * type_bytes(ins.opcode[-1])
        data = ins.operands[0]
        items = data.items if isinstance(data, Vec) else (data,)
        for i, item in enumerate(items):
            slot = self.storage.slot_type(item)
            extend = "sext" if ins.opcode[-1][0] == "s" else "zext"
            key = ("ld.param", width, slot, extend)
            if key not in self.helpers:
                self.helpers[key] = (f"h{len(self.helpers)}", parameter_text(f"h{len(self.helpers)}", width, slot, extend))
            offset = ins.operands[1].offset + i * width // 8
            place = self.code.op(f"getelementptr i8, ptr %params, i64 {offset}")
            self.code.do(f"call void @{self.helpers[key][0]}(ptr %p.mask, ptr {self.storage.slot(item)}, ptr {place})")


def signature(ins: Instruction) -> tuple[Sequence[str], Sequence[str]]:
    """Return the LLVM types of an instruction's results and of its sources."""
    return OPS[ins.opcode[0]][0](ins)


def helper_text(name: str, ins: Instruction, types: Sequence[str], kinds: Sequence[Slot], immediate: Sequence[int | None]) -> str:
    """Return the function that computes one form of an instruction for the lanes of a mask."""
    code = Code()
    results, wanted = signature(ins)
    values, arguments = [], ["ptr %mask"] + [f"ptr %d{i}" for i in range(len(types))]
    for i, (given, t, literal) in enumerate(zip(kinds, wanted, immediate)):
        if literal is not None:
            values.append(str(literal))
            continue
        arguments.append(f"ptr %s{i}")
        values.append(_load(code, f"%s{i}", given, t))
    outputs = compute(code, ins, values)
    bits = code.op("load i32, ptr %mask")
    mask = code.op(f"bitcast i32 {bits} to <32 x i1>")
    for i, (t, slot, value) in enumerate(zip(results, types, outputs)):
        _store(code, f"%d{i}", t, slot, value, mask, "sext" if ins.opcode[0] == "cvt" and ins.opcode[-2][0] == "s" else "zext")
    return "\n".join([f"define internal void @{name}({', '.join(arguments)}) noinline nounwind {{", *code.lines, "  ret void", "}"])


def _load(code, pointer, given, wanted):
    """Load a register's lanes as type `wanted`; `given` is (slot type, negated), None for a constant."""
    if wanted == "i1" or given and given[0] == "i1":
        value = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
        return code.binary("xor", "i1", value, code.const("i1", "true")) if given and given[1] else value
    slot = given[0] if given else wanted
    value = code.op(f"load <32 x {slot}>, ptr {pointer}, align 64")
    if slot == wanted:
        return value
    return code.cast("trunc" if int(slot[1:]) > int(wanted[1:]) else "zext", slot, value, wanted)


def _store(code, pointer, given, slot, value, mask, extend):
    """Write `value` to the lanes of `mask`; the others keep what they have."""
    if slot == "i1":
        bits = code.op(f"bitcast <32 x i1> {value} to i32")
        old, now = code.op(f"load i32, ptr {pointer}"), code.op(f"bitcast <32 x i1> {mask} to i32")
        keep = code.op(f"and i32 {old}, {code.op(f'xor i32 {now}, -1')}")
        put = code.op(f"and i32 {bits}, {now}")
        code.do(f"store i32 {code.op(f'or i32 {keep}, {put}')}, ptr {pointer}")
        return
    if given != slot:
        value = code.cast("trunc" if int(given[1:]) > int(slot[1:]) else extend, given, value, slot)
    old = code.op(f"load <32 x {slot}>, ptr {pointer}, align 64")
    merged = code.op(f"select <32 x i1> {mask}, <32 x {slot}> {value}, <32 x {slot}> {old}")
    code.do(f"store <32 x {slot}> {merged}, ptr {pointer}, align 64")


def parameter_text(name: str, width: int, slot: str, extend: str) -> str:
    """Return the function that copies a parameter of `width` bits into the lanes of a mask."""
    code = Code()
    value = code.op(f"load i{width}, ptr %s")
    if f"i{width}" != slot:
        value = code.op(f"{extend} i{width} {value} to {slot}")
    lanes = code.splat(value, slot)
    mask = code.op(f"bitcast i32 {code.op('load i32, ptr %mask')} to <32 x i1>")
    _store(code, "%d", slot, slot, lanes, mask, extend)
    return "\n".join([f"define internal void @{name}(ptr %mask, ptr %d, ptr %s) noinline nounwind {{", *code.lines, "  ret void", "}"])

