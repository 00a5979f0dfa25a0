"""The `cvt` instruction: integers, floats, rounding, saturation; `formats.py` rounds to the formats that CPUs lack."""

from collections.abc import Sequence, Set

from course_lib.simt.isa import formats, halves
from course_lib.simt.isa.protocols import Writer
from course_lib.simt.isa.spelling import ANY_INT, WHOLE
from course_lib.simt.ptx.ir import Instruction, type_bytes

FORMS = {
    "Moves and conversions": (
        (f"cvt[.sat].({ANY_INT}).({ANY_INT})", "d, a"),
        (f"cvt.({WHOLE})[.ftz][.sat].({ANY_INT}).f32", "d, a"), (f"cvt.({WHOLE})[.sat].({ANY_INT}).(f16|bf16|f64)", "d, a"),
        (f"cvt.(rn|rz|rm|rp)[.sat].(f16|f32|f64).({ANY_INT})", "d, a"), (f"cvt.(rn|rz|rm|rp).bf16.({ANY_INT})", "d, a"),
        ("cvt[.ftz][.sat].f32.(f16|f32)", "d, a"), ("cvt[.ftz].f32.bf16", "d, a"), ("cvt[.sat].f64.(f32|f64)", "d, a"),
        ("cvt[.sat].f64.(f16|bf16)", "d, a"),
        ("cvt.ftz[.sat].f64.f32", "d, a"), ("cvt[.sat].f16.f16", "d, a"), ("cvt.bf16.bf16", "d, a"),
        (f"cvt.({WHOLE})[.ftz][.sat].f32.f32", "d, a"), (f"cvt.({WHOLE})[.sat].(f64.f64|f16.f16)", "d, a"),
        (f"cvt.({WHOLE}).bf16.bf16", "d, a"),
        ("cvt.(rn|rz|rm|rp)[.ftz][.sat].f32.f64", "d, a"), ("cvt.(rn|rz|rm|rp)[.ftz][.sat].f16.f32", "d, a"),
        ("cvt.(rn|rz|rm|rp)[.sat].f16.f64", "d, a"),
        ("cvt.(rn|rz|rm|rp).bf16.(f32|f64)", "d, a"), ("cvt.(rn|rz|rm|rp)[.sat].(bf16.f16|f16.bf16)", "d, a"),
        ("cvt.(rn|rz)[.relu][.satfinite].(f16|bf16).f32", "d, a"), ("cvt.(rn|rz)[.relu][.satfinite].(f16x2|bf16x2).f32", "d, a, b"),
        ("cvt.rna[.satfinite].tf32.f32", "d, a"), ("cvt.(rn|rz)[.relu][.satfinite].tf32.f32", "d, a"),
        ("cvt.rn.satfinite[.relu].(e4m3x2|e5m2x2).f32", "d, a, b"), ("cvt.rn.satfinite[.relu].(e4m3x2|e5m2x2).f16x2", "d, a"),
        ("cvt.rn[.relu].f16x2.(e4m3x2|e5m2x2)", "d, a"),
        ("cvt.pack.sat.(u16|s16).s32", "d, a, b"), ("cvt.pack.sat.(u2|s2|u4|s4|u8|s8).s32.b32", "d, a, b, c"),
    ),
}

FLOATS = {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}  # bfloat16 travels as its bits
SMALLEST_NORMAL = {"float": "0x3810000000000000", "double": "0x0010000000000000", "half": "0xH0400"}
QUIET_NAN = {"float": "0x7FFFFFFFE0000000", "double": "0x7FFFFFFFFFFFFFFF", "half": "0xH7FFF"}
ROUND = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def flush(code: Writer, base: str, value: str) -> str:
    """Turn subnormal numbers into zeros of the same sign (`.ftz`)."""
    size = code.call("fabs", base, value)
    tiny = code.compare("fcmp olt", base, size, code.const(base, SMALLEST_NORMAL[base]))
    zero = code.call("copysign", base, code.const(base, "0.0"), value)
    return code.select(tiny, base, zero, value)


def saturate(code: Writer, base: str, value: str) -> str:
    """Clamp to [0, 1]; NaN becomes 0 (`.sat`)."""
    low = code.call("maximumnum", base, value, code.const(base, "0.0"))
    return code.call("minimumnum", base, low, code.const(base, "1.0"))


def canonical_nan(code: Writer, base: str, value: str) -> str:
    """Replace any NaN by the one that the hardware returns."""
    nan = code.compare("fcmp uno", base, value, value)
    return code.select(nan, base, code.const(base, QUIET_NAN[base]), value)


def emit(code: Writer, ins: Instruction, sources: Sequence[str]) -> str:
    """Return the bits of `cvt` applied to `sources`."""
    target, source = ins.opcode[-2:]
    modes = set(ins.opcode[1:-2])
    if ins.opcode[1] == "pack":
        return packed_integers(code, ins, sources)
    if target.endswith("x2"):
        return formats.pair(code, target, source, modes, sources)
    value = sources[0]
    if source in FLOATS:
        if target in FLOATS or target == "tf32":
            return float_to_float(code, target, source, modes, value)
        return float_to_integer(code, target, source, modes, value)
    if target in FLOATS:
        return integer_to_float(code, target, source, modes, value)
    return integer_to_integer(code, target, source, modes, value)


def as_float(code: Writer, type_name: str, value: str) -> str:
    return code.op(f"bitcast {code.ty(bits(type_name))} {value} to {code.ty(FLOATS[type_name])}")


def bits(type_name: str) -> str:
    return f"i{8 * type_bytes(type_name)}"


def integer_to_integer(code: Writer, target: str, source: str, modes: Set[str], value: str) -> str:
    if "sat" in modes:
        value = clamp(code, target, source, value)
    size, wanted = type_bytes(source), type_bytes(target)
    if wanted > size:
        return code.cast("sext" if source[0] == "s" else "zext", bits(source), value, bits(target))
    return code.cast("trunc", bits(source), value, bits(target))


def clamp(code: Writer, target: str, source: str, value: str) -> str:
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


def float_to_integer(code: Writer, target: str, source: str, modes: Set[str], value: str) -> str:
    base = FLOATS[source]
    if source in halves.KINDS:
        value, base = halves.widen(code, source, value), "float"
    else:
        value = as_float(code, source, value)
        if "ftz" in modes:
            value = flush(code, base, value)
    mode = next((m for m in modes if m in ROUND), "rzi")
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


def packed_integers(code: Writer, ins: Instruction, sources: Sequence[str]) -> str:
    """`cvt.pack.sat`: a and b limited to a short type, b at the bottom, a above it, the third source above both."""
    third = len(sources) == 3
    kind = ins.opcode[3]
    n = int(kind[1:])
    low, top = (-(1 << n - 1), (1 << n - 1) - 1) if kind[0] == "s" else (0, (1 << n) - 1)
    result = code.binary("shl", "i32", sources[2], code.const("i32", 2 * n)) if third else code.const("i32", 0)
    for place, value in ((n, sources[0]), (0, sources[1])):
        value = code.call("smax", "i32", code.call("smin", "i32", value, code.const("i32", top)), code.const("i32", low))
        value = code.binary("and", "i32", value, code.const("i32", (1 << n) - 1))
        result = code.binary("or", "i32", result, code.binary("shl", "i32", value, code.const("i32", place)))
    return result


def integer_to_float(code: Writer, target: str, source: str, modes: Set[str], value: str) -> str:
    how, wide = ("sitofp" if source[0] == "s" else "uitofp"), bits(source)
    mode = formats.mode_of(modes)
    if target in halves.KINDS:
        short = type_bytes(source) <= 4
        exact = code.cast(how, wide, value, "double") if short else formats.from_integer(code, source, value, "odd", "double")
        return formats.shrink(code, exact, *halves.KINDS[target], mode, modes)
    base = FLOATS[target]
    found = code.cast(how, wide, value, base) if mode == "rn" else formats.from_integer(code, source, value, mode, base)
    if "sat" in modes:
        found = saturate(code, base, found)
    return code.cast("bitcast", base, found, bits(target))


def float_to_float(code: Writer, target: str, source: str, modes: Set[str], value: str) -> str:
    whole = next((m for m in modes if m in ROUND), None)
    if source in halves.KINDS and target == source:
        return same_half(code, target, modes, whole, value)
    wide = halves.widen(code, source, value) if source in halves.KINDS else as_float(code, source, value)
    base = "double" if source == "f64" else "float"
    if "ftz" in modes and source == "f32":
        wide = flush(code, base, wide)
    if target == "tf32" or target in halves.KINDS:
        return formats.short(code, target, base, wide, modes)
    if whole:
        wide = code.call(ROUND[whole], base, wide)
    elif source == "f64" and target == "f32" and formats.mode_of(modes) != "rn":
        wide, base = code.cast("bitcast", "i32", formats.shrink(code, wide, 8, 23, formats.mode_of(modes), modes), "float"), "float"
    elif FLOATS[target] != base:
        wide, base = code.cast("fptrunc" if target == "f32" else "fpext", base, wide, FLOATS[target]), FLOATS[target]
    if source != target:
        wide = canonical_nan(code, base, wide)
    if "ftz" in modes and target == "f32" and source != "f32":
        wide = flush(code, base, wide)
    if "sat" in modes:
        wide = saturate(code, base, wide)
    return code.cast("bitcast", base, wide, bits(target))


def same_half(code: Writer, name: str, modes: Set[str], whole: str | None, value: str) -> str:
    """`cvt` from f16 or bf16 to itself: to an integral value, or a copy; `.ftz` and `.sat` apply."""
    if whole:
        value = halves.narrow(code, name, code.call(ROUND[whole], "float", halves.widen(code, name, value)))
    return halves.limit(code, name, value, modes)
