"""Kernel code that runs any set of a warp's lanes: complete, and the reference for the fast path.

Each register is a vector of 32 values in memory. Each instruction is a call to a small function made for its opcode,
which computes all lanes and keeps the result in the active ones. Loads, stores, counting and control are the runtime's.
"""

from course_lib.simt import cfg, lane_access, layout
from course_lib.simt.code import Code, declarations
from course_lib.simt.instruction import Imm, Reg, Vec, type_bytes
from course_lib.simt.ops import OPS, compute
from course_lib.simt.program import is_memory
from course_lib.simt.special import CLOCKS
from course_lib.simt.tensor import map_bytes


def lower(program):
    """Return LLVM IR text that defines `i32 @masked(ptr warp)` for a Program."""
    return _Lanes(program).text()


class _Lanes:
    def __init__(self, program):
        self.program = program
        self.code = Code(lanes=None)
        self.helpers, self.constants = {}, {}

    def text(self):
        code = self.code
        for block in self.program.blocks:
            code.label(f"b{block.index}")
            for i, ins in enumerate(block.instructions):
                self.instruction(block, ins, block.first + i)
            last = block.instructions[-1]
            if block.last is None and not cfg.is_barrier(last) and not cfg.is_warp_barrier(last):
                self.go(block, block.successors[0])
        head = ["define i32 @masked(ptr %w) nounwind {", "entry:"]
        head += [f"  %p.{f} = getelementptr i8, ptr %w, i64 {layout.at(f)}" for f in ("mask", "alive", "registers", "functions", "params")]
        head += ["  %regs = load ptr, ptr %p.registers", "  %table = load ptr, ptr %p.functions", "  %params = load ptr, ptr %p.params"]
        for i, name in enumerate(layout.FUNCTIONS):
            head += [f"  %q.{name} = getelementptr ptr, ptr %table, i64 {i}", f"  %f.{name} = load ptr, ptr %q.{name}"]
        head += [f"  %p.worker = getelementptr i8, ptr %w, i64 {layout.at('worker')}",
                 "  %worker = load ptr, ptr %p.worker",
                 f"  %p.sites = getelementptr i8, ptr %worker, i64 {layout.at('sites', layout.Worker)}",
                 "  %sites = load ptr, ptr %p.sites"]
        head += ["  br label %dispatch", "dispatch:", "  %b = call i32 %f.next_block(ptr %w)",
                 "  switch i32 %b, label %leave [ " + " ".join(f"i32 {b.index}, label %b{b.index}" for b in self.program.blocks) + " ]",
                 "leave:", "  %end = icmp eq i32 %b, -1", "  %budget = icmp eq i32 %b, -2",
                 "  %turn = icmp eq i32 %b, -4", "  %barrier = icmp eq i32 %b, -5",
                 f"  %sx = select i1 %turn, i32 {layout.YIELDED}, i32 {layout.CONVERGED}",
                 f"  %s0 = select i1 %barrier, i32 {layout.BARRIER}, i32 %sx",
                 f"  %s1 = select i1 %budget, i32 {layout.FAILED}, i32 %s0",
                 f"  %s2 = select i1 %end, i32 {layout.EXITED}, i32 %s1", "  ret i32 %s2",
                 "failed:", f"  ret i32 {layout.FAILED}"]
        body = "\n".join([*head, *code.lines, "}"])
        everything = "\n".join([lane_access.declared(self.program), *self.constants.values(), *(t for _, t in self.helpers.values()), body])
        return everything + "\n" + declarations(everything)

    def instruction(self, block, ins, number):
        name = ins.opcode[0]
        for register in cfg.sources(ins):
            if register.name in CLOCKS:
                nbytes, first = CLOCKS[register.name]
                ahead = len(block.instructions) - (number - block.first)  # instructions counted already, though still to come
                self.code.do(f"call void %f.read_clock(ptr %w, i32 {self.program.slots[register.name][0]}, i32 {nbytes}, i32 {first}, "
                             f"i32 {ahead})")
        if name == "bra":
            return self.branch(block, ins)
        if name == "call":
            return self.call(ins, number)
        if name == "brx":
            return self.branch_indexed(block, ins, number)
        if name in ("ret", "exit"):
            return self.leave(block, ins)
        if cfg.is_barrier(ins) or cfg.is_warp_barrier(ins):
            return self.barrier(block, ins, number)
        if ins.guard is None:
            return self.effect(ins, number)
        code = self.code
        saved = code.op("load i32, ptr %p.mask")
        now = code.op(f"and i32 {saved}, {self.predicate(ins.guard)}")
        code.do(f"store i32 {now}, ptr %p.mask")
        code.do(f"call void %f.count_guarded(ptr %w, i32 {number})")
        self.effect(ins, number)
        code.do(f"store i32 {saved}, ptr %p.mask")
        if name == "trap":
            self.go(block, block.successors[0])

    def effect(self, ins, number):
        if is_memory(ins):
            record = self.record("a", self.program.accesses[number], number)
            failed = lane_access.call(self.code, self.program, number, record, "%sites")
            return self.fail_if(failed)
        if ins.opcode[0] in cfg.CROSS:
            return self.code.do(f"call void %f.cross_lanes(ptr %w, ptr {self.record('x', self.program.crossings[number], number)})")
        if ins.opcode[0] in ("trap", "brkpt"):
            self.fail_if(self.code.op(f"call i32 %f.trap(ptr %w, i32 {number})"))
            return self.code.do("br label %dispatch") if ins.opcode[0] == "trap" and ins.guard is None else None
        if number in self.program.tensors:
            return self.tensor(self.program.tensors[number], number)
        if ins.opcode[0] == "ld":
            return self.load_parameter(ins)
        if ins.opcode[0] in cfg.BARRIERS:  # bar.arrive
            record = self.record("b", self.program.barriers[number], number)
            return self.fail_if(self.code.op(f"call i32 %f.arrive_only(ptr %w, ptr {record})"))
        if ins.opcode[0] in ("membar", "fence", "nanosleep"):
            return None
        self.compute(ins)

    def tensor(self, found, number):
        """Call the runtime for a matrix instruction or an asynchronous copy: its Access, its record and its maps."""
        given = [] if found.function != "access_tile" else [self.record("a", found.access, number)]
        given.append(self.record("t", found.record, number))
        given += [self.raw("m", part, map_bytes(part)) for part in found.maps]
        self.fail_if(self.code.op(f"call i32 %f.{found.function}(ptr %w, " + ", ".join(f"ptr {g}" for g in given) + ")"))

    # -- arithmetic --------------------------------------------------------------------------------
    def compute(self, ins):
        targets, given = cfg.destinations(ins), cfg.inputs(ins)
        immediate = tuple(o.value if isinstance(o, Imm) and t == "imm" else None
                          for o, t in zip(given, self.signature(ins)[1]))
        types = tuple(self.slot_type(r) for r in targets)
        kinds = tuple((self.slot_type(o), o.negated) if isinstance(o, Reg) else None for o in given)
        helper = self.helper(ins, types, kinds, immediate)
        pointers = [self.slot(r) for r in targets]
        for operand, wanted, literal in zip(given, self.signature(ins)[1], immediate):
            if literal is None:
                pointers.append(self.slot(operand) if isinstance(operand, Reg) else self.constant(wanted, operand))
        self.code.do(f"call void @{helper}(" + ", ".join(f"ptr {p}" for p in ["%p.mask", *pointers]) + ")")

    def signature(self, ins):
        return OPS[ins.opcode[0]][0](ins)

    def helper(self, ins, types, kinds, immediate):
        key = (ins.opcode, types, kinds, immediate, tuple(isinstance(o, Vec) for o in ins.operands))
        if key not in self.helpers:
            name = f"h{len(self.helpers)}"
            self.helpers[key] = (name, self.helper_text(name, ins, types, kinds, immediate))
        return self.helpers[key][0]

    def helper_text(self, name, ins, types, kinds, immediate):
        code = Code()
        results, wanted = self.signature(ins)
        values, arguments = [], ["ptr %mask"] + [f"ptr %d{i}" for i in range(len(types))]
        for i, (given, t, literal) in enumerate(zip(kinds, wanted, immediate)):
            if literal is not None:
                values.append(str(literal))
                continue
            arguments.append(f"ptr %s{i}")
            values.append(self.load(code, f"%s{i}", given, t))
        outputs = compute(code, ins, values)
        bits = code.op("load i32, ptr %mask")
        mask = code.op(f"bitcast i32 {bits} to <32 x i1>")
        for i, (t, slot, value) in enumerate(zip(results, types, outputs)):
            self.store(code, f"%d{i}", t, slot, value, mask, "sext" if ins.opcode[0] == "cvt" and ins.opcode[-2][0] == "s" else "zext")
        return "\n".join([f"define internal void @{name}({', '.join(arguments)}) noinline nounwind {{", *code.lines, "  ret void", "}"])

    @staticmethod
    def load(code, pointer, given, wanted):
        """Load a register's lanes as type `wanted`; `given` is (slot type, negated), None for a constant."""
        if wanted == "i1" or given and given[0] == "i1":
            value = code.op(f"bitcast i32 {code.op(f'load i32, ptr {pointer}')} to <32 x i1>")
            return code.binary("xor", "i1", value, code.const("i1", "true")) if given and given[1] else value
        slot = given[0] if given else wanted
        value = code.op(f"load <32 x {slot}>, ptr {pointer}, align 64")
        if slot == wanted:
            return value
        return code.cast("trunc" if int(slot[1:]) > int(wanted[1:]) else "zext", slot, value, wanted)

    @staticmethod
    def store(code, pointer, given, slot, value, mask, extend):
        if slot == "i1":
            bits = code.op(f"bitcast <32 x i1> {value} to i32")
            old, now = code.op(f"load i32, ptr {pointer}"), code.op(f"bitcast <32 x i1> {mask} to i32")
            keep = code.op(f"and i32 {old}, {code.op(f'xor i32 {now}, -1')}")
            put = code.op(f"and i32 {bits}, {now}")
            code.do(f"store i32 {code.op(f'or i32 {keep}, {put}')}, ptr {pointer}")
            return
        if given != slot:
            value = code.cast("trunc" if int(given[1:]) > int(slot[1:]) else extend, given, value, slot)
        old = code.op(f"load <32 x {slot}>, ptr {pointer}, align 64")
        merged = code.op(f"select <32 x i1> {mask}, <32 x {slot}> {value}, <32 x {slot}> {old}")
        code.do(f"store <32 x {slot}> {merged}, ptr {pointer}, align 64")

    def load_parameter(self, ins):
        """`ld.param`: the same value for every lane, straight from the parameter block."""
        width = 8 * type_bytes(ins.opcode[-1])
        data = ins.operands[0]
        items = data.items if isinstance(data, Vec) else (data,)
        for i, item in enumerate(items):
            slot = self.slot_type(item)
            extend = "sext" if ins.opcode[-1][0] == "s" else "zext"
            key = ("ld.param", width, slot, extend)
            if key not in self.helpers:
                self.helpers[key] = (f"h{len(self.helpers)}", self.parameter_text(f"h{len(self.helpers)}", width, slot, extend))
            offset = ins.operands[1].offset + i * width // 8
            place = self.code.op(f"getelementptr i8, ptr %params, i64 {offset}")
            self.code.do(f"call void @{self.helpers[key][0]}(ptr %p.mask, ptr {self.slot(item)}, ptr {place})")

    def parameter_text(self, name, width, slot, extend):
        code = Code()
        value = code.op(f"load i{width}, ptr %s")
        if f"i{width}" != slot:
            value = code.op(f"{extend} i{width} {value} to {slot}")
        first = code.op(f"insertelement <32 x {slot}> poison, {slot} {value}, i32 0")
        lanes = code.op(f"shufflevector <32 x {slot}> {first}, <32 x {slot}> poison, <32 x i32> zeroinitializer")
        mask = code.op(f"bitcast i32 {code.op('load i32, ptr %mask')} to <32 x i1>")
        self.store(code, "%d", slot, slot, lanes, mask, extend)
        return "\n".join([f"define internal void @{name}(ptr %mask, ptr %d, ptr %s) noinline nounwind {{", *code.lines, "  ret void", "}"])

    # -- operands ----------------------------------------------------------------------------------
    def slot_type(self, register):
        return self.program.slots[register.name][1]

    def slot(self, register):
        return self.code.op(f"getelementptr i8, ptr %regs, i64 {self.program.slots[register.name][0]}")

    def constant(self, t, operand):
        value = operand.value
        key = (t, value)
        if key not in self.constants:
            name = f"@c{len(self.constants)}"
            if t == "i1":
                text = f"{name} = internal constant i32 {-1 if value else 0}"
            else:
                bits = value & ((1 << int(t[1:])) - 1)
                text = f"{name} = internal constant <32 x {t}> splat ({t} {bits}), align 64"
            self.constants[key] = text
        return self.constants[key].split(" ")[0]

    def record(self, letter, structure, number):
        """Return the name of a constant that holds a record for the runtime."""
        return self.raw(letter, number, bytes(structure))

    def raw(self, letter, key, raw):
        """Return the name of a constant with these bytes; the same key names the same constant."""
        if (letter, key) not in self.constants:
            name = f"@{letter}{key if isinstance(key, int) else len(self.constants)}"
            text = "".join(f"\\{b:02x}" for b in raw)
            self.constants[letter, key] = f'{name} = internal constant [{len(raw)} x i8] c"{text}", align 8'
        return self.constants[letter, key].split(" ")[0]

    def predicate(self, register):
        value = self.code.op(f"load i32, ptr {self.slot(register)}")
        return self.code.op(f"xor i32 {value}, -1") if register.negated else value

    # -- control -----------------------------------------------------------------------------------
    def fail_if(self, status):
        code, label = self.code, self.code.fresh("ok")
        code.do(f"br i1 {code.op(f'icmp ne i32 {status}, 0')}, label %failed, label %{label}")
        code.label(label)

    def go(self, block, target, lanes="-1"):
        self.code.do(f"call void %f.branch(ptr %w, i32 {block.index}, i32 {target}, i32 {target}, i32 {lanes})")
        self.code.do("br label %dispatch")

    def branch(self, block, ins):
        if ins.guard is None:
            return self.go(block, block.successors[0])
        yes, no = block.successors
        taken = self.predicate(ins.guard)
        self.code.do(f"call void %f.branch(ptr %w, i32 {block.index}, i32 {yes}, i32 {no}, i32 {taken})")
        self.code.do("br label %dispatch")

    def leave(self, block, ins):
        code = self.code
        if "func" in ins.opcode:
            lanes = "-1" if ins.guard is None else self.predicate(ins.guard)
            code.do(f"call void %f.return_function(ptr %w, i32 {lanes})")
            return code.do("br label %dispatch") if ins.guard is None else self.go(block, block.successors[0])
        mask, alive = code.op("load i32, ptr %p.mask"), code.op("load i32, ptr %p.alive")
        gone = mask if ins.guard is None else code.op(f"and i32 {mask}, {self.predicate(ins.guard)}")
        kept = code.op(f"xor i32 {gone}, -1")
        code.do(f"store i32 {code.op(f'and i32 {alive}, {kept}')}, ptr %p.alive")
        if ins.guard is None:
            return code.do("br label %dispatch")
        code.do(f"store i32 {code.op(f'and i32 {mask}, {kept}')}, ptr %p.mask")
        self.go(block, block.successors[0])

    def call(self, ins, number):
        lanes = "-1" if ins.guard is None else self.predicate(ins.guard)
        self.fail_if(self.code.op(f"call i32 %f.call_function(ptr %w, i32 {self.program.calls[3][number]}, i32 {lanes})"))
        self.code.do("br label %dispatch")

    def branch_indexed(self, block, ins, number):
        targets = block.successors if ins.guard is None else block.successors[:-1]
        name, words = f"@t{number}", [len(targets), *targets]
        self.constants[name] = f"{name} = internal constant [{len(words)} x i32] [{', '.join(f'i32 {v}' for v in words)}]"
        lanes = "-1" if ins.guard is None else self.predicate(ins.guard)
        slot = self.program.slots[ins.operands[0].name][0]
        self.fail_if(self.code.op(f"call i32 %f.branch_indexed(ptr %w, i32 {number}, i32 {slot}, ptr {name}, i32 {lanes})"))
        if ins.guard is None:
            return self.code.do("br label %dispatch")
        self.others_go_on(lanes, block)

    def others_go_on(self, lanes, block):
        """The active lanes that are not in `lanes` go on behind the block."""
        mask = self.code.op("load i32, ptr %p.mask")
        kept = self.code.op(f"and i32 {mask}, {self.code.op(f'xor i32 {lanes}, -1')}")
        self.code.do(f"store i32 {kept}, ptr %p.mask")
        self.go(block, block.successors[-1])

    def barrier(self, block, ins, number):
        code, after = self.code, block.successors[0]
        lanes = "-1" if ins.guard is None else self.predicate(ins.guard)
        if cfg.is_warp_barrier(ins):
            mask = ins.operands[0]
            slot = self.program.slots[mask.name if isinstance(mask, Reg) else f"#i32:{mask.value}"][0]
            failed = code.op(f"call i32 %f.sync_warp(ptr %w, i32 {number}, i32 {slot}, i32 {after}, i32 {lanes})")
        else:
            record = self.record("b", self.program.barriers[number], number)
            failed = code.op(f"call i32 %f.arrive(ptr %w, ptr {record}, i32 {after}, i32 {lanes})")
        self.fail_if(failed)
        if ins.guard is None:
            return code.do("br label %dispatch")
        self.others_go_on(lanes, block)
