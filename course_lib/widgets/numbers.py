"""Numbers as readers write them: 0.0117, 0,0117, 262,144, 17/2, 2**10, 50 %. No widgets.

The prediction field of an explorable follows the same rule for commas: `numberOf` in explorables/stage.js, which a test holds to this.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from course_lib.errors import CourseError

LONGEST, LARGEST_POWER, LARGEST = 60, 64, 1e15
GAP = "[ \u00a0\u202f_'’]"               # between groups of three digits
TOKEN = re.compile(rf"(?:\d{{1,3}}(?:{GAP}\d{{3}})+(?!\d)(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
GROUPS = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ",."}
SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "÷": "/", ":": "/"})
DOES: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.UAdd: operator.pos, ast.USub: operator.neg}
HELP = "write something like 8.5, 17/2 or 2**10"


def parse_number(text: str) -> float:
    """Read a number or a formula of numbers: 8.5, 8,5, 1,024, 17/2, 2**10, 1e6, 50%.

    A comma with one to three digits before it (no leading zero) and exactly three behind it groups thousands, as in 1,024; so do several
    commas, and several points. Any other comma is decimal, and so is a point. Where both occur, the last is decimal.

    Raises
    ------
    CourseError
        When it is none.

    >>> parse_number("17/2"), parse_number(" 8,5 "), parse_number("50 %"), parse_number("3 * 2**10"), parse_number("1,024")
    (8.5, 8.5, 0.5, 3072.0, 1024.0)
    """
    plain, percent = re.subn(r"\s*%\s*$", "", text.strip())
    try:
        if len(plain) > LONGEST:
            raise ValueError
        formula = TOKEN.sub(lambda found: _decimal(found[0]), plain.translate(SIGNS).replace("^", "**"))
        value = float(_value(ast.parse(formula.strip(), mode="eval").body)) / (100 if percent else 1)
        if not math.isfinite(value):
            raise ValueError
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        raise CourseError(f"{text!r} is not a number: {HELP}") from None
    return value


def _decimal(token):
    """Return one number as Python writes it.

    >>> [_decimal(token) for token in ("1,024", "0,125", "1.234,5", "1,234.5", "262 144", "12,50", "1.5")]
    ['1024', '0.125', '1234.5', '1234.5', '262144', '12.50', '1.5']
    """
    digits, e, power = re.sub(GAP, "", token).lower().partition("e")
    last = max(digits.rfind(","), digits.rfind("."))
    mark = digits[last] if last >= 0 else ""
    both = "," in digits and "." in digits
    if mark and not both and (GROUPS[mark].fullmatch(digits) and (mark == "," or digits.count(".") > 1)):
        digits = digits.replace(mark, "")
    elif mark:
        whole, part = digits[:last], digits[last + 1:]
        if other := set(whole) - set("0123456789"):
            if not (both and other != {mark} and GROUPS[other.pop()].fullmatch(whole)):
                raise ValueError
            whole = re.sub(r"\D", "", whole)
        digits = f"{whole or 0}.{part}"
    else:
        digits = digits.lstrip("0") or "0"
    return digits + e + power


def _value(node):
    """Compute a formula of numbers and nothing else; a power that would be huge is refused."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in DOES:
            return DOES[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = _value(left), _value(right)
            if abs(power) > LARGEST_POWER or abs(base) > LARGEST:
                raise ValueError
            if base < 0 and power != int(power):
                raise ValueError                    # a complex number
            return base**power
        case ast.BinOp(left=left, op=op, right=right) if type(op) in DOES:
            return DOES[type(op)](_value(left), _value(right))
    raise ValueError


def understood(text: str, value: float) -> str:
    """Return how a text was read, where that needs saying.

    >>> understood("8.5", 8.5), understood("1,024", 1024), understood("1/64", 1 / 64)
    ('', ', understood as 1024', ', understood as 0.015625')
    """
    return "" if re.fullmatch(r"-?\d+(\.\d+)?", text.strip()) else f", understood as {short(value)}"


def short(value: float) -> str:
    """Write a number with at most six digits, a whole one with all of its digits.

    >>> short(14336.0), short(1 / 3), short(2**21)
    ('14336', '0.333333', '2097152')
    """
    return f"{value:.0f}" if value == int(value) and abs(value) < LARGEST else f"{value:.6g}"


def grouped(value: float) -> str:
    """Write a number as `short` does, a large one with commas between its thousands, as the lessons' tables have them.

    >>> grouped(262144.0), grouped(1024), grouped(8.5), grouped(1 / 3)
    ('262,144', '1,024', '8.5', '0.333333')
    """
    return f"{value:,.0f}" if value == int(value) and abs(value) < LARGEST else short(value)
