"""Every figure of the five documents that can be computed, as printed and exactly.

The documents round, cut off, and here and there miscalculate. `figures` holds each printed figure to what a function of
`course_lib.model` yields, and says how the printed one comes out, or that it cannot be reproduced.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

AGREES, CUT, INPUTS, ROUTE = "agrees", "cut off", "from rounded inputs", "rounded on the way"
ABOUT, OFF = "about", "off"


@dataclass(frozen=True)
class Figure:
    """One printed figure.

    Attributes
    ----------
    document, place, what
        "L", "W", "N", "C" or "K"; section or table; what it is, with its unit.
    printed
        As printed: a number, a fraction, or a percentage.
    exact
        What `function` yields; for a percentage the share.
    function
        Dotted name below `course_lib`.
    how
        "agrees": the exact value rounds to the printed one. "cut off": digits were dropped. "from rounded inputs": the
        inputs are printed with few digits, and `low` to `high`, what they allow, meets the printed one. "rounded on the
        way": an intermediate value was rounded, `route` is what then comes out. "about": the text
        says so itself, and is within a quarter. "off": none of these.
    remark
        What went wrong, or which value was rounded.
    """

    document: str
    place: str
    what: str
    printed: str
    exact: float | Fraction
    function: str
    how: str = AGREES
    low: float | None = None
    high: float | None = None
    route: float | Fraction | None = None
    remark: str = ""

    @property
    def value(self) -> Fraction:
        """The printed figure as a number; of a percentage the share."""
        text = self.printed.rstrip("%").replace(",", "")
        number = Fraction(text)
        return number / 100 if self.printed.endswith("%") else number

    @property
    def unit(self) -> Fraction:
        """One unit in the last printed digit; 0 for a fraction, which is exact."""
        text = self.printed.rstrip("%")
        digits = len(text.partition(".")[2])
        step = Fraction(0) if "/" in text else Fraction(1, 10**digits)
        return step / 100 if self.printed.endswith("%") else step

    def rounds(self, number: float | Fraction) -> bool:
        """Tell whether a number, rounded to the printed digits, is the printed figure; halves may go either way."""
        return abs(Fraction(number) - self.value) <= self.unit / 2 + Fraction(1, 10**12)

    def holds(self) -> bool:
        """Tell whether the printed figure and the exact one stand as `how` says."""
        if self.how == AGREES:
            return self.rounds(self.exact)
        if self.rounds(self.exact):
            return False                     # then it would simply agree
        if self.how == CUT:
            return 0 <= Fraction(self.exact) - self.value < self.unit
        if self.how == INPUTS:
            low, high = self.low, self.high
            return low is not None and high is not None and low <= self.exact <= high and (
                low - self.unit / 2 <= self.value <= high + self.unit / 2)
        if self.how == ROUTE:
            return bool(self.remark) and self.route is not None and self.rounds(self.route)
        if self.how == ABOUT:
            return abs(Fraction(self.exact) / self.value - 1) <= Fraction(1, 4)
        return self.how == OFF and bool(self.remark)

    @property
    def exact_text(self) -> str:
        """The exact value for a table: a fraction, or a few digits more than the printed ones."""
        if "/" in self.printed:
            return str(Fraction(self.exact).limit_denominator(10**6))
        digits = len(self.printed.rstrip("%").partition(".")[2]) + 2
        number = float(self.exact) * (100 if self.printed.endswith("%") else 1)
        text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
        return text + "%" * self.printed.endswith("%")


@cache
def figures(document: str | None = None) -> tuple[Figure, ...]:
    """Return the Figures of one document ("L", "W", "N", "C", "K") or of all.

    >>> [f.printed for f in figures("W") if f.how == "cut off"]
    ['45.6']
    """
    from course_lib.model.figures import chien, chien_methods, koppelman, lee, wang, wong

    modules_of = {"L": [lee], "W": [wang], "N": [wong], "C": [chien, chien_methods], "K": [koppelman]}
    chosen = modules_of if document is None else {document: modules_of[document]}
    return tuple(figure for modules in chosen.values() for module in modules for figure in module.rows())
