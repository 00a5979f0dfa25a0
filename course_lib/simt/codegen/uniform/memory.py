"""Loads and stores in uniform code: checked, counted and addressed once for all accesses that share an address register.

A *group* is the accesses of a chain with the same base register and different constant offsets. Bounds and alignment of
the whole group are checked at its first access. How lanes are served depends on the pattern V of the base: neighbours
in memory (vector loads), the same word (a broadcast), or anything else (gather and scatter).
"""

from collections.abc import Sequence

from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.counting import Counting
from course_lib.simt.codegen.uniform.exits import Exits
from course_lib.simt.codegen.uniform.groups import Group, nbytes, offset
from course_lib.simt.codegen.uniform.moves import Moves
from course_lib.simt.codegen.uniform.race import RaceSearch
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.codegen.uniform.roots import Roots, SplitValue
from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import ACCESSES, Instruction, Kind, Reg, Sym, type_bytes


class MemoryGroups:
    """Emits the memory accesses of all lanes together, and, when there is a `race`, the search for hazards."""

    def __init__(self, context: Context, registers: Registers, roots: Roots, exits: Exits, moves: Moves, race: RaceSearch | None) -> None:
        self.context, self.code = context, context.code
        self.registers, self.roots, self.exits, self.moves, self.race = registers, roots, exits, moves, race
        self.counting = Counting(context, roots)
        self.group_of: dict[int, Group] = {}

    def plan(self, blocks: Sequence[Block]) -> None:
        """Find the groups of a chain."""
        self.group_of = {}
        current: dict[tuple[str | None, str], Group] = {}
        for block in blocks:
            for i, ins in enumerate(block.instructions):
                if ins.kind in ACCESSES and not {"param", "const"} & set(ins.opcode):
                    base = ins.address.base
                    assert not isinstance(base, Sym)    # build_program leaves none
                    space = "shared" if "shared" in ins.opcode else "global"
                    key = (base.name if base is not None else None, space)
                    group = current.setdefault(key, Group(base, space))
                    group.members.append((block.first + i, ins))
                    self.group_of[block.first + i] = group
                for register in ins.destinations:
                    current.pop((register.name, "shared"), None)
                    current.pop((register.name, "global"), None)

    def access(self, ins: Instruction, number: int) -> None:
        """Emit a load or store."""
        if {"param", "const"} & set(ins.opcode):
            return self._parameter(ins, number)
        group = self.group_of[number]
        if not group.opened:
            self._open(group)
        place = self.code.op(f"getelementptr i8, ptr {group.pointer}, i64 {offset(ins)}")
        if self.race and group.space == "shared":
            self.race.access(group, ins, number)
        if ins.kind is Kind.STORE:
            self._store(group, ins, place)
        else:
            self._load(group, ins, number, place)

    def _parameter(self, ins, number):
        width = 8 * type_bytes(ins.opcode[-1])
        for i, item in enumerate(ins.data):
            place = self.code.op(f"getelementptr i8, ptr %params, i64 {ins.operands[1].offset + i * width // 8}")
            self._receive(item, self.code.op(f"load i{width}, ptr {place}"), ins, number, uniform=True)

    def _receive(self, item, value, ins, number, uniform):
        extend = "sext" if ins.opcode[-1][0] == "s" else "zext"
        if isinstance(item, Reg) and item.name != "_":
            self.registers.put(item, value, f"i{8 * type_bytes(ins.opcode[-1])}", uniform, extend, number)

    # -- once per group ----------------------------------------------------------------------------
    def _open(self, group):
        """Check the whole group and find where it lies in host memory."""
        code, members = self.code, [i for _, i in group.members]
        group.opened, group.value = True, self._base(group)
        value = group.value
        wide = value.u if value.bits == 64 else code.op(f"sext i{value.bits} {value.u} to i64")
        low, high = self.roots.bounds(value)
        first = code.op(f"add i64 {code.op(f'add i64 {wide}, {low}')}, {min(group.offsets())}")
        end = code.op(f"add i64 {code.op(f'add i64 {wide}, {high}')}, {max(offset(i) + nbytes(i) for i in members)}")
        self._check_alignment(group, wide)
        if group.space == "shared":
            inside = code.op(f"and i1 {code.op(f'icmp sge i64 {first}, 0')}, {code.op(f'icmp sle i64 {end}, %limit')}")
            self.exits.leave_unless(inside)
            group.pointer = code.op(f"getelementptr i8, ptr %shared, i64 {wide}")
        else:
            shift = self._window(group, first, end)
            group.pointer = code.op(f"inttoptr i64 {code.op(f'add i64 {wide}, {shift}')} to ptr")
        group.address = wide
        if self.race and group.space == "shared":
            self.race.opened(group, first, end)
        self.counting.count(group)

    def _base(self, group):
        """Return the base register as a SplitValue whose lanes are None or a root."""
        if group.base is None:
            return SplitValue("0", None, 64)
        bits = int(self.context.program.slots[group.base.name][1][1:])
        value = self.registers.split_value(group.base, bits)
        if isinstance(value.lanes, str):  # a plain vector: give it a root of its own
            root = ("use", group.members[0][0])
            self.roots.update(root, value)
            value = SplitValue("0", root, bits)
        return value

    def _check_alignment(self, group, wide):
        value, code = group.value, self.code
        for size in sorted({nbytes(i) for _, i in group.members} - {1}):
            bits = 0
            for _, ins in group.members:
                if nbytes(ins) == size:
                    bits |= offset(ins)
            lanes = "0"
            if value.constant is not None:
                for distance in value.constant:
                    bits |= distance
            else:
                lanes = self.roots.field(value.root, value.bits, "bits")
            together = code.op(f"or i64 {code.op(f'or i64 {wide}, {lanes}')}, {bits & (size - 1)}")
            odd = code.op(f"and i64 {together}, {size - 1}")
            self.exits.leave_unless(code.op(f"icmp eq i64 {odd}, 0"))

    def _window(self, group, first, end):
        """Check global addresses against the array found last; return host minus device address."""
        code, number = self.code, group.members[0][0]
        place = self.context.pointer(self.context.allocate(("window", number), 24))
        fields = [code.op(f"getelementptr i64, ptr {place}, i64 {i}") for i in range(3)]
        low, high = (code.op(f"load i64, ptr {f}") for f in fields[:2])
        inside = code.op(f"and i1 {code.op(f'icmp uge i64 {first}, {low}')}, {code.op(f'icmp ule i64 {end}, {high}')}")
        found, search = code.fresh("found"), code.fresh("search")
        code.do(f"br i1 {inside}, label %{found}, label %{search}")
        code.label(search)
        stores = int(any(i.kind is Kind.STORE for _, i in group.members))
        known = self.context.ask("lookup", "ptr %w", f"i64 {first}", f"i64 {end}", f"ptr {place}", f"i32 {stores}")
        self.exits.leave_unless(code.op(f"icmp ne i32 {known}, 0"))
        code.do(f"br label %{found}")
        code.label(found)
        return code.op(f"load i64, ptr {fields[2]}")

    # -- moving data -------------------------------------------------------------------------------
    def _load(self, group, ins, number, place):
        width, items = 8 * type_bytes(ins.opcode[-1]), ins.data
        if group.value.lanes is None:
            for i, item in enumerate(items):
                at = self.code.op(f"getelementptr i8, ptr {place}, i64 {i * width // 8}")
                self._receive(item, self.code.op(f"load i{width}, ptr {at}"), ins, number, uniform=True)
            return
        for item, value in zip(items, self.moves.load(group, place, width, len(items))):
            self._receive(item, value, ins, number, uniform=False)

    def _store(self, group, ins, place):
        width, items = 8 * type_bytes(ins.opcode[-1]), ins.data
        values = [self.registers.vector_value(i, f"i{width}") for i in items]
        if group.value.lanes is None:
            for i, value in enumerate(values):
                at = self.code.op(f"getelementptr i8, ptr {place}, i64 {i * width // 8}")
                self.code.do(f"store i{width} {self.moves.lane(value, width, 31)}, ptr {at}")
            return
        self.moves.store(group, place, width, values)
