"""Kernel code for a whole warp whose lanes are together: most of the time, and many times faster than lanes.py.

Uniform registers are scalars, addresses are `u + V` (see affine.py), the rest are vectors. Between blocks every register
lives in memory, so that a warp can stop at any block: at a barrier, or to go on in masked code when its lanes part, when
an address is not what fast code expects, or when an instruction is not known here. A chain of blocks is translated as
one; inside it a block may be left only at its beginning (`leave_unless`).
"""

from course_lib.simt.codegen.llvm import Code, declarations
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.uniform import regions
from course_lib.simt.codegen.uniform.affine import UNIFORM, VECTOR, Analysis, constant
from course_lib.simt.codegen.uniform.divergent import Divergent
from course_lib.simt.codegen.uniform.memory import MemoryGroups
from course_lib.simt.codegen.uniform.pairs import Pair, Pairs
from course_lib.simt.codegen.uniform.race import Race
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.isa.operations import OPS, compute
from course_lib.simt.ptx.ir import ACCESSES, Kind
from course_lib.simt.runtime import abi

HEADER = ("fast", "registers", "functions", "params", "shared", "shared_bytes", "steps", "resume", "worker", "mask", "alive",
          "barrier", "block", "index", "sync")
WORKER = ("dynamic", "fast_executed", "deopts", "executed", "threads", "sites")


class Fast(Registers):
    """Translates a Program; `text()` is IR that defines `i32 @fast(ptr warp)`.

    Afterwards `places` tells where registers live in the fast part of a warp, `static` what each execution of an access
    adds to the counters, and `chains` which blocks are counted together.
    """

    def __init__(self, program, block, racecheck=False):
        self.program, self.kinds = program, Analysis(program, block)
        self.scalar = Code(lanes=None)
        self.vector = Code(shared=self.scalar)
        self.nbytes, self.places, self.static = 0, {}, {}
        self.values, self.dirty, self.current, self.active = {}, set(), None, None
        self.pairs = Pairs(self)
        self.memory = MemoryGroups(self)
        self.divergent = Divergent(self)
        self.race = Race(self) if racecheck else None
        self.chains = self.find_chains()

    def find_chains(self):
        """Return head block -> blocks that run through from it in fast code."""
        chains, by_index = {}, {b.index: b for b in self.program.blocks}
        large = len(self.program.blocks) > regions.LARGE
        for block in self.program.blocks:
            if not (block.head and block.uniform) or large and not block.loop:
                continue
            chain = [block]
            while chain[-1].last is None and chain[-1].instructions[-1].kind is not Kind.BARRIER:
                following = by_index[chain[-1].successors[0]]
                if following.head or not following.uniform:
                    break
                chain.append(following)
            chains[block.index] = chain
        return chains

    def place(self, key, nbytes, align=8):
        """Return the offset of something kept in the fast part of a warp's memory."""
        if key not in self.places:
            self.nbytes = -(-self.nbytes // align) * align
            self.places[key] = self.nbytes
            self.nbytes += nbytes
        return self.places[key]

    # -- whole function ----------------------------------------------------------------------------
    def text(self):
        code = self.scalar
        for head, chain in self.chains.items():
            code.label(f"b{head}")
            self.chain(head, chain)
        heads = " ".join(f"i32 {h}, label %b{h}" for h in self.chains)
        start = ["define i32 @fast(ptr %w) nounwind {", "entry:"]
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
        outside = [*searching, access.declared(self.program), *self.memory.constants.values(), *self.divergent.records.values()]
        body = "\n".join([*outside, *start, *code.lines, "}"])
        return body + "\n" + declarations(body)

    def chain(self, head, blocks):
        self.values, self.dirty, self.current = {}, set(), blocks[0]
        self.pairs.forget()
        if self.race:
            self.race.begin()
        self.memory.plan(blocks)
        size = sum(len(b.instructions) for b in blocks)
        self.bump("fast_executed", head, 1)
        self.take_steps(size)
        for block in blocks:
            self.current = block
            for i, ins in enumerate(block.instructions):
                self.instruction(block, ins, block.first + i)
        last = blocks[-1]
        if last.last is None and last.instructions[-1].kind is not Kind.BARRIER:
            self.save(self.live_out(last))
            self.jump(last, last.successors[0])

    def take_steps(self, count):
        """Take instructions off the warp's budget; masked code reports the end of it."""
        code = self.scalar
        left = code.op(f"sub i64 {code.op('load i64, ptr %p.steps')}, {count}")
        self.leave_unless(code.op(f"icmp sge i64 {left}, 0"))
        code.do(f"store i64 {left}, ptr %p.steps")

    def bump(self, array, index, amount):
        """Add to one of the worker's counters, 8 bytes each."""
        code = self.scalar
        place = code.op(f"getelementptr i64, ptr %{array}, i64 {index}")
        before = code.op(f"load i64, ptr {place}")
        code.do(f"store i64 {code.op(f'add i64 {before}, {amount}')}, ptr {place}")

    def call(self, function, result, *arguments):
        """Call a function of the runtime, marked as rarely needed."""
        text = f"call {result} %f.{function}({', '.join(arguments)}) cold"
        return self.scalar.do(text) if result == "void" else self.scalar.op(text)

    def leave_unless(self, ok):
        """Go on in masked code at the start of the current block, unless `ok`."""
        code = self.scalar
        stay, leave = code.fresh("stay"), code.fresh("leave")
        code.do(f"br i1 {ok}, label %{stay}, label %{leave}")
        code.label(leave)
        if self.active is not None:
            self.divergent.leave()
        else:
            self.save(self.current.live_in, final=False)
            self.bump("deopts", 2 * self.current.index, 1)
            self.depart(self.current.index)
        code.label(stay)

    def depart(self, block, status=abi.DIVERGED):
        """Return to the runtime; all lanes go on at `block` in masked code."""
        self.call("branch", "void", "ptr %w", f"i32 {block}", f"i32 {block}", f"i32 {block}", "i32 -1")
        self.scalar.do(f"ret i32 {status}")

    # -- instructions ------------------------------------------------------------------------------
    def instruction(self, block, ins, number):
        name = ins.opcode[0]
        if ins.kind is Kind.BRANCH:
            return self.branch(block, ins)
        if ins.kind is Kind.RETURN:
            self.scalar.do("store i32 0, ptr %p.alive")
            return self.scalar.do(f"ret i32 {abi.EXITED}")
        if ins.kind is Kind.FENCE:  # memory is in order anyway
            return
        if ins.kind is Kind.BARRIER:
            return self.barrier(block, number)
        if ins.kind in ACCESSES:
            where = self.memory if self.active is None or {"param", "const"} & set(ins.opcode) else self.divergent
            return where.access(ins, number)
        kinds = self.kinds.results(ins, number)
        targets = ins.destinations
        if targets and self.kinds.is_known(ins):
            return self.assign(targets[0], self.from_lane_zero(ins), number)
        if targets and kinds[0][0] == "S":
            return self.assign(targets[0], self.pairs.compute(ins), number)
        results, wanted = OPS[name][0](ins)
        uniform = kinds and kinds[0] == UNIFORM
        fetch, code = (self.scalar_value, self.scalar) if uniform else (self.vector_value, self.vector)
        values = compute(code, ins, [fetch(o, t) for o, t in zip(ins.inputs, wanted)])
        extend = "sext" if name == "cvt" and ins.opcode[-2][0] == "s" else "zext"
        for register, value, t in zip(targets, values, results):
            self.put(register, value, t, uniform, extend, number)

    def from_lane_zero(self, ins):
        """A result whose pattern is known: its base is what lane 0 computes."""
        results, wanted = OPS[ins.opcode[0]][0](ins)
        bits = int(results[0][1:])
        pattern = self.kinds.known.pattern(ins.destinations[0].name)
        values = [self.lane_zero(o, t) for o, t in zip(ins.inputs, wanted)]
        return Pair(compute(self.scalar, ins, values)[0], constant(pattern, bits) if pattern.any() else None, bits)

    def lane_zero(self, operand, wanted):
        """Return an operand's value in lane 0."""
        kind = self.kinds.kind(operand)
        if kind == UNIFORM:
            return self.scalar_value(operand, wanted)
        value, t = self.read(operand.name), self.program.slots[operand.name][1]
        value = self.scalar.op(f"extractelement <32 x {t}> {value}, i32 0") if kind == VECTOR else self.pairs.first(value)
        return self.fit(self.scalar, value, t, wanted, operand.negated)

    def put(self, register, value, given, uniform, extend, number):
        """Assign a computed scalar or vector to a register, whose own kind may be wider."""
        kind, t = self.kinds.kinds[register.name], self.program.slots[register.name][1]
        if given != t:
            code = self.scalar if uniform else self.vector
            value = code.cast("trunc" if int(given[1:]) > int(t[1:]) else extend, given, value, t)
        if uniform and kind == VECTOR:
            value = self.spread(value, t)
        elif uniform and kind[0] == "S":
            return self.assign(register, Pair(value, None, int(t[1:])), number)
        self.values[register.name] = value
        self.dirty.add(register.name)

    def assign(self, register, pair, number):
        """Assign a Pair; its lanes are stored when the register's root is written here."""
        kind = self.kinds.kinds[register.name]
        if kind == UNIFORM:
            self.values[register.name] = pair.u
        elif kind == VECTOR:
            self.values[register.name] = self.pairs.full(pair)
        else:
            if self.kinds.writes(kind[1], register.name, number):
                self.pairs.update_root(kind[1], pair)
            self.values[register.name] = Pair(pair.u, kind[1], pair.bits)
        self.dirty.add(register.name)

    # -- control -----------------------------------------------------------------------------------
    def jump(self, block, target):
        if target in self.chains:
            self.scalar.do(f"br label %b{target}")
        else:
            self.depart(target)

    def branch(self, block, ins):
        code = self.scalar
        self.save(self.live_out(block))
        if ins.guard is None:
            return self.jump(block, block.successors[0])
        yes, no = block.successors
        labels = [code.fresh("go") for _ in range(2)]
        if self.kinds.kind(ins.guard) == UNIFORM:
            code.do(f"br i1 {self.scalar_value(ins.guard, 'i1')}, label %{labels[0]}, label %{labels[1]}")
        else:
            bits = code.op(f"bitcast <32 x i1> {self.vector_value(ins.guard, 'i1')} to i32")
            apart = code.fresh("apart")
            code.do(f"switch i32 {bits}, label %{apart} [ i32 -1, label %{labels[0]} i32 0, label %{labels[1]} ]")
            code.label(apart)
            region = self.divergent.region(block)
            if region is not None:
                self.divergent.emit(block, region, bits)
                self.jump(block, region.join)
            else:
                self.call("branch", "void", "ptr %w", f"i32 {block.index}", f"i32 {yes}", f"i32 {no}", f"i32 {bits}")
                code.do(f"ret i32 {abi.DIVERGED}")
        for label, target in zip(labels, (yes, no)):
            code.label(label)
            self.jump(block, target)

    def barrier(self, block, number):
        code = self.scalar
        self.save(self.live_out(block))
        code.do(f"store i32 {number}, ptr %p.barrier")
        if block.successors[0] in self.chains:
            code.do(f"store i32 {block.successors[0]}, ptr %p.resume")
            code.do(f"ret i32 {abi.BARRIER}")
        else:  # masked code goes on behind the barrier
            self.depart(block.successors[0], abi.PARTED)
