"""Loads and stores in fast code: checked, counted and addressed once for all accesses that share an address register.

A *group* is the accesses of a chain with the same base register and different constant offsets. Bounds and alignment of
the whole group are checked at its first access. How lanes are served depends on the pattern V of the base: neighbours
in memory (vector loads), the same word (a broadcast), or anything else (gather and scatter).
"""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from course_lib.simt import cfg, layout
from course_lib.simt.fast_moves import Moves
from course_lib.simt.fuse import ABSORBED
from course_lib.simt.instruction import Reg, type_bytes
from course_lib.simt.pairs import Pair
from course_lib.simt.program import data_items

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


def offset(ins):
    return ins.operands[ins.opcode[0] != "st"].offset


def nbytes(ins):
    """Bytes per lane."""
    return type_bytes(ins.opcode[-1]) * len(data_items(ins))


class MemoryGroups:
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
                if ins.opcode[0] in ("ld", "ldu", "st") and not {"param", "const"} & set(ins.opcode):
                    base = ins.operands[ins.opcode[0] != "st"].base
                    space = "shared" if "shared" in ins.opcode else "global"
                    key = (base.name if base is not None else None, space)
                    group = current.setdefault(key, Group(base, space))
                    group.members.append((block.first + i, ins))
                    self.group_of[block.first + i] = group
                for register in cfg.destinations(ins):
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
        if ins.opcode[0] == "st":
            self.store(group, ins, place)
        else:
            self.load(group, ins, number, place)

    def parameter(self, ins, number):
        width = 8 * type_bytes(ins.opcode[-1])
        for i, item in enumerate(data_items(ins)):
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
        stores = int(any(i.opcode[0] == "st" for _, i in group.members))
        known = self.fast.call("lookup", "i32", "ptr %w", f"i64 {first}", f"i64 {end}", f"ptr {place}", f"i32 {stores}")
        self.fast.leave_unless(code.op(f"icmp ne i32 {known}, 0"))
        code.do(f"br label %{found}")
        code.label(found)
        return code.op(f"load i64, ptr {fields[2]}")

    # -- counting ----------------------------------------------------------------------------------
    def count(self, group):
        """Add up sectors or wavefronts of all members; members that behave alike are counted as the first of them."""
        alike = {}
        for number, ins in group.members:
            shift = offset(ins) % 32 if group.space == "global" else 0
            joined = self.fast.program.accesses[number].tag
            if joined == ABSORBED:
                continue
            key = (ins.line, ins.opcode[0] == "st", joined or nbytes(ins), shift)
            alike.setdefault(key, []).append(number)
        sums = {}
        for (line, store, size, shift), numbers in alike.items():
            in_global = group.space == "global"
            each = self.sectors(group, size, shift) if in_global else self.waves(group, size, store, numbers)
            if each is not None:
                sums.setdefault((line, store), []).append((each, len(numbers), numbers[0]))
        for parts in sums.values():
            self.add_counts(group, parts)

    def add_counts(self, group, parts):
        code = self.code
        for column in range(1 if group.space == "global" else 2):
            total = "0"
            for each, times, _ in parts:
                value = each if group.space == "global" else each[column]
                total = code.op(f"add i64 {total}, {code.op(f'mul i64 {value}, {times}')}")
            index = 2 if group.space == "global" else 3 + column
            self.fast.bump("dynamic", layout.COUNTS * parts[0][2] + index, total)

    def sectors(self, group, size, shift):
        """Sectors of one access as an i64 value."""
        code, pair = self.code, group.pair
        if pair.lanes is None:
            return "1"
        address = code.op(f"add i64 {group.address}, {shift}")
        index = code.op(f"and i64 {address}, 31")
        if pair.lanes[0] == "const":
            table = self.sector_table(pair.lanes[1])
            place = code.op(f"getelementptr i8, ptr {table}, i64 {index}")
            return code.op(f"zext i8 {code.op(f'load i8, ptr {place}')} to i64")
        pattern = self.pairs.pointer(self.pairs.pattern_place(pair.lanes, pair.bits))
        step = layout.at("sectors", layout.Pattern) + 32 * log_words(size)
        place = code.op(f"getelementptr i8, ptr {pattern}, i64 {code.op(f'add i64 {index}, {step}')}")
        kept = code.op(f"zext i8 {code.op(f'load i8, ptr {place}')} to i32")
        return self.counted(kept, "pattern_sectors", group, pattern, f"i64 {address}", f"i32 {log_words(size)}")

    def counted(self, kept, function, group, pattern, *arguments):
        """Use the kept number when it is not zero, else have the runtime count."""
        code, pair = self.code, group.pair
        lanes = self.pairs.pointer(self.pairs.lanes_place(pair.lanes, pair.bits))
        before, search, done = code.fresh("kept"), code.fresh("count"), code.fresh("counted")
        code.do(f"br label %{before}")
        code.label(before)
        code.do(f"br i1 {code.op(f'icmp ne i32 {kept}, 0')}, label %{done}, label %{search}")
        code.label(search)
        new = self.fast.call(function, "i32", f"ptr {pattern}", f"ptr {lanes}", f"i32 {pair.bits // 8}", *arguments)
        code.do(f"br label %{done}")
        code.label(done)
        value = code.op(f"phi i32 [ {kept}, %{before} ], [ {new}, %{search} ]")
        return code.op(f"zext i32 {value} to i64")

    def sector_table(self, lanes):
        """A constant table: sectors by address mod 32."""
        key = ("sectors", lanes)
        if key not in self.constants:
            counts = [len({(v + s) >> 5 for v in lanes}) for s in range(32)]
            self.constants[key] = f"@s{len(self.constants)} = internal constant [32 x i8] [" + ", ".join(f"i8 {c}" for c in counts) + "]"
        return self.constants[key].split(" ")[0]

    def waves(self, group, size, store, numbers):
        """(wavefronts, phases) of one shared access; constant ones are noted in `static` instead."""
        pair = group.pair
        if pair.lanes is None or pair.lanes[0] == "const":
            found = constant_waves(pair.lanes[1] if pair.lanes else (0,) * layout.LANES, size, store)
            self.fast.static.update(dict.fromkeys(numbers, found))
            return None
        at = 4 * int(store) + log_words(size)
        kept = self.pairs.field(pair.lanes, pair.bits, "waves", "i32", at)
        pattern = self.pairs.pointer(self.pairs.pattern_place(pair.lanes, pair.bits))
        waves = self.counted(kept, "pattern_waves", group, pattern, f"i32 {int(store)}", f"i32 {log_words(size)}")
        phases = self.code.op(f"zext i32 {self.pairs.field(pair.lanes, pair.bits, 'phases', 'i32', at)} to i64")
        return waves, phases

    # -- moving data -------------------------------------------------------------------------------
    def load(self, group, ins, number, place):
        lanes, width, items = group.pair.lanes, 8 * type_bytes(ins.opcode[-1]), data_items(ins)
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
        lanes, width, items = group.pair.lanes, 8 * type_bytes(ins.opcode[-1]), data_items(ins)
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


def log_words(size):
    """Index of a size in the runtime's tables: 0 for up to 4 bytes, 1 for 8, 2 for 16."""
    return max(size // 4, 1).bit_length() - 1


def stride(lanes):
    """The step between neighbours when it is the same in each group of 8 lanes, else SCATTERED."""
    steps = {lanes[i + 1] - lanes[i] for i in range(31) if i % 8 != 7}
    return steps.pop() if len(steps) == 1 else SCATTERED


def constant_waves(lanes, size, store):
    """(wavefronts, phases) of a shared access with all lanes active, counted by the runtime."""
    from course_lib.simt.build import runtime
    count = runtime().function("count_wavefronts", ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                               ctypes.c_uint32, ctypes.c_void_p)
    address = np.array(lanes, np.int64) + (1 << 40)
    phases = np.zeros(1, np.uint32)
    waves = count(address.ctypes.data, 0xFFFFFFFF, size, int(not store), phases.ctypes.data)
    return waves, int(phases[0])


