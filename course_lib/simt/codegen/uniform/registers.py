"""Where fast code keeps a warp's registers, and how it reads and writes them.

Inside a chain a register is a value: a scalar, a Pair (`u + V`) or a vector, by its kind. Between chains it lies in memory.
"""

from course_lib.simt.codegen.uniform.affine import UNIFORM, VECTOR
from course_lib.simt.codegen.uniform.pairs import Pair
from course_lib.simt.isa.special import SPECIAL
from course_lib.simt.ptx.ir import Imm


class Registers:
    """The part of a Fast translator that deals with registers.

    `values`: what is at hand in the current chain. `dirty`: registers whose memory is out of date. `active`: None, or the
    mask of the lanes that run; others then keep their value in every register that is in `merged` (see regions.py).
    """

    def save(self, alive, final=True):
        """Write the registers that this chain changed and that are still needed to memory."""
        for name in sorted(self.dirty & set(alive)):
            self.store(name, self.values[name])
        if final:
            self.dirty = set()

    def live_out(self, block):
        return frozenset().union(*(self.program.blocks[s].live_in for s in block.successors))

    def slot(self, name):
        """Return (pointer into the register file, type) of a register."""
        offset, t = self.program.slots[name]
        return self.scalar.op(f"getelementptr i8, ptr %registers, i64 {offset}"), t

    def uniform_place(self, name):
        if name in SPECIAL[:3]:
            return self.scalar.op(f"getelementptr i8, ptr %p.block, i64 {4 * SPECIAL.index(name)}")
        return self.scalar.op(f"getelementptr i8, ptr %fast, i64 {self.place(('u', name), 8)}")

    def read(self, name):
        """Return a register's value: a scalar name, a Pair or a vector name, by its kind."""
        if name not in self.values:
            kind, t, code = self.kinds.kinds[name], self.program.slots[name][1], self.scalar
            if kind == VECTOR:
                pointer = self.slot(name)[0]
                if t == "i1":
                    value = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
                else:
                    value = code.op(f"load <32 x {t}>, ptr {pointer}, align 64")
            else:
                value = code.op(f"load {t}, ptr {self.uniform_place(name)}")
                if kind != UNIFORM:
                    value = Pair(value, kind[1], int(t[1:]))
            self.values[name] = value
        return self.values[name]

    def store(self, name, value):
        kind, t, code = self.kinds.kinds[name], self.program.slots[name][1], self.scalar
        if kind == VECTOR:
            pointer = self.slot(name)[0]
            if self.active is not None and name in self.kinds.merged:
                value = self.merge(value, t, pointer)
            if t == "i1":
                code.do(f"store i32 {code.op(f'bitcast <32 x i1> {value} to i32')}, ptr {pointer}")
            else:
                code.do(f"store <32 x {t}> {value}, ptr {pointer}, align 64")
            return
        scalar = value.u if isinstance(value, Pair) else value
        if t == "i1":
            scalar, t = code.op(f"zext i1 {scalar} to i64"), "i64"
        code.do(f"store {t} {scalar}, ptr {self.uniform_place(name)}")

    def merge(self, value, t, pointer):
        """Return the lanes of `value` where they are active, and else those that memory holds."""
        code = self.scalar
        if t == "i1":
            old = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
        else:
            old = code.op(f"load <32 x {t}>, ptr {pointer}, align 64")
        mask = code.op(f"bitcast i32 {self.active} to <32 x i1>")
        return code.op(f"select <32 x i1> {mask}, <32 x {t}> {value}, <32 x {t}> {old}")

    def scalar_value(self, operand, wanted):
        """Return a uniform operand as a scalar of type `wanted`."""
        if isinstance(operand, Imm):
            if wanted in ("i1", "imm"):
                return str(operand.value) if wanted == "imm" else ("true" if operand.value else "false")
            return str(operand.value & ((1 << int(wanted[1:])) - 1))
        value, t = self.read(operand.name), self.program.slots[operand.name][1]
        return self.fit(self.scalar, value, t, wanted, operand.negated)

    def vector_value(self, operand, wanted):
        """Return any operand as 32 lanes of type `wanted`."""
        if isinstance(operand, Imm):
            text = self.scalar_value(operand, wanted)
            return text if wanted == "imm" else self.vector.const(wanted, text)
        t, kind = self.program.slots[operand.name][1], self.kinds.kind(operand)
        value = self.read(operand.name)
        if kind == UNIFORM:
            value = self.spread(value, t)
        elif kind != VECTOR:
            value = self.pairs.full(value)
        return self.fit(self.vector, value, t, wanted, operand.negated)

    @staticmethod
    def fit(code, value, t, wanted, negated=False):
        if negated:
            return code.binary("xor", "i1", value, code.const("i1", "true"))
        if wanted in (t, "imm"):
            return value
        return code.cast("trunc" if int(t[1:]) > int(wanted[1:]) else "zext", t, value, wanted)

    def spread(self, value, t):
        """Copy a scalar into all lanes."""
        first = self.scalar.op(f"insertelement <32 x {t}> poison, {t} {value}, i32 0")
        return self.scalar.op(f"shufflevector <32 x {t}> {first}, <32 x {t}> poison, <32 x i32> zeroinitializer")
