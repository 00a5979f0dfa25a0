"""Where everything lies: an address for each variable, a place for each register; no symbol is left in an operand."""

import dataclasses
import re
import struct

import numpy as np

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa import barriers, warp
from course_lib.simt.isa.memory import constant_slot
from course_lib.simt.isa.operations import OPS, ir_type
from course_lib.simt.isa.special import SPECIAL, kind
from course_lib.simt.passes import calls
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Reg, Sym, Vec
from course_lib.simt.runtime import abi

WINDOWS = {"shared": abi.SHARED_WINDOW, "local": abi.LOCAL_WINDOW, "const": abi.CONST_WINDOW}
PARAM_BYTES = 4352  # room for parameters at the start of constant memory
ALIGN = 64


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
        places[variable.name] = (space, at + (abi.GLOBAL_VARIABLES if space == "global" else 0))
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
    if ins.kind in (Kind.BRANCH, Kind.CALL, Kind.INDEXED_BRANCH):
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
    name = ins.opcode[0]
    if name not in OPS and ins.kind not in (Kind.LOAD, Kind.EXCHANGE) or not any(o == Reg("_") for o in results_of(ins)):
        return ins
    types = OPS[name][0](ins)[0] if name in OPS else warp.signature(ins)[0] if ins.kind is Kind.EXCHANGE else [ir_type(ins.opcode[-1])] * 4
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
    if ins.opcode[0] in ("setp", "shfl", "match"):
        return ins.operands[:ins.results]
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


def place_registers(function, body, calls_something):
    slots, offset = {}, 0
    if calls_something:
        slots[calls.FRAME.name], offset = (0, "i64"), 8 * abi.LANES
    for ins in body:
        for item, t in (*warp.constants(ins), *barriers.constants(ins)):
            slots[f"#{t}:{item.value}"] = (offset, t)
            offset += ALIGN * 4
        if ins.kind is Kind.STORE:
            for item in ins.data:
                if isinstance(item, Imm):
                    slots[constant_slot(item, ins)] = (offset, ir_type(ins.opcode[-1]))
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
                        "the simulator knows.", opcode=ins.name, line=ins.line)
                t = ir_type(declared)
            slots[name] = (offset, t)
            nbytes = 4 if t == "i1" else int(t[1:]) // 8 * abi.LANES
            offset += -(-nbytes // ALIGN) * ALIGN
    return slots, offset
