"""The search for hazards in uniform code: a look at epochs, as wide as the access itself; see runtime/hazards.cuh.

The epochs of writes lie as far apart as the words of shared memory they belong to, so that looking at them takes the same
vector loads as the access. Only where a hazard is possible, the runtime checks thread by thread.
"""

import ctypes

from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.groups import Group, nbytes, offset
from course_lib.simt.codegen.uniform.moves import Moves
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.codegen.uniform.roots import Roots
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Instruction, Kind, Reg
from course_lib.simt.runtime import abi

MOST_LINES = 64  # looked at in one go
GRANULE = 4


def possible(program: Program, granule_shift: int) -> bool:
    """Say whether uniform code can search: no asynchronous copies, nothing smaller than a word touched in shared memory."""
    return 1 << granule_shift == GRANULE and not any(i.opcode[0] == "cp" for i in program.instructions)


class RaceSearch:
    """Emits the search; `constants` are definitions that stand before the function.

    In a chain `before` and `now` name the epoch and the one after it, `epochs` and `lines` the worker's tables.
    """

    before: str
    now: str
    epochs: str
    lines: str

    def __init__(self, context: Context, registers: Registers, roots: Roots, moves: Moves) -> None:
        self.context, self.code, self.registers, self.roots, self.moves = context, context.code, registers, roots, moves
        self.constants: dict[tuple[tuple[int, ...], int], str] = {}

    def _worker(self, name):
        return self.code.op(f"getelementptr i8, ptr %worker, i64 {abi.at(name, abi.Worker)}")

    def begin(self) -> None:
        """Begin a chain: the epoch does not change in it."""
        code = self.code
        self.before = code.op(f"load i32, ptr {self._worker('epoch')}")
        self.now = code.op(f"add i32 {self.before}, 1")
        self.epochs = code.op(f"load ptr, ptr {self._worker('epochs')}")
        self.lines = code.op(f"load ptr, ptr {self._worker('lines')}")

    # -- lines -------------------------------------------------------------------------------------
    def _lines_of(self, group, first, end):
        """Return (pointer, vector type, mask) of the lines that bytes [first, end) lie in, or None when they are too many."""
        code, lanes = self.code, group.value.constant
        if lanes is None:
            return None
        span = max(lanes) - min(lanes) + group.extent()
        count = 1 << (span // abi.LINE_BYTES + 1).bit_length()
        if count > MOST_LINES:
            return None
        low = code.op(f"lshr i64 {first}, 7")
        high = code.op(f"lshr i64 {code.op(f'sub i64 {end}, 1')}, 7")
        number = code.op(f"trunc i64 {code.op(f'sub i64 {high}, {low}')} to i32")
        row = ", ".join(f"i32 {i}" for i in range(count))
        last = code.splat(number, "i32", count)
        mask = code.op(f"icmp ule <{count} x i32> <{row}>, {last}")
        return code.op(f"getelementptr i32, ptr {self.lines}, i64 {low}"), count, mask

    def opened(self, group: Group, first: str, end: str) -> None:
        """Note what a group of accesses is going to read."""
        if not any(i.kind is not Kind.STORE for _, i in group.members):
            return
        found, code = self._lines_of(group, first, end), self.code
        if found is None:
            self.context.call("mark_lines", "ptr %worker", f"i64 {first}", f"i64 {end}")
            return
        place, count, mask = found
        code.do(f"call void @llvm.masked.store.v{count}i32.p0(<{count} x i32> {code.splat(self.now, 'i32', count)}, ptr {place}, i32 4, "
                f"<{count} x i1> {mask})")

    def _unread(self, group, first, end):
        """Return an i1: nobody has read the bytes [first, end) in this epoch."""
        found, code = self._lines_of(group, first, end), self.code
        if found is None:
            return code.op(f"icmp eq i32 {self.context.ask('lines_read', 'ptr %worker', f'i64 {first}', f'i64 {end}')}, 0")
        place, count, mask = found
        seen = code.op(f"call <{count} x i32> @llvm.masked.load.v{count}i32.p0(ptr {place}, i32 4, <{count} x i1> {mask}, "
                       f"<{count} x i32> zeroinitializer)")
        same = code.op(f"icmp eq <{count} x i32> {seen}, {code.splat(self.now, 'i32', count)}")
        return code.op(f"icmp eq i{count} {code.op(f'bitcast <{count} x i1> {same} to i{count}')}, 0")

    # -- accesses ----------------------------------------------------------------------------------
    def access(self, group: Group, ins: Instruction, number: int) -> None:
        """Check one access before it is carried out."""
        code, store = self.code, ins.kind is Kind.STORE
        base = code.op(f"add i64 {group.address}, {offset(ins)}")
        if store and not distinct(group, nbytes(ins)):
            return self._exactly(group, ins, number, base)
        words = nbytes(ins) // GRANULE
        place = code.op(f"getelementptr i8, ptr {self.epochs}, i64 {base}")
        fine = self._all_words(group, place, words, store)
        if store:
            low, high = self.roots.bounds(group.value)
            first = code.op(f"add i64 {base}, {low}")
            end = code.op(f"add i64 {code.op(f'add i64 {base}, {high}')}, {4 * words}")
            fine = code.op(f"and i1 {fine}, {self._unread(group, first, end)}")
        good, doubtful, done = (code.fresh(s) for s in ("fine", "doubtful", "checked"))
        code.do(f"br i1 {fine}, label %{good}, label %{doubtful}")
        code.label(doubtful)
        self._exactly(group, ins, number, base)
        code.do(f"br label %{done}")
        code.label(good)
        if store:
            self._written(group, place, words)
        self._note(group, number, base)
        code.do(f"br label %{done}")
        code.label(done)

    def _epochs_of(self, group, place, words):
        """Return the epochs of all words as a list of (value, type)."""
        code = self.code
        if group.value.lanes is None:
            return [(code.op(f"load <{words} x i32>, ptr {place}, align 4"), words)]
        return [(value, abi.LANES) for value in self.moves.load(group, place, 32, words)]

    def _all_words(self, group, place, words, store):
        """Return an i1: no word was written in this epoch, and, for a load, each was at some time."""
        code, result = self.code, None
        for value, count in self._epochs_of(group, place, words):
            if store:
                ok = code.op(f"icmp ne <{count} x i32> {value}, {code.splat(self.now, 'i32', count)}")
            else:
                earlier = code.op(f"sub <{count} x i32> {value}, splat (i32 1)")
                ok = code.op(f"icmp ult <{count} x i32> {earlier}, {code.splat(self.before, 'i32', count)}")
            every = code.op(f"icmp eq i{count} {code.op(f'bitcast <{count} x i1> {ok} to i{count}')}, -1")
            result = every if result is None else code.op(f"and i1 {result}, {every}")
        return result

    def _written(self, group, place, words):
        """Write the epoch to all words of a store."""
        self.moves.store(group, place, 32, [self.code.splat(self.now, "i32")] * words)

    def _exactly(self, group, ins, number, base):
        """Have the runtime check thread by thread; it finds what a store writes in the register file."""
        registers, value = self.registers, group.value
        # What is read here is not at hand where the paths join.
        before, loaded, spilled = dict(registers.values), dict(self.roots.loaded), set(registers.spilled)
        for item in ins.data if ins.kind is Kind.STORE else ():
            if isinstance(item, Reg):
                registers.spill(item.name)
        lanes = "null" if value.lanes is None else self._lanes_pointer(value)
        self.context.call("check_exactly", "ptr %w", f"ptr {self.context.record(number)}", f"i64 {base}", f"ptr {lanes}",
                          f"i32 {value.bits // 8}")
        registers.values, self.roots.loaded, registers.spilled = before, loaded, spilled

    def _lanes_pointer(self, value):
        """Return where the lane part of a SplitValue lies."""
        if value.constant is not None:
            return self._constant_lanes(value.constant, value.bits)
        return self.roots.lanes_pointer(value.root, value.bits)

    def _constant_lanes(self, values, bits):
        key = (values, bits)
        if key not in self.constants:
            text = ", ".join(f"i{bits} {v}" for v in values)
            self.constants[key] = f"@r{len(self.constants)} = internal constant [32 x i{bits}] [{text}], align 64"
        return self.constants[key].split(" ")[0]

    # -- notes -------------------------------------------------------------------------------------
    def _note(self, group, number, base):
        """Write down an access, for the case that its words turn out to matter before the next barrier."""
        code, value = self.code, group.value
        place = self._worker("next_note")
        at = code.op(f"load ptr, ptr {place}")
        fixed = value.constant
        lanes = self._constant_lanes(fixed, value.bits) if fixed is not None else "null"
        size = ctypes.sizeof(abi.Note)
        index = code.op("load i32, ptr %p.index")
        warp = code.op(f"or i32 {index}, {1 << 31 if value.bits == 64 else 0}")
        record = self.context.record(number)
        sync = code.op("load i32, ptr %p.sync")
        for name, t, content in (("lanes", "ptr", lanes), ("base", "i64", base), ("access", "ptr", record), ("sync", "i32", sync),
                               ("warp", "i32", warp)):
            field = code.op(f"getelementptr i8, ptr {at}, i64 {abi.at(name, abi.Note)}")
            code.do(f"store {t} {content}, ptr {field}")
        if fixed is None:
            t = f"<32 x i{value.bits}>"
            part = code.op(f"load {t}, ptr {self._lanes_pointer(value)}, align 64")
            behind = code.op(f"getelementptr i8, ptr {at}, i64 {size}")
            code.do(f"store {t} {part}, ptr {behind}, align 8")
            size += abi.LANES * value.bits // 8
        following = code.op(f"getelementptr i8, ptr {at}, i64 {size}")
        code.do(f"store ptr {following}, ptr {place}")
        full, space = code.fresh("full"), code.fresh("space")
        limit = code.op(f"load ptr, ptr {self._worker('last_note')}")
        code.do(f"br i1 {code.op(f'icmp ugt ptr {following}, {limit}')}, label %{full}, label %{space}")
        code.label(full)
        self.context.call("settle", "ptr %worker")
        code.do(f"br label %{space}")
        code.label(space)


def distinct(group: Group, size: int) -> bool:
    """Say whether no two lanes of a store touch one word, as far as that is known beforehand."""
    fixed = group.value.constant
    if fixed is None:
        return False
    ordered = sorted(fixed)
    return all(b - a >= size for a, b in zip(ordered, ordered[1:]))
