"""What each arithmetic PTX instruction computes, written once for one lane or for 32.

Rules of rounding, NaN and shifts are those of the "PTX ISA" manual, sections "Integer Arithmetic Instructions" to
"Data Movement and Conversion Instructions". `bits.py` holds the instructions on bits.
"""

from course_lib.simt import bits, convert
from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.instruction import Vec, type_bytes
from course_lib.simt.optable import DIRECTED, FLOATS, OPS, as_bits, as_float, floating, ir_type, is_float, kind, op, same, signed

INTEGER_COMPARES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
                    "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
FLOAT_COMPARES = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge",
                  "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
                  "num": "ord", "nan": "uno"}


def emit_binary(integer, real):
    def emit(code, ins, s):
        if is_float(kind(ins)):
            return floating(code, ins, s, lambda t, v: code.binary(real, t, *v))
        if "sat" in ins.opcode:
            return (code.call("sadd.sat" if integer == "add" else "ssub.sat", "i32", *s),)
        return (code.binary(integer, ir_type(kind(ins)), *s),)
    return emit


op("add", signature=same(2))(emit_binary("add", "fadd"))
op("sub", signature=same(2))(emit_binary("sub", "fsub"))


def wide_type(ins):
    return f"i{16 * type_bytes(kind(ins))}"


def multiply_signature(ins):
    t = ir_type(kind(ins))
    return ((wide_type(ins),) if "wide" in ins.opcode else (t,)), (t, t)


def product(code, ins, a, b):
    """The double-width product of two integers."""
    t, wide = ir_type(kind(ins)), wide_type(ins)
    how = "sext" if signed(ins) else "zext"
    return code.binary("mul", wide, code.cast(how, t, a, wide), code.cast(how, t, b, wide))


def high(code, ins, value):
    t, wide = ir_type(kind(ins)), wide_type(ins)
    shifted = code.binary("lshr", wide, value, code.const(wide, int(t[1:])))
    return code.cast("trunc", wide, shifted, t)


@op("mul", signature=multiply_signature)
def emit_mul(code, ins, s):
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: code.binary("fmul", t, *v))
    if "wide" in ins.opcode:
        return (product(code, ins, *s),)
    if "hi" in ins.opcode:
        return (high(code, ins, product(code, ins, *s)),)
    return (code.binary("mul", ir_type(kind(ins)), *s),)


def mad_signature(ins):
    if ins.opcode[0] == "fma" or is_float(kind(ins)):
        return same(3)(ins)
    dst, (a, b) = multiply_signature(ins)
    return dst, (a, b, dst[0])


@op("mad", "fma", signature=mad_signature)
def emit_mad(code, ins, s):
    if kind(ins) in ("f16", "bf16"):
        return (fused_half(code, ins, s),)
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: code.call("fma", t, *v))
    if "sat" in ins.opcode:
        raise NotImplementedError
    dst = mad_signature(ins)[0][0]
    first = emit_mul(code, ins, s[:2])[0]
    return (code.binary("add", dst, first, s[2]),)


def fused_half(code, ins, s):
    """a * b + c in half precision, rounded once: exact product and sum in double, made odd, then rounded twice."""
    name = kind(ins)
    if DIRECTED & set(ins.opcode) or {"ftz", "sat"} & set(ins.opcode):
        raise NotImplementedError
    a, b, c = (code.cast("fpext", "float", convert.widen(code, name, as_float(code, name, v)), "double") for v in s)
    p = code.binary("fmul", "double", a, b)
    total = code.binary("fadd", "double", p, c)
    back = code.binary("fsub", "double", total, p)
    error = code.binary("fadd", "double", code.binary("fsub", "double", p, code.binary("fsub", "double", total, back)),
                        code.binary("fsub", "double", c, back))
    odd = convert.to_odd(code, total, error)
    return as_bits(code, name, convert.narrow(code, name, convert.to_odd(code, odd)))


@op("mul24", "mad24", signature=lambda ins: same(2 if ins.opcode[0] == "mul24" else 3)(ins))
def emit_mul24(code, ins, s):
    if "sat" in ins.opcode:
        raise NotImplementedError
    shift = "ashr" if signed(ins) else "lshr"
    eight = code.const("i32", 8)
    a, b = (code.binary(shift, "i32", code.binary("shl", "i32", v, eight), eight) for v in s[:2])
    if "hi" in ins.opcode:
        full = product(code, ins, a, b)
        low = code.cast("trunc", "i64", code.binary("lshr", "i64", full, code.const("i64", 16)), "i32")
    else:
        low = code.binary("mul", "i32", a, b)
    return (code.binary("add", "i32", low, s[2]) if len(s) == 3 else low,)


@op("div", "rem", signature=same(2))
def emit_div(code, ins, s):
    if is_float(kind(ins)):
        return floating(code, ins, s, lambda t, v: code.binary("fdiv", t, *v))
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


@op("min", "max", signature=lambda ins: same(len(ins.operands) - 1)(ins))
def emit_minmax(code, ins, s):
    which = ins.opcode[0]
    if {"relu", "xorsign"} & set(ins.opcode):
        raise NotImplementedError
    if is_float(kind(ins)):
        intrinsic = which + ("imum" if "NaN" in ins.opcode else "imumnum")

        def fold(t, v):
            result = v[0]
            for other in v[1:]:
                result = code.call(intrinsic, t, result, other)
            return convert.canonical_nan(code, t, result)

        return floating(code, ins, s, fold)
    return (code.call(("s" if signed(ins) else "u") + which, ir_type(kind(ins)), *s),)


@op("abs", "neg", signature=same(1))
def emit_sign(code, ins, s):
    t = ir_type(kind(ins))
    if is_float(kind(ins)):
        if "ftz" in ins.opcode:
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


def compare(code, ins, relation, type_name, a, b):
    if is_float(type_name):
        t = FLOATS[type_name]
        values = [as_float(code, type_name, v) for v in (a, b)]
        if type_name in ("f16", "bf16"):
            t, values = "float", [convert.widen(code, type_name, v) for v in values]
        elif "ftz" in ins.opcode:
            values = [convert.flush(code, t, v) for v in values]
        return code.compare(f"fcmp {FLOAT_COMPARES[relation]}", t, *values)
    how = INTEGER_COMPARES[relation]
    if how not in ("eq", "ne"):
        unsigned = relation in ("lo", "ls", "hi", "hs") or type_name[0] in "ub"
        how = ("u" if unsigned else "s") + how
    return code.compare(f"icmp {how}", ir_type(type_name), a, b)


def setp_signature(ins):
    combined = any(part in ("and", "or", "xor") for part in ins.opcode)
    n = len(ins.operands) - 2 - combined
    t = ir_type(kind(ins))
    return ("i1",) * n, (t, t) + (("i1",) if combined else ())


@op("setp", signature=setp_signature)
def emit_setp(code, ins, s):
    first = compare(code, ins, ins.opcode[1], kind(ins), s[0], s[1])
    how = next((p for p in ins.opcode if p in ("and", "or", "xor")), None)
    dst = setp_signature(ins)[0]
    results = [first]
    if len(dst) == 2:
        results.append(code.binary("xor", "i1", first, code.const("i1", "true")))
    if how:
        results = [code.binary(how, "i1", r, s[2]) for r in results]
    return tuple(results)


def set_signature(ins):
    combined = len(ins.operands) == 4
    t = ir_type(kind(ins))
    return (ir_type(ins.opcode[-2]),), (t, t) + (("i1",) if combined else ())


@op("set", signature=set_signature)
def emit_set(code, ins, s):
    true = compare(code, ins, ins.opcode[1], kind(ins), s[0], s[1])
    how = next((p for p in ins.opcode if p in ("and", "or", "xor")), None)
    if how:
        true = code.binary(how, "i1", true, s[2])
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(ins.opcode[-2], -1)
    t = ir_type(ins.opcode[-2])
    return (code.select(true, t, code.const(t, one), code.const(t, 0)),)


@op("selp", signature=lambda ins: ((ir_type(kind(ins)),), (ir_type(kind(ins)),) * 2 + ("i1",)))
def emit_selp(code, ins, s):
    return (code.select(s[2], ir_type(kind(ins)), s[0], s[1]),)


@op("slct", signature=lambda ins: ((ir_type(ins.opcode[-2]),), (ir_type(ins.opcode[-2]),) * 2 + ("i32",)))
def emit_slct(code, ins, s):
    if kind(ins) == "f32":
        value = as_float(code, "f32", s[2])
        if "ftz" in ins.opcode:
            value = convert.flush(code, "float", value)
        test = code.compare("fcmp oge", "float", value, code.const("float", "0.0"))
    else:
        test = code.compare("icmp sge", "i32", s[2], code.const("i32", 0))
    return (code.select(test, ir_type(ins.opcode[-2]), s[0], s[1]),)


def mov_signature(ins):
    t = ir_type(kind(ins))
    dst, src = ins.operands
    if isinstance(src, Vec):
        return (t,), (f"i{int(t[1:]) // len(src.items)}",) * len(src.items)
    if isinstance(dst, Vec):
        return (f"i{int(t[1:]) // len(dst.items)}",) * len(dst.items), (t,)
    return (t,), (t,)


@op("mov", "cvta", signature=mov_signature)
def emit_mov(code, ins, s):
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


@op("cvt", signature=lambda ins: ((ir_type(ins.opcode[-2]),), (ir_type(ins.opcode[-1]),) * (len(ins.operands) - 1)))
def emit_cvt(code, ins, s):
    return (convert.emit(code, ins, s),)


UNARY = {"sqrt": "sqrt", "ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos"}


@op(*UNARY, "rcp", "rsqrt", "tanh", signature=same(1))
def emit_unary(code, ins, s):
    """Approximate forms are computed to full precision: within the hardware's stated error, not its bits."""
    def compute(t, v):
        one = code.const(t, "1.0")
        if ins.opcode[0] == "rcp":
            return code.binary("fdiv", t, one, v[0])
        if ins.opcode[0] == "rsqrt":
            return code.binary("fdiv", t, one, code.call("sqrt", t, v[0]))
        if ins.opcode[0] == "tanh":
            return code.call("tanh", t, v[0])
        return code.call(UNARY[ins.opcode[0]], t, v[0])
    return floating(code, ins, s, compute)


@op("copysign", signature=same(2))
def emit_copysign(code, ins, s):
    return floating(code, ins, s, lambda t, v: code.call("copysign", t, v[1], v[0]))


@op("testp", signature=lambda ins: (("i1",), (ir_type(kind(ins)),)))
def emit_testp(code, ins, s):
    tests = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 0x3,
             "normal": 0x168, "subnormal": 0x90}
    base = FLOATS[kind(ins)]
    value = as_float(code, kind(ins), s[0])
    letter = "f32" if base == "float" else "f64"
    suffix = f"v{code.lanes}{letter}" if code.lanes else letter
    test = tests[ins.opcode[1]]
    return (code.op(f"call {code.ty('i1')} @llvm.is.fpclass.{suffix}({code.ty(base)} {value}, i32 {test})"),)


def compute(code, ins, sources):
    """Emit one arithmetic instruction; return its results.

    Raises
    ------
    UnsupportedInstruction
        For a form (type, rounding, modifier) that is not covered.
    """
    try:
        return OPS[ins.opcode[0]][1](code, ins, sources)
    except (NotImplementedError, KeyError):
        line = f"line {ins.line}: " if ins.line else ""
        raise UnsupportedInstruction(f"{line}the simulator does not know the form {ins.name}.", opcode=ins.name, line=ins.line) from None


__all__ = ["OPS", "bits", "compute", "ir_type"]
