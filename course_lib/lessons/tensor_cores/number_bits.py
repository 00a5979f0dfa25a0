"""The bits of a number, and which of them the formats of tensor cores keep."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from course_lib.model.number_formats import FORMATS, bits, parts, round_to
from course_lib.plots import style

SIGN, EXPONENT, MANTISSA = style.VERMILION, style.ORANGE, style.BLUE
GAPS = (0.0, 0.5, 1.0)                 # before sign, exponent, mantissa


@dataclass(frozen=True)
class NumberInFormats:
    """A number, and what is left of it.

    Attributes
    ----------
    label
        How the reader wrote it.
    x
        The float32 nearest to that.
    cut
        Whether bits were cut off, not rounded.
    rows
        (name, value, mantissa bits of its format): float32, TF32, bfloat16, and the second and third bfloat16 of a split.
    """

    label: str
    x: float
    cut: bool
    rows: tuple[tuple[str, float, int], ...]

    def error(self, name: str) -> float:
        """Return by what share of the number a row is off."""
        value = next(value for row, value, _ in self.rows if row == name)
        return abs(value - self.x) / abs(self.x)

    @property
    def split_error(self) -> float:
        """Return by what share of the number the sum of the three parts is off."""
        return abs(sum(value for _, value, _ in self.rows[2:]) - self.x) / abs(self.x)


def in_formats(label: str, value: float, cut: bool = False) -> NumberInFormats:
    """Work out what the formats keep of a number that is not 0.

    >>> found = in_formats("1/3", 1 / 3)
    >>> [f"{found.error(name):.1e}" for name in ("TF32", "bfloat16 = x0")], found.split_error
    (['2.4e-04', '2.0e-03'], 0.0)
    """
    x = np.float32(value)
    short = FORMATS["bf16"].mantissa
    rows = [("float32", x, 23), ("TF32", round_to(x, "tf32", cut), FORMATS["tf32"].mantissa)]
    rows += [(name, part, short) for name, part in zip(("bfloat16 = x0", "x1", "x2"), parts(x, cut=cut), strict=True)]
    return NumberInFormats(label, float(x), cut, tuple((name, float(value), mantissa) for name, value, mantissa in rows))


def describe_bits(found: NumberInFormats) -> str:
    """Return what `draw_bits` shows, in words."""
    how = "cut off" if found.cut else "rounded"
    return f"The bits of {found.label}, {how}. " + "; ".join(f"{name} {value:.9g} is {bits(value)}" for name, value, _ in found.rows) + "."


@style.styled
def draw_bits(found: NumberInFormats, ax: Axes | None = None) -> Axes:
    """Draw sign, exponent and mantissa of each row of a number; bits that the format does not hold are left out.

    Returns
    -------
    Axes
        With a rectangle for each bit that is left, row by row: dark for 1, pale for 0.
    """
    ax = style.axes(ax, width=8.2, height=3.5)
    for y, (name, value, mantissa) in enumerate(found.rows):
        groups = bits(value).split()
        for group, colour, gap, first in zip(groups, (SIGN, EXPONENT, MANTISSA), GAPS, (0, 1, 9), strict=True):
            for n, bit in enumerate(group[:mantissa] if len(group) == 23 else group):
                _bit(ax, first + n + gap, y, bit, colour)
        ax.text(-0.4, y + 0.45, name, ha="right", va="center", fontsize=13)
        ax.text(9 + mantissa + 1.5, y + 0.45, f"{value:.9g}", ha="left", va="center", fontsize=12)
    ax.set(xlim=(-7.0, 40.5), ylim=(len(found.rows) + 0.1, -0.3))
    ax.set_title(f"x = {found.label}, {'cut off' if found.cut else 'rounded to the nearest'}")
    ax.axis("off")
    handles = [Patch(color=colour, label=name) for colour, name in ((SIGN, "sign"), (EXPONENT, "exponent"), (MANTISSA, "mantissa"))]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3)
    return ax


def _bit(ax, x, y, bit, colour):
    ax.add_patch(Rectangle((x, y), 0.92, 0.82, facecolor=colour, alpha=1.0 if bit == "1" else 0.22, linewidth=0))
    ax.text(x + 0.46, y + 0.44, bit, ha="center", va="center", fontsize=10, color=style.text_on(colour) if bit == "1" else style.INK)
