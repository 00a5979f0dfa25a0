"""Run the PTX that Triton made of a product: what it computes, and what the simulator counts on the way."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.kernels.triton import Setting, Written, written
from course_lib.simt.report import Report

ARGUMENTS = 6                    # of the program; behind them come Triton's own pointers, which may be null here
PROMISED = 16                    # what N and K are multiples of, unless a text is for any size


@dataclass(frozen=True)
class Product:
    """A launch: what was compiled, C, and the simulator's report, whose lines are the program's."""

    written: Written
    C: NDArray[np.float32] = field(repr=False)
    report: Report = field(repr=False)

    @property
    def hazards(self) -> int:
        """Return how many hazards racecheck found, and what `wgmma` lacks."""
        return len(self.report.hazards) + len(self.report.products)


def multiply(A: NDArray[Any], B: NDArray[Any], setting: Setting | None = None, ptx: str = "", **how: Any) -> Product:
    """Multiply two matrices by what Triton wrote; they are rounded to float16 before, or inside to bfloat16 where it takes floats.

    Parameters
    ----------
    A, B
        (M, K), (K, N).
    setting
        Default the lesson's: three stages, for sm_80.
    ptx
        A changed text, to be run in place of the one that is kept.
    **how
        More for `simt.launch`, such as `racecheck` and `trace`.

    Raises
    ------
    CourseError
        For sizes that the compiler was promised not to meet, and all that the simulator finds wrong.

    >>> A = np.eye(64, dtype=np.float16)
    >>> bool((multiply(A, A).C == A).all())
    True
    """
    made = written(setting or Setting())
    s, (M, K), N = made.setting, A.shape, B.shape[1]
    if not s.any_size and (N % PROMISED or K % PROMISED):
        raise CourseError(f"N = {N}, K = {K}: this PTX was compiled for multiples of {PROMISED}; compiler.Setting(any_size=True) takes any")
    C = np.full((M, N), np.nan, np.float32)
    given = [np.ascontiguousarray(matrix, dtype=np.float32 if s.floats else np.float16) for matrix in (A, B)]
    sizes = [np.int32(size) for size in (M, N, K)]
    own = [np.uint64(0)] * (len(re.findall(r"^\s*\.param", made.ptx, re.M)) - ARGUMENTS)
    report = simt.launch(ptx or made.ptx, made.facts["entry"], (-(-N // s.BN), -(-M // s.BM)), 32 * s.warps, [*given, C, *sizes, *own],
                         dynamic_shared=made.facts["shared"], arch=s.arch, **how)
    return Product(made, C, report)
