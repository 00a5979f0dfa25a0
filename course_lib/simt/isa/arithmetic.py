"""What each arithmetic PTX instruction computes, written once for one lane or for 32.

Rules of rounding, NaN and shifts are those of the "PTX ISA" manual, sections "Integer Arithmetic Instructions" to
"Data Movement and Conversion Instructions". `bits.py` holds the instructions on bits.
"""

from collections.abc import Sequence

from course_lib.simt.isa import convert, halves
from course_lib.simt.isa.protocols import Emit, Results, Signature, Writer
from course_lib.simt.isa.rounding import directed
from course_lib.simt.isa.spelling import INT, ROUND
from course_lib.simt.isa.table import (
    FLOATS,
    as_bits,
    as_float,
    floating,
    high,
    ir_type,
    is_float,
    kind,
    mode_of,
    op,
    same,
    signed,
    wide_product,
    wide_type,
)
from course_lib.simt.ptx.ir import Instruction, Vec

FORMS = {
    "Integer arithmetic": (
        (f"(add|sub|min|max).({INT})", "d, a, b"),
        ("(add|sub).sat.s32", "d, a, b"),
        ("(add|min|max).(u16x2|s16x2)", "d, a, b"),
        ("(min|max).relu.(s32|s16x2)", "d, a, b"), ("(min|max).(s32|s16x2).relu", "d, a, b"),
        (f"mul.(lo|hi).({INT})", "d, a, b"), ("mul.wide.(u16|u32|s16|s32)", "d, a, b"),
        (f"mad.(lo|hi).({INT})", "d, a, b, c"), ("mad.wide.(u16|u32|s16|s32)", "d, a, b, c"), ("mad.hi.sat.s32", "d, a, b, c"),
        ("mul24.(lo|hi).(u32|s32)", "d, a, b"), ("mad24.(lo|hi).(u32|s32)", "d, a, b, c"), ("mad24.hi.sat.s32", "d, a, b, c"),
        (f"(div|rem).({INT})", "d, a, b"), (f"sad.({INT})", "d, a, b, c"),
        ("(abs|neg).(s16|s32|s64)", "d, a"),
    ),
    "Comparison and selection": (
        ("testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)", "p, a"),
    ),
    "Floating point": (
        (f"(add|sub|mul){ROUND}[.ftz][.sat].f32", "d, a, b"), (f"(add|sub|mul){ROUND}.f64", "d, a, b"),
        ("(fma|mad).(rn|rz|rm|rp)[.ftz][.sat].f32", "d, a, b, c"), ("(fma|mad).(rn|rz|rm|rp).f64", "d, a, b, c"),
        ("div.(rn|rz|rm|rp|approx|full)[.ftz].f32", "d, a, b"), ("div.(rn|rz|rm|rp).f64", "d, a, b"),
        ("(rcp|sqrt).(rn|rz|rm|rp|approx)[.ftz].f32", "d, a"), ("(rcp|sqrt).(rn|rz|rm|rp).f64", "d, a"),
        ("(min|max)[.ftz][.NaN][.xorsign.abs].f32", "d, a, b"), ("(min|max)[.ftz][.NaN][.abs].f32", "d, a, b, c"),
        ("(min|max).f64", "d, a, b"),
        ("(abs|neg)[.ftz].f32", "d, a"), ("(abs|neg).f64", "d, a"), ("copysign.(f32|f64)", "d, a, b"),
    ),
    "Moves and conversions": (
        (f"mov.(pred|b16|b32|b64|b128|{INT}|f32|f64)", "d, a"), ("mov.(b32|b64|b128)", "d, {a, b}"), ("mov.(b32|b64|b128)", "{d, e}, a"),
        ("mov.b64", "d, {a, b, c, e}"), ("mov.b64", "{d, e, f, g}, a"),
        ("cvta[.to].(global|shared|shared::cta|shared::cluster|local|const|param).(u32|u64)", "d, a"),
    ),
}


def with_rounding(code: Writer, ins: Instruction, operation: str, base: str, values: Sequence[str]) -> str:
    """Apply an arithmetic operation (`fadd`, `sqrt`, `fma`, …) with the rounding that the instruction names."""
    mode = mode_of(ins)
    if mode:
        return directed(code, operation, mode, base, values)
    return code.binary(operation, base, *values) if operation[0] == "f" and operation != "fma" else code.call(operation, base, *values)


def emit_binary(integer: str, real: str) -> Emit:
    def emit(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
        if is_float(kind(ins)):
            return floating(code, ins, s, lambda t, v: with_rounding(code, ins, real, t, v))
        if "sat" in ins.opcode:
            return (code.call("sadd.sat" if integer == "add" else "ssub.sat", "i32", *s),)
        return (code.binary(integer, ir_type(kind(ins)), *s),)
    return emit


op("add", signature=same(2))(emit_binary("add", "fadd"))
op("sub", signature=same(2))(emit_binary("sub", "fsub"))


def multiply_signature(ins: Instruction) -> Signature:
    t = ir_type(kind(ins))
    return ((wide_type(ins),) if "wide" in ins.opcode else (t,)), (t, t)


@op("mul", signature=multiply_signature)
def emit_mul(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: with_rounding(code, ins, "fmul", t, v))
    if "wide" in ins.opcode:
        return (wide_product(code, ins, *s),)
    if "hi" in ins.opcode:
        return (high(code, ins, wide_product(code, ins, *s)),)
    return (code.binary("mul", ir_type(kind(ins)), *s),)


def mad_signature(ins: Instruction) -> Signature:
    if ins.opcode[0] == "fma" or is_float(kind(ins)):
        return same(3)(ins)
    dst, (a, b) = multiply_signature(ins)
    return dst, (a, b, dst[0])


@op("mad", "fma", signature=mad_signature)
def emit_mad(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    if kind(ins) in halves.KINDS:
        return (halves.fused(code, ins, kind(ins), s),)
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: with_rounding(code, ins, "fma", t, v))
    dst = mad_signature(ins)[0][0]
    first = emit_mul(code, ins, s[:2])[0]
    if "sat" in ins.opcode:
        return (code.call("sadd.sat", dst, first, s[2]),)
    return (code.binary("add", dst, first, s[2]),)


@op("mul24", "mad24", signature=lambda ins: same(2 if ins.opcode[0] == "mul24" else 3)(ins))
def emit_mul24(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    shift = "ashr" if signed(ins) else "lshr"
    eight = code.const("i32", 8)
    a, b = (code.binary(shift, "i32", code.binary("shl", "i32", v, eight), eight) for v in s[:2])
    if "hi" in ins.opcode:
        full = wide_product(code, ins, a, b)
        low = code.cast("trunc", "i64", code.binary("lshr", "i64", full, code.const("i64", 16)), "i32")
    else:
        low = code.binary("mul", "i32", a, b)
    if "sat" in ins.opcode:
        return (code.call("sadd.sat", "i32", low, s[2]),)
    return (code.binary("add", "i32", low, s[2]) if len(s) == 3 else low,)


def divided(code: Writer, ins: Instruction, base: str, values: Sequence[str]) -> str:
    """a / b; `div.approx` of a finite number by one beyond 2**126 is zero, as the manual says, and of infinity NaN."""
    found = with_rounding(code, ins, "fdiv", base, values)
    if "approx" not in ins.opcode:
        return found
    size = code.call("fabs", base, values[1])
    large = code.compare("fcmp ogt", base, size, code.const(base, "0x47D0000000000000"))  # 2**126
    finite = code.compare("fcmp olt", base, size, code.const(base, "0x7FF0000000000000"))
    tiny = code.binary("fmul", base, values[0], code.call("copysign", base, code.const(base, "0.0"), values[1]))
    return code.select(code.binary("and", "i1", large, finite), base, tiny, found)


@op("div", "rem", signature=same(2))
def emit_div(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: divided(code, ins, t, v))
    t = ir_type(kind(ins))
    zero = code.compare("icmp eq", t, s[1], code.const(t, 0))
    divisor = code.select(zero, t, code.const(t, 1), s[1])
    letter = "s" if signed(ins) else "u"
    if signed(ins):  # INT_MIN / -1 overflows: divide by 1 and negate
        minus = code.compare("icmp eq", t, s[1], code.const(t, -1))
        divisor = code.select(minus, t, code.const(t, 1), divisor)
        quotient = code.binary("sdiv", t, s[0], divisor)
        quotient = code.select(minus, t, code.binary("sub", t, code.const(t, 0), s[0]), quotient)
    else:
        quotient = code.binary("udiv", t, s[0], divisor)
    if ins.opcode[0] == "div":
        return (code.select(zero, t, code.const(t, -1), quotient),)
    rest = code.binary(f"{letter}rem", t, s[0], divisor)
    return (code.select(zero, t, s[0], rest),)


@op("min", "max", signature=lambda ins: same(3 if kind(ins) == "f32" and len(ins.operands) == 4 else 2)(ins))
def emit_minmax(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    which, t = ins.opcode[0], ir_type(kind(ins))
    if not is_float(kind(ins)):
        found = code.call(("s" if signed(ins) else "u") + which, t, *s)
        return (code.call("smax", t, found, code.const(t, 0)) if "relu" in ins.opcode else found,)
    top = 1 << int(t[1:]) - 1
    given = s
    if "xorsign" in ins.opcode:  # the smaller or larger magnitude, with the product's sign
        given = [code.binary("and", t, v, code.const(t, top - 1)) for v in s]
    intrinsic = which + ("imum" if "NaN" in ins.opcode else "imumnum")

    def fold(base: str, v: Sequence[str]) -> str:
        result = v[0]
        for other in v[1:]:
            result = code.call(intrinsic, base, result, other)
        return convert.canonical_nan(code, base, result)

    found = floating(code, ins, given, fold)[0]
    if "xorsign" in ins.opcode:
        sign = code.binary("and", t, code.binary("xor", t, s[0], s[1]), code.const(t, top))
        found = code.binary("or", t, found, sign)
    return (found,)


@op("abs", "neg", signature=same(1))
def emit_sign(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    t = ir_type(kind(ins))
    if is_float(kind(ins)):
        if "ftz" in ins.opcode and kind(ins) == "f16":
            s = (halves.flush(code, "f16", s[0]),)
        elif "ftz" in ins.opcode:
            value = convert.flush(code, FLOATS[kind(ins)], as_float(code, kind(ins), s[0]))
            s = (as_bits(code, kind(ins), value),)
        bit = 1 << (int(t[1:]) - 1)
        if ins.opcode[0] == "neg":
            return (code.binary("xor", t, s[0], code.const(t, bit)),)
        return (code.binary("and", t, s[0], code.const(t, bit - 1)),)
    negative = code.binary("sub", t, code.const(t, 0), s[0])
    if ins.opcode[0] == "neg":
        return (negative,)
    return (code.select(code.compare("icmp slt", t, s[0], code.const(t, 0)), t, negative, s[0]),)


def mov_signature(ins: Instruction) -> Signature:
    t = ir_type(kind(ins))
    dst, src = ins.operands
    if isinstance(src, Vec):
        return (t,), (f"i{int(t[1:]) // len(src.items)}",) * len(src.items)
    if isinstance(dst, Vec):
        return (f"i{int(t[1:]) // len(dst.items)}",) * len(dst.items), (t,)
    return (t,), (t,)


@op("mov", "cvta", signature=mov_signature)
def emit_mov(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    dst_types, src_types = mov_signature(ins)
    t = ir_type(kind(ins))
    if len(src_types) > 1:
        part = int(src_types[0][1:])
        result = code.cast("zext", src_types[0], s[0], t)
        for i, value in enumerate(s[1:], 1):
            wide = code.cast("zext", src_types[0], value, t)
            result = code.binary("or", t, result, code.binary("shl", t, wide, code.const(t, i * part)))
        return (result,)
    if len(dst_types) > 1:
        part = int(dst_types[0][1:])
        return tuple(
            code.cast("trunc", t, code.binary("lshr", t, s[0], code.const(t, i * part)), dst_types[0])
            for i in range(len(dst_types))
        )
    return (s[0],)


def convert_signature(ins: Instruction) -> Signature:
    if ins.opcode[1] == "pack":
        return ("i32",), ("i32",) * (3 if ins.opcode[-1] == "b32" else 2)
    target, source = ins.opcode[-2:]
    return (ir_type(target),), (ir_type(source),) * (2 if target.endswith("x2") and not source.endswith("x2") else 1)


@op("cvt", signature=convert_signature, whole=True)
def emit_cvt(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return (convert.emit(code, ins, s),)


@op("copysign", signature=same(2))
def emit_copysign(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return floating(code, ins, s, lambda t, v: code.call("copysign", t, v[1], v[0]))


@op("testp", signature=lambda ins: (("i1",), (ir_type(kind(ins)),)))
def emit_testp(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    tests = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 0x3,
             "normal": 0x168, "subnormal": 0x90}
    base = FLOATS[kind(ins)]
    value = as_float(code, kind(ins), s[0])
    letter = "f32" if base == "float" else "f64"
    suffix = f"v{code.lanes}{letter}" if code.lanes else letter
    test = tests[ins.opcode[1]]
    return (code.op(f"call {code.ty('i1')} @llvm.is.fpclass.{suffix}({code.ty(base)} {value}, i32 {test})"),)
