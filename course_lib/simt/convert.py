"""The `cvt` instruction: integers, floats, rounding, saturation."""

from course_lib.simt.instruction import type_bytes

FLOATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
SMALLEST_NORMAL = {"float": "0x3810000000000000", "double": "0x0010000000000000", "half": "0xH0400", "bfloat": "0xR0080"}
QUIET_NAN = {"float": "0x7FFFFFFFE0000000", "double": "0x7FFFFFFFFFFFFFFF", "half": "0xH7FFF", "bfloat": "0xR7FFF"}
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


def float_to_integer(code, target, source, modes, value):
    base = FLOATS[source]
    mode = next((m for m in modes if m in ROUND), "rzi")
    if "ftz" in modes:
        value = flush(code, base, value)
    if base in ("half", "bfloat"):
        value, base = code.cast("fpext", base, value, "float"), "float"
    value = code.call(ROUND[mode], base, value)
    how = "fptosi.sat" if target[0] == "s" else "fptoui.sat"
    letter = "f32" if base == "float" else "f64"
    t = bits(target)
    suffix = f"v{code.lanes}{t}.v{code.lanes}{letter}" if code.lanes else f"{t}.{letter}"
    found = code.op(f"call {code.ty(t)} @llvm.{how}.{suffix}({code.ty(base)} {value})")
    if base == "double" or target[1:] == "64":  # NaN: 0x8000… for 64-bit conversions, 0 otherwise
        nan = code.compare("fcmp uno", base, value, value)
        special = 1 << (8 * type_bytes(target) - 1)
        found = code.select(nan, t, code.const(t, special if target[1:] in ("32", "64") else 0), found)
    return found


def integer_to_float(code, target, source, modes, value):
    how = "sitofp" if source[0] == "s" else "uitofp"
    if not modes & {"rn"} or target in ("f16", "bf16") and type_bytes(source) > 4:
        raise NotImplementedError
    found = code.cast(how, bits(source), value, FLOATS[target])
    return code.cast("bitcast", FLOATS[target], found, bits(target))


def float_to_float(code, target, source, modes, value):
    a, b = FLOATS[source], FLOATS[target]
    if "ftz" in modes:
        value = flush(code, a, value)
    mode = next((m for m in modes if m in ROUND), None)
    if type_bytes(target) > type_bytes(source):
        value = code.cast("fpext", a, value, b)
    elif target != source:
        if not modes & {"rn"} or {a, b} == {"half", "bfloat"}:
            raise NotImplementedError
        value = code.cast("fptrunc", a, value, b)
    elif mode:
        value = code.call(ROUND[mode], b, value)
    value = canonical_nan(code, b, value) if target != source else value
    if "sat" in modes:
        value = saturate(code, b, value)
    return code.cast("bitcast", b, value, bits(target))
