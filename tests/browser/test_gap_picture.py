"""Lesson 15's first explorable in Chromium: played, stepped, its slider and its plot moved; what it says against the recording."""
import re

import pytest

from course_lib.explorables import gap
from course_lib.explorables.gap import ASKED, AT, CURVES, share, sizes

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = gap
NAME = "N: rows and columns of the matrices"
ANSWER = round(share(ASKED, AT))


def test_it_asks_before_it_tells_and_judges_the_prediction_at_the_end(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert f"{ANSWER} %" not in shown.told()
    assert {"?"} == {text["words"] for text in shown.written() if text["words"] == "?"}
    shown.prediction().fill("80")
    shown.button("Play").click()
    shown.when("^kernel 2 of")
    shown.button("Pause").click()
    shown.press("End")
    shown.says(rf"You said 80; it is {ANSWER}\.|You said 80: nearly, it is {ANSWER}\.")
    assert not [text for text in shown.written() if text["words"] == "?"]


def test_each_step_says_the_next_kernels_share(opened):
    shown = opened(reduced_motion="reduce")
    for step, (kernel, (name, _)) in enumerate(list(CURVES.items())[1:], 1):
        shown.press("ArrowRight")
        shown.when(f"^kernel {step + 1} of {len(CURVES)}$")
        shown.says(rf"^{re.escape(name[0].upper() + name[1:])} \(.*: {share(kernel, AT) + 1e-9:.0f} % of cuBLAS at N = {AT}")
        assert f"{name} {share(kernel, AT) + 1e-9:.0f} %" in shown.described()


def test_the_line_moves_by_slider_and_by_a_click_and_time_stands_still(opened):
    shown = opened()
    shown.press("End")
    shown.when(f"^kernel {len(CURVES)} of")
    slider = shown.slider(NAME)
    slider.press("Home")
    assert slider.get_attribute("aria-valuetext") == "256"
    shown.says("at N = 256,")
    for N in sizes()[1:4]:
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") == str(N)
    shown.when(f"^kernel {len(CURVES)} of")
    at = sizes().index(1025)
    place = "({ layout }, view, n) => { const { plot, xOf } = layout(view); return [xOf(n) + 1, plot.y + 0.7 * plot.h]; }"
    shown.page.mouse.click(*shown.at(*shown.where(place, at)))
    shown.says("at N = 1025,")
    assert slider.get_attribute("aria-valuetext") == "1025"
