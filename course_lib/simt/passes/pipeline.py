"""From a parsed PTX entry to a `Program`: addresses fixed, registers placed, memory instructions described.

`build_program` is the list of the passes. After them no symbol is left in an operand: shared, local and constant variables and
parameters have become byte offsets in their space, and `cvta` an addition of the space's window.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from course_lib import arch
from course_lib.simt.errors import LaunchError, UnsupportedInstruction
from course_lib.simt.isa import barriers, carry, coverage, images, warpgroup
from course_lib.simt.isa.memory import describe_one
from course_lib.simt.isa.operations import OPS
from course_lib.simt.isa.special import REASONS, REFUSED, SPECIAL, since
from course_lib.simt.isa.tensor import Tensor
from course_lib.simt.passes import bodies, callers, calls, cfg, fuse, layout, parameters
from course_lib.simt.passes.alike import Alike, alike
from course_lib.simt.passes.calls import Linked
from course_lib.simt.passes.cfg import Block
from course_lib.simt.passes.contract import contract
from course_lib.simt.passes.layout import Variables, place_variables
from course_lib.simt.passes.normalise import normalise
from course_lib.simt.passes.verify import verify
from course_lib.simt.ptx.ir import BARRIERS, Function, Instruction, Kind, Module, Variable, at_line, opened
from course_lib.simt.runtime import abi

OF_BLOCKS = {"shared", "shared__cluster"}     # memory that other blocks, or those of other clusters, do not touch


@dataclass
class Program:
    """Everything about one kernel that does not depend on a launch.

    `instructions` are numbered in PTX text order; that number identifies a memory access or barrier at run time.
    `slots` maps a register to its place in a warp's register file: (byte offset, LLVM type).
    """

    entry: str
    instructions: list[Instruction]
    blocks: list[Block]
    slots: dict[str, tuple[int, str]]
    register_bytes: int
    params: list[tuple[str, int, int, str]]  # name, offset, bytes, type of the elements
    shared: list[tuple[str, int, int]]  # name, offset, bytes
    shared_bytes: int
    local_bytes: int
    constants: dict[str, tuple[str, int, Variable]]  # of `__constant__` and `__device__` variables: (space, offset, variable)
    addresses: dict[str, tuple[str, int]]  # variable -> (space, address)
    constant_bytes: int
    max_threads: int
    max_registers: int  # of a thread, by the kernel's own declaration; 0: it has none
    entry_block: int
    linked: Linked
    target: str  # the architecture that the text is for: "sm_90"
    shared_begin: int  # the address of the first byte that is stored of shared memory: offset 0
    lost_alignments: list[tuple[str, int, int, int]]  # of shared variables: name, alignment asked for, address, line of its first use
    directives: Mapping[str, tuple[int, ...]]  # of the kernel
    accesses: dict[int, Any] = field(default_factory=dict)  # instruction number -> abi.Access
    crossings: dict[int, Any] = field(default_factory=dict)  # instruction number -> abi.Cross
    tensors: dict[int, Tensor] = field(default_factory=dict)  # instruction number -> Tensor
    barriers: dict[int, Any] = field(default_factory=dict)  # instruction number -> abi.Bar
    calls: bodies.CallTables = bodies.CallTables([], [], [], {})

    def atomics(self) -> bool:
        """Say whether blocks may touch the same memory: then they run one after another, so that results repeat."""
        return any(OF_BLOCKS.isdisjoint(self.instructions[number].opcode) for number in self.of_kind.get(Kind.ATOMIC, ()))

    @functools.cached_property
    def alike(self) -> list[Alike]:
        """Say for each block which of its instructions are counted alike."""
        return [alike(block, self.accesses.keys() | self.tensors.keys()) for block in self.blocks]

    @functools.cached_property
    def of_kind(self) -> dict[Kind, list[int]]:
        """Map each kind that occurs to the numbers of its instructions."""
        found: dict[Kind, list[int]] = {}
        for number, ins in enumerate(self.instructions):
            found.setdefault(ins.kind, []).append(number)
        return found

    @functools.cached_property
    def sites(self) -> dict[int, int]:
        """Map each access to its first Site; an asynchronous copy has two, for the place it reads and the place it writes."""
        found, following = {}, 0
        for number in sorted(self.accesses):
            found[number] = following
            following += 1 + (number in self.tensors and self.tensors[number].function == "copy_async")
        return found

    def site_bytes(self) -> int:
        """Return the bytes of all Sites of a worker."""
        return abi.SITE_BYTES * (max(self.sites.values(), default=-1) + 2)

    def waits_for_blocks(self) -> bool:
        """Say whether a loop looks at memory that other blocks may change: they run one after another too, so that findings repeat."""
        looking = (i for b in self.blocks if b.polls for i in b.instructions if cfg.looks(i))
        return any(i.kind is not Kind.MBARRIER and OF_BLOCKS.isdisjoint(i.opcode) for i in looking)


def build_program(module: Module, entry: str) -> Program:
    """Build the Program of the kernel `entry`: all passes, in their order.

    Raises
    ------
    LaunchError
        No such kernel; the message lists those there are.
    UnsupportedInstruction, PtxSyntaxError
        What the simulator does not know, and what is not PTX, with its source line.
    """
    linked = link(module, entry)
    check_forms(linked, module.target)
    normalise_bodies(linked)
    verify_bodies(linked)
    variables = place_variables(module, linked, entry)
    rewritten = rewrite_bodies(linked, variables)
    code = join(linked, rewritten)
    slots, register_bytes = place_registers(linked, rewritten, code)
    program = Program(
        entry, code.instructions, code.blocks, slots, register_bytes, variables.params, variables.shared, variables.sizes["shared"],
        linked.frames[entry], variables.constants, variables.addresses, variables.sizes["const"], most_threads(module.functions[entry]),
        most_registers(module.functions[entry]), code.entry_block, linked, module.target, variables.shared_begin, variables.lost_alignments,
        module.functions[entry].directives)
    describe(program)
    note_channels(program)
    fuse_accesses(program)
    return program


def link(module: Module, entry: str) -> Linked:
    """Find a kernel and all that it calls, and lay out their frames."""
    kernels = [f.name for f in module.functions.values() if f.kernel]
    if entry not in kernels:
        known = ", ".join(kernels) or "none"
        raise LaunchError(f"No kernel named {entry!r} in this source (kernels: {known}). Declare it extern \"C\".", entry=entry)
    lowered = parameters.lower(module)
    linked = calls.link(lowered, entry)
    callers.give_lines(linked, calls.taken(lowered), entry)
    return linked


def check_forms(linked: Linked, target: str) -> None:
    """Refuse instructions that the table of forms does not list and registers that the target lacks; bring modifiers into order."""
    for name, function in linked.functions.items():
        body = []
        for ins in function.body:
            if isinstance(ins, Instruction):
                ins = coverage.in_order(ins)
                refuse_unknown(ins)
                refuse_too_new(ins, target)
                warpgroup.refuse_target(ins, target)
                coverage.check_form(ins)
            body.append(ins)
        linked.functions[name] = dataclasses.replace(function, body=body)


def normalise_bodies(linked: Linked) -> None:
    """Bring the variants of an instruction into one form."""
    linked.functions = {name: normalise(function) for name, function in linked.functions.items()}


def verify_bodies(linked: Linked) -> None:
    """Refuse operands, types and widths that are not PTX."""
    for function in linked.functions.values():
        verify(function, SPECIAL)


def rewrite_bodies(linked: Linked, variables: Variables) -> dict[str, Function]:
    """Make registers distinct and variables addresses, and fuse products with sums as the assembler does."""
    rewritten = {}
    for name in linked.functions:
        function = bodies.rename(linked, name, SPECIAL)
        body = [rewrite(ins, linked, name, variables, function) if isinstance(ins, Instruction) else ins for ins in function.body]
        rewritten[name] = contract(dataclasses.replace(function, body=body))
    return rewritten


def rewrite(ins: Instruction, linked: Linked, name: str, variables: Variables, function: Function) -> Instruction:
    """Return an instruction of the function `name` without symbols, and with a register for each result that nobody wants."""
    framed = bodies.in_frame(ins, linked.offsets[name], function.kernel)
    return layout.sink(layout.rewrite(framed, variables), function)


class Joined(NamedTuple):
    """The code of a kernel and all that it calls: blocks of callees come before those of callers.

    So lanes inside a function run before the lanes that wait behind its call, and all go on together.
    """

    blocks: list[Block]
    instructions: list[Instruction]
    entry_block: int  # where the kernel begins


def join(linked: Linked, rewritten: Mapping[str, Function]) -> Joined:
    """Cut the bodies into blocks and put them one after another."""
    instructions: list[Instruction] = []
    built: dict[str, list[Block]] = {}
    blocks: list[Block] = []
    for name, function in rewritten.items():
        built[name] = cfg.build(function, len(instructions))
        instructions += [i for i in function.body if isinstance(i, Instruction)]
        instructions.append(Instruction(("ret",), (), None, 0))  # cfg.split ends a text with it that does not end by itself
    for name in linked.order:
        first = len(blocks)
        for block in built[name]:
            block.index += first
            block.successors = [s + first for s in block.successors]
            block.loop_head = None if block.loop_head is None else block.loop_head + first
        blocks += built[name]
        if name in linked.callees:
            linked.callees[name].block = first
    return Joined(blocks, instructions, len(blocks) - len(built[linked.order[-1]]))


def place_registers(linked: Linked, rewritten: Mapping[str, Function], code: Joined) -> tuple[dict[str, tuple[int, str]], int]:
    """Give every register an offset in a warp's register file; return also the bytes of that."""
    declared = {name: kind for function in rewritten.values() for name, kind in function.registers.items()}
    kernel = dataclasses.replace(rewritten[linked.order[-1]], registers={**declared, calls.FRAME.name: "b64"})
    return layout.place_registers(kernel, code.instructions, linked.has_calls)


def describe(program: Program) -> None:
    """Write the records that the runtime reads: of barriers, calls, memory accesses, exchanges and matrix instructions."""
    program.barriers = barriers.records(program)
    program.calls = bodies.tables(program.linked, program.blocks, program.slots)
    for block in program.blocks:
        for i, ins in enumerate(block.instructions):
            describe_one(program, ins, block.first + i)


def note_channels(program: Program) -> None:
    """Note how many of the four results of each texture fetch are read: a texture must have so many channels."""
    if not any(images.knows(ins) for ins in program.instructions):
        return
    used = cfg.used(program.blocks)
    for block in program.blocks:
        for i, ins in enumerate(block.instructions):
            if images.knows(ins) and ins.results:
                needed = used & cfg.needed_behind(block, i, program.blocks)
                record = program.tensors[block.first + i].record
                record.channels = max((c for c, o in enumerate(opened(ins.operands[:1]), 1) if o.name in needed), default=0)


def fuse_accesses(program: Program) -> None:
    """Note which loads and stores the assembler joins into wider ones."""
    for number, size in fuse.plan(program.instructions, program.blocks).items():
        program.accesses[number].tag = size


def most_threads(function: Function) -> int:
    """Return how many threads a block may have by the kernel's own declaration."""
    limit = 1
    for n in function.directives.get("maxntid") or function.directives.get("reqntid") or (1024,):
        limit *= n
    return limit


def most_registers(function: Function) -> int:
    """Return how many registers a thread may have by the kernel's own declaration; 0 where it does not say how many.

    `__launch_bounds__` needs both its numbers for that: with threads alone, ptxas 13.5 ignores `setmaxnreg` and says so.
    """
    told = function.directives
    if "maxnreg" in told:
        return told["maxnreg"][0]
    if "minnctapersm" not in told or not {"maxntid", "reqntid"} & told.keys():
        return 0
    return min(arch.MAX_REGISTERS_PER_BLOCK // (most_threads(function) * told["minnctapersm"][0]) // 8 * 8, 255)


def refuse_unknown(ins: Instruction) -> None:
    """Refuse an opcode or a special register that the simulator does not know."""
    known = ins.kind is not Kind.COMPUTE or ins.opcode[0] in OPS or carry.uses_flag(ins)
    if ins.kind in (*BARRIERS, Kind.FENCE, Kind.SLEEP):
        known = barriers.knows(ins)
    strange = [r.name for r in ins.sources if REFUSED.fullmatch(r.name)] if known else []
    if strange:
        why = next((why for start, why in REASONS.items() if strange[0].startswith(start)), "")
        raise UnsupportedInstruction(f"{at_line(ins)}the simulator does not know the special register {strange[0]}{why}.",
                                     opcode=ins.name, line=ins.where)
    if not known:
        raise UnsupportedInstruction(
            f"{at_line(ins)}the simulator does not know the instruction {ins.name}"
            f"{coverage.reason(ins.opcode[0])}.", opcode=ins.name, line=ins.where)


def refuse_too_new(ins: Instruction, target: str) -> None:
    """Refuse a special register that the architecture of the text does not have yet."""
    for register in ins.sources:
        if 0 < arch.target_number(target) < since(register.name):
            raise UnsupportedInstruction(f"{at_line(ins)}{target} has no special register {register.name}: it is there from "
                                         f"sm_{since(register.name)} on.", opcode=ins.name, line=ins.where)
