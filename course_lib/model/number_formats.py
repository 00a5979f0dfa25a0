"""What the short formats of tensor cores keep of a float32: TF32, bfloat16 (also in three parts, and as bits), and FP8."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.model.inputs import InputError


@dataclass(frozen=True)
class NumberFormat:
    """A binary format with float32's sign and exponent: 1 + 8 bits, then `mantissa` bits."""

    name: str
    mantissa: int

    @property
    def dropped(self) -> int:
        """Return how many of float32's 23 mantissa bits it drops."""
        return 23 - self.mantissa

    @property
    def unit(self) -> float:
        """Return the rounding error: at most this share of the number, if it is rounded to the nearest and not below 2**-126."""
        return 2.0 ** -(self.mantissa + 1)


FORMATS = {"float32": NumberFormat("float32", 23), "tf32": NumberFormat("TF32", 10), "bf16": NumberFormat("bfloat16", 7)}


@dataclass(frozen=True)
class EightBits:
    """A format of 8 bits: those of its mantissa, and what it can hold: the least normal number and the largest."""

    mantissa: int
    normal: float
    largest: float


FP8 = {"e4m3": EightBits(3, 2.0**-6, 448.0), "e5m2": EightBits(2, 2.0**-14, 57344.0)}
QUIET_NAN = np.uint16(0x7FC0)         # in bfloat16
UNSPLIT, HIGHEST, MOST_BELOW, FARTHEST = 1 << 20, 47, 98, 126        # of `scaled_parts`: no shift; highest exponent; range; largest shift
AWAY = ("tf32",)           # what cvt.rna rounds a tie to: away from zero; cvt.rn goes to the even neighbour


def round_to(x: ArrayLike, name: str, cut: bool = False) -> NDArray[np.float32]:
    """Return the number of a format that is nearest to a float32; with `cut` the dropped bits are cut off.

    Ties go away from zero in TF32 (`cvt.rna.tf32.f32`) and to the even neighbour in bfloat16 (`cvt.rn.bf16x2.f32`).
    Infinities and NaN stay.

    Parameters
    ----------
    name : "float32", "tf32" or "bf16"

    Returns
    -------
    Of the shape of x.

    Raises
    ------
    InputError, a ValueError
        For another format.

    Source: "PTX ISA", cvt; held to the simulator's instruction, bit for bit.

    >>> [float(round_to(1 + 2**-11, name)) for name in ("float32", "tf32", "bf16")]
    [1.00048828125, 1.0009765625, 1.0]
    >>> float(round_to(1 + 2**-11, "tf32", cut=True))
    1.0
    """
    if name not in FORMATS:
        raise InputError(f"there is no format {name!r}: {', '.join(FORMATS)} are known", name=name)
    x = np.asarray(x, np.float32)
    pattern, low = x.view(np.uint32), (1 << FORMATS[name].dropped) - 1
    if not low:
        return x.copy()
    half = np.uint32((low + 1) // 2)
    more = 0 if cut else half if name in AWAY else half - np.uint32(1) + (pattern >> np.uint32(FORMATS[name].dropped) & np.uint32(1))
    nearest = ((pattern + more) & ~np.uint32(low)).view(np.float32)
    return np.where(np.isfinite(x), nearest, x)


def round_to_bits(x: ArrayLike, mantissa: int) -> NDArray[np.float32]:
    """Return the nearest float32 with so many mantissa bits, 0 to 23, and float32's exponents; a tie goes to the even neighbour.

    >>> round_to_bits([1 / 3, 257], 7).tolist()
    [0.333984375, 256.0]
    """
    x = np.asarray(x, np.float32)
    pattern, dropped = x.view(np.uint32), np.uint32(23 - mantissa)
    if not dropped:
        return x.copy()
    low = np.uint32((1 << int(dropped)) - 1)
    nearest = (pattern + (low >> np.uint32(1)) + (pattern >> dropped & np.uint32(1))) & ~low
    return np.where(np.isfinite(x), nearest.view(np.float32), x)


def round_to_eight(x: ArrayLike, name: str) -> NDArray[np.float32]:
    """Return the number of FP8 that is nearest to a float32, as `cvt.rn.satfinite` does: what is too large, and Inf, becomes the largest.

    Parameters
    ----------
    name : "e4m3" or "e5m2"

    Source: "OCP 8-bit Floating Point Specification"; held to the simulator's instruction, bit for bit.

    >>> [round_to_eight([1 / 3, 500, 0.001], name).tolist() for name in FP8]
    [[0.34375, 448.0, 0.001953125], [0.3125, 512.0, 0.0009765625]]
    """
    form, x = FP8[name], np.asarray(x, np.float32)
    size = np.minimum(np.abs(x.astype(np.float64)), form.largest)
    step = 2.0 ** (np.frexp(np.maximum(size, form.normal))[1] - 1 - form.mantissa)
    return np.copysign(np.minimum(np.rint(size / step) * step, form.largest), x).astype(np.float32)


def to_e4m3(x: ArrayLike) -> NDArray[np.uint8]:
    """Round numbers to FP8's E4M3 and return their bits, 8 for each: sign, exponent of 4 bits, mantissa of 3.

    They are rounded to the nearest, ties to the even neighbour; what is too large, and Inf, becomes 448, the largest. NaN becomes 0x7f.

    Parameters
    ----------
    x
        float32; other numbers are rounded to float32 first.

    Returns
    -------
    Of the shape of x.

    Source: "PTX ISA", cvt.rn.satfinite.e4m3x2.f32; held to the simulator's instruction.

    >>> [f"{bits:#04x}" for bits in to_e4m3([1, -2, 1 / 3, 500, float("nan")])]
    ['0x38', '0xc0', '0x2b', '0x7e', '0x7f']
    """
    x = np.asarray(x, np.float32)
    size = np.minimum(np.abs(x), np.float32(FP8["e4m3"].largest))
    pattern = size.view(np.uint32)
    normal = (pattern + np.uint32(0x7FFFF) + (pattern >> np.uint32(20) & np.uint32(1)) >> np.uint32(20)) - np.uint32(120 << 3)
    with np.errstate(invalid="ignore"):
        code = np.where(size < FP8["e4m3"].normal, np.rint(size * np.float32(512)).astype(np.uint32), normal)
    return np.where(np.isnan(x), 0x7F, code | np.signbit(x) * np.uint32(0x80)).astype(np.uint8)


def from_e4m3(bits: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the numbers of which an array of uint8 holds the E4M3 bits; nothing is rounded.

    Raises
    ------
    InputError, a ValueError
        For an array of another type.

    >>> from_e4m3(to_e4m3([1 / 3, 500])).tolist()
    [0.34375, 448.0]
    """
    bits = np.asarray(bits)
    if bits.dtype != np.uint8:
        raise InputError(f"the bits of E4M3 are uint8, not {bits.dtype}: make them with to_e4m3")
    code = np.arange(128)
    sizes = np.where(code < 8, code / 512, (1 + code % 8 / 8) * 2.0 ** (code // 8 - 7)).astype(np.float32)
    sizes[127] = np.nan
    return np.concatenate([sizes, -sizes])[bits]


def to_bf16(x: ArrayLike) -> NDArray[np.uint16]:
    """Round numbers to bfloat16 and return their bits, 16 for each: NumPy has no such type, so an array of them is one of uint16.

    They are rounded to the nearest bfloat16, ties to the even neighbour, and beyond 2^127 (2 - 2^-8) to infinity. NaN becomes a quiet NaN
    of the same sign.

    Parameters
    ----------
    x
        float32; other numbers are rounded to float32 first.

    Returns
    -------
    Of the shape of x.

    Source: "PTX ISA", cvt.rn.bf16x2.f32; held to the simulator's instruction.

    >>> [f"{bits:#06x}" for bits in to_bf16([1, -2, 1 / 3, float("nan")])]
    ['0x3f80', '0xc000', '0x3eab', '0x7fc0']
    """
    x = np.asarray(x, np.float32)
    pattern = round_to(x, "bf16").view(np.uint32) >> np.uint32(16)
    return np.where(np.isnan(x), pattern & np.uint32(0x8000) | QUIET_NAN, pattern).astype(np.uint16)


def from_bf16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the numbers of which an array of uint16 holds the bfloat16 bits; nothing is rounded.

    Raises
    ------
    InputError, a ValueError
        For an array of another type.

    >>> from_bf16(to_bf16([1 / 3, 257])).tolist()
    [0.333984375, 256.0]
    """
    bits = np.asarray(bits)
    if bits.dtype != np.uint16:
        raise InputError(f"the bits of bfloat16 are uint16, not {bits.dtype}: make them with to_bf16")
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


@dataclass(frozen=True)
class Bits:
    """A format that NumPy has not, as bits: their type, what makes them of float32, one that is no number, and the format's name."""

    dtype: type[np.unsignedinteger]
    make: Callable[[NDArray[np.float32]], NDArray[np.unsignedinteger]]
    nan: np.unsignedinteger
    name: str

    @property
    def whole_rows(self) -> int:
        """Return how many elements have the 16 bytes of which rows are multiples for a tensor map."""
        return 16 // np.dtype(self.dtype).itemsize


BITS = {"bf16": Bits(np.uint16, to_bf16, QUIET_NAN, "bfloat16"), "e4m3": Bits(np.uint8, to_e4m3, np.uint8(0x7F), "E4M3")}


def scaled_parts(x: ArrayLike, axis: int) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
    """Return the bits of three bfloat16 whose sum is a matrix times a power of two for each line, and the exponents of these powers.

    The largest number of a line is moved to below 2^48, but by 2^126 at most: sums of products of two of them stay below 2^127 for every K.
    With none but 0 below 2^-51 no product is so small that it loses digits. A line with smaller numbers, 2^-98 times its largest, and one
    with an infinity or NaN, get UNSPLIT in the place of the exponent, and parts of 0: their products must be computed otherwise. The kernel
    `split_parts` gives the same bits.

    Parameters
    ----------
    axis
        Along which a line lies: 1 for rows, as A's, 0 for columns, as B's.

    >>> found, shifts = scaled_parts([[1.0, 3.0], [np.inf, 1.0], [0.0, 0.0]], axis=1)
    >>> shifts.tolist(), from_bf16(found[0]).tolist()
    ([46, 1048576, 0], [[70368744177664.0, 211106232532992.0], [0.0, 0.0], [0.0, 0.0]])
    """
    x = np.asarray(x, np.float32)
    size = np.where(np.isfinite(x), np.abs(x), 0).astype(np.float64)
    exponents = np.frexp(size)[1] - 1
    top = np.where(size > 0, exponents, -1000).max(axis)
    low = np.where(size > 0, exponents, 1000).min(axis)
    left = (low < top - MOST_BELOW) | ~np.isfinite(x).all(axis)
    shifts = np.where(left, UNSPLIT, np.where(top == -1000, 0, np.minimum(HIGHEST - top, FARTHEST))).astype(np.int32)
    moved = np.ldexp(size * np.sign(x, where=np.isfinite(x), out=np.zeros_like(x)), np.expand_dims(np.where(left, 0, shifts), axis))
    scaled = np.copysign(np.where(np.expand_dims(left, axis), 0, moved), np.where(np.expand_dims(left, axis), 0, x)).astype(np.float32)
    return np.stack([to_bf16(part) for part in parts(scaled)]), shifts


def parts(x: ArrayLike, count: int = 3, cut: bool = False) -> tuple[NDArray[np.float32], ...]:
    """Split a float32 into a sum of bfloat16: each part is what the parts before it leave, rounded.

    Three parts are exact for numbers from 2**-106 on: they have 8 bits each, float32 has 24. What would be rounded to infinity is cut.

    >>> [float(part) for part in parts(np.float32(1 / 3))]
    [0.333984375, -0.000652313232421875, 1.2814998626708984e-06]
    >>> float(sum(parts(np.float32(1 / 3)))) == float(np.float32(1 / 3))
    True
    """
    rest, found = np.asarray(x, np.float32), []
    for _ in range(count):
        rounded = round_to(rest, "bf16", cut)
        found.append(np.where(np.isinf(rounded), round_to(rest, "bf16", cut=True), rounded))
        rest = rest - found[-1]
    return tuple(found)


def bits(x: float) -> str:
    """Return the 32 bits of a float32 as a text of sign, exponent and mantissa.

    >>> bits(1.5)
    '0 01111111 10000000000000000000000'
    """
    pattern = f"{int(np.asarray(x, np.float32).view(np.uint32)):032b}"
    return f"{pattern[0]} {pattern[1:9]} {pattern[9:]}"
