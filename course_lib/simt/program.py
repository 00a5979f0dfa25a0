"""From a parsed PTX entry to a `Program`: addresses fixed, registers placed, memory instructions described.

After `prepare`, no symbol is left in an operand: shared, local and constant variables and parameters have become byte
offsets in their space, and `cvta` an addition of the space's window.
"""

import dataclasses
import re
import struct
from dataclasses import dataclass, field

import numpy as np

from course_lib.simt import asynchronous, barriers, bodies, calls, cfg, coverage, crosslane, fuse, layout, normal, tensor, verify
from course_lib.simt.contract import contract
from course_lib.simt.errors import LaunchError, PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.instruction import Imm, Instruction, Mem, Reg, Sym, Vec, type_bytes
from course_lib.simt.memory import GLOBAL_VARIABLES
from course_lib.simt.ops import OPS, ir_type
from course_lib.simt.special import REASONS, REFUSED, SPECIAL, kind

WINDOWS = {"shared": layout.SHARED_WINDOW, "local": layout.LOCAL_WINDOW, "const": layout.CONSTANT_WINDOW}
CONTROL = ("bra", "brx", "call", "ret", "exit", "trap", "brkpt", "bar", "barrier", "membar", "fence", "nanosleep", "ld", "ldu", "st",
           *cfg.CROSS, *cfg.ATOMICS)
PARAM_BYTES = 4352  # room for parameters at the start of constant memory
ALIGN = 64


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
        return any(i.opcode[0] in cfg.ATOMICS and "shared" not in i.opcode for i in self.instructions)


def describe_one(program, ins, number):
    """Note what an instruction does to memory or to other lanes."""
    if is_memory(ins):
        program.accesses[number] = describe(program, ins, number)
    elif ins.opcode[0] in cfg.CROSS:
        program.crossings[number] = crosslane.cross(program, ins, number)
    elif tensor.knows(ins) or asynchronous.knows(ins):
        describe_tensor(program, ins, number)


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
        linked.functions[name] = normal.normalise(function)
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
            try:
                describe_one(program, ins, block.first + i)
            except verify.MALFORMED:
                raise PtxSyntaxError(f"line {ins.line}: {ins.name}: the operands or types do not fit this instruction.",
                                     line=ins.line, opcode=ins.name) from None
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


def place_variables(module, linked):
    """Give each variable an offset in its space; constants come behind the room for parameters."""
    places, shared, constants = {}, [], {}
    sizes = {"shared": 0, "const": PARAM_BYTES, "global": 0}
    used = set().union(*(referenced(f) for f in linked.functions.values()))
    inner = [v for f in linked.functions.values() for v in f.variables.values()]
    for name, callee in linked.callees.items():
        places[name] = ("code", calls.FUNCTIONS_AT + 16 * callee.number)
    for variable in [*module.variables.values(), *inner]:
        space = variable.space
        if space not in sizes or space == "shared" and variable.name not in used:
            continue
        at = -(-sizes[space] // variable.align) * variable.align
        places[variable.name] = (space, at + (GLOBAL_VARIABLES if space == "global" else 0))
        if space == "shared":
            shared.append((plain_name(variable.name), at, variable.nbytes))
        if space in ("const", "global"):
            constants[variable.name] = (space, at, variable)
        sizes[space] = at + variable.nbytes
    return places, sizes, shared, constants


def plain_name(mangled):
    """Return the name that the source gives a `__shared__` variable.

    >>> [plain_name(n) for n in ("_ZZ11sgemm_tiledE2As", "_ZZ1fPfE4tile_0", "buffer")]
    ['As', 'tile', 'buffer']
    """
    found = re.fullmatch(r"_ZZ.*E(\d+)(\w+)", mangled)
    return found.group(2)[:int(found.group(1))] if found else mangled


def referenced(function):
    names = set()
    for ins in function.body:
        if isinstance(ins, Instruction):
            for operand in ins.operands:
                operand = operand.base if isinstance(operand, Mem) else operand
                if isinstance(operand, Sym):
                    names.add(operand.name)
    return names


def rewrite(ins, places):
    """Replace variable names by addresses and `cvta` by arithmetic."""
    if ins.opcode[0] in ("bra", "call", "brx"):
        return ins
    operands = tuple(literal(resolve(o, places, ins), ins.opcode[-1]) for o in ins.operands)
    opcode = ins.opcode
    if opcode[0] == "cvta":
        kind, space = opcode[-1], opcode[-2]
        window = WINDOWS.get(space, 0)
        opcode, operands = ("add", kind), operands + (Imm(-window if "to" in opcode else window),)
        if not window:
            opcode, operands = ("mov", kind), operands[:-1]
    return dataclasses.replace(ins, opcode=opcode, operands=operands)


def sink(ins, function):
    """Replace `_`, a result that nobody wants, by a register that nobody reads."""
    if ins.opcode[0] not in OPS and ins.opcode[0] not in ("ld", "ldu") or not any(o == Reg("_") for o in results_of(ins)):
        return ins
    types = OPS[ins.opcode[0]][0](ins)[0] if ins.opcode[0] in OPS else [ir_type(ins.opcode[-1])] * len(results_of(ins))
    fresh = []
    for operand, t in zip(results_of(ins), types):
        name = f"%_sink.{t}"
        function.registers[name] = "pred" if t == "i1" else f"b{t[1:]}"
        fresh.append(Reg(name) if operand == Reg("_") else operand)
    if isinstance(ins.operands[0], Vec):
        return dataclasses.replace(ins, operands=(Vec(tuple(fresh)), *ins.operands[1:]))
    return dataclasses.replace(ins, operands=(*fresh, *ins.operands[len(fresh):]))


def results_of(ins):
    """Return the result operands as written, `_` among them."""
    if not ins.operands:
        return ()
    if ins.opcode[0] == "setp":
        return ins.operands[:cfg.results(ins)]
    return ins.operands[0].items if isinstance(ins.operands[0], Vec) else ins.operands[:1]


def literal(operand, kind):
    """Give a decimal floating-point literal the bits of the instruction's type."""
    if isinstance(operand, Vec):
        return Vec(tuple(literal(item, kind) for item in operand.items))
    if isinstance(operand, Imm) and operand.float_bytes == 8 and kind == "f32":
        return Imm(float_bits(operand.value), 4)
    return operand


def float_bits(double_bits):
    """Return the bits of a double rounded to single precision."""
    value, = struct.unpack("<d", double_bits.to_bytes(8, "little"))
    return int.from_bytes(np.float32(value).tobytes(), "little")


def resolve(operand, places, ins):
    if isinstance(operand, Sym):
        if operand.name not in places:
            raise UnsupportedInstruction(
                f"{at_line(ins)}{ins.name} uses {operand.name!r}, which the simulator cannot place.", opcode=ins.name, line=ins.line)
        space, at = places[operand.name]
        return Imm(at + operand.offset if space != "param" else at + operand.offset + WINDOWS["const"])
    if isinstance(operand, Mem) and isinstance(operand.base, Sym):
        return Mem(None, resolve(Sym(operand.base.name), {**places, operand.base.name: ("x", places[operand.base.name][1])}
                                 if operand.base.name in places else places, ins).value + operand.offset)
    return operand


def at_line(ins):
    return f"line {ins.line}: " if ins.line else ""


def is_memory(ins):
    """Say whether an instruction goes through `memory_access` (parameters are read directly)."""
    if ins.opcode[0] not in ("ld", "ldu", "st", *cfg.ATOMICS):
        return False
    if ins.opcode[0] in cfg.ATOMICS:
        return True
    return not ("param" in ins.opcode and ins.operands[1].base is None)


def refuse_unknown(ins):
    known = ins.opcode[0] in OPS or ins.opcode[0] in CONTROL or tensor.knows(ins) or asynchronous.knows(ins)
    known = known or ins.opcode[0] in ("addc", "subc", "madc")
    if ins.opcode[0] in ("bar", "barrier", "membar", "fence", "nanosleep"):
        known = barriers.knows(ins)
    strange = [r.name for r in cfg.sources(ins) if REFUSED.fullmatch(r.name)] if known else []
    if strange:
        why = next((why for start, why in REASONS.items() if strange[0].startswith(start)), "")
        raise UnsupportedInstruction(f"{at_line(ins)}the simulator does not know the special register {strange[0]}{why}.",
                                     opcode=ins.name, line=ins.line)
    if not known:
        raise UnsupportedInstruction(
            f"{at_line(ins)}the simulator does not know the instruction {ins.name}"
            f"{coverage.reason(ins.opcode[0])}.", opcode=ins.name, line=ins.line)


def place_registers(function, body, calls_something):
    slots, offset = {}, 0
    if calls_something:
        slots[calls.FRAME.name], offset = (0, "i64"), 8 * layout.LANES
    for ins in body:
        for item, t in (*crosslane.constants(ins), *barriers.constants(ins)):
            slots[f"#{t}:{item.value}"] = (offset, t)
            offset += ALIGN * 4
        if ins.opcode[0] == "st":
            for item in data_items(ins):
                if isinstance(item, Imm):
                    slots[constant_slot(item, ins)] = (offset, ir_type(ins.opcode[-1]))
                    offset += ALIGN * 4
        for register in cfg.destinations(ins) + cfg.sources(ins):
            name = register.name
            if name in slots or name == "_":
                continue
            if name.startswith("%") and name in SPECIAL:
                t = kind(name)
            else:
                declared = function.register_type(name)
                if declared is None:
                    raise UnsupportedInstruction(
                        f"{at_line(ins)}{ins.name} uses {name}, which is neither declared nor a special register that "
                        "the simulator knows.", opcode=ins.name, line=ins.line)
                t = ir_type(declared)
            slots[name] = (offset, t)
            nbytes = 4 if t == "i1" else int(t[1:]) // 8 * layout.LANES
            offset += -(-nbytes // ALIGN) * ALIGN
    return slots, offset


def data_items(ins):
    """Return the data operands of a load or store, one an element."""
    data = ins.operands[ins.opcode[0] == "st"]
    return data.items if isinstance(data, Vec) else (data,)


def constant_slot(item, ins):
    """Name the slot that holds a constant to be stored; its value is written when a warp is set up."""
    return f"#{ir_type(ins.opcode[-1])}:{item.value}"


def describe_tensor(program, ins, number):
    """Keep the Tensor of a matrix instruction or asynchronous copy, and its Access if it has one."""
    found = (tensor if tensor.knows(ins) else asynchronous).describe(program, ins, number)
    program.tensors[number] = found
    if found.access is not None:
        program.accesses[number] = found.access


def describe(program, ins, number):
    """Return the Access record of one load or store."""
    store = ins.opcode[0] == "st"
    where = ins.operands[0 if store or ins.opcode[0] == "red" else 1]
    items = data_items(ins) if ins.opcode[0] not in cfg.ATOMICS else (None,)
    space = next((p for p in ins.opcode if p in layout.SPACES), "const" if "param" in ins.opcode else "generic")
    kind = ins.opcode[-1]
    access = layout.Access(kind=store, space=layout.SPACES[space], width=type_bytes(kind), count=len(items),
                           sign=kind[0] == "s", line=ins.line, number=number, offset=where.offset)
    if isinstance(where.base, Reg):
        access.address, t = program.slots[where.base.name]
        access.address_bytes, access.has_address = int(t[1:]) // 8, 1
    else:
        access.address_bytes = 8
    if ins.opcode[0] in cfg.ATOMICS:
        return crosslane.atomic(program, ins, access)
    for i, item in enumerate(items):
        access.item[i], t = program.slots[item.name if isinstance(item, Reg) else constant_slot(item, ins)]
        access.item_bytes = int(t[1:]) // 8
    return access
