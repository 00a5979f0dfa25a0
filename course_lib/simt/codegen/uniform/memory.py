"""Loads and stores in fast code: checked, counted and addressed once for all accesses that share an address register.

A *group* is the accesses of a chain with the same base register and different constant offsets. Bounds and alignment of
the whole group are checked at its first access. How lanes are served depends on the pattern V of the base: neighbours
in memory (vector loads), the same word (a broadcast), or anything else (gather and scatter).
"""

from dataclasses import dataclass, field

from course_lib.simt.codegen.uniform.counting import Counting, nbytes, offset
from course_lib.simt.codegen.uniform.moves import Moves
from course_lib.simt.codegen.uniform.pairs import Pair
from course_lib.simt.ptx.ir import ACCESSES, Kind, Reg, type_bytes

SCATTERED = -1  # stride of lanes that follow no rule


@dataclass
class Group:
    """Accesses that share a base register; `members` are (number, instruction)."""

    base: object
    space: str
    members: list = field(default_factory=list)
    pair: Pair | None = None
    pointer: str | None = None
    address: str | None = None

    def offsets(self):
        return [offset(i) for _, i in self.members]

    def extent(self):
        """Bytes from the beginning of the first access to the end of the last one, in one lane."""
        return max(offset(i) + nbytes(i) for _, i in self.members) - min(self.offsets())


class MemoryGroups(Counting):
    """Emits the memory accesses of a Fast translator."""

    def __init__(self, fast):
        self.fast, self.code, self.pairs = fast, fast.scalar, fast.pairs
        self.moves = Moves(fast.scalar, fast.pairs)
        self.group_of = {}
        self.constants = {}

    def plan(self, blocks):
        """Find the groups of a chain."""
        self.group_of, current = {}, {}
        for block in blocks:
            for i, ins in enumerate(block.instructions):
                if ins.kind in ACCESSES and not {"param", "const"} & set(ins.opcode):
                    base = ins.address.base
                    space = "shared" if "shared" in ins.opcode else "global"
                    key = (base.name if base is not None else None, space)
                    group = current.setdefault(key, Group(base, space))
                    group.members.append((block.first + i, ins))
                    self.group_of[block.first + i] = group
                for register in ins.destinations:
                    current.pop((register.name, "shared"), None)
                    current.pop((register.name, "global"), None)

    def access(self, ins, number):
        if {"param", "const"} & set(ins.opcode):
            return self.parameter(ins, number)
        group = self.group_of[number]
        if group.pair is None:
            self.open(group)
        place = self.code.op(f"getelementptr i8, ptr {group.pointer}, i64 {offset(ins)}")
        if self.fast.race and group.space == "shared":
            self.fast.race.access(group, ins, number)
        if ins.kind is Kind.STORE:
            self.store(group, ins, place)
        else:
            self.load(group, ins, number, place)

    def parameter(self, ins, number):
        width = 8 * type_bytes(ins.opcode[-1])
        for i, item in enumerate(ins.data):
            place = self.code.op(f"getelementptr i8, ptr %params, i64 {ins.operands[1].offset + i * width // 8}")
            self.receive(item, self.code.op(f"load i{width}, ptr {place}"), ins, number, uniform=True)

    def receive(self, item, value, ins, number, uniform):
        extend = "sext" if ins.opcode[-1][0] == "s" else "zext"
        if isinstance(item, Reg) and item.name != "_":
            self.fast.put(item, value, f"i{8 * type_bytes(ins.opcode[-1])}", uniform, extend, number)

    # -- once per group ----------------------------------------------------------------------------
    def open(self, group):
        """Check the whole group and find its place in host memory."""
        code, members = self.code, [i for _, i in group.members]
        group.pair = pair = self.base(group)
        wide = pair.u if pair.bits == 64 else code.op(f"sext i{pair.bits} {pair.u} to i64")
        low, high = self.pairs.limits(pair.lanes, pair.bits)
        first = code.op(f"add i64 {code.op(f'add i64 {wide}, {low}')}, {min(group.offsets())}")
        end = code.op(f"add i64 {code.op(f'add i64 {wide}, {high}')}, {max(offset(i) + nbytes(i) for i in members)}")
        self.check_alignment(group, wide)
        if group.space == "shared":
            inside = code.op(f"and i1 {code.op(f'icmp sge i64 {first}, 0')}, {code.op(f'icmp sle i64 {end}, %limit')}")
            self.fast.leave_unless(inside)
            group.pointer = code.op(f"getelementptr i8, ptr %shared, i64 {wide}")
        else:
            shift = self.window(group, first, end)
            group.pointer = code.op(f"inttoptr i64 {code.op(f'add i64 {wide}, {shift}')} to ptr")
        group.address = wide
        if self.fast.race and group.space == "shared":
            self.fast.race.opened(group, first, end)
        self.count(group)

    def base(self, group):
        """Return the base register as a Pair whose lanes are None or a root."""
        if group.base is None:
            return Pair("0", None, 64)
        bits = int(self.fast.program.slots[group.base.name][1][1:])
        pair = self.pairs.pair(group.base, bits)
        if isinstance(pair.lanes, str):  # a plain vector: give it a root of its own
            root = ("use", group.members[0][0])
            self.pairs.update_root(root, pair)
            pair = Pair("0", root, bits)
        return pair

    def check_alignment(self, group, wide):
        pair, code = group.pair, self.code
        for size in sorted({nbytes(i) for _, i in group.members} - {1}):
            bits = 0
            for _, ins in group.members:
                if nbytes(ins) == size:
                    bits |= offset(ins)
            lanes = "0"
            if pair.lanes is not None and pair.lanes[0] == "const":
                for value in pair.lanes[1]:
                    bits |= value
            elif pair.lanes is not None:
                lanes = self.pairs.field(pair.lanes, pair.bits, "bits")
            together = code.op(f"or i64 {code.op(f'or i64 {wide}, {lanes}')}, {bits & (size - 1)}")
            odd = code.op(f"and i64 {together}, {size - 1}")
            self.fast.leave_unless(code.op(f"icmp eq i64 {odd}, 0"))

    def window(self, group, first, end):
        """Check global addresses against the array found last; return host minus device address."""
        code, number = self.code, group.members[0][0]
        place = self.pairs.pointer(self.fast.place(("window", number), 24))
        fields = [code.op(f"getelementptr i64, ptr {place}, i64 {i}") for i in range(3)]
        low, high = (code.op(f"load i64, ptr {f}") for f in fields[:2])
        inside = code.op(f"and i1 {code.op(f'icmp uge i64 {first}, {low}')}, {code.op(f'icmp ule i64 {end}, {high}')}")
        found, search = code.fresh("found"), code.fresh("search")
        code.do(f"br i1 {inside}, label %{found}, label %{search}")
        code.label(search)
        stores = int(any(i.kind is Kind.STORE for _, i in group.members))
        known = self.fast.call("lookup", "i32", "ptr %w", f"i64 {first}", f"i64 {end}", f"ptr {place}", f"i32 {stores}")
        self.fast.leave_unless(code.op(f"icmp ne i32 {known}, 0"))
        code.do(f"br label %{found}")
        code.label(found)
        return code.op(f"load i64, ptr {fields[2]}")

    # -- moving data -------------------------------------------------------------------------------
    def load(self, group, ins, number, place):
        lanes, width, items = group.pair.lanes, 8 * type_bytes(ins.opcode[-1]), ins.data
        if lanes is None:
            for i, item in enumerate(items):
                at = self.code.op(f"getelementptr i8, ptr {place}, i64 {i * width // 8}")
                self.receive(item, self.code.op(f"load i{width}, ptr {at}"), ins, number, uniform=True)
            return
        def one(how, starts):
            return getattr(self.moves, f"load_{how}")(group, starts, place, width, len(items))
        values = self.by_stride(group, width // 8 * len(items), one, f"<32 x i{width}>", len(items))
        for item, value in zip(items, values):
            self.receive(item, value, ins, number, uniform=False)

    def store(self, group, ins, place):
        lanes, width, items = group.pair.lanes, 8 * type_bytes(ins.opcode[-1]), ins.data
        values = [self.fast.vector_value(i, f"i{width}") for i in items]
        if lanes is None:
            for i, value in enumerate(values):
                at = self.code.op(f"getelementptr i8, ptr {place}, i64 {i * width // 8}")
                self.code.do(f"store i{width} {self.moves.lane(value, width, 31)}, ptr {at}")
            return
        def one(how, starts):
            getattr(self.moves, f"store_{how}")(group, starts, place, width, values)
            return []
        self.by_stride(group, width // 8 * len(items), one, None, 0)

    def by_stride(self, group, size, emit, t, count):
        """Call `emit(how, starts)` for the way that fits the lanes; decided here when V is constant, else at run time."""
        lanes, code = group.pair.lanes, self.code
        if lanes[0] == "const":
            step = stride(lanes[1])
            how = "apart" if step == size else "same" if step == 0 else "any"
            return emit(how, [str(lanes[1][i]) for i in (0, 8, 16, 24)])
        starts = [self.pairs.field(lanes, group.pair.bits, "segment", "i64", i) for i in range(4)]
        self.pairs.vector(lanes, group.pair.bits)  # loaded here, so that every branch may use it
        step = self.pairs.field(lanes, group.pair.bits, "stride", "i32")
        labels = {how: code.fresh(how) for how in ("apart", "same", "any")}
        done = code.fresh("done")
        code.do(f"switch i32 {step}, label %{labels['any']} [ i32 {size}, label %{labels['apart']} i32 0, label %{labels['same']} ]")
        found = []
        for how, label in labels.items():
            code.label(label)
            values = emit(how, starts)
            last = code.fresh("end")
            code.do(f"br label %{last}")
            code.label(last)
            code.do(f"br label %{done}")
            found.append((last, values))
        code.label(done)
        return [code.op(f"phi {t} " + ", ".join(f"[ {values[i]}, %{last} ]" for last, values in found)) for i in range(count)]


def stride(lanes):
    """The step between neighbours when it is the same in each group of 8 lanes, else SCATTERED."""
    steps = {lanes[i + 1] - lanes[i] for i in range(31) if i % 8 != 7}
    return steps.pop() if len(steps) == 1 else SCATTERED
