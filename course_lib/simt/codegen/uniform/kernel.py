"""Uniform code of a kernel: for a whole warp whose lanes are together, many times faster than reference code.

Uniform registers are scalars, addresses are `u + V` (see affine.py), the rest are vectors. Between blocks every register
lives in memory, so that a warp can stop at any block: at a barrier, or to go on in reference code when its lanes diverge, when
an address is not what uniform code expects, or when an instruction is not known here. A chain of blocks is translated as
one; inside it a block may be left only at its beginning (`leave_unless`).
"""

from collections.abc import Sequence

from course_lib.simt.codegen.llvm import declarations
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.uniform import regions
from course_lib.simt.codegen.uniform.affine import UNIFORM, constant, is_split
from course_lib.simt.codegen.uniform.by_runtime import ByRuntime
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.divergent import DivergentRegions
from course_lib.simt.codegen.uniform.exits import Exits
from course_lib.simt.codegen.uniform.memory import MemoryGroups
from course_lib.simt.codegen.uniform.moves import Moves
from course_lib.simt.codegen.uniform.outline import Outline
from course_lib.simt.codegen.uniform.race import RaceSearch
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.codegen.uniform.roots import Roots, SplitValue
from course_lib.simt.codegen.uniform.split_arithmetic import SplitArithmetic
from course_lib.simt.codegen.uniform.sums import Sums
from course_lib.simt.isa.operations import OPS, compute
from course_lib.simt.passes.cfg import BY_RUNTIME, Block
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import ACCESSES, Instruction, Kind
from course_lib.simt.runtime import abi

HEADER = ("uniform", "registers", "functions", "params", "shared", "shared_bytes", "steps", "resume", "worker", "mask", "alive",
          "barrier", "block", "index", "sync")
WORKER = ("dynamic", "uniform_executed", "deopts", "executed", "threads", "sites")


class UniformGenerator:
    """Translates a Program; `text()` is IR that defines `i32 @uniform(ptr warp)`.

    Afterwards the `context` tells where registers live in the uniform memory of a warp and what each execution of an access
    adds to the counters, `chains` which blocks are counted together: head -> blocks that run through from it.
    """

    def __init__(self, program: Program, block: tuple[int, int, int], racecheck: bool = False) -> None:
        self.program, self.context = program, Context(program, block)
        self.kinds, self.code = self.context.kinds, self.context.code
        self.roots = Roots(self.context)
        self.registers = Registers(self.context, self.roots)
        self.exits = Exits(self.context, self.registers)
        self.outline = Outline(self.context.vector)
        self.sums = Sums(self.context)
        self.by_runtime = ByRuntime(self.context, self.registers)
        self.arithmetic = SplitArithmetic(self.context, self.registers, self.roots, self.exits)
        moves = Moves(self.context, self.roots)
        self.race = RaceSearch(self.context, self.registers, self.roots, moves) if racecheck else None
        self.memory = MemoryGroups(self.context, self.registers, self.roots, self.exits, moves, self.race)
        self.divergent = DivergentRegions(self.context, self.registers, self.roots, self.exits, self._instruction)
        self.chains = self._find_chains()

    def _find_chains(self):
        chains: dict[int, list[Block]] = {}
        by_index = {b.index: b for b in self.program.blocks}
        large, inside = len(self.program.blocks) > regions.LARGE, set()
        for block in self.program.blocks:
            if not (block.head and self._has(block)) or large and not block.loop or block.index in inside:
                continue
            chain = [block]
            while chain[-1].last is None and chain[-1].instructions[-1].kind is not Kind.BARRIER:
                following = by_index[chain[-1].successors[0]]
                if following.head and not following.continues or not self._has(following):
                    break
                chain.append(following)
                inside.add(following.index)
            chains[block.index] = chain
        return chains

    def _has(self, block):
        """Say whether a block is translated here; the search for hazards keeps notes that the runtime's own checks do not expect."""
        return block.uniform and not (block.by_runtime and self.race)

    # -- whole function ----------------------------------------------------------------------------
    def text(self) -> str:
        """Return the IR text."""
        code = self.code
        for head, chain in self.chains.items():
            code.label(f"b{head}")
            self._chain(head, chain)
        heads = " ".join(f"i32 {h}, label %b{h}" for h in self.chains)
        start = ["define i32 @uniform(ptr %w) nounwind {", "entry:"]
        start += [f"  %p.{f} = getelementptr i8, ptr %w, i64 {abi.at(f)}" for f in HEADER]
        start += [f"  %{f} = load ptr, ptr %p.{f}" for f in HEADER[:5]] + ["  %limit = load i64, ptr %p.shared_bytes",
                                                                          "  %worker = load ptr, ptr %p.worker"]
        for field in WORKER:
            start += [f"  %k.{field} = getelementptr i8, ptr %worker, i64 {abi.at(field, abi.Worker)}",
                      f"  %{field} = load ptr, ptr %k.{field}"]
        for i, name in enumerate(abi.FUNCTIONS):
            start += [f"  %q.{name} = getelementptr ptr, ptr %functions, i64 {i}", f"  %f.{name} = load ptr, ptr %q.{name}"]
        start += ["  %where = load i32, ptr %p.resume", f"  switch i32 %where, label %nowhere [ {heads} ]", "nowhere:",
                  "  unreachable" if self.chains else "  ret i32 0"]  # LLVM may leave nothing of a function that cannot run
        searching = self.race.constants.values() if self.race else ()
        outside = [*searching, access.declared(self.program), *self.memory.counting.constants.values(),
                   *self.context.records.values(), *self.outline.functions,
                   *self.by_runtime.constants.values()]
        body = "\n".join([*outside, *start, *code.lines, "}"])
        return body + "\n" + declarations(body)

    def _chain(self, head: int, blocks: Sequence[Block]) -> None:
        self.context.current = blocks[0]
        self.registers.forget()
        self.roots.forget()
        if self.race:
            self.race.begin()
        self.memory.plan(blocks)
        self.sums.plan(blocks)
        self.context.bump("uniform_executed", head, "1")
        self.exits.take_steps(sum(len(b.instructions) for b in blocks))
        for block in blocks:
            self.context.current = block
            for i, ins in enumerate(block.instructions):
                self._instruction(block, ins, block.first + i)
        last = blocks[-1]
        if last.last is None and last.instructions[-1].kind is not Kind.BARRIER:
            self.registers.save(regions.alive_behind(self.program, last))
            self._jump(last.successors[0])

    # -- instructions ------------------------------------------------------------------------------
    def _instruction(self, block: Block, ins: Instruction, number: int) -> None:
        if ins.kind is Kind.BRANCH:
            return self._branch(block, ins)
        if ins.kind is Kind.RETURN:
            self.code.do("store i32 0, ptr %p.alive")
            return self.code.do(f"ret i32 {abi.EXITED}")
        if ins.kind is Kind.FENCE:  # memory is in order anyway
            return
        if ins.kind is Kind.BARRIER:
            return self._barrier(block, number)
        if ins.kind in BY_RUNTIME:
            return self.by_runtime.emit(ins, number)
        if ins.kind in ACCESSES:
            together = self.context.active is None or {"param", "const"} & set(ins.opcode)
            return self.memory.access(ins, number) if together else self.divergent.access(ins, number)
        targets = ins.destinations
        kind = self.kinds.results(ins, number)[0] if targets else None
        pattern = self.kinds.known_pattern(ins)
        if pattern is not None:
            return self.registers.assign(targets[0], self._from_lane_zero(ins, pattern), number)
        if is_split(kind):
            return self.registers.assign(targets[0], self.arithmetic.compute(ins), number)
        self._compute(ins, number, kind == UNIFORM)

    def _compute(self, ins, number, uniform):
        """Emit arithmetic on scalars or on vectors."""
        results, wanted = OPS[ins.opcode[0]][0](ins)
        fetch = self.registers.scalar_value if uniform else self.registers.vector_value
        sources = [fetch(o, t) for o, t in zip(ins.inputs, wanted)]
        values = compute(self.code, ins, sources) if uniform else self.outline.compute(ins, sources)
        extend = "sext" if ins.opcode[0] == "cvt" and ins.opcode[-2][0] == "s" else "zext"
        place = self.sums.place(ins, number, self.registers.values)
        if place is not None:
            return self.registers.put_in_memory(ins.destinations[0], values[0], place)
        for register, value, t in zip(ins.destinations, values, results):
            self.registers.put(register, value, t, uniform, extend, number)

    def _from_lane_zero(self, ins, pattern):
        """A result whose pattern is known: its base is what lane 0 computes."""
        results, wanted = OPS[ins.opcode[0]][0](ins)
        bits = int(results[0][1:])
        values = [self.registers.lane_zero(o, t) for o, t in zip(ins.inputs, wanted)]
        return SplitValue(compute(self.code, ins, values)[0], constant(pattern, bits) if pattern.any() else None, bits)

    # -- control -----------------------------------------------------------------------------------
    def _jump(self, target):
        if target in self.chains:
            self.code.do(f"br label %b{target}")
        else:
            self.exits.depart(target)

    def _branch(self, block, ins):
        code = self.code
        self.registers.save(regions.alive_behind(self.program, block))
        if ins.guard is None:
            return self._jump(block.successors[0])
        yes, no = block.successors
        labels = [code.fresh("go") for _ in range(2)]
        if self.kinds.kind(ins.guard) == UNIFORM:
            code.do(f"br i1 {self.registers.scalar_value(ins.guard, 'i1')}, label %{labels[0]}, label %{labels[1]}")
        else:
            bits = code.op(f"bitcast <32 x i1> {self.registers.vector_value(ins.guard, 'i1')} to i32")
            diverged = code.fresh("diverged")
            code.do(f"switch i32 {bits}, label %{diverged} [ i32 -1, label %{labels[0]} i32 0, label %{labels[1]} ]")
            code.label(diverged)
            region = self.divergent.region(block)
            if region is not None and region.join in self.chains:
                self.divergent.emit(block, region, bits)
                self._jump(region.join)
            else:
                self.context.call("branch", "ptr %w", f"i32 {block.index}", f"i32 {yes}", f"i32 {no}", f"i32 {bits}")
                code.do(f"ret i32 {abi.DIVERGED}")
        for label, target in zip(labels, (yes, no)):
            code.label(label)
            self._jump(target)

    def _barrier(self, block, number):
        code = self.code
        self.registers.save(regions.alive_behind(self.program, block))
        code.do(f"store i32 {number}, ptr %p.barrier")
        if block.successors[0] in self.chains:
            code.do(f"store i32 {block.successors[0]}, ptr %p.resume")
            code.do(f"ret i32 {abi.BARRIER}")
        else:  # reference code goes on behind the barrier
            self.exits.depart(block.successors[0], abi.BARRIER_THEN_REFERENCE)
