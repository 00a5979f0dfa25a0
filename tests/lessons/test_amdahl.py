"""The controls on Amdahl's law: what they compute, say and draw."""

import math

import pytest

from course_lib.lessons.gemm_at_work.amdahl import FACTORS, SHARES, amdahl_sliders, gain, gain_curve, gain_facts


def test_times_are_added_up():
    found = gain(80, 4.0)
    assert found.speedup == pytest.approx(100 / (80 / 4 + 20))
    assert found.limit == pytest.approx(100 / 20)
    facts = gain_facts(found)
    assert facts["before: products + rest"] == "80 ms + 20 ms"
    assert facts["after"] == "20.0 ms + 20 ms"
    assert (facts["iterations"], facts["if products took no time"], facts["products' share afterwards"]) == ("× 2.50", "× 5.00", "50 %")


def test_the_curve_has_the_point_and_the_limit():
    found = gain(67, 8.0)
    ax, words = gain_curve(found)
    assert any(list(line.get_xdata()) == [8.0] and line.get_ydata()[0] == found.speedup for line in ax.lines)
    assert any(math.isclose(line.get_ydata()[0], found.limit) and len(set(line.get_ydata())) == 1 for line in ax.lines)
    assert {text.get_text() for text in ax.texts} == {"30 %", "90 %"}, "the chosen share is not drawn twice"
    assert "2.42 times as quick" in words


@pytest.mark.sampled(test=2, slow=4)
@pytest.mark.parametrize("share", SHARES)
def test_every_position_is_inside_the_picture(share):
    for factor in FACTORS:
        found = gain(share, factor)
        ax, _ = gain_curve(found)
        assert ax.get_ylim()[0] <= found.speedup <= found.limit <= ax.get_ylim()[1]
        assert ax.get_xlim()[0] <= factor <= ax.get_xlim()[1]


def test_the_controls_begin_at_wong_s_bound():
    box = amdahl_sliders()
    assert box.position() == (67, 8.0)
    assert "× 2.42" in box.static_text()
