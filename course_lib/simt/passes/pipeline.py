"""From a parsed PTX entry to a `Program`: addresses fixed, registers placed, memory instructions described.

After `prepare`, no symbol is left in an operand: shared, local and constant variables and parameters have become byte
offsets in their space, and `cvta` an addition of the space's window.
"""

import dataclasses
from dataclasses import dataclass, field

from course_lib.simt.errors import LaunchError, UnsupportedInstruction
from course_lib.simt.isa import barriers, coverage
from course_lib.simt.isa.memory import describe_one
from course_lib.simt.isa.operations import OPS
from course_lib.simt.isa.special import REASONS, REFUSED, SPECIAL
from course_lib.simt.passes import bodies, calls, cfg, fuse, normalise, verify
from course_lib.simt.passes.contract import contract
from course_lib.simt.passes.layout import at_line, place_registers, place_variables, rewrite, sink
from course_lib.simt.ptx.ir import BARRIERS, Instruction, Kind, type_bytes


@dataclass
class Program:
    """Everything about one kernel that does not depend on a launch.

    `instructions` are numbered in PTX text order; that number identifies a memory access or barrier at run time.
    `slots` maps a register to its place in a warp's register file: (byte offset, LLVM type).
    """

    entry: str
    instructions: list
    blocks: list
    slots: dict
    register_bytes: int
    params: list  # (name, offset, nbytes, kind)
    shared: list  # SharedVariable-like (name, offset, nbytes)
    shared_bytes: int
    local_bytes: int
    constants: dict  # name -> (space, offset, Variable) of `__constant__` and `__device__` variables
    places: dict  # variable name -> (space, address)
    constant_bytes: int
    accesses: dict = field(default_factory=dict)  # instruction number -> layout.Access
    crossings: dict = field(default_factory=dict)  # instruction number -> layout.Cross
    tensors: dict = field(default_factory=dict)  # instruction number -> tensor.Tensor
    barriers: dict = field(default_factory=dict)  # instruction number -> layout.Bar
    max_threads: int = 1024
    entry_block: int = 0
    linked: calls.Linked = None
    calls: tuple = ()  # layout.Call, layout.Callee, (offset, bytes) pairs, instruction number -> index of its Call

    def atomics(self):
        """Say whether blocks may meet in memory: then they run one after another, so that results repeat."""
        return any(i.kind is Kind.ATOMIC and "shared" not in i.opcode for i in self.instructions)


def prepare(module, entry, split=None):
    """Build the Program of the kernel `entry`.

    Raises
    ------
    LaunchError
        No such kernel; the message lists those there are.
    UnsupportedInstruction
        An opcode that the simulator does not know, with its source line.
    """
    kernels = [f.name for f in module.functions.values() if f.kernel]
    if entry not in kernels:
        known = ", ".join(kernels) or "none"
        raise LaunchError(f"No kernel named {entry!r} in this source (kernels: {known}). Declare it extern \"C\".", entry=entry)
    linked = calls.link(module, entry)
    for name, function in linked.functions.items():
        for ins in function.body:
            if isinstance(ins, Instruction):
                refuse_unknown(ins)
                coverage.check(ins)
        linked.functions[name] = normalise.normalise(function)
        verify.check(linked.functions[name], SPECIAL)
    function = module.functions[entry]
    places, sizes, shared, constants = place_variables(module, linked)
    params, offset = [], 0
    for p in function.params:
        offset = -(-offset // p.align) * p.align
        params.append((p.name, offset, p.nbytes, p.kind if p.nbytes == type_bytes(p.kind) else "b8"))
        places[p.name] = ("param", offset)
        offset += p.nbytes
    parts = {name: body_of(linked, name, places) for name in linked.functions}
    blocks, instructions, entry_block = join(linked, parts)
    registers = dataclasses.replace(parts[entry], registers={k: v for part in parts.values() for k, v in part.registers.items()})
    registers.registers[calls.FRAME.name] = "b64"
    slots, register_bytes = place_registers(registers, instructions, linked.calls)
    program = Program(entry, instructions, blocks, slots, register_bytes, params, shared, sizes["shared"], linked.frames[entry],
                      constants, places, sizes["const"], max_threads=most_threads(function), entry_block=entry_block, linked=linked)
    program.barriers = barriers.records(program)
    program.calls = bodies.tables(linked, blocks, slots)
    for block in blocks:
        for i, ins in enumerate(block.instructions):
            describe_one(program, ins, block.first + i)
    for number, size in fuse.plan(program).items():
        program.accesses[number].tag = size
    return program


def body_of(linked, name, places):
    """Return a function with its instructions rewritten: registers renamed, no symbol left in an operand."""
    function = bodies.rename(linked, name, SPECIAL)
    body = [sink(rewrite(bodies.in_frame(i, linked.places[name], function.kernel), places), function)
            if isinstance(i, Instruction) else i for i in function.body]
    return contract(dataclasses.replace(function, body=body))


def join(linked, parts):
    """Return (blocks, instructions, index of the kernel's first block); blocks of callees come before those of callers.

    So lanes inside a function run before the lanes that wait behind its call, and all go on together.
    """
    instructions, built, blocks = [], {}, []
    for name, function in parts.items():
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
    return blocks, instructions, len(blocks) - len(built[linked.order[-1]])


def most_threads(function):
    """Return how many threads a block may have by the kernel's own declaration."""
    limit = 1
    for n in function.directives.get("maxntid") or function.directives.get("reqntid") or (1024,):
        limit *= n
    return limit


def refuse_unknown(ins):
    known = ins.kind is not Kind.COMPUTE or ins.opcode[0] in (*OPS, "addc", "subc", "madc")
    if ins.kind in (*BARRIERS, Kind.FENCE, Kind.SLEEP):
        known = barriers.knows(ins)
    strange = [r.name for r in ins.sources if REFUSED.fullmatch(r.name)] if known else []
    if strange:
        why = next((why for start, why in REASONS.items() if strange[0].startswith(start)), "")
        raise UnsupportedInstruction(f"{at_line(ins)}the simulator does not know the special register {strange[0]}{why}.",
                                     opcode=ins.name, line=ins.line)
    if not known:
        raise UnsupportedInstruction(
            f"{at_line(ins)}the simulator does not know the instruction {ins.name}"
            f"{coverage.reason(ins.opcode[0])}.", opcode=ins.name, line=ins.line)
