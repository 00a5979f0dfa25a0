"""Approximate functions: computed to full precision, so within the hardware's stated error, not the hardware's bits.

The values at infinities, zeros, subnormals and NaN are those of the tables in "PTX ISA", Floating-Point Instructions.
"""

from collections.abc import Sequence

from course_lib.simt.isa import convert
from course_lib.simt.isa.protocols import Results, Writer
from course_lib.simt.isa.rounding import directed
from course_lib.simt.isa.table import floating, kind, mode_of, op, same
from course_lib.simt.ptx.ir import Instruction

FORMS = {
    "Floating point": (
        ("rsqrt.approx[.ftz].(f32|f64)", "d, a"), ("rcp.approx.ftz.f64", "d, a"),
        ("(sin|cos).approx[.2pi][.ftz].f32", "d, a"), ("(ex2|lg2).approx[.ftz].f32", "d, a"), ("tanh.approx.f32", "d, a"),
    ),
}

UNARY = {"sqrt": "sqrt", "ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos", "tanh": "tanh"}


@op(*UNARY, "rcp", "rsqrt", signature=same(1))
def emit_unary(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    name = ins.opcode[0]
    if kind(ins) == "f64" and {"approx", "ftz"} <= set(ins.opcode):
        return (gross(code, name, s[0]),)

    def compute(t: str, v: Sequence[str]) -> str:
        mode, one = mode_of(ins), code.const(t, "1.0")
        if name == "rcp":
            return directed(code, "fdiv", mode, t, (one, v[0])) if mode else code.binary("fdiv", t, one, v[0])
        if name == "rsqrt":
            return code.binary("fdiv", t, one, code.call("sqrt", t, v[0]))
        if "2pi" in ins.opcode:
            return turns(code, name, t, v[0])
        return directed(code, name, mode, t, v) if mode else code.call(UNARY[name], t, v[0])
    return floating(code, ins, s, compute)


def turns(code: Writer, name: str, base: str, value: str) -> str:
    """sin or cos of a number of whole turns; infinity gives NaN."""
    fraction = code.binary("fsub", base, value, code.call("roundeven", base, value))
    angle = code.binary("fmul", "double", code.cast("fpext", base, fraction, "double"), code.const("double", "0x401921FB54442D18"))
    found = code.cast("fptrunc", "double", code.call(name, "double", angle), base)
    if name == "cos":
        return found
    small = code.compare("fcmp oeq", base, fraction, code.const(base, "0.0"))  # the sign of a zero stays
    return code.select(small, base, code.call("copysign", base, fraction, value), found)


def gross(code: Writer, name: str, bits: str) -> str:
    """`rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`: the upper 32 bits of the operand give the upper 32 of the result."""
    upper = code.const("i64", 0xFFFFFFFF << 32)
    value = code.cast("bitcast", "i64", code.binary("and", "i64", bits, upper), "double")
    value = convert.flush(code, "double", value)
    value = code.call("sqrt", "double", value) if name == "rsqrt" else value
    found = convert.flush(code, "double", code.binary("fdiv", "double", code.const("double", "1.0"), value))
    nearest = code.binary("add", "i64", code.cast("bitcast", "double", found, "i64"), code.const("i64", 1 << 31))
    nan = code.compare("fcmp uno", "double", found, found)
    return code.binary("and", "i64", code.select(nan, "i64", code.const("i64", (1 << 63) - 1), nearest), upper)
