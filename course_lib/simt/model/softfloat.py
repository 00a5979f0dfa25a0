"""Binary floating point in exact integer arithmetic: the independent model that the simulator's floats are held to.

A number travels as the bits of its format. Unpacked it is (sign, m, e) with value ±m·2**e, or (sign, INF, 0), or NAN.
Rounding happens once, in `pack`. NaN results are the one object NAN: which NaN it is, is left open.
"""

from dataclasses import dataclass
from math import isqrt

NAN, INF = "nan", "inf"


@dataclass(frozen=True)
class Format:
    exponent: int  # bits
    fraction: int  # bits
    beyond: int = 0  # bits of the first magnitude that is no number, where it is not the usual infinity

    @property
    def width(self):
        return 1 + self.exponent + self.fraction

    @property
    def least(self):
        """Exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def infinity(self):
        return self.beyond or ((1 << self.exponent) - 1) << self.fraction


FORMATS = {"f16": Format(5, 10), "bf16": Format(8, 7), "f32": Format(8, 23), "f64": Format(11, 52),
           "tf32": Format(8, 10), "e5m2": Format(5, 2), "e4m3": Format(4, 3, 0x7F)}


def unpack(name, bits):
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


def away(mode, sign, n, rest, half):
    """Say whether rounding n (with `rest` dropped, `half` being one half) goes up in magnitude."""
    if mode == "rn":
        return rest > half or rest == half and n & 1
    if mode == "rna":
        return rest >= half
    return rest > 0 and mode == ("rm" if sign else "rp")


def pack(name, value, mode="rn"):
    """Round to the format; NAN stays NAN."""
    if value == NAN:
        return NAN
    f, (sign, m, e) = FORMATS[name], value
    top = sign << (f.width - 1)
    if m == INF:
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


def total(a, b, mode):
    """The exact sum of two unpacked numbers."""
    if NAN in (a, b):
        return NAN
    if INF in (a[1], b[1]):
        if a[1] == b[1] and a[0] != b[0]:
            return NAN
        return a if a[1] == INF else b
    e = min(a[2], b[2])
    m = sum((-1) ** s * (m << (x - e)) for s, m, x in (a, b))
    if m == 0:
        zeros = a[1] == 0 and b[1] == 0 and a[0] == b[0]
        return (a[0] if zeros else int(mode == "rm")), 0, 0
    return int(m < 0), abs(m), e


def product(a, b):
    if NAN in (a, b):
        return NAN
    sign = a[0] ^ b[0]
    if INF in (a[1], b[1]):
        return NAN if 0 in (a[1], b[1]) else (sign, INF, 0)
    return sign, a[1] * b[1], a[2] + b[2]


def add(name, a, b, mode="rn"):
    return pack(name, total(unpack(name, a), unpack(name, b), mode), mode)


def negate(name, a):
    return a ^ 1 << (FORMATS[name].width - 1)


def mul(name, a, b, mode="rn"):
    return pack(name, product(unpack(name, a), unpack(name, b)), mode)


def fma(name, a, b, c, mode="rn"):
    return pack(name, total(product(unpack(name, a), unpack(name, b)), unpack(name, c), mode), mode)


def div(name, a, b, mode="rn"):
    a, b = unpack(name, a), unpack(name, b)
    if NAN in (a, b):
        return NAN
    sign = a[0] ^ b[0]
    if a[1] == b[1] and a[1] in (0, INF):
        return NAN
    if a[1] == INF or b[1] == 0:
        return pack(name, (sign, INF, 0))
    if b[1] == INF or a[1] == 0:
        return pack(name, (sign, 0, 0))
    quotient, rest = divmod(a[1] << 130, b[1])
    return pack(name, (sign, quotient << 1 | (rest > 0), a[2] - b[2] - 131), mode)


def sqrt(name, a, mode="rn"):
    a = unpack(name, a)
    if a == NAN or a[1] == 0:
        return pack(name, a)
    if a[0]:
        return NAN
    if a[1] == INF:
        return pack(name, a)
    m, e = (a[1], a[2]) if a[2] % 2 == 0 else (a[1] << 1, a[2] - 1)
    root = isqrt(m << 140)
    return pack(name, (0, root << 1 | (root * root != m << 140), e // 2 - 71), mode)


def integral(value, mode):
    """Round an unpacked finite number to an integer: (sign, integer)."""
    sign, m, e = value
    if e >= 0:
        return sign, m << e
    n = m >> -e
    return sign, n + bool(away(mode, sign, n, m - (n << -e), 1 << (-e - 1)))


def convert(target, source, bits, mode="rn"):
    return pack(target, unpack(source, bits), mode)


def from_integer(target, value, mode="rn"):
    return pack(target, (int(value < 0), abs(value), 0), mode)


def subnormal(name, bits):
    f = FORMATS[name]
    return 0 < bits & ((1 << (f.width - 1)) - 1) < 1 << f.fraction


def flush(name, bits):
    """Return a zero of the same sign for a subnormal number."""
    if bits == NAN or not subnormal(name, bits):
        return bits
    return bits & 1 << (FORMATS[name].width - 1)


def is_nan(name, bits):
    f = FORMATS[name]
    return bits & ((1 << (f.width - 1)) - 1) > f.infinity


def key(name, bits):
    """Order of the numbers of a format, -0 just below +0; not for NaN."""
    half = 1 << (FORMATS[name].width - 1)
    return bits if bits < half else half - bits - 1


def compare(name, a, b):
    """Return -1, 0, 1, or None when one is NaN."""
    if is_nan(name, a) or is_nan(name, b):
        return None
    x, y = (0 if v == 1 << (FORMATS[name].width - 1) else key(name, v) for v in (a, b))
    return (x > y) - (x < y)
