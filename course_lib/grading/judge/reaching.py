"""Whether what a kernel loads from shared memory reaches its result: launch it once more, with every such value doubled.

A counter tells that shared memory was read, not that anybody used what came. For C = alpha A B with both operands from shared memory, doubling
what each load delivers makes C four times as large, and twice with one operand. Loads for the counter alone change nothing.
"""

import re
from typing import Any

import numpy as np

GROWN = 1.75                 # at least; of the median element, as a few terms may come from a register
_LOAD = re.compile(r"(@!?%\w+\s+)?\bld(?:\.(?!global|param|local|const)\w+|::\w+)*\.([fb])(32|64)\s+(\{[^{}]{0,200}\}|%\w+)\s*,\s*\[[^\[\]]{0,200}\]\s*;")
_TWO = {"32": "0f40000000", "64": "0d4000000000000000"}


def doubled(ptx: str) -> str:
    """Return PTX in which each floating-point value that a load of shared memory delivers is doubled.

    >>> doubled("@%p1 ld.shared.v2.f32 {%f1, %f2}, [%r1+8];").split(";")[1:3]
    [' @%p1 mul.f32 %f1, %f1, 0f40000000', ' @%p1 mul.f32 %f2, %f2, 0f40000000']
    """
    def more(match):
        guard, _, bits, registers = match.groups()
        names = [name.strip() for name in registers.strip("{}").split(",")]
        return match[0] + "".join(f" {guard or ''}mul.f{bits} {name}, {name}, {_TWO[bits]};" for name in names)

    return _LOAD.sub(more, ptx)


def growth(before: Any, after: Any) -> float:
    """Return by which factor the median element of C grew; NaN when nothing can be said."""
    one, two = (np.abs(trial.matrices()[3].astype(np.float64)) for trial in (before, after))
    return float(np.median(two[one > 0] / one[one > 0])) if (one > 0).any() else float("nan")
