"""The controls of the lessons on tensor cores and on short numbers."""

import pytest

from course_lib.lessons.few_bits.errors import KINDS, error_facts, error_sliders, errors_by_depth
from course_lib.lessons.tensor_cores.sliders import lane_facts, lane_sliders
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


@pytest.mark.slow
def test_errors_are_run_for_each_kind():
    box = error_sliders(names=("sgemm_bf16", "sgemm_naive"))
    assert box.controls[0].values == KINDS
    assert "of its bound" in box.static_text()
    found = errors_by_depth(("sgemm_bf16",), KINDS[2], (8, 32))
    (label, text), = error_facts(found).items()
    assert label == "sgemm_bf16, K = 32"
    assert text.endswith("% of its bound")
