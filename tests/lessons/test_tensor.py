"""The controls of the lesson on tensor cores."""

import pytest

from course_lib.lessons.tensor_cores.errors import KINDS, errors_by_depth
from course_lib.lessons.tensor_cores.number_bits import in_formats
from course_lib.lessons.tensor_cores.sliders import NUMBERS, bit_facts, bit_sliders, error_facts, error_sliders, lane_facts, lane_sliders
from course_lib.plots.lane_shares import lane_share


@pytest.mark.slow
def test_a_lane_for_every_position():
    box = lane_sliders()
    assert box.position() == ("mma 16×8×8, TF32", 5)
    assert "4, in 4 registers" in box.static_text()
    for instruction in box.controls[0].values:
        for lane in box.controls[1].values:
            assert lane_share(instruction, lane).lane == lane
    assert lane_facts(lane_share("mma 16×8×16, bfloat16", 0))["elements of A"] == "8, in 4 registers"


def test_a_number_for_every_position():
    box = bit_sliders()
    assert "TF32 is off by" in box.static_text()
    for how in box.controls[0].values:
        for x in box.controls[1].values:
            assert box._function(how, x).cut == (how == "cut off")
    assert all(in_formats(name, value).split_error == 0 for name, value in NUMBERS.items()), "three parts are always enough"
    assert bit_facts(in_formats("257", 257))["bfloat16 is off by"] == "3.9e-03 of x"


def test_a_move_of_the_number_moves_the_facts():
    box = bit_sliders()
    before = box.static_text()
    found = box._function("cut off", 257)
    assert found.label == "257"
    assert bit_facts(found) != bit_facts(box._function("rounded", 1 / 3))
    assert "1/3" in before


@pytest.mark.slow
def test_errors_are_run_for_each_kind():
    box = error_sliders(names=("sgemm_bf16", "sgemm_naive"))
    assert box.controls[0].values == KINDS
    assert "of its bound" in box.static_text()
    found = errors_by_depth(("sgemm_bf16",), KINDS[2], (8, 32))
    (label, text), = error_facts(found).items()
    assert label == "sgemm_bf16, K = 32"
    assert text.endswith("% of its bound")
