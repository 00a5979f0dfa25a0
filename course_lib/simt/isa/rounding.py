"""Arithmetic rounded toward zero, down or up: functions in LLVM's text that change the CPU's rounding and change it back.

The code around them is compiled for the default rounding, so nothing may be moved into or out of them: they are separate
functions, `strictfp`, and never inlined (LLVM's "Constrained Floating-Point Intrinsics").
"""

import re
from collections.abc import Sequence

from course_lib.simt.isa.protocols import Writer

MODES = {"rz": 0, "rp": 2, "rm": 3}  # PTX's name -> the number that llvm.set.rounding takes; 1 is to nearest even
OPERATIONS = {"fadd": 2, "fsub": 2, "fmul": 2, "fdiv": 2, "sqrt": 1, "fma": 3}
CALL = re.compile(r"@simt\.(\w+)\.(\w+)\.((?:v(\d+))?(f32|f64))\(")


def directed(code: Writer, operation: str, mode: str, base: str, values: Sequence[str]) -> str:
    """Call one of OPERATIONS on float lanes, rounded by `mode` (one of MODES)."""
    letter = {"float": "f32", "double": "f64"}[base]
    suffix = f"v{code.lanes}{letter}" if code.lanes else letter
    ty = code.ty(base)
    return code.op(f"call {ty} @simt.{operation}.{mode}.{suffix}({', '.join(f'{ty} {v}' for v in values)})")


def definitions(text: str) -> str:
    """Return the functions that a piece of LLVM's text calls through `directed`, and what they need declared."""
    found = {}
    for operation, mode, suffix, lanes, letter in CALL.findall(text):
        base = {"f32": "float", "f64": "double"}[letter]
        ty = f"<{lanes} x {base}>" if lanes else base
        found[f"{operation}.{mode}.{suffix}"] = definition(operation, mode, suffix, ty)
        found[f"{operation}.{suffix}"] = (f"declare {ty} @llvm.experimental.constrained.{operation}.{suffix}"
                                          f"({', '.join([ty] * OPERATIONS[operation])}, metadata, metadata)")
    if found:
        found["set"] = "declare void @llvm.set.rounding(i32)"
    return "\n".join(found.values())


def definition(operation: str, mode: str, suffix: str, ty: str) -> str:
    names = [f"%a{i}" for i in range(OPERATIONS[operation])]
    given = ", ".join(f"{ty} {n}" for n in names)
    return "\n".join([
        f"define internal {ty} @simt.{operation}.{mode}.{suffix}({given}) noinline nounwind strictfp {{",
        f"  call void @llvm.set.rounding(i32 {MODES[mode]}) strictfp",
        f"  %r = call {ty} @llvm.experimental.constrained.{operation}.{suffix}({given}, "
        'metadata !"round.dynamic", metadata !"fpexcept.ignore") strictfp',
        "  call void @llvm.set.rounding(i32 1) strictfp",
        f"  ret {ty} %r", "}"])
