"""What lesson 16 promises: who holds which element, what the instructions cost, rounding, bounds of errors, recorded speeds."""

import numpy as np
import pytest

from course_lib import kernels
from course_lib.lessons.tensor_cores import errors_by_depth, lane_share, tables


@pytest.mark.parametrize("lane", range(32))
def test_who_holds_which_element(lane):
    g, t = divmod(lane, 4)
    assert lane_share("mma 16×8×8, TF32", lane).elements == {
        "A": ((g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)), "B": ((t, g), (t + 4, g)),
        "C": ((g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1))}


@pytest.mark.slow
def test_what_the_instructions_cost():
    ffma, wmma, mma, bf16, split = tables.costs_of_kernels().values()
    assert mma.instructions < split.instructions < ffma.instructions / 2
    assert ffma.cycles < 1 <= split.cycles < mma.cycles == bf16.cycles < wmma.cycles


def test_what_rounding_keeps():
    for x, tf32, bf16, three in tables.rounded():
        assert (three, abs(tf32 - x) <= 2**-11 * x, abs(bf16 - x) <= 2**-8 * x) == (np.float32(x), True, True)


def test_errors_stay_below_their_bounds():
    _, tf32, plain, split = found = errors_by_depth(("sgemm_bf16", "sgemm_mma", "sgemm_naive", "sgemm_split"))
    assert all(e.errors[K] < e.bounds[K] for e in found for K in e.errors)
    assert [tf32.errors[K] > plain.bounds[K] for K in (512, 2048)] == [True, False]
    assert split.bounds[512] < plain.bounds[512]


@pytest.mark.slow
def test_six_products_of_parts_are_more_exact_than_float32():
    assert "int sum = 2;" in kernels.get("sgemm_split").source
    plain, one, three, six = tables.errors_of_fewer_products().values()
    assert six < plain < three < one / 100


def test_recorded_speeds_of_the_split_product():
    best, speed = tables.best_without(), tables.speeds()
    assert [best[N] < speed["sgemm_split"][N] for N in best] == [False, True, True, True]
    assert all(speed["sgemm_split"][N] < speed["cuBLAS"][N] for N in best)
