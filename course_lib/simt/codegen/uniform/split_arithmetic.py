"""Integer arithmetic on values `u + V` that computes with the scalar and leaves the lane part alone wherever it can."""

from course_lib.simt.codegen.uniform.affine import constant
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.exits import Exits
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.codegen.uniform.roots import Roots, SplitValue
from course_lib.simt.passes.cfg import widens
from course_lib.simt.ptx.ir import Imm, Instruction


class SplitArithmetic:
    """Emits mov, add, sub, mul, mad, shl and cvt on SplitValues."""

    def __init__(self, context: Context, registers: Registers, roots: Roots, exits: Exits) -> None:
        self.code, self.registers, self.roots, self.exits = context.code, registers, roots, exits

    def compute(self, ins: Instruction) -> SplitValue:
        """Return the result of one of these instructions."""
        name, given = ins.opcode[0], ins.inputs
        bits = int(ins.opcode[-1][1:])
        if name == "mov":
            return self.registers.split_value(given[0], bits)
        if name == "cvt":
            return self._convert(ins, self.registers.split_value(given[0], bits))
        if name in ("add", "sub"):
            return self._sum(name, self.registers.split_value(given[0], bits), self.registers.split_value(given[1], bits))
        if name == "shl":
            return self._shift(given, bits)
        product = self._multiply(ins, self.registers.split_value(given[0], bits), self.registers.split_value(given[1], bits), given)
        if name == "mul":
            return product
        return self._sum("add", product, self.registers.split_value(given[2], product.bits))

    def _scalar(self, how, bits, a, b):
        return a if b == "0" and how in ("add", "sub") else self.code.op(f"{how} i{bits} {a}, {b}")

    def _sum(self, how, a, b):
        u = self._scalar(how, a.bits, a.u, b.u)
        if b.lanes is None:
            return SplitValue(u, a.lanes, a.bits)
        if a.lanes is None and how == "add":
            return SplitValue(u, b.lanes, a.bits)
        if a.constant is not None and b.constant is not None:
            sign = 1 if how == "add" else -1
            return SplitValue(u, constant([x + sign * y for x, y in zip(a.constant, b.constant)], a.bits), a.bits)
        left, right = self.roots.vector(a.lanes, a.bits), self.roots.vector(b.lanes, b.bits)
        return SplitValue(u, self.code.op(f"{how} <32 x i{a.bits}> {left}, {right}"), a.bits)

    def _shift(self, given, bits):
        value, amount = self.registers.split_value(given[0], bits), given[1]
        if isinstance(amount, Imm) and amount.value in range(bits):
            return self._scale(value, str(1 << amount.value), 1 << amount.value)
        count = self.registers.scalar_value(amount, "i32")
        wide = self.code.fit(count, "i32", f"i{bits}")
        over = self.code.op(f"icmp ugt i32 {count}, {bits - 1}")
        factor = self.code.op(f"shl i{bits} 1, {wide}")
        return self._scale(value, self.code.op(f"select i1 {over}, i{bits} 0, i{bits} {factor}"), None)

    def _multiply(self, ins, a, b, given):
        literal = next((o.value for o in given[:2] if isinstance(o, Imm)), None)
        if widens(ins):
            sign = ins.opcode[-1][0] == "s"
            a, b = self._widen(a, sign), self._widen(b, sign)
        if b.lanes is None:
            return self._scale(a, b.u, literal)
        if a.lanes is None:
            return self._scale(b, a.u, literal)
        return SplitValue("0", self.code.op(f"mul <32 x i{a.bits}> {self.roots.full(a)}, {self.roots.full(b)}"), a.bits)

    def _scale(self, value, factor, literal):
        """Multiply by a uniform factor, whose value is `literal` when it is a constant."""
        t, lanes = f"i{value.bits}", value.lanes
        u = "0" if value.u == "0" else self.code.op(f"mul {t} {value.u}, {factor}")
        if lanes is not None and value.constant is not None and literal is not None:
            return SplitValue(u, constant([v * literal for v in value.constant], value.bits), value.bits)
        if lanes is not None:
            lanes = self.code.op(f"mul <32 x {t}> {self.roots.vector(lanes, value.bits)}, {self.code.splat(factor, t)}")
        return SplitValue(u, lanes, value.bits)

    def _widen(self, value, signed):
        """32 bits to 64. Right only while u + V stays in range in every lane; otherwise uniform code is left."""
        code, how = self.code, "sext" if signed else "zext"
        if isinstance(value.lanes, str):
            return SplitValue("0", code.op(f"{how} <32 x i32> {self.roots.full(value)} to <32 x i64>"), 64)
        wide = code.op(f"{how} i32 {value.u} to i64")
        if value.lanes is None:
            return SplitValue(wide, None, 64)
        low, high = self.roots.bounds(value)
        bottom, top = (-(1 << 31), 1 << 31) if signed else (0, 1 << 32)
        above = code.op(f"icmp sge i64 {code.op(f'add i64 {wide}, {low}')}, {bottom}")
        below = code.op(f"icmp slt i64 {code.op(f'add i64 {wide}, {high}')}, {top}")
        self.exits.leave_unless(code.op(f"and i1 {above}, {below}"))
        if value.constant is not None:
            return SplitValue(wide, value.lanes, 64)
        return SplitValue(wide, code.op(f"sext <32 x i32> {self.roots.vector(value.lanes, 32)} to <32 x i64>"), 64)

    def _convert(self, ins, value):
        """cvt between integers: widen, or drop the upper half."""
        if widens(ins):
            return self._widen(value, ins.opcode[-1][0] == "s")
        if ins.opcode[-2][-2:] == ins.opcode[-1][-2:]:
            return value
        return self.roots.narrowed(value, 32)
