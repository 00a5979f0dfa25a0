"""The occupancy calculator, the interval analysis and the three panels beside the sliders of a live kernel."""

import ipywidgets
import pytest

from course_lib.arch import DEVICES, device
from course_lib.errors import CourseError
from course_lib.lessons.how_fast.calculator import fit, fit_facts, fit_picture, occupancy_sliders
from course_lib.lessons.how_fast.intervals import CURVE, KERNELS, SIZES, analyse, interval_facts, interval_picture, interval_sliders
from course_lib.lessons.how_fast.limits import limits_picture
from course_lib.model import interval, memory_roofs, occupancy
from course_lib.run import limits_of
from course_lib.widgets.compute import evaluate
from course_lib.widgets.explore import MOST_BUTTONS, Control
from course_lib.widgets.live_pictures import roofline_point


def test_a_fit_is_the_models():
    found = fit("Tesla K80", 128, 96, 16)
    assert found.taken == occupancy(device("Tesla K80"), 128, 96, 16 * 1024)
    facts = fit_facts(found)
    assert facts["blocks that fit"] == str(found.taken.blocks)
    assert facts["limited by"] == " and ".join(found.taken.limiters)
    assert [facts[name] for name in ("blocks at most", "blocks, by warps", "blocks, by registers", "blocks, by shared memory")] == [
        f"{found.taken.limits[name]:,}" for name in ("blocks", "warps", "registers", "shared memory")]
    _, words = fit_picture(found)
    assert f"{found.taken.warps} of 64 warps" in words


def test_every_device_of_the_table_can_be_chosen_and_what_it_refuses_is_said():
    box = occupancy_sliders()
    assert box.controls[0].values == tuple(DEVICES)
    assert "4" in box.static_text()
    box.boxes["device"].value = "Tesla C1060"
    box.boxes["threads"].value = 1024
    with pytest.raises(CourseError, match="Tesla C1060 allows"):
        fit(*box.position())
    box.close()


def test_many_words_are_a_list_and_few_are_buttons():
    words = tuple("abcdefghijklmnopq")
    assert isinstance(Control("x", "", words, "a").widget(), ipywidgets.Dropdown)
    assert isinstance(Control("x", "", words[:MOST_BUTTONS], "a").widget(), ipywidgets.ToggleButtons)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_line_ends_where_the_formula_says(kernel):
    found = analyse(kernel, 20, 400, "GTX 1080")
    known = {n: interval.intervals(n, n)[kernel] for n in CURVE}
    assert {n: pieces[-1][2] for n, pieces in found.lines.items()} == {n: known[n].latency for n in SIZES}
    for pieces in found.lines.values():
        assert [start for _, start, _ in pieces] == [0, *(end for _, _, end in pieces[:-1])]
    at_20 = interval.needs(device("GTX 1080"), 20, 20)[kernel]
    assert (found.now.latency, found.threads["for bandwidth"][20], found.threads["for issue"][20]) == pytest.approx(
        (at_20[0], at_20[2], at_20[3]))
    facts = interval_facts(found)
    assert facts["L, cycles of an interval"] == f"{at_20[0]:,g}"
    assert facts["P: threads of the GTX 1080 for bandwidth"] == f"{at_20[1]:,.0f}"
    _, words = interval_picture(found)
    assert f"Interval of a thread at N = 20: {at_20[0]:,g} cycles" in words


def test_the_analysis_begins_at_the_homeworks_figure():
    box = interval_sliders()
    assert box.position() == ("K0", 16, 400, "GTX 1080")
    assert "672" in box.static_text()
    box.close()


@pytest.mark.slow
def test_the_three_panels_say_what_the_models_say():
    result = evaluate("sgemm_2d_tile", 256, {"BM": 32, "BN": 32, "TM": 4, "TN": 4}, backend="sim")
    figure, words = limits_picture(result)
    x, y, _, binds = roofline_point(result)
    point, = (line for line in figure.axes[0].lines if line.get_linestyle() == "None")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == pytest.approx((x, y))
    assert figure.axes[0].get_title(loc="left") == f"Limit: {binds}" == "Limit: latency"
    assert f"{memory_roofs(device(result.device))['L1 caches']:,.0f} GB/s" in figure.axes[0].get_legend().get_texts()[0].get_text()
    assert f"holds {limits_of(result).warps} of 64 warps" in words
    assert "Modelled limit: latency." in words
