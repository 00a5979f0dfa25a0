"""Constant expressions, as the section "Constant Expressions" of the PTX ISA defines them: operators, types and precedence.

A value is a pair: its type, and its bits as an integer. The types are "s" (.s64), "u" (.u64), "d" (.f64), and "f" for a literal `0f…`,
whose 32 bits stand for themselves and take part in no arithmetic.
"""

import operator
import struct
from collections.abc import Callable
from typing import TypeAlias

from course_lib.simt.ptx.ir import Imm
from course_lib.simt.ptx.tokens import Tokens, number

Value: TypeAlias = tuple[str, int]
LEVELS = {name: level for level, names in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"), 1)
          for name in names.split()}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
BITWISE: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
DEEPEST = 100  # parentheses, signs and casts inside each other


class Constants(Tokens):
    """The part of the parser that reads and computes constant expressions."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.nesting = 0

    def constant(self) -> Imm:
        """Read a constant expression; return its value."""
        kind, value = self.conditional()
        return Imm(value, {"f": 4, "d": 8}.get(kind, 0))

    def constant_integer(self, least: int = 0) -> int:
        """Read a constant expression whose value is an integer; return it, as a signed number of 64 bits.

        With `least`, stop before the operators of lower levels.
        """
        kind, value = self.binary(least) if least else self.conditional()
        if kind not in "su":
            raise self.last("expected an integer, found a floating-point number")
        return wrap("s", value)

    def begins_constant(self) -> bool:
        """Say whether a constant expression stands next: a literal, a sign or a parenthesis."""
        if self.peek() == "!":
            following = self.at + 1
            return self.kinds[following] == "number" or self.words[following] in ("!", "~", "-", "+", "(")
        return self.kinds[self.at] in ("number", "float") or self.peek() in ("-", "+", "~", "(")

    def conditional(self) -> Value:
        """`condition ? this : that`, or an expression without it."""
        condition = self.binary(1)
        if not self.accept("?"):
            return condition
        yes = self.nested(self.conditional)
        self.take(":")
        no = self.nested(self.conditional)
        if "d" in (condition[0], yes[0], no[0]) or "f" in (condition[0], yes[0], no[0]):
            raise self.last("the operands of ?: in a constant expression are integers")
        return common(yes, no), (yes if condition[1] else no)[1]

    def nested(self, read: Callable[[], Value]) -> Value:
        self.nesting += 1
        if self.nesting > DEEPEST:
            raise self.error("the constant expression is nested too deeply")
        found = read()
        self.nesting -= 1
        return found

    def binary(self, least: int) -> Value:
        """Operators that bind at least as tightly as the level `least`, from left to right."""
        left = self.unary()
        while LEVELS.get(self.peek(), 0) >= least:
            name = self.take()
            left = self.compute(name, left, self.binary(LEVELS[name] + 1))
        return left

    def compute(self, name: str, left: Value, right: Value) -> Value:
        kinds = {left[0], right[0]}
        if "f" in kinds or "d" in kinds and (kinds != {"d"} or name not in (*ARITHMETIC, *COMPARISONS)):
            raise self.last(f"the operator {name} of a constant expression takes two integers"
                            + (", or two double-precision numbers" if name in (*ARITHMETIC, *COMPARISONS) else ""))
        if name in ("/", "%") and right[1] << (kinds == {"d"}) & ((1 << 64) - 1) == 0:     # -0.0 too
            raise self.last("a constant expression divides by zero")
        return floats(name, left, right) if kinds == {"d"} else integers(name, left, right)

    def unary(self) -> Value:
        word = self.peek()
        if word not in ("-", "+", "!", "~") and not (word == "(" and self.words[self.at + 1] in (".s64", ".u64")):
            return self.primary()
        self.take()
        if word == "(":
            word = self.take()
            self.take(")")
        kind, value = self.nested(self.unary)
        if word == "+":
            return kind, value
        if word == "-":
            return (kind, value ^ (1 << (31 if kind == "f" else 63))) if kind in "fd" else (kind, wrap(kind, -value))
        if kind in "fd":
            raise self.last(f"{word} in a constant expression takes an integer")
        if word == "!":
            return "s", int(value == 0)
        return (word[1], wrap(word[1], value)) if word in (".s64", ".u64") else ("u", wrap("u", ~value))

    def primary(self) -> Value:
        """A literal, or an expression in parentheses."""
        if self.accept("("):
            found = self.nested(self.conditional)
            self.take(")")
            return found
        kind, word = self.kinds[self.at], self.take()
        if kind == "float":
            return "f" if word[1] in "fF" else "d", int(word[2:], 16)
        if kind != "number":
            raise self.last(f"expected a number, found {word!r}")
        if not word.startswith(("0x", "0X")) and any(letter in word for letter in ".eE"):
            return "d", bits_of(float(word))
        try:
            value = number(word)
        except ValueError:
            raise self.last(f"{word!r} is no number") from None
        if value >= 1 << 64:
            raise self.last(f"{word} does not fit into 64 bits")
        return "u" if word.endswith("U") or value >= 1 << 63 else "s", value


def wrap(kind: str, value: int) -> int:
    """Return an integer modulo 2**64, as a value of .s64 or .u64.

    >>> wrap("u", -1) == 2**64 - 1, wrap("s", 2**63) == -2**63
    (True, True)
    """
    value &= (1 << 64) - 1
    return value - (1 << 64) if kind == "s" and value >> 63 else value


def common(left: Value, right: Value) -> str:
    """Return the type to which the operands of an operator are converted: .u64 if one of them has it."""
    return "u" if "u" in (left[0], right[0]) else "s"


def bits_of(value: float) -> int:
    """Return the bits of a double-precision number."""
    return int.from_bytes(struct.pack("<d", value), "little")


def floats(name: str, left: Value, right: Value) -> Value:
    a, b = (struct.unpack("<d", bits.to_bytes(8, "little"))[0] for _, bits in (left, right))
    if name in COMPARISONS:
        return "s", int(COMPARISONS[name](a, b))
    return "d", bits_of(ARITHMETIC[name](a, b))


def integers(name: str, left: Value, right: Value) -> Value:
    """Apply an operator to integers, with the types that the ISA's table gives operands and result."""
    kind = common(left, right)
    a, b = (wrap(kind, value) for _, value in (left, right))
    if name in COMPARISONS:
        return "s", int(COMPARISONS[name](a, b))
    if name in ("&&", "||"):
        return "s", int(bool(a and b) if name == "&&" else bool(a or b))
    if name in BITWISE:
        return "u", BITWISE[name](wrap("u", a), wrap("u", b))
    if name == "%":
        return "s", wrap("s", wrap("u", a) % wrap("u", b))
    if name in ("<<", ">>"):        # of 64 bits: the amount counts modulo 64, as the assembler has it
        amount = wrap("u", right[1]) % 64
        return left[0], wrap(left[0], left[1] << amount if name == "<<" else left[1] >> amount)
    if name == "/":
        quotient = abs(a) // abs(b)
        return kind, wrap(kind, quotient if (a < 0) == (b < 0) else -quotient)
    return kind, wrap(kind, int(ARITHMETIC[name](a, b)))
