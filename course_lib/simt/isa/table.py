"""The table of arithmetic instructions, and what every entry of it needs.

Every value travels as the bits of its register: `i1` for predicates, `i8` … `i64` for the rest; floating-point
instructions reinterpret them. `OPS[opcode]` is a pair of functions:

- `signature(instruction)` -> (destination types, source types), each a tuple of LLVM integer types;
- `emit(code, instruction, sources)` -> tuple of destination values.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import cache

from course_lib.simt.isa import convert, halves, rounding
from course_lib.simt.isa.protocols import Emit, Results, Signature, Writer
from course_lib.simt.ptx.ir import Instruction, type_bytes

FLOATS = convert.FLOATS
OPS: dict[str, tuple[Callable[[Instruction], Signature], Emit]] = {}


@cache
def ir_type(name: str) -> str:
    """Return the LLVM integer type that holds a PTX type.

    >>> [ir_type(t) for t in ("pred", "s32", "f64", "b16")]
    ['i1', 'i32', 'i64', 'i16']
    """
    return "i1" if name == "pred" else f"i{8 * type_bytes(name)}"


def kind(ins: Instruction) -> str:
    """Return the instruction's type: the last part of its opcode."""
    return ins.opcode[-1]


def same(n: int) -> Callable[[Instruction], Signature]:
    """Signature: `n` sources and one destination, all of the instruction's type."""
    return lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)),) * n)


def op(*names: str, signature: Callable[[Instruction], Signature], whole: bool = False) -> Callable[[Emit], Emit]:
    """Register an emitter under each opcode in `names`; `whole`: it takes packed types (`f16x2`) itself."""
    def register(emit: Emit) -> Emit:
        for name in names:
            OPS[name] = (signature, emit if whole else packed(emit))
        return emit
    return register


def is_float(type_name: str) -> bool:
    return type_name in FLOATS


def as_float(code: Writer, type_name: str, value: str) -> str:
    base = FLOATS[type_name]
    if value.startswith("splat") or not value.startswith("%"):
        return code.op(f"bitcast {code.ty(ir_type(type_name))} {value} to {code.ty(base)}")
    return code.cast("bitcast", ir_type(type_name), value, base)


def as_bits(code: Writer, type_name: str, value: str) -> str:
    return code.cast("bitcast", FLOATS[type_name], value, ir_type(type_name))


def mode_of(ins: Instruction) -> str | None:
    """Return the directed rounding that an instruction asks for, or None for the nearest even."""
    return next((part for part in ins.opcode if part in rounding.MODES), None)


def floating(code: Writer, ins: Instruction, sources: Sequence[str], compute: Callable[[str, Sequence[str]], str]) -> Results:
    """Run `compute(lane type, float values) -> float value` between two reinterpretations.

    Half precision is computed in single precision, which is wide enough for one correctly rounded operation.
    """
    name = kind(ins)
    if name in halves.KINDS:
        values = [halves.read(code, ins, name, s) for s in sources]
        return (halves.finish(code, ins, name, halves.narrow(code, name, compute("float", values))),)
    base = FLOATS[name]
    values = [as_float(code, name, s) for s in sources]
    if "ftz" in ins.opcode:
        values = [convert.flush(code, base, v) for v in values]
    result = compute(base, values)
    if "ftz" in ins.opcode:
        result = convert.flush(code, base, result)
    if "sat" in ins.opcode:
        result = convert.saturate(code, base, result)
    return (as_bits(code, name, result),)


def packed(emit: Emit) -> Emit:
    """Wrap an emitter: `f16x2`, `bf16x2`, `s16x2`, `u16x2` are two operations on halves of 32 bits."""
    def both(code: Writer, ins: Instruction, sources: Sequence[str]) -> Results:
        name = kind(ins)
        if not name.endswith("x2"):
            return emit(code, ins, sources)
        one = dataclasses.replace(ins, opcode=(*ins.opcode[:-1], name[:-2]))
        sixteen, parts = code.const("i32", 16), []
        for shift in (False, True):
            given = [code.binary("lshr", "i32", s, sixteen) if shift else s for s in sources]
            given = [code.cast("trunc", "i32", s, "i16") for s in given]
            parts.append(code.cast("zext", "i16", emit(code, one, given)[0], "i32"))
        return (code.binary("or", "i32", parts[0], code.binary("shl", "i32", parts[1], sixteen)),)
    return both


def signed(ins: Instruction) -> bool:
    """Say whether an integer instruction is a signed one."""
    return kind(ins).startswith("s")


def wide_type(ins: Instruction) -> str:
    return f"i{16 * type_bytes(kind(ins))}"


def wide_product(code: Writer, ins: Instruction, a: str, b: str) -> str:
    """The double-width product of two integers."""
    t, wide = ir_type(kind(ins)), wide_type(ins)
    how = "sext" if signed(ins) else "zext"
    return code.binary("mul", wide, code.cast(how, t, a, wide), code.cast(how, t, b, wide))


def high(code: Writer, ins: Instruction, value: str) -> str:
    t, wide = ir_type(kind(ins)), wide_type(ins)
    shifted = code.binary("lshr", wide, value, code.const(wide, int(t[1:])))
    return code.cast("trunc", wide, shifted, t)
