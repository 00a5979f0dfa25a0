"""Where everything lies: an address for each variable, an offset for each register; no symbol is left in an operand."""

import dataclasses
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa import barriers, bulk_copies, clusters, images, tensor_copies, warp
from course_lib.simt.isa.memory import constant_slot
from course_lib.simt.isa.operations import OPS, ir_type
from course_lib.simt.isa.special import SPECIAL, WINDOW_64, kind, reserved, shared_begin
from course_lib.simt.passes import calls
from course_lib.simt.ptx.ir import Function, Imm, Instruction, Kind, Mem, Module, Operand, Reg, Sym, Variable, Vec, at_line, type_bytes
from course_lib.simt.ptx.names import plain
from course_lib.simt.runtime import abi

WINDOWS = {"shared": abi.SHARED_WINDOW, "local": abi.LOCAL_WINDOW, "const": abi.CONST_WINDOW}
PARAM_BYTES = 4352  # for parameters, at the start of constant memory
ALIGN = 64
Addresses: TypeAlias = dict[str, tuple[str, int]]  # variable -> (space, address)


@dataclass
class Variables:
    """Where the variables and parameters of a kernel lie."""

    addresses: Addresses
    sizes: dict[str, int]  # space -> bytes
    shared: list[tuple[str, int, int]]  # name, offset, bytes
    constants: dict[str, tuple[str, int, Variable]]  # of `__constant__` and `__device__` variables: (space, offset, variable)
    params: list[tuple[str, int, int, str]]  # name, offset, bytes, type of the elements
    shared_begin: int  # the address of the first byte of shared memory that is stored: offset 0
    lost_alignments: list[tuple[str, int, int, int]]  # of shared variables: name, alignment asked for, address, line of its first use
    clusters: bool = False  # whether addresses of shared memory have the block's rank, see isa/clusters.py


def place_variables(module: Module, linked: calls.Linked, entry: str) -> Variables:
    """Give each variable an offset in its space, and each parameter of the kernel; constants come behind the parameters."""
    addresses: Addresses = {}
    shared: list[tuple[str, int, int]] = []
    constants: dict[str, tuple[str, int, Variable]] = {}
    instructions = [ins for f in linked.functions.values() for ins in f.body if isinstance(ins, Instruction)]
    stored = reserved(r.name for ins in instructions for r in ins.sources)
    begin = max(shared_begin(module.target) - stored, 0)
    sizes = {"shared": stored, "const": PARAM_BYTES, "global": 0}
    lost: list[tuple[str, int, int, int]] = []
    used: set[str] = set().union(*(referenced(f) for f in linked.functions.values()))
    inner = [v for f in linked.functions.values() for v in f.variables.values()]
    for name, callee in linked.callees.items():
        addresses[name] = ("code", calls.FUNCTIONS_AT + 16 * callee.number)
    every = sorted([*module.variables.values(), *inner], key=is_dynamic)               # dynamic shared memory lies behind all other
    dynamic_align = max((v.align for v in every if is_dynamic(v) and v.name in used), default=1)
    for variable in every:
        space = variable.space
        if space not in sizes or space == "shared" and variable.name not in used:
            continue
        at = calls.align(sizes[space], dynamic_align if is_dynamic(variable) else variable.align)
        addresses[variable.name] = (space, at + (abi.GLOBAL_VARIABLES if space == "global" else 0))
        if space == "shared":
            shared.append((plain_name(variable.name), at, variable.nbytes))
            if (begin + at) % variable.align:
                line = next((ins.line for ins in instructions if variable.name in named_by(ins)), 0)
                lost.append((plain_name(variable.name), variable.align, begin + at, line))
        if space in ("const", "global"):
            constants[variable.name] = (space, at, variable)
        sizes[space] = at + variable.nbytes
    params, offset = [], 0
    for p in module.functions[entry].params:
        offset = calls.align(offset, p.align)
        params.append((plain(p.name), offset, p.nbytes, p.kind if p.nbytes == type_bytes(p.kind) else "b8"))
        addresses[p.name] = ("param", offset)
        offset += p.nbytes
    in_clusters = any(map(clusters.uses, linked.functions.values()))
    return Variables(addresses, sizes, shared, constants, params, begin, lost, in_clusters)


def is_dynamic(variable: Variable) -> bool:
    """Say whether a variable is `extern __shared__`, whose size is the launch's: all such begin at the same place."""
    return variable.space == "shared" and variable.nbytes == 0


def plain_name(mangled: str) -> str:
    """Return the name that the source gives a `__shared__` variable.

    >>> [plain_name(n) for n in ("_ZZ11sgemm_tiledE2As", "_ZZ1fPfE4tile_0", "buffer")]
    ['As', 'tile', 'buffer']
    """
    name = plain(mangled)
    found = re.fullmatch(r"_ZZ.*E(\d+)(\w+)", name)
    return found.group(2)[:int(found.group(1))] if found else name


def referenced(function: Function) -> set[str]:
    """Return the names of the variables and functions that a function's instructions name."""
    return set().union(*(named_by(ins) for ins in function.body if isinstance(ins, Instruction)))


def named_by(ins: Instruction) -> set[str]:
    """Return the names of the variables and functions that an instruction names."""
    operands = (operand.base if isinstance(operand, Mem) else operand for operand in ins.operands)
    return {operand.name for operand in operands if isinstance(operand, Sym)}


def rewrite(ins: Instruction, variables: Variables) -> Instruction:
    """Replace variable names by addresses and `cvta` by arithmetic.

    A register holds an address of shared memory as the hardware has it; an access finds its byte by the offset in what is stored.
    """
    if ins.kind in (Kind.BRANCH, Kind.CALL, Kind.INDEXED_BRANCH):
        return ins
    operands = tuple(literal(resolve(o, variables, ins), ins.opcode[-1]) for o in ins.operands)
    if variables.shared_begin and any(word.startswith("shared") for word in ins.opcode):
        first = [i for i, o in enumerate(operands) if isinstance(o, Mem)][:1]              # `cp.async.shared.global [to], [from]`
        own = next((m.own_operands(ins) for m in (bulk_copies, tensor_copies) if m.knows(ins)), None)
        there = own if own is not None else () if clusters.remote(ins) else first
        operands = tuple(in_store(o, variables.shared_begin) if i in there and isinstance(o, Mem) and not symbolic(ins, i) else o
                         for i, o in enumerate(operands))
    if variables.clusters and any(isinstance(o, Sym) and variables.addresses[o.name][0] == "shared" for o in ins.operands):
        return clusters.in_window(ins, operands, ins.operands)
    opcode = ins.opcode
    if variables.clusters and opcode[:2] in (("isspacep", "shared"), ("isspacep", "shared__cta")):
        operands = (*operands, Reg(WINDOW_64))
    if opcode[:2] == ("ld", "param") and isinstance(ins.operands[1], Mem) and isinstance(ins.operands[1].base, Reg):
        opcode = ("ld", *opcode[2:])           # what `mov` takes a parameter's address for is generic
    if opcode[0] == "cvta":
        kind, space = opcode[-1], opcode[-2]
        window = WINDOWS.get(space.partition("__")[0], 0)
        opcode, operands = ("add", kind), operands + (Imm(-window if "to" in opcode else window),)
        if not window:
            opcode, operands = ("mov", kind), operands[:-1]
    return dataclasses.replace(ins, opcode=opcode, operands=operands)


def in_store(address: Mem, begin: int) -> Mem:
    """Return where a shared address lies in what is stored of shared memory, which begins at the address `begin`."""
    return Mem(address.base, address.offset - begin)


def symbolic(ins: Instruction, place: int) -> bool:
    """Say whether an operand of an instruction as written is an address by a variable's name, such as `[As+4]`."""
    operand = ins.operands[place]
    return isinstance(operand, Mem) and isinstance(operand.base, Sym)


def sink(ins: Instruction, function: Function) -> Instruction:
    """Replace `_`, a result that nobody wants, by a register that nobody reads."""
    name = ins.opcode[0]
    if name not in OPS and ins.kind not in (Kind.LOAD, Kind.EXCHANGE) or not any(o == Reg("_") for o in results_of(ins)):
        return ins
    types = OPS[name][0](ins)[0] if name in OPS else warp.signature(ins)[0] if ins.kind is Kind.EXCHANGE else (ir_type(ins.opcode[-1]),) * 4
    fresh = []
    for operand, t in zip(results_of(ins), types):
        name = f"%_sink.{t}"
        function.registers[name] = "pred" if t == "i1" else f"b{t[1:]}"
        fresh.append(Reg(name) if operand == Reg("_") else operand)
    if isinstance(ins.operands[0], Vec):
        return dataclasses.replace(ins, operands=(Vec(tuple(fresh)), *ins.operands[1:]))
    return dataclasses.replace(ins, operands=(*fresh, *ins.operands[len(fresh):]))


def results_of(ins: Instruction) -> Sequence[Operand]:
    """Return the result operands as written, `_` among them."""
    if not ins.operands:
        return ()
    if ins.opcode[0] in ("setp", "shfl", "match", "elect"):
        return ins.operands[:ins.results]
    return ins.operands[0].items if isinstance(ins.operands[0], Vec) else ins.operands[:1]


def literal(operand: Operand, kind: str) -> Operand:
    """Give a decimal floating-point literal the bits of the instruction's type."""
    if isinstance(operand, Vec):
        return Vec(tuple(literal(item, kind) for item in operand.items))
    if isinstance(operand, Imm) and operand.float_bytes == 8 and kind == "f32":
        return Imm(float_bits(operand.value), 4)
    return operand


def float_bits(double_bits: int) -> int:
    """Return the bits of a double rounded to single precision."""
    value, = struct.unpack("<d", double_bits.to_bytes(8, "little"))
    return int.from_bytes(np.float32(value).tobytes(), "little")


def resolve(operand: Operand, variables: Variables, ins: Instruction) -> Operand:
    if isinstance(operand, Sym):
        space, at = address_of(operand.name, variables.addresses, ins)
        return Imm(at + operand.offset + {"param": WINDOWS["const"], "shared": variables.shared_begin}.get(space, 0))
    if isinstance(operand, Mem) and isinstance(operand.base, Sym):    # `ld.param` counts from the first parameter
        return Mem(None, address_of(operand.base.name, variables.addresses, ins)[1] + operand.offset)
    return operand


def address_of(name: str, addresses: Mapping[str, tuple[str, int]], ins: Instruction) -> tuple[str, int]:
    """Return (space, address) of a variable or function."""
    if name not in addresses:
        raise UnsupportedInstruction(f"{at_line(ins)}{ins.name} uses {name!r}, which the simulator cannot place.", opcode=ins.name,
                                     line=ins.where)
    return addresses[name]


def place_registers(function: Function, body: Iterable[Instruction], has_calls: bool) -> tuple[dict[str, tuple[int, str]], int]:
    """Return ({register, or constant that is stored: (offset, LLVM type)}, bytes of a warp's register file)."""
    slots: dict[str, tuple[int, str]] = {}
    offset = 0
    if has_calls:
        slots[calls.FRAME.name], offset = (0, "i64"), 8 * abi.LANES
    for ins in body:
        for item, t in (*warp.constants(ins), *barriers.constants(ins), *images.constants(ins)):
            slots[f"#{t}:{item.value}"] = (offset, t)
            offset += ALIGN * 4
        if ins.kind is Kind.STORE:
            for stored in ins.data:
                if isinstance(stored, Imm):
                    slots[constant_slot(stored, ins)] = (offset, ir_type(ins.opcode[-1]))
                    offset += ALIGN * 4
        for register in ins.destinations + ins.sources:
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
                        "the simulator knows.", opcode=ins.name, line=ins.where)
                t = ir_type(declared)
            slots[name] = (offset, t)
            nbytes = 4 if t == "i1" else int(t[1:]) // 8 * abi.LANES
            offset += -(-nbytes // ALIGN) * ALIGN
    return slots, offset
