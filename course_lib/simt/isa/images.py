"""Textures and surfaces: fetches, gathers, loads and stores through a handle, as the records that `runtime/images.cuh` reads."""

import dataclasses
from collections.abc import Iterator

from course_lib.simt.errors import PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.isa.protocols import Placed, Signature
from course_lib.simt.isa.tensor import Tensor
from course_lib.simt.isa.warp import NONE, slot
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Reg, Sym, Vec, at_line, opened, type_bytes
from course_lib.simt.runtime import abi

WHAT, TO = "(f32|s32|u32)", "(trap|clamp|zero)"
ELEMENTS = ("[.v2|.v4].(b8|b16|b32)", "[.v2].b64")      # at most 16 bytes
FORMS = {
    "Textures and surfaces": (
        (f"tex.1d.v4.{WHAT}.(f32|s32)", "d, [a, {b}]"), (f"tex.2d.v4.{WHAT}.(f32|s32)", "d, [a, {b, c}]"),
        (f"tex.level.1d.v4.{WHAT}.f32", "d, [a, {b}], e"), (f"tex.level.2d.v4.{WHAT}.f32", "d, [a, {b, c}], e"),
        (f"tld4.(r|g|b|a).2d.v4.{WHAT}.f32", "d, [a, {b, c}]"),
        *((f"suld.b.1d{data}.{TO}", "d, [a, {b}]") for data in ELEMENTS),
        *((f"suld.b.2d{data}.{TO}", "d, [a, {b, c}]") for data in ELEMENTS),
        *((f"sust.b.1d{data}.{TO}", "[a, {b}], c") for data in ELEMENTS),
        *((f"sust.b.2d{data}.{TO}", "[a, {b, c}], d") for data in ELEMENTS),
    ),
}
REASONS = {"3d": "three-dimensional textures and surfaces", "a1d": "layered textures and surfaces", "a2d": "layered textures and surfaces",
           "cube": "cube maps", "acube": "cube maps", "2dms": "textures with several samples", "a2dms": "textures with several samples",
           "grad": "levels of a mipmap", "base": "levels of a mipmap", "p": "surfaces with a format"}
USES = {"tex": abi.ImageUse.SAMPLE, "tld4": abi.ImageUse.GATHER, "suld": abi.ImageUse.READ_SURFACE, "sust": abi.ImageUse.WRITE_SURFACE}
RESULTS = {"f32": abi.ImageElement.OF_FLOAT, "s32": abi.ImageElement.OF_SIGNED, "u32": abi.ImageElement.OF_UNSIGNED}


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's."""
    return ins.kind is Kind.IMAGE


def reason(ins: Instruction) -> str:
    """Return why a form of this module's opcodes is not covered, as a part of a sentence; empty when nothing special is known."""
    return next((f" ({REASONS[part]})" for part in ins.opcode[1:] if part in REASONS), "") if knows(ins) else ""


def flat(ins: Instruction) -> Instruction:
    """Return a fetch or an access without brackets: results, handle, coordinates, and what follows them.

    Raises
    ------
    UnsupportedInstruction
        For a reference to a texture or surface by its name; only handles in registers are covered.
    PtxSyntaxError
        For a handle with an offset.
    """
    operands: list[object] = []
    for operand in ins.operands:
        if not isinstance(operand, Vec) or not isinstance(next(iter(operand.items), None), Mem):
            operands.append(operand)
            continue
        handle = operand.items[0]
        if isinstance(handle.base, Sym):
            raise UnsupportedInstruction(f"{at_line(ins)}{ins.name} names {handle.base.name!r}: references to textures and surfaces are "
                                         "not covered. Pass a cudaTextureObject_t or cudaSurfaceObject_t.", opcode=ins.name, line=ins.where)
        if handle.base is None or handle.offset:
            raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: the handle is a 64-bit register, without an offset.", line=ins.where,
                                 opcode=ins.name)
        operands += [handle.base, *opened(operand.items[1:])]
    return dataclasses.replace(ins, operands=tuple(operands))


def dimensions(ins: Instruction) -> int:
    """Return along how many axes an instruction has coordinates."""
    return 2 if "2d" in ins.opcode else 1


def element(ins: Instruction) -> str:
    """Return the type of one element of the data: `f32` of a texture, `b8` of a surface."""
    return ins.opcode[-2]


def elements(ins: Instruction) -> int:
    """Return how many elements the data has.

    >>> elements(Instruction(("suld", "b", "2d", "v2", "b16", "trap"), (), None, 0))
    2
    """
    return next((int(part[1:]) for part in ins.opcode if part in ("v2", "v4")), 1)


def signature(ins: Instruction) -> Signature:
    """Return (LLVM types of the results, of the sources) of an instruction that is `flat`; bytes of a surface lie in 16 bits."""
    data = (f"i{max(8 * type_bytes(element(ins)), 16)}",) * elements(ins)
    sources = ("i64", *("i32",) * dimensions(ins), *("i32",) * ("level" in ins.opcode))
    return ((), (*sources, *data)) if ins.opcode[0] == "sust" else (data, sources)


def constants(ins: Instruction) -> Iterator[tuple[Imm, str]]:
    """Yield (Imm, LLVM type) for each literal operand that needs a slot of its own."""
    if knows(ins):
        yield from ((o, t) for o, t in zip(ins.inputs, signature(ins)[1]) if isinstance(o, Imm))


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function and record) of a fetch or an access."""
    kinds = signature(ins)[1]
    places = [slot(program, operand, t) for operand, t in zip(ins.inputs, kinds)]
    use, axes = USES[ins.opcode[0]], dimensions(ins)
    record = abi.Fetch(number=number, use=use, dimensions=axes, handle=places[0], level=NONE, count=elements(ins))
    record.at[:] = (places[1:1 + axes] * 2)[:2]
    data = places[1 + axes:] if ins.opcode[0] == "sust" else [
        NONE if register == Reg("_") else slot(program, register, "") for register in opened(ins.operands[:1])]
    record.item[:] = (data + [NONE] * 4)[:4]
    if use in (abi.ImageUse.SAMPLE, abi.ImageUse.GATHER):
        record.result, record.texels = RESULTS[element(ins)], ins.opcode[-1] == "s32"
        record.channel = "rgba".index(ins.opcode[1]) if use == abi.ImageUse.GATHER else 0
        record.level = places[1 + axes] if "level" in ins.opcode else NONE
    else:
        record.boundary, record.bytes = abi.Boundary[f"BOUNDARY_{ins.opcode[-1].upper()}"], type_bytes(element(ins))
        record.item_bytes = int(kinds_of_data(ins)[1:]) // 8
    return Tensor("use_image", record)


def kinds_of_data(ins: Instruction) -> str:
    """Return the LLVM type of the registers that a surface's elements lie in."""
    results, sources = signature(ins)
    return (results or sources)[-1]
