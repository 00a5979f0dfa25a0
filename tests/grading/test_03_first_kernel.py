"""Exercise 03 beyond what every exercise is tested for: who computes what is held to a kernel that ran, and what the verdicts say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_lib.grading import check, part
from course_lib.grading.exercises.e03_first_kernel import element_of
from course_lib.widgets.pictures import who_writes

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(("bx", "by"), [(16, 16), (32, 8), (8, 16), (4, 24), (64, 2), (1, 64)])
def test_the_expected_element_is_where_a_kernel_stored(bx, by):
    who = who_writes("sgemm_naive", 48, 80, bx=bx, by=by)
    rng = np.random.default_rng(3)
    for row, col in zip(rng.integers(0, 48, 40), rng.integers(0, 80, 40), strict=True):
        thread = (int(array[row, col]) for array in (who.block_x, who.block_y, who.warp, who.lane))
        assert element_of(*thread, bx, by) == (row, col)


def test_every_drawn_thread_is_a_thread_of_its_block():
    spec = part("03_first_kernel", "element")
    for seed in range(20):
        for *_, warp, lane, bx, by in spec.drawn(np.random.default_rng(seed)):
            assert 0 <= lane < 32
            assert 0 <= 32 * warp + lane < bx * by


@pytest.mark.parametrize("name", ["main", "main-b"])
def test_the_inputs_of_part_2_ask_for_everything(name):
    spec = part("03_first_kernel", name)
    cases = spec.cases({})
    rows, cols = (32, 16) if name == "main-b" else (16, 32)
    assert {case.M % rows == 0 for case in cases} == {case.N % cols == 0 for case in cases} == {True, False}
    across = [(case.M % 32 if name == "main-b" else case.N % 32) for case in cases]
    assert any(0 < rest < 16 for rest in across), "a last block whose first elements only are in C"
    assert any(16 < rest < 32 for rest in across), "a last block with some second elements"
    assert any(len({case.M, case.N, case.K}) == 3 and case.pad and case.beta for case in cases)
    assert any(case.M == case.N == case.K for case in cases), "where swapped operands show for what they are"
    assert all(size >= 1 for seed in range(9) for case in spec.drawn({}, np.random.default_rng(seed)) for size in (case.M, case.N, case.K))


WARPS = {"lanes_one_row": 5 / 32, "lanes_of_the_lesson": 3 / 32, "lanes_down_a_column": 3 / 32, "lanes_half_a_warp": 2 / 16,
         "lanes_eight_threads": 2 / 8, "lanes_two_by_two": 2 / 4, "lanes_one_thread": 2}


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", WARPS)
def test_the_gate_separates_the_best_shape_from_the_next_and_from_small_blocks(name):
    text = (TESTS / f"wrong_kernels/03_first_kernel/{name}.cu").read_text(encoding="utf-8")
    spec = part("03_first_kernel", "lanes")
    assert list(check(text, spec).values.values()) == [WARPS[name]] > [spec.gates[0].limit]
    assert check(text, replace(spec, gates=(replace(spec.gates[0], limit=WARPS[name]),))).passed, "its product is right"
