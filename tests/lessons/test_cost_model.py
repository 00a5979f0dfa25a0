"""The controls on Chien's cost model: what they compute, say and draw."""

import pytest

from course_lib.lessons.outer_product.cost_model import cost_sliders, model_facts, model_picture, predict_speed
from course_lib.model import gt200


def test_a_position_is_the_model():
    found = predict_speed("method 2", 256, 430, 1.296, 24)
    written_out = (430 / 256 + 1 / 8) / 24 + (430 / 256 + 2 / 8) / 256 + 6 / 32
    assert found.added == pytest.approx(2 * 24 * 1.296 / written_out)
    assert sum(found.parts.values()) == pytest.approx(32 * written_out)
    assert found.overlapped > found.added


def test_the_table_says_his_figure_and_ours():
    facts = model_facts(predict_speed("volkov", 512))
    assert facts["GFLOP/s, waiting added (Chien)"] == "278.48"
    assert facts["multiply-adds, cycles a warp"] == "6.00"
    parts = [float(text) for label, text in facts.items() if label.endswith("cycles a warp") and not label.startswith("all")]
    assert len(parts) == 3
    assert float(facts["all, cycles a warp"]) == pytest.approx(sum(parts), abs=0.02)


def test_four_vectors_save_a_cycle():
    assert predict_speed("method 4", 512).parts["multiply-adds"] == predict_speed("method 1", 512).parts["multiply-adds"] - 1 == 5


def test_the_bars_are_the_parts_on_an_axis_that_stays():
    found = predict_speed("volkov", 128)
    ax, alt = model_picture(found)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(list(found.parts.values()))
    assert ax.get_xlim() == model_picture(predict_speed("method 4", 512))[0].get_xlim()
    assert max(found.parts.values()) < ax.get_xlim()[1]
    assert f"{found.added:.1f} GFLOP/s" in alt


def test_the_longest_wait_of_the_sliders_fits_the_axis():
    most = max(predict_speed(method, 128, 630).parts["waiting for loads"] for method in gt200.METHODS)
    assert most < model_picture(predict_speed("volkov", 512))[0].get_xlim()[1]


def test_the_controls_begin_at_his_example_and_refuse_nothing():
    box = cost_sliders()
    assert box.position() == ("volkov", 512, 530, 1.3, 30)
    assert "278.48" in box.static_text()
    for control in box.controls:
        for value in control.values:
            predict_speed(*(value if other is control else other.start for other in box.controls))
