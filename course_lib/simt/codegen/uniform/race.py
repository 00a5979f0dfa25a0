"""The search for hazards in fast code: a look at epochs, as wide as the access itself; see runtime/hazards.cuh.

The epochs of writes lie as far apart as the words of shared memory they belong to, so that looking at them takes the same
vector loads as the access. Only where a hazard is possible, the runtime checks thread by thread.
"""

import ctypes

from course_lib.simt.codegen.uniform.counting import nbytes
from course_lib.simt.ptx.ir import Kind, Reg
from course_lib.simt.runtime import abi

MOST_LINES = 64  # looked at in one go
GRANULE = 4


def possible(program, granule_shift):
    """Say whether fast code can search: no asynchronous copies, nothing smaller than a word touched in shared memory."""
    return 1 << granule_shift == GRANULE and not any(i.opcode[0] == "cp" for i in program.instructions)


class Race:
    """Emits the search for a Fast translator."""

    def __init__(self, fast):
        self.fast, self.code, self.pairs = fast, fast.scalar, fast.pairs
        self.now, self.before, self.epochs, self.lines = None, None, None, None
        self.constants = {}

    def worker(self, name):
        return self.code.op(f"getelementptr i8, ptr %worker, i64 {abi.at(name, abi.Worker)}")

    def begin(self):
        """Begin a chain: the epoch does not change in it."""
        code = self.code
        self.before = code.op(f"load i32, ptr {self.worker('epoch')}")
        self.now = code.op(f"add i32 {self.before}, 1")
        self.epochs = code.op(f"load ptr, ptr {self.worker('epochs')}")
        self.lines = code.op(f"load ptr, ptr {self.worker('lines')}")

    # -- lines -------------------------------------------------------------------------------------
    def lines_of(self, group, first, end):
        """Return (pointer, vector type, mask) of the lines that bytes [first, end) lie in, or None when they are too many."""
        pair, code = group.pair, self.code
        if pair.lanes is not None and pair.lanes[0] != "const":
            return None
        lanes = pair.lanes[1] if pair.lanes else (0,)
        span = max(lanes) - min(lanes) + group.extent()
        count = 1 << (span // abi.LINE_BYTES + 1).bit_length()
        if count > MOST_LINES:
            return None
        low = code.op(f"lshr i64 {first}, 7")
        high = code.op(f"lshr i64 {code.op(f'sub i64 {end}, 1')}, 7")
        number = code.op(f"trunc i64 {code.op(f'sub i64 {high}, {low}')} to i32")
        row = ", ".join(f"i32 {i}" for i in range(count))
        one = code.op(f"insertelement <{count} x i32> poison, i32 {number}, i32 0")
        last = code.op(f"shufflevector <{count} x i32> {one}, <{count} x i32> poison, <{count} x i32> zeroinitializer")
        mask = code.op(f"icmp ule <{count} x i32> <{row}>, {last}")
        return code.op(f"getelementptr i32, ptr {self.lines}, i64 {low}"), count, mask

    def splat(self, value, count):
        one = self.code.op(f"insertelement <{count} x i32> poison, i32 {value}, i32 0")
        return self.code.op(f"shufflevector <{count} x i32> {one}, <{count} x i32> poison, <{count} x i32> zeroinitializer")

    def opened(self, group, first, end):
        """Note what a group of accesses is going to read."""
        if not any(i.kind is not Kind.STORE for _, i in group.members):
            return
        found, code = self.lines_of(group, first, end), self.code
        if found is None:
            self.fast.call("mark_lines", "void", "ptr %worker", f"i64 {first}", f"i64 {end}")
            return
        place, count, mask = found
        code.do(f"call void @llvm.masked.store.v{count}i32.p0(<{count} x i32> {self.splat(self.now, count)}, ptr {place}, i32 4, "
                f"<{count} x i1> {mask})")

    def unread(self, group, first, end):
        """Return an i1: nobody has read the bytes [first, end) in this epoch."""
        found, code = self.lines_of(group, first, end), self.code
        if found is None:
            return code.op(f"icmp eq i32 {self.fast.call('lines_read', 'i32', 'ptr %worker', f'i64 {first}', f'i64 {end}')}, 0")
        place, count, mask = found
        seen = code.op(f"call <{count} x i32> @llvm.masked.load.v{count}i32.p0(ptr {place}, i32 4, <{count} x i1> {mask}, "
                       f"<{count} x i32> zeroinitializer)")
        same = code.op(f"icmp eq <{count} x i32> {seen}, {self.splat(self.now, count)}")
        return code.op(f"icmp eq i{count} {code.op(f'bitcast <{count} x i1> {same} to i{count}')}, 0")

    # -- accesses ----------------------------------------------------------------------------------
    def access(self, group, ins, number):
        """Check one access before it is carried out."""
        code, store = self.code, ins.kind is Kind.STORE
        offset = ins.operands[not store].offset
        base = code.op(f"add i64 {group.address}, {offset}")
        if store and not distinct(group, nbytes(ins)):
            return self.exactly(group, ins, number, base)
        words = nbytes(ins) // GRANULE
        place = code.op(f"getelementptr i8, ptr {self.epochs}, i64 {base}")
        fine = self.all_words(group, place, words, store)
        if store:
            low, high = self.pairs.limits(group.pair.lanes, group.pair.bits)
            first = code.op(f"add i64 {base}, {low}")
            end = code.op(f"add i64 {code.op(f'add i64 {base}, {high}')}, {4 * words}")
            fine = code.op(f"and i1 {fine}, {self.unread(group, first, end)}")
        good, doubtful, done = (code.fresh(s) for s in ("fine", "doubtful", "checked"))
        code.do(f"br i1 {fine}, label %{good}, label %{doubtful}")
        code.label(doubtful)
        self.exactly(group, ins, number, base)
        code.do(f"br label %{done}")
        code.label(good)
        if store:
            self.written(group, place, words)
        self.note(group, number, base)
        code.do(f"br label %{done}")
        code.label(done)

    def epochs_of(self, group, place, words):
        """Return the epochs of all words as a list of (value, type)."""
        code = self.code
        if group.pair.lanes is None:
            return [(code.op(f"load <{words} x i32>, ptr {place}, align 4"), words)]
        moves = self.fast.memory.moves
        def one(how, starts):
            return getattr(moves, f"load_{how}")(group, starts, place, 32, words)
        values = self.fast.memory.by_stride(group, 4 * words, one, "<32 x i32>", words)
        return [(value, abi.LANES) for value in values]

    def all_words(self, group, place, words, store):
        """Return an i1: no word was written in this epoch, and, for a load, each was at some time."""
        code, result = self.code, None
        for value, count in self.epochs_of(group, place, words):
            if store:
                ok = code.op(f"icmp ne <{count} x i32> {value}, {self.splat(self.now, count)}")
            else:
                earlier = code.op(f"sub <{count} x i32> {value}, splat (i32 1)")
                ok = code.op(f"icmp ult <{count} x i32> {earlier}, {self.splat(self.before, count)}")
            every = code.op(f"icmp eq i{count} {code.op(f'bitcast <{count} x i1> {ok} to i{count}')}, -1")
            result = every if result is None else code.op(f"and i1 {result}, {every}")
        return result

    def written(self, group, place, words):
        """Write the epoch to all words of a store."""
        moves, now = self.fast.memory.moves, self.splat(self.now, abi.LANES)
        def one(how, starts):
            getattr(moves, f"store_{how}")(group, starts, place, 32, [now] * words)
            return []
        self.fast.memory.by_stride(group, 4 * words, one, None, 0)

    def exactly(self, group, ins, number, base):
        """Have the runtime check thread by thread; it finds what a store writes in the register file."""
        fast, pair = self.fast, group.pair
        before, known = dict(fast.values), dict(self.pairs.known)  # what is read here is not at hand where the ways meet
        for item in ins.data if ins.kind is Kind.STORE else ():
            if isinstance(item, Reg):
                fast.divergent.spill(item.name)
        lanes = "null" if pair.lanes is None else self.lanes_pointer(pair)
        fast.call("check_exactly", "void", "ptr %w", f"ptr {fast.divergent.record(number)}", f"i64 {base}", f"ptr {lanes}",
                  f"i32 {pair.bits // 8}")
        fast.values, self.pairs.known = before, known

    def lanes_pointer(self, pair):
        """Return where the lane part of a pair lies."""
        if pair.lanes[0] == "const":
            return self.constant_lanes(pair.lanes[1], pair.bits)
        return self.pairs.pointer(self.pairs.lanes_place(pair.lanes, pair.bits))

    def constant_lanes(self, values, bits):
        key = (values, bits)
        if key not in self.constants:
            text = ", ".join(f"i{bits} {v}" for v in values)
            self.constants[key] = f"@r{len(self.constants)} = internal constant [32 x i{bits}] [{text}], align 64"
        return self.constants[key].split(" ")[0]

    # -- notes -------------------------------------------------------------------------------------
    def note(self, group, number, base):
        """Write down an access, for the case that its words turn out to matter before the next barrier."""
        code, pair = self.code, group.pair
        place = self.worker("next_note")
        at = code.op(f"load ptr, ptr {place}")
        fixed = pair.lanes is None or pair.lanes[0] == "const"
        zero = (0,) * abi.LANES
        lanes = self.constant_lanes(pair.lanes[1] if pair.lanes else zero, pair.bits) if fixed else "null"
        size = ctypes.sizeof(abi.Note)
        index = code.op("load i32, ptr %p.index")
        warp = code.op(f"or i32 {index}, {1 << 31 if pair.bits == 64 else 0}")
        record = self.fast.divergent.record(number)
        sync = code.op("load i32, ptr %p.sync")
        for name, t, value in (("lanes", "ptr", lanes), ("base", "i64", base), ("access", "ptr", record), ("sync", "i32", sync),
                               ("warp", "i32", warp)):
            field = code.op(f"getelementptr i8, ptr {at}, i64 {abi.at(name, abi.Note)}")
            code.do(f"store {t} {value}, ptr {field}")
        if not fixed:
            t = f"<32 x i{pair.bits}>"
            value = code.op(f"load {t}, ptr {self.lanes_pointer(pair)}, align 64")
            behind = code.op(f"getelementptr i8, ptr {at}, i64 {size}")
            code.do(f"store {t} {value}, ptr {behind}, align 8")
            size += abi.LANES * pair.bits // 8
        following = code.op(f"getelementptr i8, ptr {at}, i64 {size}")
        code.do(f"store ptr {following}, ptr {place}")
        full, room = code.fresh("full"), code.fresh("room")
        limit = code.op(f"load ptr, ptr {self.worker('last_note')}")
        code.do(f"br i1 {code.op(f'icmp ugt ptr {following}, {limit}')}, label %{full}, label %{room}")
        code.label(full)
        self.fast.call("settle", "void", "ptr %worker")
        code.do(f"br label %{room}")
        code.label(room)


def distinct(group, size):
    """Say whether no two lanes of a store touch one word, as far as that is known beforehand."""
    lanes = group.pair.lanes
    if lanes is None or lanes[0] != "const":
        return False
    ordered = sorted(lanes[1])
    return all(b - a >= size for a, b in zip(ordered, ordered[1:]))
