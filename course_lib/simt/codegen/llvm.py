"""A small writer of LLVM IR text for one lane (`lanes=None`) or for all lanes of a warp (`<32 x T>`)."""

import itertools
import re

from course_lib.simt.isa import rounding

LANES = 32


class Code:
    """Collects the lines of one LLVM function; values are names such as `%t7` or constants.

    Parameters
    ----------
    lanes : int or None
        32: every value is a vector with one element a lane. None: plain scalars.
    shared : Code, optional
        Another writer whose lines and names this one continues.
    """

    def __init__(self, lanes=LANES, shared=None):
        self.lanes = lanes
        self.lines = shared.lines if shared else []
        self.numbers = shared.numbers if shared else itertools.count(1)

    def ty(self, base):
        """Return the LLVM type of a value whose lanes are `base` (`i32`, `float`, `i1`, …)."""
        return f"<{self.lanes} x {base}>" if self.lanes else base

    def const(self, base, text):
        """Return the constant `text` of type `base`, in every lane."""
        if not self.lanes:
            return str(text)
        return f"splat ({base} {text})"

    def op(self, text):
        """Append an instruction that yields a value; return the value's name."""
        name = f"%t{next(self.numbers)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text):
        """Append an instruction without a value."""
        self.lines.append("  " + text)

    def label(self, name):
        """Start the basic block `name`."""
        self.lines.append(f"{name}:")

    def fresh(self, stem):
        """Return a label name that is used nowhere else in this function."""
        return f"{stem}.{next(self.numbers)}"

    def call(self, intrinsic, base, *args, extra=()):
        """Call `llvm.<intrinsic>` on values of lane type `base`; `extra` are (type, value) pairs of scalars."""
        ty = self.ty(base)
        letter = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}.get(base, base)
        suffix = f"v{self.lanes}{letter}" if self.lanes else letter
        given = [f"{ty} {a}" for a in args] + [f"{t} {v}" for t, v in extra]
        return self.op(f"call {ty} @llvm.{intrinsic}.{suffix}({', '.join(given)})")

    def cast(self, how, source, value, target):
        """Convert lanes, e.g. `cast("sext", "i32", v, "i64")`; equal types cost nothing."""
        if source == target:
            return value
        return self.op(f"{how} {self.ty(source)} {value} to {self.ty(target)}")

    def binary(self, how, base, a, b):
        """`how` is an LLVM opcode with two operands of one type."""
        return self.op(f"{how} {self.ty(base)} {a}, {b}")

    def compare(self, how, base, a, b):
        """`how` is `icmp slt`, `fcmp oeq`, …; yields i1 lanes."""
        return self.op(f"{how} {self.ty(base)} {a}, {b}")

    def select(self, condition, base, a, b):
        """`condition ? a : b` per lane."""
        return self.op(f"select {self.ty('i1')} {condition}, {self.ty(base)} {a}, {self.ty(base)} {b}")


def declarations(text):
    """Return the `declare` lines for every `@llvm.…` intrinsic called in a piece of IR text, and the functions of `rounding`."""
    found = {}
    for kind, name, args in re.findall(r"call (<[^>]*>|\{[^}]*\}|\S+) (@llvm\.[\w.]+)\(([^\n]*)\)", text):
        types = []
        for arg in re.findall(r"(<\d+ x \w+>|\bptr\b|\bi\d+\b|\bfloat\b|\bdouble\b|\bhalf\b|\bbfloat\b) [^,]+", args):
            types.append(arg)
        found[name] = f"declare {kind} {name}({', '.join(types)})"
    return "\n".join([*found.values(), rounding.definitions(text)])
