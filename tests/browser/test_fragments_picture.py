"""Lesson 16's picture in Chromium: played, stepped, its controls moved, its elements pointed at and clicked."""

import re

import pytest

from course_lib.explorables import fragments

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = fragments


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    assert "12 lanes" not in shown.told()
    shown.prediction().fill("8")
    shown.button("Play").click()
    shown.says(r"^k = 0: A at \(1, 0\) \(9, 0\) lies in lane 4, B at \(0, 2\) \(0, 3\) in lanes 8 and 12")
    shown.button("Pause").click()
    shown.press("End")
    shown.says(r"In all 12 lanes of 32 hold factors of lane 5's sums\..*You said 8.*it is 12\.")


def test_another_lane_is_shown_at_the_same_moment_and_another_instruction_asks_anew(opened):
    shown = opened(reduced_motion="reduce")
    for _ in range(17):
        shown.slider("Lane whose sums are followed").press("ArrowRight")
    shown.says(r"framed is what lane 22 holds; green are its 4 sums\. How many lanes")
    shown.prediction().fill("8")
    shown.press("End")
    shown.says("In all 8 lanes of 32.*You said 8: right")
    shown.slider("Lane whose sums are followed").press("ArrowRight")
    shown.says(r"In all 12 lanes of 32 hold factors of lane 23's sums\.$")
    shown.slider("Lane whose sums are followed").press("ArrowLeft")
    shown.root.get_by_text("16 × 8 × 16, bfloat16").click()
    shown.says(r"^mma 16 × 8 × 16, bfloat16: framed is what lane 22 holds")
    shown.press("Home", "ArrowRight", "ArrowRight")
    shown.when("k = 1")
    shown.says(r"^k = 1: A at \(5, 1\) \(13, 1\) lies in lane 20, B at \(1, 4\) \(1, 5\) in lanes 16 and 20")


def test_a_click_on_an_element_follows_its_lane(opened):
    shown = opened()
    place = "({ layout }, view) => { const { grids, cell } = layout(view); return [grids.B.x + 2.5 * cell.w, grids.B.y + 3.5 * cell.h]; }"
    x, y = shown.at(*shown.where(place))
    shown.page.mouse.move(x, y)
    shown.page.get_by_text(re.compile(r"B\(3, 2\): lane 11\.")).wait_for()
    shown.page.mouse.click(x, y)
    shown.says("framed is what lane 11 holds")
