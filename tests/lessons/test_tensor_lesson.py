"""What lesson 16 promises: who holds which element, what the instructions cost, recorded speeds."""

import pytest

from course_lib.lessons.tensor_cores import lane_share, tables


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


def test_recorded_speeds_of_the_split_product():
    best, speed = tables.best_without(), tables.speeds()
    assert [best[N] < speed["sgemm_split"][N] for N in best] == [False, True, True, True]
    assert all(speed["sgemm_split"][N] < speed["cuBLAS"][N] for N in best)
