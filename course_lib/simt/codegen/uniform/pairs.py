"""Values `u + V`: a scalar and 32 lane differences, and the integer arithmetic that keeps them apart."""

import ctypes
from dataclasses import dataclass

from course_lib.simt.codegen.uniform.affine import UNIFORM, VECTOR, constant
from course_lib.simt.passes.cfg import widens
from course_lib.simt.ptx.ir import Imm
from course_lib.simt.runtime import abi

PATTERN_BYTES = ctypes.sizeof(abi.Pattern)


@dataclass(frozen=True)
class Pair:
    """`u` is a scalar; `lanes` is None (all zero), a root (a tuple, see affine.py) or the name of a vector value."""

    u: str
    lanes: object
    bits: int


class Pairs:
    """Emits pair arithmetic for a Fast translator."""

    def __init__(self, fast):
        self.fast, self.code = fast, fast.scalar
        self.known = {}  # root -> vector value, inside the current chain

    def forget(self):
        """Begin a new chain: no vector value is at hand."""
        self.known = {}

    # -- roots -------------------------------------------------------------------------------------
    def lanes_place(self, root, bits):
        """Return the offset of a root's lane part in the fast memory of a warp."""
        return self.fast.place(("lanes", root, bits), 4 * bits, 64)

    def pattern_place(self, root, bits):
        """Return the offset of a root's Pattern; constant roots have none."""
        return 0 if root[0] == "const" else self.fast.place(("pattern", root, bits), PATTERN_BYTES)

    def pointer(self, offset):
        return self.code.op(f"getelementptr i8, ptr %fast, i64 {offset}")

    def field(self, root, bits, name, t="i64", index=0):
        """Load a field of a root's Pattern."""
        size = {"i64": 8, "i32": 4, "i8": 1}[t]
        offset = self.pattern_place(root, bits) + abi.at(name, abi.Pattern) + index * size
        return self.code.op(f"load {t}, ptr {self.pointer(offset)}")

    def vector(self, lanes, bits):
        """Return a lane part as a vector value."""
        t = f"i{bits}"
        if lanes is None:
            return "zeroinitializer"
        if isinstance(lanes, str):
            return lanes
        if lanes[0] == "const":
            return "<" + ", ".join(f"{t} {v}" for v in lanes[1]) + ">"
        if lanes not in self.known:
            place = self.pointer(self.lanes_place(lanes, bits))
            self.known[lanes] = self.code.op(f"load <32 x {t}>, ptr {place}, align 64")
        return self.known[lanes]

    def full(self, pair):
        """Return u + V as a plain vector."""
        base = self.fast.spread(pair.u, f"i{pair.bits}")
        if pair.lanes is None:
            return base
        return self.code.op(f"add <32 x i{pair.bits}> {base}, {self.vector(pair.lanes, pair.bits)}")

    def first(self, pair):
        """Return the value in lane 0."""
        if pair.lanes is None or pair.lanes[0] == "const" and pair.lanes[1][0] == 0:
            return pair.u
        lane = self.code.op(f"extractelement <32 x i{pair.bits}> {self.vector(pair.lanes, pair.bits)}, i32 0")
        return self.code.op(f"add i{pair.bits} {pair.u}, {lane}")

    def update_root(self, root, pair):
        """Store a lane part under its root; describe it anew only when it changed."""
        if root[0] == "const":
            return
        code, t, bits = self.code, f"<32 x i{pair.bits}>", pair.bits
        lanes = self.vector(pair.lanes, bits)
        place = self.pointer(self.lanes_place(root, bits))
        old = code.op(f"load {t}, ptr {place}, align 64")
        differ = code.op(f"bitcast <32 x i1> {code.op(f'icmp ne {t} {old}, {lanes}')} to i32")
        changed, same = code.fresh("changed"), code.fresh("same")
        code.do(f"br i1 {code.op(f'icmp eq i32 {differ}, 0')}, label %{same}, label %{changed}")
        code.label(changed)
        code.do(f"store {t} {lanes}, ptr {place}, align 64")
        pattern = self.pointer(self.pattern_place(root, bits))
        self.fast.call("analyze", "void", f"ptr {pattern}", f"ptr {place}", f"i32 {bits // 8}")
        code.do(f"br label %{same}")
        code.label(same)
        self.known[root] = lanes

    def limits(self, lanes, bits):
        """Return (least, greatest) lane difference as i64 values."""
        if lanes is None:
            return "0", "0"
        if lanes[0] == "const":
            return str(min(lanes[1])), str(max(lanes[1]))
        return self.field(lanes, bits, "lo"), self.field(lanes, bits, "hi")

    # -- arithmetic --------------------------------------------------------------------------------
    def pair(self, operand, bits):
        """Return any integer operand as a Pair of `bits` bits."""
        kind, t = self.fast.kinds.kind(operand), f"i{bits}"
        if kind == UNIFORM:
            return Pair(self.fast.scalar_value(operand, t), None, bits)
        if kind == VECTOR:
            return Pair("0", self.fast.vector_value(operand, t), bits)
        return self.fast.read(operand.name)

    def compute(self, ins):
        """Return the result of mov, add, sub, mul, mad, shl or cvt as a Pair."""
        name, given = ins.opcode[0], ins.inputs
        bits = int(ins.opcode[-1][1:])
        if name == "mov":
            return self.pair(given[0], bits)
        if name == "cvt":
            return self.convert(ins, self.pair(given[0], bits))
        if name in ("add", "sub"):
            return self.sum(name, self.pair(given[0], bits), self.pair(given[1], bits))
        if name == "shl":
            return self.shift(given, bits)
        product = self.product(ins, *(self.pair(o, bits) for o in given[:2]), given)
        if name == "mul":
            return product
        return self.sum("add", product, self.pair(given[2], product.bits))

    def scalar(self, how, bits, a, b):
        return a if b == "0" and how in ("add", "sub") else self.code.op(f"{how} i{bits} {a}, {b}")

    def sum(self, how, a, b):
        u = self.scalar(how, a.bits, a.u, b.u)
        if b.lanes is None:
            return Pair(u, a.lanes, a.bits)
        if a.lanes is None and how == "add":
            return Pair(u, b.lanes, a.bits)
        fixed = [lanes[1] if isinstance(lanes, tuple) and lanes[0] == "const" else (0,) * 32 if lanes is None else None
                 for lanes in (a.lanes, b.lanes)]
        if None not in fixed:
            sign = 1 if how == "add" else -1
            return Pair(u, constant([x + sign * y for x, y in zip(*fixed)], a.bits), a.bits)
        left, right = self.vector(a.lanes, a.bits), self.vector(b.lanes, b.bits)
        return Pair(u, self.code.op(f"{how} <32 x i{a.bits}> {left}, {right}"), a.bits)

    def shift(self, given, bits):
        value, amount = self.pair(given[0], bits), given[1]
        if isinstance(amount, Imm) and amount.value in range(bits):
            return self.scale(value, str(1 << amount.value), 1 << amount.value)
        count = self.fast.scalar_value(amount, "i32")
        wide = self.fast.fit(self.code, count, "i32", f"i{bits}")
        over = self.code.op(f"icmp ugt i32 {count}, {bits - 1}")
        factor = self.code.op(f"shl i{bits} 1, {wide}")
        return self.scale(value, self.code.op(f"select i1 {over}, i{bits} 0, i{bits} {factor}"), None)

    def product(self, ins, a, b, given):
        if widens(ins):
            sign = ins.opcode[-1][0] == "s"
            literal = next((o.value for o in given[:2] if isinstance(o, Imm)), None)
            a, b = self.widen(a, sign), self.widen(b, sign)
        else:
            literal = next((o.value for o in given[:2] if isinstance(o, Imm)), None)
        if b.lanes is None:
            return self.scale(a, b.u, literal)
        if a.lanes is None:
            return self.scale(b, a.u, literal)
        return Pair("0", self.code.op(f"mul <32 x i{a.bits}> {self.full(a)}, {self.full(b)}"), a.bits)

    def scale(self, pair, factor, literal):
        """Multiply by a uniform factor, whose value is `literal` when it is a constant."""
        t, lanes = f"i{pair.bits}", pair.lanes
        u = "0" if pair.u == "0" else self.code.op(f"mul {t} {pair.u}, {factor}")
        if isinstance(lanes, tuple) and lanes[0] == "const" and literal is not None:
            return Pair(u, constant([v * literal for v in lanes[1]], pair.bits), pair.bits)
        if lanes is not None:
            lanes = self.code.op(f"mul <32 x {t}> {self.vector(lanes, pair.bits)}, {self.fast.spread(factor, t)}")
        return Pair(u, lanes, pair.bits)

    def widen(self, pair, signed):
        """32 bits to 64. Right only while u + V stays in range in every lane; otherwise fast code is left."""
        code, how = self.code, "sext" if signed else "zext"
        if isinstance(pair.lanes, str):
            return Pair("0", code.op(f"{how} <32 x i32> {self.full(pair)} to <32 x i64>"), 64)
        wide = code.op(f"{how} i32 {pair.u} to i64")
        if pair.lanes is None:
            return Pair(wide, None, 64)
        low, high = self.limits(pair.lanes, 32)
        bottom, top = (-(1 << 31), 1 << 31) if signed else (0, 1 << 32)
        above = code.op(f"icmp sge i64 {code.op(f'add i64 {wide}, {low}')}, {bottom}")
        below = code.op(f"icmp slt i64 {code.op(f'add i64 {wide}, {high}')}, {top}")
        self.fast.leave_unless(code.op(f"and i1 {above}, {below}"))
        if pair.lanes[0] == "const":
            return Pair(wide, pair.lanes, 64)
        return Pair(wide, code.op(f"sext <32 x i32> {self.vector(pair.lanes, 32)} to <32 x i64>"), 64)

    def convert(self, ins, pair):
        """cvt between integers: widen, or drop the upper half."""
        if widens(ins):
            return self.widen(pair, ins.opcode[-1][0] == "s")
        if ins.opcode[-2][-2:] == ins.opcode[-1][-2:]:
            return pair
        u = "0" if pair.u == "0" else self.code.op(f"trunc i64 {pair.u} to i32")
        lanes = pair.lanes
        if isinstance(lanes, tuple) and lanes[0] == "const":
            lanes = constant(lanes[1], 32)
        elif lanes is not None:
            lanes = self.code.op(f"trunc <32 x i64> {self.vector(lanes, 64)} to <32 x i32>")
        return Pair(u, lanes, 32)
