"""Half precision (`f16`) and bfloat16 (`bf16`): computed in single precision, stored as 16 bits.

A float holds products and sums of two such numbers precisely enough that rounding twice is rounding once (24 bits against
2 * 11 + 2). A fused multiply-add needs more: `fused`. NaN results are the one with all bits set but the sign's, as hardware's are.
"""

from collections.abc import Sequence, Set

from course_lib.simt.isa.protocols import Writer
from course_lib.simt.ptx.ir import Instruction

FORMS = {
    "Half precision and bfloat16": (
        ("(add|sub|mul)[.rn][.ftz][.sat].(f16|f16x2)", "d, a, b"), ("(add|sub|mul)[.rn].(bf16|bf16x2)", "d, a, b"),
        ("fma.rn[.ftz][.sat].(f16|f16x2)", "d, a, b, c"), ("fma.rn[.ftz].relu.(f16|f16x2)", "d, a, b, c"),
        ("fma.rn[.relu].(bf16|bf16x2)", "d, a, b, c"),
        ("(min|max)[.ftz][.NaN][.xorsign.abs].(f16|f16x2)", "d, a, b"), ("(min|max)[.NaN][.xorsign.abs].(bf16|bf16x2)", "d, a, b"),
        ("(abs|neg)[.ftz].(f16|f16x2)", "d, a"), ("(abs|neg).(bf16|bf16x2)", "d, a"),
        ("tanh.approx.(f16|f16x2|bf16|bf16x2)", "d, a"), ("ex2.approx.(f16|f16x2)", "d, a"),
        ("ex2.approx.ftz.(f16|f16x2|bf16|bf16x2)", "d, a"),
    ),
}
KINDS = {"f16": (5, 10), "bf16": (8, 7)}  # bits of exponent and fraction
CANONICAL = 0x7FFF


def widen(code: Writer, name: str, bits: str) -> str:
    """Return 16 bits of either kind as a float; exact."""
    if name == "f16":
        return code.cast("fpext", "half", as_half(code, bits), "float")
    wide = code.binary("shl", "i32", code.cast("zext", "i16", bits, "i32"), code.const("i32", 16))
    return code.cast("bitcast", "i32", wide, "float")


def as_half(code: Writer, bits: str) -> str:
    return code.op(f"bitcast {code.ty('i16')} {bits} to {code.ty('half')}")


def narrow(code: Writer, name: str, value: str) -> str:
    """Return the 16 bits of a float rounded to nearest even; NaN becomes the canonical one."""
    nan = code.compare("fcmp uno", "float", value, value)
    if name == "f16":
        short = code.cast("bitcast", "half", code.cast("fptrunc", "float", value, "half"), "i16")
        return code.select(nan, "i16", code.const("i16", CANONICAL), short)
    bits = code.cast("bitcast", "float", value, "i32")
    odd = code.binary("and", "i32", code.binary("lshr", "i32", bits, code.const("i32", 16)), code.const("i32", 1))
    bias = code.binary("add", "i32", odd, code.const("i32", 0x7FFF))
    top = code.binary("lshr", "i32", code.binary("add", "i32", bits, bias), code.const("i32", 16))
    return code.cast("trunc", "i32", code.select(nan, "i32", code.const("i32", CANONICAL), top), "i16")


def read(code: Writer, ins: Instruction, name: str, bits: str) -> str:
    """Return a source as a float, subnormal numbers flushed where the instruction says `.ftz`."""
    return widen(code, name, flush(code, name, bits) if "ftz" in ins.opcode else bits)


def flush(code: Writer, name: str, bits: str) -> str:
    """Turn subnormal numbers, given as bits, into zeros of the same sign."""
    size = code.binary("and", "i16", bits, code.const("i16", 0x7FFF))
    tiny = code.compare("icmp ult", "i16", size, code.const("i16", 1 << KINDS[name][1]))
    return code.select(tiny, "i16", code.binary("and", "i16", bits, code.const("i16", -0x8000)), bits)


def finish(code: Writer, ins: Instruction, name: str, bits: str) -> str:
    """Apply the modifiers of an instruction to the bits of its result."""
    return limit(code, name, flush(code, name, bits) if "ftz" in ins.opcode else bits, set(ins.opcode))


def limit(code: Writer, name: str, bits: str, modes: Set[str]) -> str:
    """Apply `.sat` ([0, 1], NaN to 0) and `.relu` (negative to 0, NaN to the canonical one) to bits."""
    if not {"sat", "relu"} & modes:
        return bits
    zero = code.const("i16", 0)
    one, infinity = (code.const("i16", v << KINDS[name][1]) for v in ((1 << KINDS[name][0] - 1) - 1, (1 << KINDS[name][0]) - 1))
    nan = code.compare("icmp ugt", "i16", code.binary("and", "i16", bits, code.const("i16", 0x7FFF)), infinity)
    negative = code.compare("icmp slt", "i16", bits, zero)
    bits = code.select(negative, "i16", zero, bits)
    if "sat" in modes:
        bits = code.call("umin", "i16", bits, one)
    return code.select(nan, "i16", zero if "sat" in modes else code.const("i16", CANONICAL), bits)


def fused(code: Writer, ins: Instruction, name: str, sources: Sequence[str]) -> str:
    """a * b + c, rounded once: exact product and sum in double, made odd, then rounded twice."""
    a, b, c = (code.cast("fpext", "float", read(code, ins, name, v), "double") for v in sources)
    p = code.binary("fmul", "double", a, b)
    total = code.binary("fadd", "double", p, c)
    back = code.binary("fsub", "double", total, p)
    error = code.binary("fadd", "double", code.binary("fsub", "double", p, code.binary("fsub", "double", total, back)),
                        code.binary("fsub", "double", c, back))
    odd = odd_float(code, odd_double(code, total, error))
    return finish(code, ins, name, narrow(code, name, odd))


def odd_double(code: Writer, value: str, error: str) -> str:
    """Round `value + error`, both doubles, to a double so that a second rounding cannot go wrong: inexact sums get an odd last bit."""
    bits = code.cast("bitcast", "double", value, "i64")
    zero = code.const("double", "0.0")
    inexact = code.compare("fcmp one", "double", error, zero)
    signs = [code.compare("fcmp ogt", "double", v, zero) for v in (error, value)]
    same = code.compare("icmp eq", "i1", *signs)
    one = code.const("i64", 1)
    toward = code.select(same, "i64", bits, code.binary("sub", "i64", bits, one))
    return code.cast("bitcast", "i64", code.select(inexact, "i64", code.binary("or", "i64", toward, one), bits), "double")


def odd_float(code: Writer, value: str) -> str:
    """Round a double to a float in the same way."""
    short = code.cast("fptrunc", "double", value, "float")
    back = code.cast("fpext", "float", short, "double")
    bits = code.cast("bitcast", "float", short, "i32")
    one = code.const("i32", 1)
    beyond = code.compare("fcmp ogt", "double", code.call("fabs", "double", back), code.call("fabs", "double", value))
    toward = code.select(beyond, "i32", code.binary("sub", "i32", bits, one), bits)
    inexact = code.compare("fcmp one", "double", back, value)
    return code.cast("bitcast", "i32", code.select(inexact, "i32", code.binary("or", "i32", toward, one), bits), "float")
