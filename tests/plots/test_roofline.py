"""The roofline's lines and points, read off its Axes."""

import numpy as np
import pytest

from course_lib.arch import DEVICES, device
from course_lib.errors import CourseError
from course_lib.model import knee, peak
from course_lib.plots import describe_roofline, render, roofline

WANG = {"double": True, "element_bytes": 8, "bandwidths": {"240 GB/s": 240, "154 GB/s": 154}}


def test_wang_and_jins_figure():
    ax = roofline("Tesla K80", {"N = 1024": (23.1, 693)}, **WANG)
    high, low, point = ax.lines
    for line, rate in ((high, 240), (low, 154)):
        x, y = line.get_data()
        assert np.allclose(y, np.minimum(peak(device("Tesla K80"), double=True), x * rate / 8))
        assert y.max() == pytest.approx(1370.3, abs=0.1)
    assert [float(v[0]) for v in point.get_data()] == [23.1, 693]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert "double" in ax.get_xlabel()
    assert "154 GB/s: knee at 71.2" in [t.get_text() for t in ax.get_legend().get_texts()]


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_has_a_roof_with_a_corner(name):
    line, = roofline(name).lines
    x, y = line.get_data()
    at = knee(DEVICES[name])
    assert y[np.argmin(abs(x - at))] == pytest.approx(peak(DEVICES[name]))
    assert y[0] < y[-1] / 8


def test_it_can_be_shown_and_described():
    words = describe_roofline("H200", {"tiled": (4, 9600)})
    assert "tiled at 4 reaches 9,600 GFLOP/s, 50 % of its bound" in words
    assert render(roofline("H200", {"tiled": (4, 9600)}), words).alt == words


def test_paired_points_have_the_colour_and_the_share_of_their_own_roof():
    points = {"693 / 30": (23.1, 693), "693 / 19.25": (36.0, 693)}
    high, low, first, second = roofline("Tesla K80", points, paired=True, **WANG).lines
    assert (first.get_color(), second.get_color()) == (high.get_color(), low.get_color())
    words = describe_roofline("Tesla K80", points, paired=True, **WANG)
    assert "at 45.7 (240 GB/s) and 71.2 (154 GB/s)" in words
    assert "100 % of the bound of 240 GB/s" in words
    assert "100 % of the bound of 154 GB/s" in words
    *_, first, second = roofline("Tesla K80", points, **WANG).lines
    assert len({high.get_color(), low.get_color(), first.get_color(), second.get_color()}) == 4
    assert "693 / 19.25 at 36 reaches 693 GFLOP/s, 64 % of the bound of 240 GB/s" in describe_roofline("Tesla K80", points, **WANG)
    with pytest.raises(CourseError, match="1 points cannot be paired with 2 roofs"):
        roofline("Tesla K80", {"N = 1024": (23.1, 693)}, paired=True, **WANG)


def test_a_point_that_is_not_there_is_named():
    with pytest.raises(CourseError, match="tiled lies at 0"):
        roofline("H200", {"tiled": (0, 5)})
    with pytest.raises(CourseError, match="H200"):
        roofline("H300")
