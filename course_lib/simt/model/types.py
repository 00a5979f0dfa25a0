"""PTX types in plain Python: widths, signs, ranges."""

import re
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias, Union

from course_lib.simt.model.softfloat import Bits

ROUNDINGS = ("rn", "rz", "rm", "rp")
Allowed: TypeAlias = Bits | frozenset[int]  # the bits, or all bits that the manual allows
Result: TypeAlias = Union[Allowed, "Halves"]


class Undefined(Exception):
    """The model does not define what was asked of it, or the kernel does what has no defined meaning."""


class Halves:
    """The lower and upper half of one result, each as a result of its own."""

    def __init__(self, halves: Iterable[Result]) -> None:
        self.halves = tuple(halves)


@cache
def width(kind: str) -> int:
    if kind in ("e4m3x2", "e5m2x2"):
        return 16
    return 1 if kind == "pred" else 32 if kind.endswith("16x2") else int(re.findall(r"\d+$", kind)[0])


def cut(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def signed(value: int, kind: str) -> int:
    """Read bits as an integer of the type."""
    n = width(kind)
    value = cut(value, n)
    return value - (1 << n) if kind[0] == "s" and value >> (n - 1) else value


@cache
def integer_range(kind: str) -> tuple[int, int]:
    n = width(kind)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if kind[0] == "s" else (0, (1 << n) - 1)


def clamp(value: int, kind: str) -> int:
    low, high = integer_range(kind)
    return min(max(value, low), high)
