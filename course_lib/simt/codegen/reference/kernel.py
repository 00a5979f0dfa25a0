"""Reference code of a kernel: it runs any set of a warp's lanes, is complete, and says what uniform code must do.

Each register is a vector of 32 values in memory. Each instruction is a call to a small function made for its opcode,
which computes all lanes and keeps the result in the active ones. Loads, stores, counting and control are the runtime's.
"""

import struct

from course_lib.simt.codegen.llvm import Code, declarations
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.reference.arithmetic import Arithmetic, Storage
from course_lib.simt.isa import warpgroup
from course_lib.simt.isa.memory import is_memory
from course_lib.simt.isa.special import CLOCKS
from course_lib.simt.isa.tensor import map_bytes
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Kind, Reg
from course_lib.simt.runtime import abi


def lower(program: Program) -> str:
    """Return LLVM IR text that defines `i32 @reference(ptr warp)` for a Program."""
    return _ReferenceGenerator(program).text()


class _ReferenceGenerator:
    def __init__(self, program):
        self.program, self.code = program, Code(lanes=None)
        self.storage = Storage(program, self.code)
        self.arithmetic = Arithmetic(self.storage)
        self.of_products = warpgroup.registers_of_products(program.instructions)

    def text(self):
        code = self.code
        for block in self.program.blocks:
            code.label(f"b{block.index}")
            for i, ins in enumerate(block.instructions):
                self.instruction(block, ins, block.first + i)
            last = block.instructions[-1]
            if block.last is None and last.kind not in (Kind.BARRIER, Kind.WARP_BARRIER):
                self.go(block, block.successors[0])
        head = ["define i32 @reference(ptr %w) nounwind {", "entry:"]
        head += [f"  %p.{f} = getelementptr i8, ptr %w, i64 {abi.at(f)}" for f in ("mask", "alive", "registers", "functions", "params")]
        head += ["  %regs = load ptr, ptr %p.registers", "  %table = load ptr, ptr %p.functions", "  %params = load ptr, ptr %p.params"]
        for i, name in enumerate(abi.FUNCTIONS):
            head += [f"  %q.{name} = getelementptr ptr, ptr %table, i64 {i}", f"  %f.{name} = load ptr, ptr %q.{name}"]
        head += [f"  %p.worker = getelementptr i8, ptr %w, i64 {abi.at('worker')}",
                 "  %worker = load ptr, ptr %p.worker",
                 f"  %p.sites = getelementptr i8, ptr %worker, i64 {abi.at('sites', abi.Worker)}",
                 "  %sites = load ptr, ptr %p.sites"]
        head += ["  br label %dispatch", "dispatch:", "  %b = call i32 %f.next_block(ptr %w)",
                 "  switch i32 %b, label %leave [ " + " ".join(f"i32 {b.index}, label %b{b.index}" for b in self.program.blocks) + " ]",
                 "leave:",  # a switch of its own keeps the one above dense, and so a jump by a table
                 f"  %n = sub i32 %b, {abi.BEHIND_EXCHANGE}",
                 "  switch i32 %n, label %away [ " + " ".join(f"i32 {n}, label %behind{n}" for n in self.program.crossings) + " ]",
                 "away:", "  %end = icmp eq i32 %b, -1", "  %budget = icmp eq i32 %b, -2",
                 "  %turn = icmp eq i32 %b, -4", "  %barrier = icmp eq i32 %b, -5",
                 f"  %sx = select i1 %turn, i32 {abi.YIELDED}, i32 {abi.CONVERGED}",
                 f"  %s0 = select i1 %barrier, i32 {abi.BARRIER}, i32 %sx",
                 f"  %s1 = select i1 %budget, i32 {abi.FAILED}, i32 %s0",
                 f"  %s2 = select i1 %end, i32 {abi.EXITED}, i32 %s1", "  ret i32 %s2",
                 "failed:", f"  ret i32 {abi.FAILED}"]
        body = "\n".join([*head, *code.lines, "}"])
        helpers = [text for _, text in self.arithmetic.helpers.values()]
        everything = "\n".join([access.declared(self.program), *self.storage.constants.values(), *helpers, body])
        return everything + "\n" + declarations(everything)

    def instruction(self, block, ins, number):
        for register in ins.sources:
            if register.name in CLOCKS:
                nbytes, first = CLOCKS[register.name]
                ahead = len(block.instructions) - (number - block.first)  # instructions counted already, though still to come
                self.code.do(f"call void %f.read_clock(ptr %w, i32 {self.program.slots[register.name][0]}, i32 {nbytes}, i32 {first}, "
                             f"i32 {ahead})")
        touched = warpgroup.touched(self.program, ins, self.of_products)
        if touched:
            listed = self.storage.raw("u", number, struct.pack(f"{len(touched)}I", *touched))
            self.code.do(f"call void %f.touch_registers(ptr %w, i32 {number}, ptr {listed})")
        if warpgroup.may_wait(ins):
            return self.wait(block, ins, number)
        if ins.kind is Kind.BRANCH:
            return self.branch(block, ins)
        if ins.kind is Kind.CALL:
            return self.call(ins, number)
        if ins.kind is Kind.INDEXED_BRANCH:
            return self.branch_indexed(block, ins, number)
        if ins.kind is Kind.RETURN:
            return self.leave(block, ins)
        if ins.kind in (Kind.BARRIER, Kind.WARP_BARRIER):
            return self.barrier(block, ins, number)
        if ins.kind is Kind.EXCHANGE:
            return self.exchange(ins, number)
        if ins.guard is None:
            return self.effect(ins, number)
        code = self.code
        saved = code.op("load i32, ptr %p.mask")
        now = code.op(f"and i32 {saved}, {self.storage.predicate(ins.guard)}")
        code.do(f"store i32 {now}, ptr %p.mask")
        code.do(f"call void %f.count_guarded(ptr %w, i32 {number})")
        self.effect(ins, number)
        code.do(f"store i32 {saved}, ptr %p.mask")
        if ins.opcode[0] == "trap":
            self.go(block, block.successors[0])

    def effect(self, ins, number):
        if is_memory(ins):
            record = self.storage.record("a", self.program.accesses[number], number)
            failed = access.call(self.code, self.program, number, record, "%sites")
            return self.fail_if(failed)
        if ins.kind is Kind.TRAP:
            self.fail_if(self.code.op(f"call i32 %f.trap(ptr %w, i32 {number})"))
            return self.code.do("br label %dispatch") if ins.opcode[0] == "trap" and ins.guard is None else None
        if number in self.program.tensors:
            return self.tensor(self.program.tensors[number], number)
        if ins.kind is Kind.LOAD:
            return self.arithmetic.load_parameter(ins)
        if ins.kind is Kind.ARRIVAL:
            record = self.storage.record("b", self.program.barriers[number], number)
            return self.fail_if(self.code.op(f"call i32 %f.arrive_only(ptr %w, ptr {record})"))
        if ins.kind in (Kind.FENCE, Kind.SLEEP):
            return None
        self.arithmetic.compute(ins)

    def tensor(self, found, number):
        """Call the runtime for a matrix instruction or an asynchronous copy: its Access, its record and its maps."""
        given = [] if found.function != "access_tile" else [self.storage.record("a", found.access, number)]
        given.append(self.storage.record("t", found.record, number))
        given += [self.storage.raw("m", part, map_bytes(part)) for part in found.maps]
        if found.function == "copy_async":
            given.append(self.code.op(f"getelementptr i8, ptr %sites, i64 {access.site(self.program, number)}"))
        self.fail_if(self.code.op(f"call i32 %f.{found.function}(ptr %w, " + ", ".join(f"ptr {g}" for g in given) + ")"))

    def wait(self, block, ins, number):
        """Wait for other warps of the warpgroup: the runtime lets the lanes begin this block again when they have come."""
        code, record = self.code, self.storage.record("t", self.program.tensors[number].record, number)
        lanes = "-1" if ins.guard is None else self.storage.predicate(ins.guard)
        status, done = code.op(f"call i32 %f.wait_here(ptr %w, ptr {record}, i32 {block.index}, i32 {lanes})"), code.fresh("done")
        code.do(f"switch i32 {status}, label %dispatch [ i32 {abi.GOES_ON}, label %{done} i32 {abi.WAIT_FAILED}, label %failed ]")
        code.label(done)

    def exchange(self, ins, number):
        """When partners of some lanes are elsewhere, the runtime sends all lanes on from `behind` as soon as they may go."""
        code, others = self.code, "0"
        if ins.guard is not None:
            every = code.op("load i32, ptr %p.mask")
            now = code.op(f"and i32 {every}, {self.storage.predicate(ins.guard)}")
            others = code.op(f"xor i32 {every}, {now}")
            code.do(f"store i32 {now}, ptr %p.mask")
            code.do(f"call void %f.count_guarded(ptr %w, i32 {number})")
        record, done = self.storage.record("x", self.program.crossings[number], number), code.fresh("done")
        status = code.op(f"call i32 %f.cross_lanes(ptr %w, ptr {record}, i32 {others})")
        code.do(f"switch i32 {status}, label %dispatch [ i32 {abi.TOGETHER}, label %{done} i32 {abi.WRONG}, label %failed ]")
        code.label(done)
        if ins.guard is not None:
            code.do(f"store i32 {every}, ptr %p.mask")
        code.do(f"br label %behind{number}")
        code.label(f"behind{number}")

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
        taken = self.storage.predicate(ins.guard)
        self.code.do(f"call void %f.branch(ptr %w, i32 {block.index}, i32 {yes}, i32 {no}, i32 {taken})")
        self.code.do("br label %dispatch")

    def leave(self, block, ins):
        code = self.code
        if "func" in ins.opcode:
            lanes = "-1" if ins.guard is None else self.storage.predicate(ins.guard)
            code.do(f"call void %f.return_function(ptr %w, i32 {lanes})")
            return code.do("br label %dispatch") if ins.guard is None else self.go(block, block.successors[0])
        mask, alive = code.op("load i32, ptr %p.mask"), code.op("load i32, ptr %p.alive")
        gone = mask if ins.guard is None else code.op(f"and i32 {mask}, {self.storage.predicate(ins.guard)}")
        rest = code.op(f"xor i32 {gone}, -1")
        code.do(f"store i32 {code.op(f'and i32 {alive}, {rest}')}, ptr %p.alive")
        if ins.guard is None:
            return code.do("br label %dispatch")
        code.do(f"store i32 {code.op(f'and i32 {mask}, {rest}')}, ptr %p.mask")
        self.go(block, block.successors[0])

    def call(self, ins, number):
        lanes = "-1" if ins.guard is None else self.storage.predicate(ins.guard)
        self.fail_if(self.code.op(f"call i32 %f.call_function(ptr %w, i32 {self.program.calls[3][number]}, i32 {lanes})"))
        self.code.do("br label %dispatch")

    def branch_indexed(self, block, ins, number):
        targets = block.successors if ins.guard is None else block.successors[:-1]
        name, words = f"@t{number}", [len(targets), *targets]
        self.storage.constants["t", number] = f"{name} = internal constant [{len(words)} x i32] [{', '.join(f'i32 {v}' for v in words)}]"
        lanes = "-1" if ins.guard is None else self.storage.predicate(ins.guard)
        slot = self.program.slots[ins.operands[0].name][0]
        self.fail_if(self.code.op(f"call i32 %f.branch_indexed(ptr %w, i32 {number}, i32 {slot}, ptr {name}, i32 {lanes})"))
        if ins.guard is None:
            return self.code.do("br label %dispatch")
        self.others_go_on(lanes, block)

    def others_go_on(self, lanes, block):
        """The active lanes that are not in `lanes` go on behind the block."""
        mask = self.code.op("load i32, ptr %p.mask")
        rest = self.code.op(f"and i32 {mask}, {self.code.op(f'xor i32 {lanes}, -1')}")
        self.code.do(f"store i32 {rest}, ptr %p.mask")
        self.go(block, block.successors[-1])

    def barrier(self, block, ins, number):
        code, after = self.code, block.successors[0]
        lanes = "-1" if ins.guard is None else self.storage.predicate(ins.guard)
        if ins.kind is Kind.WARP_BARRIER:
            mask = ins.operands[0]
            slot = self.program.slots[mask.name if isinstance(mask, Reg) else f"#i32:{mask.value}"][0]
            failed = code.op(f"call i32 %f.sync_warp(ptr %w, i32 {number}, i32 {slot}, i32 {after}, i32 {lanes})")
        else:
            record = self.storage.record("b", self.program.barriers[number], number)
            failed = code.op(f"call i32 %f.arrive(ptr %w, ptr {record}, i32 {after}, i32 {lanes})")
        self.fail_if(failed)
        if ins.guard is None:
            return code.do("br label %dispatch")
        self.others_go_on(lanes, block)
