"""Arithmetic, operands and constants for code that runs any set of lanes: a small function for each form of an instruction."""

from course_lib.simt.codegen.llvm import Code
from course_lib.simt.isa.operations import OPS, compute
from course_lib.simt.ptx.ir import Imm, Reg, Vec, type_bytes


class LaneArithmetic:
    """The part of the writer that computes, once for each form, and finds registers and constants."""

    def __init__(self, program):
        self.program = program
        self.code = Code(lanes=None)
        self.helpers, self.constants = {}, {}

    def compute(self, ins):
        targets, given = ins.destinations, ins.inputs
        immediate = tuple(o.value if isinstance(o, Imm) and t == "imm" else None
                          for o, t in zip(given, self.signature(ins)[1]))
        types = tuple(self.slot_type(r) for r in targets)
        kinds = tuple((self.slot_type(o), o.negated) if isinstance(o, Reg) else None for o in given)
        helper = self.helper(ins, types, kinds, immediate)
        pointers = [self.slot(r) for r in targets]
        for operand, wanted, literal in zip(given, self.signature(ins)[1], immediate):
            if literal is None:
                pointers.append(self.slot(operand) if isinstance(operand, Reg) else self.constant(wanted, operand))
        self.code.do(f"call void @{helper}(" + ", ".join(f"ptr {p}" for p in ["%p.mask", *pointers]) + ")")

    def signature(self, ins):
        return OPS[ins.opcode[0]][0](ins)

    def helper(self, ins, types, kinds, immediate):
        key = (ins.opcode, types, kinds, immediate, tuple(isinstance(o, Vec) for o in ins.operands))
        if key not in self.helpers:
            name = f"h{len(self.helpers)}"
            self.helpers[key] = (name, self.helper_text(name, ins, types, kinds, immediate))
        return self.helpers[key][0]

    def helper_text(self, name, ins, types, kinds, immediate):
        code = Code()
        results, wanted = self.signature(ins)
        values, arguments = [], ["ptr %mask"] + [f"ptr %d{i}" for i in range(len(types))]
        for i, (given, t, literal) in enumerate(zip(kinds, wanted, immediate)):
            if literal is not None:
                values.append(str(literal))
                continue
            arguments.append(f"ptr %s{i}")
            values.append(self.load(code, f"%s{i}", given, t))
        outputs = compute(code, ins, values)
        bits = code.op("load i32, ptr %mask")
        mask = code.op(f"bitcast i32 {bits} to <32 x i1>")
        for i, (t, slot, value) in enumerate(zip(results, types, outputs)):
            self.store(code, f"%d{i}", t, slot, value, mask, "sext" if ins.opcode[0] == "cvt" and ins.opcode[-2][0] == "s" else "zext")
        return "\n".join([f"define internal void @{name}({', '.join(arguments)}) noinline nounwind {{", *code.lines, "  ret void", "}"])

    @staticmethod
    def load(code, pointer, given, wanted):
        """Load a register's lanes as type `wanted`; `given` is (slot type, negated), None for a constant."""
        if wanted == "i1" or given and given[0] == "i1":
            value = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
            return code.binary("xor", "i1", value, code.const("i1", "true")) if given and given[1] else value
        slot = given[0] if given else wanted
        value = code.op(f"load <32 x {slot}>, ptr {pointer}, align 64")
        if slot == wanted:
            return value
        return code.cast("trunc" if int(slot[1:]) > int(wanted[1:]) else "zext", slot, value, wanted)

    @staticmethod
    def store(code, pointer, given, slot, value, mask, extend):
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

    def load_parameter(self, ins):
        """`ld.param`: the same value for every lane, straight from the parameter block."""
        width = 8 * type_bytes(ins.opcode[-1])
        data = ins.operands[0]
        items = data.items if isinstance(data, Vec) else (data,)
        for i, item in enumerate(items):
            slot = self.slot_type(item)
            extend = "sext" if ins.opcode[-1][0] == "s" else "zext"
            key = ("ld.param", width, slot, extend)
            if key not in self.helpers:
                self.helpers[key] = (f"h{len(self.helpers)}", self.parameter_text(f"h{len(self.helpers)}", width, slot, extend))
            offset = ins.operands[1].offset + i * width // 8
            place = self.code.op(f"getelementptr i8, ptr %params, i64 {offset}")
            self.code.do(f"call void @{self.helpers[key][0]}(ptr %p.mask, ptr {self.slot(item)}, ptr {place})")

    def parameter_text(self, name, width, slot, extend):
        code = Code()
        value = code.op(f"load i{width}, ptr %s")
        if f"i{width}" != slot:
            value = code.op(f"{extend} i{width} {value} to {slot}")
        first = code.op(f"insertelement <32 x {slot}> poison, {slot} {value}, i32 0")
        lanes = code.op(f"shufflevector <32 x {slot}> {first}, <32 x {slot}> poison, <32 x i32> zeroinitializer")
        mask = code.op(f"bitcast i32 {code.op('load i32, ptr %mask')} to <32 x i1>")
        self.store(code, "%d", slot, slot, lanes, mask, extend)
        return "\n".join([f"define internal void @{name}(ptr %mask, ptr %d, ptr %s) noinline nounwind {{", *code.lines, "  ret void", "}"])

    def slot_type(self, register):
        return self.program.slots[register.name][1]

    def slot(self, register):
        return self.code.op(f"getelementptr i8, ptr %regs, i64 {self.program.slots[register.name][0]}")

    def constant(self, t, operand):
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

    def record(self, letter, structure, number):
        """Return the name of a constant that holds a record for the runtime."""
        return self.raw(letter, number, bytes(structure))

    def raw(self, letter, key, raw):
        """Return the name of a constant with these bytes; the same key names the same constant."""
        if (letter, key) not in self.constants:
            name = f"@{letter}{key if isinstance(key, int) else len(self.constants)}"
            text = "".join(f"\\{b:02x}" for b in raw)
            self.constants[letter, key] = f'{name} = internal constant [{len(raw)} x i8] c"{text}", align 8'
        return self.constants[letter, key].split(" ")[0]

    def predicate(self, register):
        value = self.code.op(f"load i32, ptr {self.slot(register)}")
        return self.code.op(f"xor i32 {value}, -1") if register.negated else value
