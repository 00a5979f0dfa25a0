"""Exercise 05 beyond what every exercise is tested for: predictions held to a kernel, gates that hold each other, rows that are aligned."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.check.sgemm import Sgemm
from course_lib.grading import check, part
from course_lib.grading.exercises.e05_coalescing import sectors_of
from course_lib.run import run_gather

TESTS = Path(__file__).parents[1]


def wrong(name, spec):
    return check((TESTS / f"wrong_kernels/05_coalescing/{name}.cu").read_text(encoding="utf-8"), part("05_coalescing", spec))


@pytest.mark.parametrize("stride", [1, 2, 3, 5, 7, 8, 9, 31])
def test_the_expected_sectors_are_those_of_a_kernel(stride):
    for offset in (0, 1, 5, 7, 8, 13):
        report = run_gather("copy_strided", np.ones(32 * stride + 64, np.float32), 32, stride=stride, offset=offset, backend="sim")
        assert sectors_of(stride, offset) == report.count("sectors")


def test_the_predicted_patterns_part_every_plain_formula_from_the_right_one():
    cases = part("05_coalescing", "predict").cases
    for formula in (lambda s, o: min(32, 4 * s), lambda s, o: min(32, 4 * s + (o > 0)), lambda s, o: min(32, 4 * s + (o % 8 > 0)),
                    lambda s, o: (o + 31 * s) // 8 - o // 8 + 1, lambda s, o: min(32, -(-(31 * s + 1) // 8))):
        assert any(formula(*case) != sectors_of(*case) for case in cases)


@pytest.mark.slow
def test_the_gates_hold_each_other():
    untiled, diluted = wrong("not_tiled", "main"), wrong("ratio_diluted", "main")
    assert untiled.values["sectors per load request"] == 1.5
    assert untiled.values["sectors per store request"] == 4.0
    assert diluted.values["sectors per load request"] <= 5.0
    assert not untiled.passed
    assert not diluted.passed


@pytest.mark.slow
def test_a_cure_of_the_store_alone_leaves_the_other_load_ill():
    verdict = wrong("x_and_y_exchanged", "main")
    assert verdict.values["sectors per load request"] == 10.0
    assert verdict.values["sectors per store request"] == 4.0
    assert "A[" in verdict.findings[0].source_line


def test_part_3_has_rows_that_are_aligned_and_incomplete_and_rows_that_are_not():
    spec = part("05_coalescing", "wide")
    leading = [(case.K % 4, (case.K + case.pad) % 4, (case.N + case.pad) % 4) for case in spec.cases({"BM": 16, "BN": 16, "BK": 16})]
    assert any(rest and not lda and not ldb for rest, lda, ldb in leading), "whole vectors beyond the end of a row"
    assert any(lda and ldb for _, lda, ldb in leading), "rows that begin anywhere"
    assert any(bool(lda) != bool(ldb) for _, lda, ldb in leading), "rows of one matrix only"
    trial = Sgemm().trial(spec.cases({"BM": 16, "BN": 16, "BK": 16})[-1])
    assert np.isnan(trial.A[trial.case.K])
