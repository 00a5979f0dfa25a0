"""Uniform code for some lanes: the blocks of a region (regions.py), each under the mask of the lanes that come there.

Masks lie in the uniform memory of a warp. A register that is `merged` keeps its old value in the other lanes; loads and stores go
through the runtime, which serves the active lanes alone. Everything is counted as reference code would.
"""

from collections.abc import Callable

from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.uniform import regions
from course_lib.simt.codegen.uniform.affine import UNIFORM
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.exits import Exits
from course_lib.simt.codegen.uniform.regions import Region
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.codegen.uniform.roots import Roots
from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import Instruction, Kind, Reg
from course_lib.simt.runtime import abi


class DivergentRegions:
    """Emits regions; `instruction` emits one instruction that is no branch."""

    def __init__(self, context: Context, registers: Registers, roots: Roots, exits: Exits,
                 instruction: Callable[[Block, Instruction, int], None]) -> None:
        self.context, self.code, self.program = context, context.code, context.program
        self.registers, self.roots, self.exits, self.instruction = registers, roots, exits, instruction

    def region(self, start: Block) -> Region | None:
        """Return the Region of a branch if it can run here, else None."""
        kinds = self.context.kinds
        region = kinds.regions.get(start.index)
        return region if region is not None and regions.usable(self.program, start, region, kinds.kinds) else None

    # -- masks -------------------------------------------------------------------------------------
    def _mask_pointer(self, block):
        return self.context.pointer(self.context.allocate(("mask", block), 4, 4))

    def _arrive(self, block, lanes):
        """Let more lanes wait at a block."""
        place = self._mask_pointer(block)
        before = self.code.op(f"load i32, ptr {place}")
        self.code.do(f"store i32 {self.code.op(f'or i32 {before}, {lanes}')}, ptr {place}")

    def _diverge(self, block, taken, stay):
        """Send lanes to both successors; count the branch as divergent when there are some for each."""
        yes, no = block.successors
        self._arrive(yes, taken)
        self._arrive(no, stay)
        both = self.code.op(f"and i1 {self.code.op(f'icmp ne i32 {taken}, 0')}, {self.code.op(f'icmp ne i32 {stay}, 0')}")
        self.context.bump("deopts", 2 * block.index + 1, self.code.op(f"zext i1 {both} to i64"))

    def _popcount(self, mask):
        return self.code.op(f"zext i32 {self.code.op(f'call i32 @llvm.ctpop.i32(i32 {mask})')} to i64")

    # -- blocks ------------------------------------------------------------------------------------
    def emit(self, start: Block, region: Region, bits: str) -> None:
        """Run a region for the lanes that `bits` sends to the first successor and the others; then all go on at the join."""
        context, registers, code = self.context, self.registers, self.code
        before = dict(registers.values)
        for index in (*(b.index for b in region.blocks), region.join):
            code.do(f"store i32 0, ptr {self._mask_pointer(index)}")
        self._diverge(start, bits, code.op(f"xor i32 {bits}, -1"))
        written: set[str] = set()
        context.region_exit = code.fresh("wait")
        for block in region.blocks:
            run, behind = code.fresh("some"), code.fresh("behind")
            mask = code.op(f"load i32, ptr {self._mask_pointer(block.index)}")
            code.do(f"br i1 {code.op(f'icmp eq i32 {mask}, 0')}, label %{behind}, label %{run}")
            code.label(run)
            registers.values = {n: v for n, v in before.items() if n not in written}
            self._block(block, mask)
            code.do(f"br label %{behind}")
            code.label(behind)
            written |= {r.name for ins in block.instructions for r in ins.destinations}
        joined = code.fresh("joined")
        code.do(f"br label %{joined}")
        self._hand_over(region)
        code.label(joined)
        code.do("store i32 -1, ptr %p.mask")
        context.active = context.region_exit = None
        context.current, registers.values = start, before

    def _block(self, block, mask):
        """Run one block for the lanes of `mask`."""
        context, registers, code = self.context, self.registers, self.code
        context.active, context.current, registers.dirty = mask, block, set()
        self.roots.forget()
        self.exits.take_steps(len(block.instructions))
        context.bump("executed", block.index, "1")
        context.bump("threads", block.index, self._popcount(mask))
        for i, ins in enumerate(block.instructions):
            if ins.kind is not Kind.BRANCH:
                self.instruction(block, ins, block.first + i)
        last = block.last
        if last is not None and last.guard is not None:
            guard = code.op(f"bitcast <32 x i1> {registers.vector_value(last.guard, 'i1')} to i32")
            taken = code.op(f"and i32 {guard}, {mask}")
            registers.save(regions.alive_behind(self.program, block))
            self._diverge(block, taken, code.op(f"and i32 {code.op(f'xor i32 {guard}, -1')}, {mask}"))
            return
        registers.save(regions.alive_behind(self.program, block))
        self._arrive(block.successors[0], mask)

    def _hand_over(self, region):
        """The exit of a region: the lanes of a block, of those behind it and of the join wait there for reference code."""
        for i, index in enumerate((*(b.index for b in region.blocks), region.join)):
            if i:
                self.code.do(f"br label %{self.context.region_exit}.{index}")
            self.code.label(f"{self.context.region_exit}.{index}")
            mask = self.code.op(f"load i32, ptr {self._mask_pointer(index)}")
            self.context.call("wait_lanes", "ptr %w", f"i32 {index}", f"i32 {mask}")
        self.code.do(f"ret i32 {abi.DIVERGED}")

    # -- memory ------------------------------------------------------------------------------------
    def access(self, ins: Instruction, number: int) -> None:
        """Have the runtime carry out a load or store for the active lanes; it works on the register file."""
        code, store = self.code, ins.kind is Kind.STORE
        for operand in (ins.address.base, *(ins.data if store else ())):
            if isinstance(operand, Reg):
                self.registers.spill(operand.name)
        code.do(f"store i32 {self.context.active}, ptr %p.mask")
        failed = access.call(code, self.program, number, self.context.record(number), "%sites")
        bad, good = code.fresh("failed"), code.fresh("good")
        code.do(f"br i1 {code.op(f'icmp ne i32 {failed}, 0')}, label %{bad}, label %{good}")
        code.label(bad)
        code.do(f"ret i32 {abi.FAILED}")
        code.label(good)
        for item in () if store else ins.data:
            if isinstance(item, Reg) and item.name != "_":
                self._loaded(item.name)

    def _loaded(self, name):
        """Take over a register that the runtime has written."""
        registers, code = self.registers, self.code
        registers.values.pop(name, None)
        registers.dirty.discard(name)
        registers.spilled.discard(name)
        if self.context.kinds.of(name) == UNIFORM:
            place, t = self.context.slot(name)
            lane = code.op(f"call i32 @llvm.cttz.i32(i32 {self.context.active}, i1 true)")
            registers.values[name] = code.op(f"load {t}, ptr {code.op(f'getelementptr {t}, ptr {place}, i32 {lane}')}")
            registers.dirty.add(name)
