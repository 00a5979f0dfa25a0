"""Whether what a kernel loads from shared memory reaches its result: launch it once more, with every such value doubled.

A counter tells that shared memory was read, not that anybody used what came. For C = alpha A B with both operands from shared memory,
doubling what each load delivers makes C four times as large, and twice with one operand. Loads for the counter alone change nothing.
"""

import re
from typing import Any

import numpy as np

GROWN = 1.75                 # at least; of the median element, as a few terms may come from a register
_LOAD = re.compile(r"(@!?%\w+\s+)?\bld(?:\.(?!global|param|local|const)\w+|::\w+)*\.(f64|[bfsu]32|[bsu]64)\s+(\{[^{}]{0,200}\}|%\w+)"
                   r"\s*,\s*\[[^\[\]]{0,200}\]\s*;")
_PAIR = ("{{ .reg .f32 low, high; mov.b64 {{low, high}}, {name}; mul.f32 low, low, 0f40000000; mul.f32 high, high, 0f40000000; "
         "mov.b64 {name}, {{low, high}}; }}")            # two floats in one register


def doubled(ptx: str) -> str:
    """Return PTX in which each floating-point value that a load of shared memory delivers is doubled.

    >>> doubled("@%p1 ld.shared.v2.f32 {%f1, %f2}, [%r1+8];").split(";")[1:3]
    [' @%p1 mul.f32 %f1, %f1, 0f40000000', ' @%p1 mul.f32 %f2, %f2, 0f40000000']
    """
    def more(match):
        guard, kind, registers = match.groups()
        form = _PAIR if kind in ("b64", "s64", "u64") else (guard or "") + (
            "mul.f64 {name}, {name}, 0d4000000000000000;" if kind == "f64" else "mul.f32 {name}, {name}, 0f40000000;")
        return match[0] + "".join(f" {form.format(name=name.strip())}" for name in registers.strip("{}").split(","))

    return _LOAD.sub(more, ptx)


def growth(before: Any, after: Any) -> float:
    """Return by which factor the median element of C grew; NaN when nothing can be said."""
    one, two = (np.abs(trial.matrices()[3].astype(np.float64)) for trial in (before, after))
    return float(np.median(two[one > 0] / one[one > 0])) if (one > 0).any() else float("nan")
