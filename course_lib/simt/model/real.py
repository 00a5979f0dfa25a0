"""Floating-point instructions of PTX in exact arithmetic: rounding, .ftz, .sat, and conversions."""

from collections.abc import Callable, Mapping, Sequence, Set

from course_lib.simt.model import softfloat as sf
from course_lib.simt.model.softfloat import FORMATS, INF, NAN, Bits
from course_lib.simt.model.types import ROUNDINGS, Allowed, Halves, Result, Undefined, clamp, cut, integer_range, signed, width


def real(name: str, kind: str, flags: Set[str], args: Sequence[int]) -> Allowed:
    """Arithmetic on one floating-point type, with .ftz, .sat, .relu and rounding."""
    mode = next((r for r in ROUNDINGS if r in flags), "rn")
    if "ftz" in flags:
        args = [sf.flush(kind, a) for a in args]
    if name in ("min", "max"):
        return smallest(name, kind, flags, args)
    if name not in REAL:
        raise Undefined(f"the model has no {name} of {kind}")
    found = REAL[name](kind, mode, *args)
    if "ftz" in flags:
        found = sf.flush(kind, found)
    return saturated(kind, found) if "sat" in flags else rectified(kind, found) if "relu" in flags else found


def saturated(kind: str, bits: Bits) -> int | frozenset[int]:
    one = sf.from_integer(kind, 1)
    if bits is NAN:
        return 0
    if bits == 1 << (FORMATS[kind].width - 1):
        return frozenset((0, bits))
    return 0 if sf.order(kind, bits, 0) < 0 else one if sf.order(kind, bits, one) > 0 else bits


def rectified(kind: str, bits: Bits) -> Allowed:
    """`.relu`: negative numbers become 0, and -0 may."""
    if bits is NAN:
        return bits
    if bits == 1 << (FORMATS[kind].width - 1):
        return frozenset((0, bits))
    return bits if sf.order(kind, bits, 0) >= 0 else 0


def smallest(name: str, kind: str, flags: Set[str], args: Sequence[int]) -> Bits:
    sign = 0
    if "abs" in flags:
        top = 1 << (FORMATS[kind].width - 1)
        sign = (args[0] ^ args[1]) & top
        args = [a & ~top for a in args]
    numbers = [a for a in args if not sf.is_nan(kind, a)]
    if not numbers or "NaN" in flags and len(numbers) < len(args):
        return NAN
    return sign | (min if name == "min" else max)(numbers, key=lambda b: sf.key(kind, b))


def magnitude(kind: str, a: int) -> Bits:
    return NAN if sf.is_nan(kind, a) else a & ~(1 << (FORMATS[kind].width - 1))


REAL: Mapping[str, Callable[..., Bits]] = {
    "add": lambda k, m, a, b: sf.add(k, a, b, m),
    "sub": lambda k, m, a, b: sf.add(k, a, sf.negate(k, b), m),
    "mul": lambda k, m, a, b: sf.mul(k, a, b, m),
    "fma": lambda k, m, a, b, c: sf.fma(k, a, b, c, m), "mad": lambda k, m, a, b, c: sf.fma(k, a, b, c, m),
    "div": lambda k, m, a, b: sf.div(k, a, b, m),
    "rcp": lambda k, m, a: sf.div(k, sf.from_integer(k, 1), a, m),
    "sqrt": lambda k, m, a: sf.sqrt(k, a, m),
    "abs": lambda k, m, a: magnitude(k, a),
    "neg": lambda k, m, a: NAN if sf.is_nan(k, a) else sf.negate(k, a),
}


# -- conversions -------------------------------------------------------------------------------------------------------
def convert(parts: Sequence[str], flags: Set[str], args: Sequence[int]) -> Result:
    target, source = parts[-2:]
    if "pack" in flags:
        return pack_integers(parts[3], args)
    if target.endswith("x2"):
        return pair(target[:-2], source, flags, args)
    if source in FORMATS:
        if target == "tf32":
            found = float_to_float(target, source, flags, args[0])
            return found_bits(found, 13) if found is not NAN else 0x7FFFFFFF
        return (float_to_float if target in FORMATS else float_to_integer)(target, source, flags, args[0])
    value = signed(args[0], source)
    if target in FORMATS:
        exact = sf.from_integer(target, value, next((r for r in ROUNDINGS if r in flags), "rn"))
        return saturated(target, exact) if "sat" in flags else exact
    return cut(clamp(value, target) if "sat" in flags else value, width(target))


def found_bits(found: int | frozenset[int], shift: int) -> int | frozenset[int]:
    """Shift a result, or all of those allowed."""
    return frozenset(v << shift for v in found) if isinstance(found, frozenset) else found << shift


def pack_integers(kind: str, args: Sequence[int]) -> int:
    n = int(kind[1:])
    a, b = (cut(clamp(signed(v, "s32"), kind), n) for v in args[:2])
    return cut((args[2] if len(args) == 3 else 0) << 2 * n | a << n | b, 32)


def pair(target: str, source: str, flags: Set[str], args: Sequence[int]) -> Halves:
    """Two numbers in one register; of two sources the first is the upper one."""
    if source[:-2] in ("e4m3", "e5m2"):
        return Halves(widened(source[:-2], args[0] >> s & 0xFF, flags) for s in (0, 8))
    values = [args[0] & 0xFFFF, args[0] >> 16] if source == "f16x2" else [args[1], args[0]]
    found = [float_to_float(target, source.removesuffix("x2"), flags, v) for v in values]
    return Halves(0x7F if v is NAN and target in ("e4m3", "e5m2") else v for v in found)


def widened(kind: str, byte: int, flags: Set[str]) -> Allowed:
    """The half-precision number of an 8-bit one."""
    if byte & 0x7F == 0x7F and kind == "e4m3":
        return NAN
    found = sf.convert("f16", kind, byte)
    return rectified("f16", found) if "relu" in flags else found


def float_to_integer(target: str, source: str, flags: Set[str], bits: int) -> int:
    if "ftz" in flags and source == "f32":
        bits = sf.flush(source, bits)
    value = sf.unpack(source, bits)
    if value is NAN:
        return 1 << (width(target) - 1) if source == "f64" or width(target) == 64 else 0
    sign, m, e = value
    if m is INF:
        return cut(integer_range(target)[not sign], width(target))
    mode = next(f[:2] for f in flags if f in ("rni", "rzi", "rmi", "rpi"))
    sign, n = sf.integral((sign, m, e), mode)
    return cut(clamp(-n if sign else n, target), width(target))


def float_to_float(target: str, source: str, flags: Set[str], bits: int) -> Allowed:
    if "ftz" in flags and source == "f32":
        bits = sf.flush(source, bits)
    value = sf.unpack(source, bits)
    whole = next((f[:2] for f in flags if f in ("rni", "rzi", "rmi", "rpi")), None)
    if whole and value is not NAN:
        sign, m, e = value
        value = value if m is INF else (*sf.integral((sign, m, e), whole), 0)
    found = sf.pack(target, value, next((r for r in (*ROUNDINGS, "rna") if r in flags), "rn"))
    top = 1 << FORMATS[target].width - 1
    if "satfinite" in flags and found is not NAN and found & ~top == FORMATS[target].infinity:
        found -= 1
    if "ftz" in flags and target == "f32":
        found = sf.flush(target, found)
    return saturated(target, found) if "sat" in flags else rectified(target, found) if "relu" in flags else found
