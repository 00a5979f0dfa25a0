"""Binary floating point in exact integer arithmetic: the independent model that the simulator's floats are held to.

A number travels as the bits of its format. Unpacked it is (sign, m, e) with value ±m·2**e, or (sign, INF, 0), or NAN.
Rounding happens once, in `pack`. NaN results are the one object NAN: which NaN it is, is left open.
"""

import enum
from dataclasses import dataclass
from math import isqrt
from typing import Final, Literal, TypeAlias, overload


class Special(enum.Enum):
    """What stands where a number cannot."""

    NAN = "nan"
    INF = "inf"


NAN: Final = Special.NAN
INF: Final = Special.INF
Bits: TypeAlias = int | Literal[Special.NAN]
Number: TypeAlias = tuple[int, int | Literal[Special.INF], int]
Unpacked: TypeAlias = Number | Literal[Special.NAN]


@dataclass(frozen=True)
class FloatFormat:
    """The fields of a format."""

    exponent: int  # bits
    fraction: int  # bits
    beyond: int = 0  # bits of the first magnitude that is no number, where it is not the usual infinity

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def least(self) -> int:
        """Exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def infinity(self) -> int:
        return self.beyond or ((1 << self.exponent) - 1) << self.fraction


FORMATS = {"f16": FloatFormat(5, 10), "bf16": FloatFormat(8, 7), "f32": FloatFormat(8, 23), "f64": FloatFormat(11, 52),
           "tf32": FloatFormat(8, 10), "e5m2": FloatFormat(5, 2), "e4m3": FloatFormat(4, 3, 0x7F)}


def unpack(name: str, bits: int) -> Unpacked:
    f = FORMATS[name]
    sign, rest = bits >> (f.width - 1), bits & ((1 << (f.width - 1)) - 1)
    if rest > f.infinity:
        return NAN
    if rest == f.infinity:
        return sign, INF, 0
    field, fraction = rest >> f.fraction, rest & ((1 << f.fraction) - 1)
    if field == 0:
        return sign, fraction, f.least - f.fraction
    return sign, fraction | 1 << f.fraction, f.least + field - 1 - f.fraction


def away(mode: str, sign: int, n: int, rest: int, half: int) -> bool:
    """Say whether rounding n (with `rest` dropped, `half` being one half) goes up in magnitude."""
    if mode == "rn":
        return rest > half or rest == half and bool(n & 1)
    if mode == "rna":
        return rest >= half
    return rest > 0 and mode == ("rm" if sign else "rp")


@overload
def pack(name: str, value: Number, mode: str = "rn") -> int: ...
@overload
def pack(name: str, value: Unpacked, mode: str = "rn") -> Bits: ...
def pack(name: str, value: Unpacked, mode: str = "rn") -> Bits:
    """Round to the format; NAN stays NAN."""
    if value is NAN:
        return NAN
    f, (sign, m, e) = FORMATS[name], value
    top = sign << (f.width - 1)
    if m is INF:
        return top | f.infinity
    if m == 0:
        return top
    place = max(m.bit_length() + e - 1, f.least)
    drop = place - f.fraction - e
    if drop <= 0:
        n, up = m << -drop, False
    else:
        n = m >> drop
        up = away(mode, sign, n, m - (n << drop), 1 << (drop - 1))
    bits = ((place - f.least) << f.fraction) + n + up
    if bits >= f.infinity:
        to_infinity = mode in ("rn", "rna") or mode == ("rm" if sign else "rp")
        bits = f.infinity if to_infinity else f.infinity - 1
    return top | bits


def total(a: Unpacked, b: Unpacked, mode: str) -> Unpacked:
    """The exact sum of two unpacked numbers."""
    if a is NAN or b is NAN:
        return NAN
    (s, m, x), (t, n, y) = a, b
    if m is INF or n is INF:
        return NAN if m is n and s != t else a if m is INF else b
    e = min(x, y)
    exact = (-1) ** s * (m << x - e) + (-1) ** t * (n << y - e)
    if exact == 0:
        zeros = m == 0 and n == 0 and s == t
        return (s if zeros else int(mode == "rm")), 0, 0
    return int(exact < 0), abs(exact), e


def exact_product(a: Unpacked, b: Unpacked) -> Unpacked:
    if a is NAN or b is NAN:
        return NAN
    (s, m, x), (t, n, y) = a, b
    if m is INF or n is INF:
        return NAN if 0 in (m, n) else (s ^ t, INF, 0)
    return s ^ t, m * n, x + y


def add(name: str, a: int, b: int, mode: str = "rn") -> Bits:
    return pack(name, total(unpack(name, a), unpack(name, b), mode), mode)


def negate(name: str, a: int) -> int:
    return a ^ 1 << (FORMATS[name].width - 1)


def mul(name: str, a: int, b: int, mode: str = "rn") -> Bits:
    return pack(name, exact_product(unpack(name, a), unpack(name, b)), mode)


def fma(name: str, a: int, b: int, c: int, mode: str = "rn") -> Bits:
    return pack(name, total(exact_product(unpack(name, a), unpack(name, b)), unpack(name, c), mode), mode)


def div(name: str, a: int, b: int, mode: str = "rn") -> Bits:
    dividend, divisor = unpack(name, a), unpack(name, b)
    if dividend is NAN or divisor is NAN:
        return NAN
    (s, m, x), (t, n, y) = dividend, divisor
    if m == n and m in (0, INF):
        return NAN
    if m is INF or n == 0:
        return pack(name, (s ^ t, INF, 0))
    if n is INF or m == 0:
        return pack(name, (s ^ t, 0, 0))
    quotient, rest = divmod(m << 130, n)
    return pack(name, (s ^ t, quotient << 1 | (rest > 0), x - y - 131), mode)


def sqrt(name: str, a: int, mode: str = "rn") -> Bits:
    value = unpack(name, a)
    if value is NAN or value[1] == 0:
        return pack(name, value)
    sign, m, e = value
    if sign:
        return NAN
    if m is INF:
        return pack(name, value)
    m, e = (m, e) if e % 2 == 0 else (m << 1, e - 1)
    root = isqrt(m << 140)
    return pack(name, (0, root << 1 | (root * root != m << 140), e // 2 - 71), mode)


def integral(value: tuple[int, int, int], mode: str) -> tuple[int, int]:
    """Round an unpacked finite number to an integer: (sign, integer)."""
    sign, m, e = value
    if e >= 0:
        return sign, m << e
    n = m >> -e
    return sign, n + away(mode, sign, n, m - (n << -e), 1 << (-e - 1))


def convert(target: str, source: str, bits: int, mode: str = "rn") -> Bits:
    return pack(target, unpack(source, bits), mode)


def from_integer(target: str, value: int, mode: str = "rn") -> int:
    return pack(target, (int(value < 0), abs(value), 0), mode)


def subnormal(name: str, bits: int) -> bool:
    f = FORMATS[name]
    return 0 < bits & ((1 << (f.width - 1)) - 1) < 1 << f.fraction


@overload
def flush(name: str, bits: int) -> int: ...
@overload
def flush(name: str, bits: Bits) -> Bits: ...
def flush(name: str, bits: Bits) -> Bits:
    """Return a zero of the same sign for a subnormal number."""
    if bits is NAN or not subnormal(name, bits):
        return bits
    return bits & 1 << (FORMATS[name].width - 1)


def is_nan(name: str, bits: int) -> bool:
    f = FORMATS[name]
    return bits & ((1 << (f.width - 1)) - 1) > f.infinity


def key(name: str, bits: int) -> int:
    """Order of the numbers of a format, -0 just below +0; not for NaN."""
    half = 1 << (FORMATS[name].width - 1)
    return bits if bits < half else half - bits - 1


def compare(name: str, a: int, b: int) -> int | None:
    """Return -1, 0, 1, or None when one is NaN."""
    return None if is_nan(name, a) or is_nan(name, b) else order(name, a, b)


def order(name: str, a: int, b: int) -> int:
    """Return -1, 0 or 1 for two numbers, of which none is NaN."""
    x, y = (0 if v == 1 << (FORMATS[name].width - 1) else key(name, v) for v in (a, b))
    return (x > y) - (x < y)
