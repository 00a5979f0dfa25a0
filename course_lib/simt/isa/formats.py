"""Rounding to formats that CPUs lack (half, bfloat16, TF32, 8-bit floats) and in directions that they do not offer for casts.

Done on bits: a double holds every source exactly (64-bit integers are made odd first), so one rounding remains.
Sources: "PTX ISA", `cvt`; "OCP 8-bit Floating Point Specification" for E4M3 and E5M2.
"""

from collections.abc import Container, Sequence, Set

from course_lib.simt.isa import halves
from course_lib.simt.isa.protocols import Writer

MODES = ("rz", "rm", "rp", "rna")
EIGHT = {"e4m3x2": (4, 3), "e5m2x2": (5, 2)}


def mode_of(modes: Container[str]) -> str:
    """Return the rounding among the modifiers, `rn` when there is none."""
    return next((m for m in MODES if m in modes), "rn")


def shrink(code: Writer, value: str, exponent: int, fraction: int, mode: str, modes: Set[str]) -> str:
    """Round a double to a float of `exponent` and `fraction` bits; return its bits in the smallest integer that holds them.

    `modes` may hold `satfinite` (the largest number instead of infinity) and `relu` (0 instead of a negative number).
    NaN becomes the one with all bits set but the sign's.
    """
    bits = code.cast("bitcast", "double", value, "i64")
    size = code.binary("and", "i64", bits, code.const("i64", (1 << 63) - 1))
    negative = code.compare("icmp slt", "i64", bits, code.const("i64", 0))
    q = round_magnitude(code, size, negative, exponent, fraction, mode)
    infinity = ((1 << exponent) - 1) << fraction
    all_set = (1 << exponent + fraction) - 1
    most = all_set - 1 if (exponent, fraction) == (4, 3) else infinity - 1
    limit, beyond = code.const("i64", most), code.const("i64", most if "satfinite" in modes else infinity)
    if mode in ("rz", "rm", "rp"):  # a finite number that is too large ends at the largest, unless rounded away from zero
        endless = code.compare("icmp eq", "i64", size, code.const("i64", 0x7FF << 52))
        away = code.const("i1", "false") if mode == "rz" else sign_for(code, negative, mode)
        beyond = code.select(code.binary("or", "i1", endless, away), "i64", beyond, limit)
    q = code.select(code.compare("icmp ugt", "i64", q, limit), "i64", beyond, q)
    q = code.select(negative, "i64", code.const("i64", 0) if "relu" in modes else
                    code.binary("or", "i64", q, code.const("i64", 1 << exponent + fraction)), q)
    nan = code.compare("icmp ugt", "i64", size, code.const("i64", 0x7FF << 52))
    q = code.select(nan, "i64", code.const("i64", all_set), q)
    return code.cast("trunc", "i64", q, f"i{max(8, 1 << (exponent + fraction).bit_length())}")


def sign_for(code: Writer, negative: str, mode: str) -> str:
    """Return whether `mode` (rm, rp) rounds away from zero."""
    return negative if mode == "rm" else code.binary("xor", "i1", negative, code.const("i1", "true"))


def round_magnitude(code: Writer, size: str, negative: str, exponent: int, fraction: int, mode: str) -> str:
    """Return exponent and fraction fields of the magnitude, rounded, the exponent possibly too large."""
    def const(v: int) -> str:
        return code.const("i64", v)

    least = 1023 - ((1 << exponent - 1) - 1)  # so much smaller is the target's exponent field
    field = code.binary("lshr", "i64", size, const(52))
    implied = code.binary("or", "i64", code.binary("and", "i64", size, const((1 << 52) - 1)), const(1 << 52))
    zero = code.compare("icmp eq", "i64", size, const(0))
    implied = code.select(zero, "i64", const(0), implied)
    normal = code.compare("icmp ugt", "i64", field, const(least))
    n = code.select(normal, "i64", code.binary("sub", "i64", size, const(least << 52)), implied)
    more = code.call("umin", "i64", code.binary("sub", "i64", const(52 - fraction + 1 + least), field), const(63))
    shift = code.select(normal, "i64", const(52 - fraction), more)
    q = code.binary("lshr", "i64", n, shift)
    if mode == "rz":
        return q
    rest = code.binary("sub", "i64", n, code.binary("shl", "i64", q, shift))
    if mode in ("rm", "rp"):
        up = code.binary("and", "i1", code.compare("icmp ne", "i64", rest, const(0)), sign_for(code, negative, mode))
    else:
        half = code.binary("shl", "i64", const(1), code.binary("sub", "i64", shift, const(1)))
        up = code.compare("icmp uge", "i64", rest, half)
        if mode == "rn":
            tie = code.compare("icmp eq", "i64", rest, half)
            even = code.compare("icmp eq", "i64", code.binary("and", "i64", q, const(1)), const(0))
            up = code.binary("and", "i1", up, code.binary("xor", "i1", code.binary("and", "i1", tie, even), code.const("i1", "true")))
    return code.binary("add", "i64", q, code.cast("zext", "i1", up, "i64"))


def from_integer(code: Writer, source: str, value: str, mode: str, base: str) -> str:
    """Round an integer of PTX type `source` to a float or double; `mode` is rz, rm, rp or `odd` (the last bit set when inexact)."""
    value = code.cast("sext" if source[0] == "s" else "zext", f"i{source[1:]}", value, "i64")
    negative = code.compare("icmp slt", "i64", value, code.const("i64", 0)) if source[0] == "s" else code.const("i1", "false")
    minus = code.binary("sub", "i64", code.const("i64", 0), value)
    size = code.select(negative, "i64", minus, value)
    zeros = code.call("ctlz", "i64", size, extra=(("i1", "false"),))
    drop = code.call("usub.sat", "i64", code.const("i64", 64 - (53 if base == "double" else 24)), zeros)
    truncated = code.binary("shl", "i64", code.binary("lshr", "i64", size, drop), drop)
    t = "i64" if base == "double" else "i32"
    found = code.cast("bitcast", base, code.cast("uitofp", "i64", truncated, base), t)
    inexact = code.compare("icmp ne", "i64", truncated, size)
    if mode == "odd":
        found = code.binary("or", t, found, code.cast("zext", "i1", inexact, t))
    elif mode != "rz":
        up = code.binary("and", "i1", inexact, sign_for(code, negative, mode))
        found = code.binary("add", t, found, code.cast("zext", "i1", up, t))
    signed = code.binary("or", t, found, code.const(t, 1 << (int(t[1:]) - 1)))
    return code.cast("bitcast", t, code.select(negative, t, signed, found), base)


def short(code: Writer, target: str, base: str, value: str, modes: Set[str]) -> str:
    """Return the bits of a float or double rounded to f16, bf16 or tf32 (in the upper bits of 32)."""
    mode = mode_of(modes)
    if target != "tf32" and base == "float" and mode == "rn" and not {"satfinite", "relu"} & modes:
        return halves.limit(code, target, halves.narrow(code, target, value), modes)
    wide = code.cast("fpext", base, value, "double")
    if target != "tf32":
        return halves.limit(code, target, shrink(code, wide, *halves.KINDS[target], mode, modes), modes)
    bits = code.cast("zext", "i32", shrink(code, wide, 8, 10, mode, modes), "i32")
    nan = code.compare("fcmp uno", base, value, value)
    return code.select(nan, "i32", code.const("i32", 0x7FFFFFFF), code.binary("shl", "i32", bits, code.const("i32", 13)))


def pair(code: Writer, target: str, source: str, modes: Set[str], sources: Sequence[str]) -> str:
    """`cvt` to two packed numbers; of two sources the first becomes the upper one."""
    if source in EIGHT:
        return code_of_pair(code, [from_eight(code, source, half(code, sources[0], i, "i16"), modes) for i in (0, 1)])
    if source.endswith("x2"):
        name = source[:-2]
        values = [halves.widen(code, name, half(code, sources[0], i, "i32")) for i in (0, 1)]
    else:
        values = [code.op(f"bitcast {code.ty('i32')} {s} to {code.ty('float')}") for s in reversed(sources)]
    if target not in EIGHT:
        return code_of_pair(code, [short(code, target[:-2], "float", v, modes) for v in values])
    wide = [code.cast("fpext", "float", v, "double") for v in values]
    return code_of_pair(code, [shrink(code, v, *EIGHT[target], "rn", modes) for v in wide], 8)


def half(code: Writer, value: str, i: int, whole: str) -> str:
    """Return the lower (i = 0) or upper half of an integer."""
    bits = int(whole[1:]) // 2
    return code.cast("trunc", whole, code.binary("lshr", whole, value, code.const(whole, bits * i)), f"i{bits}")


def code_of_pair(code: Writer, parts: Sequence[str], bits: int = 16) -> str:
    """Pack two integers, the lower first."""
    low, high = (code.cast("zext", f"i{bits}", p, f"i{2 * bits}") for p in parts)
    return code.binary("or", f"i{2 * bits}", low, code.binary("shl", f"i{2 * bits}", high, code.const(f"i{2 * bits}", bits)))


def from_eight(code: Writer, source: str, byte: str, modes: Set[str]) -> str:
    """Return the half-precision bits of an 8-bit float; exact."""
    exponent, fraction = EIGHT[source]
    wide = code.cast("zext", "i8", byte, "i16")
    size = code.binary("and", "i16", wide, code.const("i16", 0x7F))
    bits = code.binary("shl", "i16", size, code.const("i16", 10 - fraction))
    if exponent == 4:  # the exponent's bias is 7, not 15
        scaled = code.binary("fmul", "float", halves.widen(code, "f16", bits), code.const("float", "256.0"))
        bits = halves.narrow(code, "f16", scaled)
    nan = code.compare("icmp ugt", "i16", size, code.const("i16", 0x7E if exponent == 4 else 0x7C))
    sign = code.binary("shl", "i16", code.binary("and", "i16", wide, code.const("i16", 0x80)), code.const("i16", 8))
    bits = code.select(nan, "i16", code.const("i16", halves.CANONICAL), code.binary("or", "i16", bits, sign))
    return halves.limit(code, "f16", bits, modes)
