"""Fast code for some lanes: the blocks of a region (regions.py), each under the mask of the lanes that come there.

Masks lie in the fast part of a warp's memory. A register that is `merged` keeps its old value in the other lanes; loads
and stores go through the runtime, which serves the active lanes alone. Everything is counted as masked code would.
"""

from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.uniform import regions
from course_lib.simt.codegen.uniform.affine import UNIFORM, VECTOR
from course_lib.simt.ptx.ir import Kind, Reg
from course_lib.simt.runtime import abi


class Divergent:
    """Emits regions for a Fast translator."""

    def __init__(self, fast):
        self.fast, self.code, self.program = fast, fast.scalar, fast.program
        self.records = {}
        self.way_out = None  # in a region: labels begin like this behind which lanes wait at a block and at those that follow

    def region(self, start):
        """Return the Region of a branch if fast code can run it, else None."""
        region = self.fast.kinds.regions.get(start.index)
        usable = region is not None and region.join in self.fast.chains
        return region if usable and regions.usable(self.program, start, region, self.fast.kinds.kinds) else None

    # -- masks -------------------------------------------------------------------------------------
    def mask_place(self, block):
        return self.fast.pairs.pointer(self.fast.place(("mask", block), 4, 4))

    def arrive(self, block, lanes):
        """Let more lanes wait at a block."""
        place = self.mask_place(block)
        before = self.code.op(f"load i32, ptr {place}")
        self.code.do(f"store i32 {self.code.op(f'or i32 {before}, {lanes}')}, ptr {place}")

    def part(self, block, taken, stay):
        """Send lanes both ways; count the branch as divergent when there are some for each."""
        yes, no = block.successors
        self.arrive(yes, taken)
        self.arrive(no, stay)
        both = self.code.op(f"and i1 {self.code.op(f'icmp ne i32 {taken}, 0')}, {self.code.op(f'icmp ne i32 {stay}, 0')}")
        self.fast.bump("deopts", 2 * block.index + 1, self.code.op(f"zext i1 {both} to i64"))

    def popcount(self, mask):
        return self.code.op(f"zext i32 {self.code.op(f'call i32 @llvm.ctpop.i32(i32 {mask})')} to i64")

    # -- blocks ------------------------------------------------------------------------------------
    def emit(self, start, region, bits):
        """Run a region for the lanes that `bits` sends to the first successor and the others; then all go on at the join."""
        fast, code = self.fast, self.code
        before = dict(fast.values)
        for index in (*(b.index for b in region.blocks), region.join):
            code.do(f"store i32 0, ptr {self.mask_place(index)}")
        self.part(start, bits, code.op(f"xor i32 {bits}, -1"))
        written, self.way_out = set(), code.fresh("wait")
        for block in region.blocks:
            run, behind = code.fresh("some"), code.fresh("behind")
            mask = code.op(f"load i32, ptr {self.mask_place(block.index)}")
            code.do(f"br i1 {code.op(f'icmp eq i32 {mask}, 0')}, label %{behind}, label %{run}")
            code.label(run)
            fast.values = {n: v for n, v in before.items() if n not in written}
            self.block(block, mask)
            code.do(f"br label %{behind}")
            code.label(behind)
            written |= {r.name for ins in block.instructions for r in ins.destinations}
        joined = code.fresh("joined")
        code.do(f"br label %{joined}")
        self.hand_over(region)
        code.label(joined)
        code.do("store i32 -1, ptr %p.mask")
        fast.active, fast.current, fast.values = None, start, before

    def block(self, block, mask):
        """Run one block for the lanes of `mask`."""
        fast, code = self.fast, self.code
        fast.active, fast.current, fast.dirty = mask, block, set()
        fast.pairs.forget()
        fast.take_steps(len(block.instructions))
        fast.bump("executed", block.index, 1)
        fast.bump("threads", block.index, self.popcount(mask))
        for i, ins in enumerate(block.instructions):
            if ins.kind is not Kind.BRANCH:
                fast.instruction(block, ins, block.first + i)
        last, taken = block.last, mask
        if last is not None and last.guard is not None:
            guard = code.op(f"bitcast <32 x i1> {fast.vector_value(last.guard, 'i1')} to i32")
            taken = code.op(f"and i32 {guard}, {mask}")
            fast.save(fast.live_out(block))
            self.part(block, taken, code.op(f"and i32 {code.op(f'xor i32 {guard}, -1')}, {mask}"))
            return
        fast.save(fast.live_out(block))
        self.arrive(block.successors[0], mask)

    def leave(self):
        """Hand over to masked code at the start of the current block."""
        self.code.do(f"br label %{self.way_out}.{self.fast.current.index}")

    def hand_over(self, region):
        """The way out of a region: the lanes of a block, of those behind it and of the join wait there for masked code."""
        for i, index in enumerate((*(b.index for b in region.blocks), region.join)):
            if i:
                self.code.do(f"br label %{self.way_out}.{index}")
            self.code.label(f"{self.way_out}.{index}")
            mask = self.code.op(f"load i32, ptr {self.mask_place(index)}")
            self.fast.call("wait_lanes", "void", "ptr %w", f"i32 {index}", f"i32 {mask}")
        self.code.do(f"ret i32 {abi.DIVERGED}")

    # -- memory ------------------------------------------------------------------------------------
    def access(self, ins, number):
        """Have the runtime carry out a load or store for the active lanes; it works on the register file."""
        fast, code, store = self.fast, self.code, ins.kind is Kind.STORE
        for operand in (ins.address.base, *(ins.data if store else ())):
            if isinstance(operand, Reg):
                self.spill(operand.name)
        code.do(f"store i32 {fast.active}, ptr %p.mask")
        failed = access.call(code, self.program, number, self.record(number), "%sites")
        bad, good = code.fresh("failed"), code.fresh("good")
        code.do(f"br i1 {code.op(f'icmp ne i32 {failed}, 0')}, label %{bad}, label %{good}")
        code.label(bad)
        code.do(f"ret i32 {abi.FAILED}")
        code.label(good)
        for item in () if store else ins.data:
            if isinstance(item, Reg) and item.name != "_":
                self.loaded(item.name)

    def spill(self, name):
        """Write a register's lanes to the register file."""
        kind, t = self.fast.kinds.kinds[name], self.program.slots[name][1]
        if kind == VECTOR:
            if name in self.fast.dirty:
                self.fast.store(name, self.fast.values[name])
            return
        value = self.fast.read(name)
        lanes = self.fast.spread(value, t) if kind == UNIFORM else self.fast.pairs.full(value)
        self.code.do(f"store <32 x {t}> {lanes}, ptr {self.fast.slot(name)[0]}, align 64")

    def loaded(self, name):
        """Take over a register that the runtime has written."""
        fast, code = self.fast, self.code
        fast.values.pop(name, None)
        fast.dirty.discard(name)
        if fast.kinds.kinds[name] == UNIFORM:
            place, t = fast.slot(name)
            lane = code.op(f"call i32 @llvm.cttz.i32(i32 {fast.active}, i1 true)")
            fast.values[name] = code.op(f"load {t}, ptr {code.op(f'getelementptr {t}, ptr {place}, i32 {lane}')}")
            fast.dirty.add(name)

    def record(self, number):
        """Return the name of the constant that describes an access to the runtime."""
        if number not in self.records:
            text = "".join(f"\\{b:02x}" for b in bytes(self.program.accesses[number]))
            self.records[number] = f'@a{number} = internal constant [{len(text) // 3} x i8] c"{text}", align 8'
        return f"@a{number}"
