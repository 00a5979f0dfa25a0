"""What the short number formats of tensor cores keep of a float32: TF32, bfloat16, and bfloat16 in three parts."""

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


def parts(x: ArrayLike, count: int = 3, cut: bool = False) -> tuple[NDArray[np.float32], ...]:
    """Split a float32 into a sum of bfloat16: each part is what the parts before it leave, rounded.

    Three parts are exact for numbers from 2**-106 to 2**127: they have 8 bits each, float32 has 24.

    >>> [float(part) for part in parts(np.float32(1 / 3))]
    [0.333984375, -0.000652313232421875, 1.2814998626708984e-06]
    >>> float(sum(parts(np.float32(1 / 3)))) == float(np.float32(1 / 3))
    True
    """
    rest, found = np.asarray(x, np.float32), []
    for _ in range(count):
        found.append(round_to(rest, "bf16", cut))
        rest = rest - found[-1]
    return tuple(found)


def bits(x: float) -> str:
    """Return the 32 bits of a float32 as a text of sign, exponent and mantissa.

    >>> bits(1.5)
    '0 01111111 10000000000000000000000'
    """
    pattern = f"{int(np.asarray(x, np.float32).view(np.uint32)):032b}"
    return f"{pattern[0]} {pattern[1:9]} {pattern[9:]}"
