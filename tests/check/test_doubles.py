"""The check of a kernel in float64: it is held to float64's rounding, and what it says counts doubles."""

import re

import numpy as np
import pytest

from course_lib.check import check
from course_lib.check.case import Case
from course_lib.check.sgemm import Sgemm
from course_lib.kernels import UserKernel, get

SMALL = {"BM": 32, "BN": 32, "WM": 16, "WN": 16}


def small():
    """Return the text of `dgemm_mma` with a tile of 32 × 32."""
    text = get("dgemm_mma").source
    for name, value in SMALL.items():
        text = re.sub(rf"#define {name} \d+", f"#define {name} {value}", text)
    return text


def broken(old, new):
    assert small().count(old) == 1
    return check(small().replace(old, new))


def test_a_right_kernel_is_right_and_its_loads_are_counted_in_doubles():
    assert UserKernel.from_source(small()).like == "dgemm_mma"
    found = check(small())
    assert found.right
    assert {finding.kind for finding in found.findings} == {"sectors"}, "the stores; nothing is loaded twice"


def test_the_sum_of_floats_is_named():
    found = broken("alpha * acc[i][j][e]", "alpha * (float)acc[i][j][e]")
    assert "Every element is right to float32's precision only" in found.findings[0].message


def test_kernels_of_the_catalog_in_double_are_checked_too():
    assert check("dgemm_ilp").right


def test_a_hazard_names_the_double():
    found = broken("        __syncthreads();                       // nobody overwrites before all have read\n", "")
    assert [finding.kind for finding in found.findings] == ["hazard"] * 2
    assert "thread (8, 0) writes Bs[16] in line" in found.findings[1].message, "the ninth thread copies the ninth pair of the row"


@pytest.mark.parametrize("mistake", [lambda C: C.astype(np.float32), lambda C: C * (1 + 1e-12), lambda C: np.where(C > 0, np.nan, C)])
def test_the_tolerance_is_float64s(mistake):
    operation, case = Sgemm(dtype="float64"), Case("plain", 20, 30, 40, alpha=1.5, beta=0.5)
    trial = operation.trial(case)
    A, B, before, C = trial.matrices()
    right = 1.5 * A @ B + 0.5 * before
    C[...] = right
    assert operation.judge(trial) is None
    C[...] = mistake(right)
    assert operation.judge(trial) is not None
