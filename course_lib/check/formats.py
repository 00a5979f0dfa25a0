"""Products of rounded factors: what a kernel for tensor cores multiplies, and how a result shows that too few bits were multiplied."""

from typing import TYPE_CHECKING

import numpy as np

from course_lib.check.operation import Mistakes
from course_lib.model.number_formats import FORMATS, NumberFormat, parts, round_to
from course_lib.run import accuracy

if TYPE_CHECKING:               # which imports this module
    from course_lib.check.product_trial import ProductTrial

CLEARLY = 16       # a result comes from a format when it is so many times nearer to that product than to the exact one


def factors(A: np.ndarray, B: np.ndarray, inputs: str) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B in float64 as a kernel multiplies them; `inputs` as `Kernel.inputs` has it.

    >>> [float(m[0, 0]) for m in factors(np.float32([[257]]), np.float32([[1 / 3]]), "bf16")]
    [256.0, 0.333984375]
    """
    a, b = (round_to(m, _asked(inputs)).astype(np.float64) for m in (A, B))
    return a, b


def too_few_bits(trial: "ProductTrial", inputs: str) -> str:
    """Say that a wrong result is the product of A and B with fewer bits than `inputs` allows, or with as many but cut off.

    Parameters
    ----------
    trial
        As the kernel left it.
    inputs
        What the operation asks for, as `Kernel.inputs` has it.

    Returns
    -------
    str
        A sentence, or "" when the result is no such product.
    """
    A, B, *_ = trial.matrices()
    if A.dtype == np.float64:
        return ""                              # the formats here are shorter than float32
    off = _farthest(trial, A.astype(np.float64) @ B.astype(np.float64))
    short = _short_products(A, B, FORMATS[_asked(inputs)])
    return next((says for says, product in short if _farthest(trial, product) * CLEARLY <= off), "")


def nearly_right(trial: "ProductTrial", inputs: str) -> str:
    """Say that a wrong result is within TF32's bound where float32's is asked for, or within float32's where float64's is, or return ""."""
    A, B, before, C = trial.matrices()
    if C.dtype == np.float64:
        short = [m.astype(np.float32) for m in (C, A, B, before)]
        near = accuracy.matches(*short, alpha=trial.case.alpha, beta=trial.case.beta)
        return "Every element is right to float32's precision only: look for a float among the doubles" if near else ""
    near = _asked(inputs) == "float32" and accuracy.matches(C, A, B, before, alpha=trial.case.alpha, beta=trial.case.beta, inputs="tf32")
    return "Every element is nearly right: look for rounding, or for small terms that are missing, not for a wrong index" if near else ""


def _short_products(A: np.ndarray, B: np.ndarray, asked: NumberFormat) -> Mistakes:
    """Yield (sentence, product of A and B in which bits are missing)."""
    for name, form in FORMATS.items():
        for cut in (False, True):
            if form.dropped and form.mantissa <= asked.mantissa and (cut or form != asked):
                a, b = (round_to(m, name, cut).astype(np.float64) for m in (A, B))
                yield (f"The error is that of {form.name}: this is the product of A and B {'cut off' if cut else 'rounded'} to "
                       f"{form.mantissa + 1} bits"), a @ b
    if not asked.dropped:
        (a0, a1), (b0, b1) = (tuple(part.astype(np.float64) for part in parts(m, 2)) for m in (A, B))
        for product in (a0 @ b0 + a0 @ b1 + a1 @ b0, (a0 + a1) @ (b0 + b1)):
            yield "The error is that of two bfloat16 for each number, 16 bits: float32 has 24, three bfloat16", product


def _asked(inputs: str) -> str:
    """Return the format in which factors must be, at least: float32 where they are not rounded, or split."""
    return inputs if inputs in FORMATS else "float32"


def _farthest(trial: "ProductTrial", product: np.ndarray) -> float:
    """Return the largest difference between C and what a product gives; NaN, which is near nothing, for NaN."""
    *_, before, C = trial.matrices()
    rest = trial.case.beta * before.astype(np.float64) if trial.case.beta else 0.0
    return float(np.max(np.abs(C - trial.case.alpha * product - rest)))
