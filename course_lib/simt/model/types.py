"""PTX types in plain Python: widths, signs, ranges."""

import re
from functools import cache

ANY = "anything"  # a result that the manual leaves open
class Pair:
    """The lower and upper half of one result, each as a result of its own."""

    def __init__(self, halves):
        self.halves = tuple(halves)


ROUNDINGS = ("rn", "rz", "rm", "rp")


@cache
def width(kind):
    if kind in ("e4m3x2", "e5m2x2"):
        return 16
    return 1 if kind == "pred" else 32 if kind.endswith("16x2") else int(re.search(r"\d+$", kind).group())


def cut(value, bits):
    return value & ((1 << bits) - 1)


def signed(value, kind):
    """Read bits as an integer of the type."""
    n = width(kind)
    value = cut(value, n)
    return value - (1 << n) if kind[0] == "s" and value >> (n - 1) else value


@cache
def limits(kind):
    n = width(kind)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if kind[0] == "s" else (0, (1 << n) - 1)


def clamp(value, kind):
    low, high = limits(kind)
    return min(max(value, low), high)
