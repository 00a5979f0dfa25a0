"""A small writer of LLVM IR text for one lane (`lanes=None`) or for all lanes of a warp (`<32 x T>`)."""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from course_lib.simt.isa import rounding

LANES = 32


class Code:
    """Collects the lines of one LLVM function; values are names such as `%t7` or constants.

    Parameters
    ----------
    lanes
        32: every value is a vector with one element per lane. None: plain scalars.
    shared
        Another writer whose lines and names this one continues.
    """

    def __init__(self, lanes: int | None = LANES, shared: "Code | None" = None) -> None:
        self.lanes = lanes
        self.lines: list[str] = shared.lines if shared else []
        self.numbers: Iterator[int] = shared.numbers if shared else itertools.count(1)

    def ty(self, base: str) -> str:
        """Return the LLVM type of a value whose lanes are `base` (`i32`, `float`, `i1`, …)."""
        return f"<{self.lanes} x {base}>" if self.lanes else base

    def const(self, base: str, text: Any) -> str:
        """Return the constant `text` of type `base`, in every lane."""
        if not self.lanes:
            return str(text)
        return f"splat ({base} {text})"

    def op(self, text: str) -> str:
        """Append an instruction that yields a value; return the value's name."""
        name = f"%t{next(self.numbers)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a value."""
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Start the basic block `name`."""
        self.lines.append(f"{name}:")

    def fresh(self, stem: str) -> str:
        """Return a label name that is used nowhere else in this function."""
        return f"{stem}.{next(self.numbers)}"

    def call(self, intrinsic: str, base: str, *args: str, extra: Iterable[tuple[str, str]] = ()) -> str:
        """Call `llvm.<intrinsic>` on values of lane type `base`; `extra` are (type, value) pairs of scalars."""
        ty = self.ty(base)
        letter = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}.get(base, base)
        suffix = f"v{self.lanes}{letter}" if self.lanes else letter
        given = [f"{ty} {a}" for a in args] + [f"{t} {v}" for t, v in extra]
        return self.op(f"call {ty} @llvm.{intrinsic}.{suffix}({', '.join(given)})")

    def cast(self, how: str, source: str, value: str, target: str) -> str:
        """Convert lanes, e.g. `cast("sext", "i32", v, "i64")`; equal types cost nothing."""
        if source == target:
            return value
        return self.op(f"{how} {self.ty(source)} {value} to {self.ty(target)}")

    def binary(self, how: str, base: str, a: str, b: str) -> str:
        """`how` is an LLVM opcode with two operands of one type."""
        return self.op(f"{how} {self.ty(base)} {a}, {b}")

    def compare(self, how: str, base: str, a: str, b: str) -> str:
        """`how` is `icmp slt`, `fcmp oeq`, …; yields i1 lanes."""
        return self.op(f"{how} {self.ty(base)} {a}, {b}")

    def select(self, condition: str, base: str, a: str, b: str) -> str:
        """`condition ? a : b` per lane."""
        return self.op(f"select {self.ty('i1')} {condition}, {self.ty(base)} {a}, {self.ty(base)} {b}")

    def splat(self, value: str, base: str, count: int = LANES) -> str:
        """Copy a scalar of type `base` into all elements of a vector."""
        one = self.op(f"insertelement <{count} x {base}> poison, {base} {value}, i32 0")
        return self.op(f"shufflevector <{count} x {base}> {one}, <{count} x {base}> poison, <{count} x i32> zeroinitializer")

    def fit(self, value: str, given: str, wanted: str, negated: bool = False) -> str:
        """Return a register's value of type `given` as an instruction wants it: cut off, or filled up with zeros."""
        if negated:
            return self.binary("xor", "i1", value, self.const("i1", "true"))
        if wanted in (given, "imm"):
            return value
        return self.cast("trunc" if int(given[1:]) > int(wanted[1:]) else "zext", given, value, wanted)


def bytes_constant(name: str, raw: bytes) -> str:
    """Return the definition of a constant with these bytes."""
    return f'{name} = internal constant [{len(raw)} x i8] c"{"".join(f"{chr(92)}{b:02x}" for b in raw)}", align 8'


def declarations(text: str) -> str:
    """Return the `declare` lines for every `@llvm.…` intrinsic called in a piece of IR text, and the functions of `rounding`."""
    found = {}
    for kind, name, args in re.findall(r"call (<[^>]*>|\{[^}]*\}|\S+) (@llvm\.[\w.]+)\(([^\n]*)\)", text):
        types = []
        for arg in re.findall(r"(<\d+ x \w+>|\bptr\b|\bi\d+\b|\bfloat\b|\bdouble\b|\bhalf\b|\bbfloat\b) [^,]+", args):
            types.append(arg)
        found[name] = f"declare {kind} {name}({', '.join(types)})"
    return "\n".join([*found.values(), rounding.definitions(text)])
