"""The `cvt` instruction: integers, floats, rounding, saturation."""

from course_lib.simt.instruction import type_bytes

FLOATS = {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}  # bfloat16 travels as its bits
SMALLEST_NORMAL = {"float": "0x3810000000000000", "double": "0x0010000000000000", "half": "0xH0400"}
QUIET_NAN = {"float": "0x7FFFFFFFE0000000", "double": "0x7FFFFFFFFFFFFFFF", "half": "0xH7FFF"}
ROUND = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def flush(code, base, value):
    """Turn subnormal numbers into zeros of the same sign (`.ftz`)."""
    size = code.call("fabs", base, value)
    tiny = code.compare("fcmp olt", base, size, code.const(base, SMALLEST_NORMAL[base]))
    zero = code.call("copysign", base, code.const(base, "0.0"), value)
    return code.select(tiny, base, zero, value)


def saturate(code, base, value):
    """Clamp to [0, 1]; NaN becomes 0 (`.sat`)."""
    low = code.call("maximumnum", base, value, code.const(base, "0.0"))
    return code.call("minimumnum", base, low, code.const(base, "1.0"))


def canonical_nan(code, base, value):
    """Replace any NaN by the one that the hardware returns."""
    nan = code.compare("fcmp uno", base, value, value)
    return code.select(nan, base, code.const(base, QUIET_NAN[base]), value)


def emit(code, ins, sources):
    """Return the bits of `cvt` applied to `sources`; NotImplementedError for a form that is not covered."""
    target, source = ins.opcode[-2:]
    modes = set(ins.opcode[1:-2])
    if len(sources) != 1:
        raise NotImplementedError
    value = sources[0]
    if source in FLOATS:
        value = code.op(f"bitcast {code.ty(bits(source))} {value} to {code.ty(FLOATS[source])}")
        if target in FLOATS:
            return float_to_float(code, target, source, modes, value)
        if modes - set(ROUND) - {"ftz", "sat"}:
            raise NotImplementedError
        return float_to_integer(code, target, source, modes, value)
    if target in FLOATS:
        return integer_to_float(code, target, source, modes, value)
    return integer_to_integer(code, target, source, modes, value)


def bits(type_name):
    return f"i{8 * type_bytes(type_name)}"


def integer_to_integer(code, target, source, modes, value):
    if "sat" in modes:
        value = clamp(code, target, source, value)
    size, wanted = type_bytes(source), type_bytes(target)
    if wanted > size:
        return code.cast("sext" if source[0] == "s" else "zext", bits(source), value, bits(target))
    return code.cast("trunc", bits(source), value, bits(target))


def clamp(code, target, source, value):
    """Limit an integer to the range of the target type."""
    n, t = 8 * type_bytes(target), bits(source)
    low, top = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if target[0] == "s" else (0, (1 << n) - 1)
    m = 8 * type_bytes(source)
    least, most = (-(1 << (m - 1)), (1 << (m - 1)) - 1) if source[0] == "s" else (0, (1 << m) - 1)
    letter = "s" if source[0] == "s" else "u"
    if most > top:
        value = code.call(f"{letter}min", t, value, code.const(t, top))
    if least < low:
        value = code.call(f"{letter}max", t, value, code.const(t, low))
    return value


def widen(code, type_name, value):
    """A half-precision value (of either kind) as a float; exact."""
    if type_name == "f16":
        return code.cast("fpext", "half", value, "float")
    wide = code.binary("shl", "i32", code.cast("zext", "i16", value, "i32"), code.const("i32", 16))
    return code.cast("bitcast", "i32", wide, "float")


def narrow(code, type_name, value):
    """A float rounded to half precision, to nearest even."""
    if type_name == "f16":
        return code.cast("fptrunc", "float", value, "half")
    bits = code.cast("bitcast", "float", value, "i32")
    odd = code.binary("and", "i32", code.binary("lshr", "i32", bits, code.const("i32", 16)), code.const("i32", 1))
    bias = code.binary("add", "i32", odd, code.const("i32", 0x7FFF))
    top = code.binary("lshr", "i32", code.binary("add", "i32", bits, bias), code.const("i32", 16))
    nan = code.compare("fcmp uno", "float", value, value)
    return code.cast("trunc", "i32", code.select(nan, "i32", code.const("i32", 0x7FFF), top), "i16")


def to_odd(code, value, error=None):
    """Round a double to float so that a second rounding cannot go wrong: inexact results get an odd last bit.

    With `error`, the exact value is `value + error`, both doubles, and the result is the double itself made odd.
    """
    if error is not None:
        bits = code.cast("bitcast", "double", value, "i64")
        zero = code.const("double", "0.0")
        inexact = code.compare("fcmp one", "double", error, zero)
        signs = [code.compare("fcmp ogt", "double", v, zero) for v in (error, value)]
        same = code.compare("icmp eq", "i1", *signs)
        one = code.const("i64", 1)
        down = code.binary("sub", "i64", bits, one)
        toward = code.select(same, "i64", bits, down)
        return code.cast("bitcast", "i64", code.select(inexact, "i64", code.binary("or", "i64", toward, one), bits), "double")
    short = code.cast("fptrunc", "double", value, "float")
    back = code.cast("fpext", "float", short, "double")
    bits = code.cast("bitcast", "float", short, "i32")
    one = code.const("i32", 1)
    beyond = code.compare("fcmp ogt", "double", code.call("fabs", "double", back), code.call("fabs", "double", value))
    toward = code.select(beyond, "i32", code.binary("sub", "i32", bits, one), bits)
    inexact = code.compare("fcmp one", "double", back, value)
    return code.cast("bitcast", "i32", code.select(inexact, "i32", code.binary("or", "i32", toward, one), bits), "float")


def float_to_integer(code, target, source, modes, value):
    base = FLOATS[source]
    mode = next((m for m in modes if m in ROUND), "rzi")
    if source in ("f16", "bf16"):
        value, base = widen(code, source, value), "float"
    elif "ftz" in modes:
        value = flush(code, base, value)
    value = code.call(ROUND[mode], base, value)
    how = "fptosi.sat" if target[0] == "s" else "fptoui.sat"
    letter = "f32" if base == "float" else "f64"
    t = bits(target)
    suffix = f"v{code.lanes}{t}.v{code.lanes}{letter}" if code.lanes else f"{t}.{letter}"
    found = code.op(f"call {code.ty(t)} @llvm.{how}.{suffix}({code.ty(base)} {value})")
    if source == "f64" or target[1:] == "64":  # NaN: the top bit alone; 0 otherwise
        nan = code.compare("fcmp uno", base, value, value)
        found = code.select(nan, t, code.const(t, 1 << (8 * type_bytes(target) - 1)), found)
    return found


def integer_to_float(code, target, source, modes, value):
    how = "sitofp" if source[0] == "s" else "uitofp"
    if modes != {"rn"} or target in ("f16", "bf16") and type_bytes(source) > 4:
        raise NotImplementedError
    if target in ("f16", "bf16"):
        exact = code.cast(how, bits(source), value, "double")
        found = narrow(code, target, to_odd(code, exact))
    else:
        found = code.cast(how, bits(source), value, FLOATS[target])
    return code.cast("bitcast", FLOATS[target], found, bits(target))


def float_to_float(code, target, source, modes, value):
    mode = next((m for m in modes if m in ROUND), None)
    narrower = type_bytes(target) < type_bytes(source)
    if modes - {"rn", "ftz", "sat", mode} or narrower and "rn" not in modes or {source, target} == {"f16", "bf16"}:
        raise NotImplementedError
    if "ftz" in modes and source == "f32":
        value = flush(code, "float", value)
    if mode:
        if source != target:
            raise NotImplementedError
        value = rounded(code, target, mode, value)
    elif source != target:
        value = between(code, target, source, value)
    base = FLOATS[target]
    if source != target and target != "bf16":
        value = canonical_nan(code, base, value)
    if "ftz" in modes and target == "f32" and source != "f32":
        value = flush(code, "float", value)
    if "sat" in modes:
        if target == "bf16":
            raise NotImplementedError
        value = saturate(code, base, value)
    return code.cast("bitcast", base, value, bits(target))


def rounded(code, type_name, mode, value):
    """Round to an integral value of the same type."""
    if type_name in ("f16", "bf16"):
        return narrow(code, type_name, code.call(ROUND[mode], "float", widen(code, type_name, value)))
    return code.call(ROUND[mode], FLOATS[type_name], value)


def between(code, target, source, value):
    """Change the precision, rounding to nearest even."""
    if source in ("f16", "bf16"):
        value = widen(code, source, value)
        return value if target == "f32" else code.cast("fpext", "float", value, "double")
    if target in ("f16", "bf16"):
        if source == "f64":
            value = to_odd(code, value)
        return narrow(code, target, value)
    return code.cast("fptrunc" if target == "f32" else "fpext", FLOATS[source], value, FLOATS[target])
