"""Sectors and wavefronts of the accesses of fast code, counted once for a group of accesses that behave alike."""

import ctypes

import numpy as np

from course_lib.simt.codegen import library
from course_lib.simt.passes.fuse import ABSORBED
from course_lib.simt.ptx.ir import Kind, type_bytes
from course_lib.simt.runtime import abi


def offset(ins):
    return ins.address.offset


def nbytes(ins):
    """Bytes per lane."""
    return type_bytes(ins.opcode[-1]) * len(ins.data)


class Counting:
    """The part of MemoryGroups (fast_memory.py) that counts; `static` of the translator has what is known beforehand."""

    def count(self, group):
        """Add up sectors or wavefronts of all members; members that behave alike are counted as the first of them."""
        alike = {}
        for number, ins in group.members:
            shift = offset(ins) % 32 if group.space == "global" else 0
            joined = self.fast.program.accesses[number].tag
            if joined == ABSORBED:
                continue
            key = (ins.line, ins.kind is Kind.STORE, joined or nbytes(ins), shift)
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
            self.fast.bump("dynamic", abi.COUNTS * parts[0][2] + index, total)

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
        step = abi.at("sectors", abi.Pattern) + 32 * log_words(size)
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
            found = constant_waves(pair.lanes[1] if pair.lanes else (0,) * abi.LANES, size, store)
            self.fast.static.update(dict.fromkeys(numbers, found))
            return None
        at = 4 * int(store) + log_words(size)
        kept = self.pairs.field(pair.lanes, pair.bits, "waves", "i32", at)
        pattern = self.pairs.pointer(self.pairs.pattern_place(pair.lanes, pair.bits))
        waves = self.counted(kept, "pattern_waves", group, pattern, f"i32 {int(store)}", f"i32 {log_words(size)}")
        phases = self.code.op(f"zext i32 {self.pairs.field(pair.lanes, pair.bits, 'phases', 'i32', at)} to i64")
        return waves, phases


def log_words(size):
    """Index of a size in the runtime's tables: 0 for up to 4 bytes, 1 for 8, 2 for 16."""
    return max(size // 4, 1).bit_length() - 1


def constant_waves(lanes, size, store):
    """(wavefronts, phases) of a shared access with all lanes active, counted by the runtime."""
    count = library.runtime().function("count_wavefronts", ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                               ctypes.c_uint32, ctypes.c_void_p)
    address = np.array(lanes, np.int64) + (1 << 40)
    phases = np.zeros(1, np.uint32)
    waves = count(address.ctypes.data, 0xFFFFFFFF, size, int(not store), phases.ctypes.data)
    return waves, int(phases[0])


