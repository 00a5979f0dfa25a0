"""Where uniform code holds a warp's registers, and how it reads and writes them.

Inside a chain a register is a value: a scalar, a SplitValue (`u + V`) or a vector, by its kind. Between chains it lies in memory.
"""

from collections.abc import Set

from course_lib.simt.codegen.uniform.affine import UNIFORM, VECTOR, KindAnalysis, is_split
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.roots import Roots, SplitValue
from course_lib.simt.codegen.uniform.sums import InMemory
from course_lib.simt.isa.special import SPECIAL
from course_lib.simt.ptx.ir import Imm, Reg


class Registers:
    """Emits what reads and writes registers.

    `values`: what is at hand in the current chain. `dirty`: registers whose memory is out of date. `spilled`: registers whose lanes lie
    in the register file as the runtime wants them. In a region the lanes that do not
    run keep their value in every register that is `merged` (see regions.py).
    """

    def __init__(self, context: Context, roots: Roots) -> None:
        self.context, self.code, self.vector, self.roots = context, context.code, context.vector, roots
        self.kinds, self.slots = context.kinds, context.program.slots
        self.values: dict[str, str | SplitValue | InMemory] = {}
        self.dirty: set[str] = set()
        self.spilled: set[str] = set()

    def forget(self) -> None:
        """Begin a new chain: all registers lie in memory."""
        self.values, self.dirty, self.spilled = {}, set(), set()

    def save(self, alive: Set[str], final: bool = True) -> None:
        """Write the registers that this chain changed and that are still needed to memory."""
        for name in sorted(self.dirty & alive):
            self.store(name)
        if final:
            self.dirty = set()

    def _uniform_pointer(self, name):
        if name in SPECIAL[:3]:
            return self.code.op(f"getelementptr i8, ptr %p.block, i64 {4 * SPECIAL.index(name)}")
        return self.context.pointer(self.context.allocate(("u", name), 8))

    def _lanes_in_memory(self, pointer, t):
        if t == "i1":
            return self.code.op(f"bitcast i32 {self.code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
        return self.code.op(f"load <32 x {t}>, ptr {pointer}, align 64")

    def read(self, name: str) -> str | SplitValue:
        """Return a register's value, by its kind: the name of a scalar or of a vector, or a SplitValue."""
        if name not in self.values:
            kind, t = self.kinds.of(name), self.slots[name][1]
            if kind == VECTOR:
                self.values[name] = self._lanes_in_memory(self.context.slot(name)[0], t)
            else:
                base = self.code.op(f"load {t}, ptr {self._uniform_pointer(name)}")
                self.values[name] = base if kind == UNIFORM else SplitValue(base, kind[1], int(t[1:]))
        value = self.values[name]
        return self._load_lanes(value) if isinstance(value, InMemory) else value

    def _load_lanes(self, place):
        return self.code.op(f"load <32 x i32>, ptr {self.context.pointer(place.offset)}, align 64")

    def put_in_memory(self, register: Reg, value: str, place: InMemory) -> None:
        """Assign 32 lanes of 32 bits to a register, and keep them in memory instead of at hand."""
        self.code.do(f"store <32 x i32> {value}, ptr {self.context.pointer(place.offset)}, align 64")
        self.values[register.name] = place
        self._changed(register.name)

    def store(self, name: str) -> None:
        """Write a register's value to memory."""
        t, code, value = self.slots[name][1], self.code, self.read(name)
        if self.kinds.of(name) == VECTOR:
            pointer = self.context.slot(name)[0]
            if self.context.active is not None and name in self.kinds.merged:
                value = self._merge(value, t, pointer)
            if t == "i1":
                code.do(f"store i32 {code.op(f'bitcast <32 x i1> {value} to i32')}, ptr {pointer}")
            else:
                code.do(f"store <32 x {t}> {value}, ptr {pointer}, align 64")
            return
        scalar: str = value.u if isinstance(value, SplitValue) else value
        if t == "i1":
            scalar, t = code.op(f"zext i1 {scalar} to i64"), "i64"
        code.do(f"store {t} {scalar}, ptr {self._uniform_pointer(name)}")

    def _merge(self, value, t, pointer):
        """Return the lanes of `value` where they are active, and else those that memory holds."""
        old = self._lanes_in_memory(pointer, t)
        mask = self.code.op(f"bitcast i32 {self.context.active} to <32 x i1>")
        return self.code.op(f"select <32 x i1> {mask}, <32 x {t}> {value}, <32 x {t}> {old}")

    def spill(self, name: str) -> None:
        """Write a register's lanes to the register file, where the runtime looks for them, unless they lie there."""
        if name in self.spilled:
            return
        if self.context.active is None:
            self.spilled.add(name)
        kind, t = self.kinds.of(name), self.slots[name][1]
        if kind == VECTOR:
            if name in self.dirty:
                self.store(name)
            return
        value = self.read(name)
        if t == "i1":
            return self.code.do(f"store i32 {self.code.op(f'sext i1 {value} to i32')}, ptr {self.context.slot(name)[0]}")
        lanes = self.roots.full(value) if isinstance(value, SplitValue) else self.code.splat(value, t)
        self.code.do(f"store <32 x {t}> {lanes}, ptr {self.context.slot(name)[0]}, align 64")

    # -- operands ----------------------------------------------------------------------------------
    def scalar_value(self, operand: Reg | Imm, wanted: str) -> str:
        """Return a uniform operand as a scalar of type `wanted`."""
        if isinstance(operand, Imm):
            if wanted in ("i1", "imm"):
                return str(operand.value) if wanted == "imm" else ("true" if operand.value else "false")
            return str(operand.value & ((1 << int(wanted[1:])) - 1))
        value = self.read(operand.name)
        assert isinstance(value, str)
        return self.code.fit(value, self.slots[operand.name][1], wanted, operand.negated)

    def vector_value(self, operand: Reg | Imm, wanted: str) -> str:
        """Return any operand as 32 lanes of type `wanted`."""
        if isinstance(operand, Imm):
            text = self.scalar_value(operand, wanted)
            return text if wanted == "imm" else self.vector.const(wanted, text)
        t, value = self.slots[operand.name][1], self.read(operand.name)
        if isinstance(value, SplitValue):
            value = self.roots.full(value)
        elif self.kinds.kind(operand) == UNIFORM:
            value = self.code.splat(value, t)
        return self.vector.fit(value, t, wanted, operand.negated)

    def lane_zero(self, operand: Reg | Imm, wanted: str) -> str:
        """Return an operand's value in lane 0."""
        kind = self.kinds.kind(operand)
        if kind == UNIFORM or isinstance(operand, Imm):
            return self.scalar_value(operand, wanted)
        value, t = self.read(operand.name), self.slots[operand.name][1]
        first = self.roots.first(value) if isinstance(value, SplitValue) else self.code.op(f"extractelement <32 x {t}> {value}, i32 0")
        return self.code.fit(first, t, wanted, operand.negated)

    def split_value(self, operand: Reg | Imm, bits: int) -> SplitValue:
        """Return any integer operand as a SplitValue of `bits` bits."""
        kind, t = self.kinds.kind(operand), f"i{bits}"
        if kind == UNIFORM or isinstance(operand, Imm):
            return SplitValue(self.scalar_value(operand, t), None, bits)
        if kind == VECTOR:
            return SplitValue("0", self.vector_value(operand, t), bits)
        value = self.read(operand.name)
        assert isinstance(value, SplitValue)
        return value if value.bits == bits else self.roots.narrowed(value, bits)    # cvt may read a register wider than its type

    # -- results -----------------------------------------------------------------------------------
    def put(self, register: Reg, value: str, given: str, uniform: bool, extend: str, number: int) -> None:
        """Assign a computed scalar or vector to a register, whose own kind may be wider."""
        kind, t = self.kinds.of(register.name), self.slots[register.name][1]
        if given != t:
            code = self.code if uniform else self.vector
            value = code.cast("trunc" if int(given[1:]) > int(t[1:]) else extend, given, value, t)
        if uniform and kind == VECTOR:
            value = self.code.splat(value, t)
        elif uniform and is_split(kind):
            return self.assign(register, SplitValue(value, None, int(t[1:])), number)
        self.values[register.name] = value
        self._changed(register.name)

    def assign(self, register: Reg, value: SplitValue, number: int) -> None:
        """Assign a SplitValue; its lanes are stored when the register's root is written here."""
        kind = self.kinds.of(register.name)
        if kind == UNIFORM:
            self.values[register.name] = value.u
        elif kind == VECTOR:
            self.values[register.name] = self.roots.full(value)
        else:
            if KindAnalysis.writes(kind[1], register.name, number):
                self.roots.update(kind[1], value)
            self.values[register.name] = SplitValue(value.u, kind[1], value.bits)
        self._changed(register.name)

    def _changed(self, name):
        self.dirty.add(name)
        self.spilled.discard(name)
