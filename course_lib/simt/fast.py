"""Kernel code for a whole warp whose lanes are together: most of the time, and many times faster than lanes.py.

Uniform registers are scalars, addresses are `u + V` (see affine.py), the rest are vectors. Between blocks every register
lives in memory, so that a warp can stop at any block: at a barrier, or to go on in masked code when its lanes part, when
an address is not what fast code expects, or when an instruction is not known here. A chain of blocks is translated as
one; inside it a block may be left only at its beginning (`leave_unless`).
"""

from course_lib.simt import cfg, layout
from course_lib.simt.affine import UNIFORM, VECTOR, Analysis, constant
from course_lib.simt.code import Code, declarations
from course_lib.simt.fast_memory import MemoryGroups
from course_lib.simt.instruction import Imm
from course_lib.simt.ops import OPS, compute
from course_lib.simt.pairs import Pair, Pairs
from course_lib.simt.program import SPECIAL

HEADER = ("fast", "registers", "functions", "params", "shared", "shared_bytes", "steps", "resume", "worker", "mask", "alive",
          "barrier", "block")
WORKER = ("dynamic", "fast_executed", "deopts")
LARGE = 150  # blocks of code; beyond this only loops are worth the time that LLVM takes for fast code


class Fast:
    """Translates a Program; `text()` is IR that defines `i32 @fast(ptr warp)`.

    Afterwards `places` tells where registers live in the fast part of a warp, `static` what each execution of an access
    adds to the counters, and `chains` which blocks are counted together.
    """

    def __init__(self, program, block):
        self.program, self.kinds = program, Analysis(program, block)
        self.scalar = Code(lanes=None)
        self.vector = Code(shared=self.scalar)
        self.nbytes, self.places, self.static = 0, {}, {}
        self.values, self.dirty, self.current = {}, set(), None
        self.pairs = Pairs(self)
        self.memory = MemoryGroups(self)
        self.chains = self.find_chains()

    def find_chains(self):
        """Return head block -> blocks that run through from it in fast code."""
        chains, by_index = {}, {b.index: b for b in self.program.blocks}
        large = len(self.program.blocks) > LARGE
        for block in self.program.blocks:
            if not (block.head and block.fast) or large and not block.loop:
                continue
            chain = [block]
            while chain[-1].last is None and not cfg.is_barrier(chain[-1].instructions[-1]):
                following = by_index[chain[-1].successors[0]]
                if following.head or not following.fast:
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
        start += [f"  %p.{f} = getelementptr i8, ptr %w, i64 {layout.at(f)}" for f in HEADER]
        start += [f"  %{f} = load ptr, ptr %p.{f}" for f in HEADER[:5]] + ["  %limit = load i64, ptr %p.shared_bytes",
                                                                          "  %worker = load ptr, ptr %p.worker"]
        for field in WORKER:
            start += [f"  %k.{field} = getelementptr i8, ptr %worker, i64 {layout.at(field, layout.Worker)}",
                      f"  %{field} = load ptr, ptr %k.{field}"]
        for i, name in enumerate(layout.FUNCTIONS):
            start += [f"  %q.{name} = getelementptr ptr, ptr %functions, i64 {i}", f"  %f.{name} = load ptr, ptr %q.{name}"]
        start += ["  %where = load i32, ptr %p.resume", f"  switch i32 %where, label %nowhere [ {heads} ]", "nowhere:",
                  "  unreachable"]
        body = "\n".join([*self.memory.constants.values(), *start, *code.lines, "}"])
        return body + "\n" + declarations(body)

    def chain(self, head, blocks):
        code = self.scalar
        self.values, self.dirty, self.current = {}, set(), blocks[0]
        self.pairs.forget()
        self.memory.plan(blocks)
        size = sum(len(b.instructions) for b in blocks)
        self.bump("fast_executed", head, 1)
        steps = code.op("load i64, ptr %p.steps")
        left = code.op(f"sub i64 {steps}, {size}")
        self.leave_unless(code.op(f"icmp sge i64 {left}, 0"))
        code.do(f"store i64 {left}, ptr %p.steps")
        for block in blocks:
            self.current = block
            for i, ins in enumerate(block.instructions):
                self.instruction(block, ins, block.first + i)
        last = blocks[-1]
        if last.last is None and not cfg.is_barrier(last.instructions[-1]):
            self.save(self.live_out(last))
            self.jump(last, last.successors[0])

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
        self.save(self.current.live_in, final=False)
        self.bump("deopts", 2 * self.current.index, 1)
        self.depart(self.current.index)
        code.label(stay)

    def depart(self, block):
        """Return to the runtime; all lanes go on at `block` in masked code."""
        self.call("branch", "void", "ptr %w", f"i32 {block}", f"i32 {block}", f"i32 {block}", "i32 -1")
        self.scalar.do(f"ret i32 {layout.DIVERGED}")

    # -- registers ---------------------------------------------------------------------------------
    def save(self, alive, final=True):
        """Write the registers that this chain changed and that are still needed to memory."""
        for name in sorted(self.dirty & set(alive)):
            self.store(name, self.values[name])
        if final:
            self.dirty = set()

    def live_out(self, block):
        return frozenset().union(*(self.program.blocks[s].live_in for s in block.successors))

    def slot(self, name):
        """Return (pointer into the register file, type) of a register."""
        offset, t = self.program.slots[name]
        return self.scalar.op(f"getelementptr i8, ptr %registers, i64 {offset}"), t

    def uniform_place(self, name):
        if name in SPECIAL[:3]:
            return self.scalar.op(f"getelementptr i8, ptr %p.block, i64 {4 * SPECIAL.index(name)}")
        return self.scalar.op(f"getelementptr i8, ptr %fast, i64 {self.place(('u', name), 8)}")

    def read(self, name):
        """Return a register's value: a scalar name, a Pair or a vector name, by its kind."""
        if name not in self.values:
            kind, t, code = self.kinds.kinds[name], self.program.slots[name][1], self.scalar
            if kind == VECTOR:
                pointer = self.slot(name)[0]
                if t == "i1":
                    value = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
                else:
                    value = code.op(f"load <32 x {t}>, ptr {pointer}, align 64")
            else:
                value = code.op(f"load {t}, ptr {self.uniform_place(name)}")
                if kind != UNIFORM:
                    value = Pair(value, kind[1], int(t[1:]))
            self.values[name] = value
        return self.values[name]

    def store(self, name, value):
        kind, t, code = self.kinds.kinds[name], self.program.slots[name][1], self.scalar
        if kind == VECTOR:
            pointer = self.slot(name)[0]
            if t == "i1":
                code.do(f"store i32 {code.op(f'bitcast <32 x i1> {value} to i32')}, ptr {pointer}")
            else:
                code.do(f"store <32 x {t}> {value}, ptr {pointer}, align 64")
            return
        scalar = value.u if isinstance(value, Pair) else value
        if t == "i1":
            scalar, t = code.op(f"zext i1 {scalar} to i64"), "i64"
        code.do(f"store {t} {scalar}, ptr {self.uniform_place(name)}")

    def scalar_value(self, operand, wanted):
        """Return a uniform operand as a scalar of type `wanted`."""
        if isinstance(operand, Imm):
            if wanted in ("i1", "imm"):
                return str(operand.value) if wanted == "imm" else ("true" if operand.value else "false")
            return str(operand.value & ((1 << int(wanted[1:])) - 1))
        value, t = self.read(operand.name), self.program.slots[operand.name][1]
        return self.fit(self.scalar, value, t, wanted, operand.negated)

    def vector_value(self, operand, wanted):
        """Return any operand as 32 lanes of type `wanted`."""
        if isinstance(operand, Imm):
            text = self.scalar_value(operand, wanted)
            return text if wanted == "imm" else self.vector.const(wanted, text)
        t, kind = self.program.slots[operand.name][1], self.kinds.kind(operand)
        value = self.read(operand.name)
        if kind == UNIFORM:
            value = self.spread(value, t)
        elif kind != VECTOR:
            value = self.pairs.full(value)
        return self.fit(self.vector, value, t, wanted, operand.negated)

    @staticmethod
    def fit(code, value, t, wanted, negated=False):
        if negated:
            return code.binary("xor", "i1", value, code.const("i1", "true"))
        if wanted in (t, "imm"):
            return value
        return code.cast("trunc" if int(t[1:]) > int(wanted[1:]) else "zext", t, value, wanted)

    def spread(self, value, t):
        """Copy a scalar into all lanes."""
        first = self.scalar.op(f"insertelement <32 x {t}> poison, {t} {value}, i32 0")
        return self.scalar.op(f"shufflevector <32 x {t}> {first}, <32 x {t}> poison, <32 x i32> zeroinitializer")

    # -- instructions ------------------------------------------------------------------------------
    def instruction(self, block, ins, number):
        name = ins.opcode[0]
        if name == "bra":
            return self.branch(block, ins)
        if name in ("ret", "exit"):
            self.scalar.do("store i32 0, ptr %p.alive")
            return self.scalar.do(f"ret i32 {layout.EXITED}")
        if cfg.is_barrier(ins):
            return self.barrier(block, number)
        if name in ("ld", "ldu", "st"):
            return self.memory.access(ins, number)
        kinds = self.kinds.results(ins, number)
        targets = cfg.destinations(ins)
        if targets and self.kinds.is_known(ins):
            return self.assign(targets[0], self.from_lane_zero(ins), number)
        if targets and kinds[0][0] == "S":
            return self.assign(targets[0], self.pairs.compute(ins), number)
        results, wanted = OPS[name][0](ins)
        uniform = kinds and kinds[0] == UNIFORM
        fetch, code = (self.scalar_value, self.scalar) if uniform else (self.vector_value, self.vector)
        values = compute(code, ins, [fetch(o, t) for o, t in zip(cfg.inputs(ins), wanted)])
        extend = "sext" if name == "cvt" and ins.opcode[-2][0] == "s" else "zext"
        for register, value, t in zip(targets, values, results):
            self.put(register, value, t, uniform, extend, number)

    def from_lane_zero(self, ins):
        """A result whose pattern is known: its base is what lane 0 computes."""
        results, wanted = OPS[ins.opcode[0]][0](ins)
        bits = int(results[0][1:])
        pattern = self.kinds.known.pattern(cfg.destinations(ins)[0].name)
        values = [self.lane_zero(o, t) for o, t in zip(cfg.inputs(ins), wanted)]
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
            self.call("branch", "void", "ptr %w", f"i32 {block.index}", f"i32 {yes}", f"i32 {no}", f"i32 {bits}")
            code.do(f"ret i32 {layout.DIVERGED}")
        for label, target in zip(labels, (yes, no)):
            code.label(label)
            self.jump(block, target)

    def barrier(self, block, number):
        code = self.scalar
        self.save(self.live_out(block))
        code.do(f"store i32 {number}, ptr %p.barrier")
        if block.successors[0] in self.chains:
            code.do(f"store i32 {block.successors[0]}, ptr %p.resume")
            code.do(f"ret i32 {layout.BARRIER}")
        else:  # masked code does the waiting
            self.depart(block.successors[0])
