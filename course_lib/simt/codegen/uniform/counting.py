"""Sectors and wavefronts of the accesses of uniform code, counted once for a group of accesses that behave alike."""

import ctypes
from collections.abc import Sequence

import numpy as np

from course_lib.simt.codegen import library
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.groups import Group, nbytes, offset
from course_lib.simt.codegen.uniform.roots import Roots
from course_lib.simt.passes.fuse import ABSORBED
from course_lib.simt.ptx.ir import Kind
from course_lib.simt.runtime import abi


class Counting:
    """Emits what counts a group of accesses; `constants` are definitions that stand before the function."""

    def __init__(self, context: Context, roots: Roots) -> None:
        self.context, self.code, self.roots = context, context.code, roots
        self.constants: dict[tuple[int, ...], str] = {}

    def count(self, group: Group) -> None:
        """Add up sectors or wavefronts of all members; members that behave alike are counted as the first of them."""
        alike: dict[tuple, list[int]] = {}
        for number, ins in group.members:
            shift = offset(ins) % 32 if group.space == "global" else 0
            joined = self.context.program.accesses[number].tag
            if joined == ABSORBED:
                continue
            key = (ins.line, ins.kind is Kind.STORE, joined or nbytes(ins), shift)
            alike.setdefault(key, []).append(number)
        sums: dict[tuple, list[tuple[tuple[str, ...], int, int]]] = {}
        for (line, store, size, shift), numbers in alike.items():
            each = (self._sectors(group, size, shift),) if group.space == "global" else self._waves(group, size, store, numbers)
            if each is not None:
                sums.setdefault((line, store), []).append((each, len(numbers), numbers[0]))
        for parts in sums.values():
            self._add_counts(2 if group.space == "global" else 3, parts)

    def _add_counts(self, first, parts):
        """Add to the counters of the first access, from column `first` on; `parts`: (amount per column, accesses, number of one)."""
        code = self.code
        for column in range(len(parts[0][0])):
            total = "0"
            for each, times, _ in parts:
                total = code.op(f"add i64 {total}, {code.op(f'mul i64 {each[column]}, {times}')}")
            self.context.bump("dynamic", abi.COUNTS * parts[0][2] + first + column, total)

    def _sectors(self, group, size, shift):
        """Sectors of one access as an i64 value."""
        code, value = self.code, group.value
        if value.lanes is None:
            return "1"
        address = code.op(f"add i64 {group.address}, {shift}")
        index = code.op(f"and i64 {address}, 31")
        if value.constant is not None:
            table = self._sector_table(value.constant)
            place = code.op(f"getelementptr i8, ptr {table}, i64 {index}")
            return code.op(f"zext i8 {code.op(f'load i8, ptr {place}')} to i64")
        pattern = self.roots.pattern_pointer(value.root, value.bits)
        step = abi.at("sectors", abi.Pattern) + 32 * log_words(size)
        place = code.op(f"getelementptr i8, ptr {pattern}, i64 {code.op(f'add i64 {index}, {step}')}")
        cached = code.op(f"zext i8 {code.op(f'load i8, ptr {place}')} to i32")
        return self._counted(cached, "pattern_sectors", group, pattern, f"i64 {address}", f"i32 {log_words(size)}")

    def _counted(self, cached, function, group, pattern, *arguments):
        """Use the cached number when it is not zero, else have the runtime count."""
        code, value = self.code, group.value
        lanes = self.roots.lanes_pointer(value.root, value.bits)
        before, search, done = code.fresh("cached"), code.fresh("count"), code.fresh("counted")
        code.do(f"br label %{before}")
        code.label(before)
        code.do(f"br i1 {code.op(f'icmp ne i32 {cached}, 0')}, label %{done}, label %{search}")
        code.label(search)
        new = self.context.ask(function, f"ptr {pattern}", f"ptr {lanes}", f"i32 {value.bits // 8}", *arguments)
        code.do(f"br label %{done}")
        code.label(done)
        number = code.op(f"phi i32 [ {cached}, %{before} ], [ {new}, %{search} ]")
        return code.op(f"zext i32 {number} to i64")

    def _sector_table(self, lanes):
        """A constant table: sectors by address mod 32."""
        if lanes not in self.constants:
            counts = ", ".join(f"i8 {len({(v + s) >> 5 for v in lanes})}" for s in range(32))
            self.constants[lanes] = f"@s{len(self.constants)} = internal constant [32 x i8] [{counts}]"
        return self.constants[lanes].split(" ")[0]

    def _waves(self, group, size, store, numbers):
        """(wavefronts, phases) of one shared access; constant ones are noted in the context's `static` instead."""
        value = group.value
        if value.constant is not None:
            self.context.static.update(dict.fromkeys(numbers, constant_waves(value.constant, size, store)))
            return None
        at = 4 * int(store) + log_words(size)
        cached = self.roots.field(value.root, value.bits, "waves", "i32", at)
        pattern = self.roots.pattern_pointer(value.root, value.bits)
        waves = self._counted(cached, "pattern_waves", group, pattern, f"i32 {int(store)}", f"i32 {log_words(size)}")
        phases = self.code.op(f"zext i32 {self.roots.field(value.root, value.bits, 'phases', 'i32', at)} to i64")
        return waves, phases


def log_words(size: int) -> int:
    """Return the index of a size in the runtime's tables: 0 for up to 4 bytes, 1 for 8, 2 for 16."""
    return max(size // 4, 1).bit_length() - 1


def constant_waves(lanes: Sequence[int], size: int, store: bool) -> tuple[int, int]:
    """Return (wavefronts, phases) of a shared access with all lanes active, counted by the runtime."""
    count = library.runtime().function("count_wavefronts", ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                                         ctypes.c_uint32, ctypes.c_void_p)
    address = np.array(lanes, np.int64) + (1 << 40)
    phases = np.zeros(1, np.uint32)
    waves = count(address.ctypes.data, 0xFFFFFFFF, size, int(not store), phases.ctypes.data)
    return waves, int(phases[0])
