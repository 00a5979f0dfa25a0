"""Lesson 00's explorable in Chromium: played and stepped; every control moved; its counters against the recording."""
import re

import numpy as np
import pytest

from course_lib import data
from course_lib.explorables import race
from course_lib.explorables.race import NAMES, RIVALS, SIDE, WHOLE, states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = race
LAST = r"After 25\.4 ms the naive kernel has finished its first product\. cuBLAS has finished nine"
FILLS = {NAMES[row["kernel"]]: np.array(row["filled_us"]) / row["watched_us"] for row in data.readings("filling").rows}
MS = {lane["name"]: lane["ms"] for lane in states()["lanes"]}


def finished(shown):
    """Return the products that each kernel has finished, as a screen reader is told."""
    told = re.search(r"Products finished: (.*?)\. Keys", shown.described())[1]
    return {name: int(number) for name, number in (part.rsplit(" ", 1) for part in re.sub(r" \(\d+ %\)", "", told).split(", "))}


def test_at_the_beginning_nobody_is_told_who_is_faster(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert re.findall(r"25\.4|2\.7|371|\bnine\b|\b9\b", shown.told()) == []


def test_every_step_by_key_is_the_recordings(opened):
    shown = opened(reduced_motion="reduce")
    shown.page.get_by_text("all 13").click()
    assert finished(shown) == dict.fromkeys(NAMES.values(), 0)
    for number in range(1, 27):
        shown.press("ArrowRight")
        ms = min(number, MS["naive"])
        shown.when(f"^{ms:.1f} ms$")
        assert finished(shown) == {name: int(ms / MS[name] + 1e-9) for name in NAMES.values()}
    shown.says(LAST)


COLOURS = """({ layout, textOf }, view, side) => layout({ ...view, text: textOf(view) }).map(({ lane, pane }) => {
    const canvas = document.querySelector(".wbw canvas"), pen = canvas.getContext("2d"), dots = devicePixelRatio, cell = pane.side / side;
    const middle = (edge, number) => dots * (edge + (number + 0.5) * cell);
    const colour = (row, col) => String(pen.getImageData(middle(pane.x, col), middle(pane.y, row), 1, 1).data);
    return { name: lane.name, at: view.at, colours: [...Array(side ** 2).keys()].map(i => colour(Math.floor(i / side), i % side)) }; })"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scrubbed", [170, 620])
def test_at_a_scrubbed_time_each_cell_has_the_colour_that_the_recording_says(opened, width, scrubbed):
    shown = opened(width)
    shown.scrub.fill(str(scrubbed))
    shown.says("ms: the naive kernel has finished 0 products")
    shown.rested()
    for lane in shown.where(COLOURS, SIDE):
        part = lane["at"] / MS[lane["name"]] % 1
        filled, colours = FILLS[lane["name"]] <= part, np.array(lane["colours"])
        sure = abs(FILLS[lane["name"]] - part) > 1 / WHOLE
        assert lane["at"] > 3
        assert len(set(colours[sure & filled])) == len(set(colours[sure & ~filled])) == 1
        assert set(colours[sure & filled]) != set(colours[sure & ~filled])


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("4")
    shown.button("Play").click()
    shown.says(r"ms: the naive kernel has finished 0 products, cuBLAS [1-4]\.")
    shown.says(LAST + r".* You said 4; it is 9\.")


def test_at_the_end_it_says_which_product_each_tone_stands_for(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    shown.rested()
    words = [text["words"] for text in shown.written()]
    assert words.count("product 1, complete") == 1
    assert {"product 10, under way", "product 9, complete"} <= set(words)
    assert "product 2, under way" not in words, "the naive kernel has just finished its first"
    assert "recorded on an NVIDIA H200" in " ".join(words)


def test_a_prediction_that_is_no_number_is_refused_before_the_race_ends(opened):
    shown = opened()
    shown.prediction().fill("many")
    shown.button("Play").click()
    shown.says(r'ms: the naive kernel has finished 0 products.* You wrote "many", which is not a number')
    shown.button("Pause").click()
    shown.prediction().fill("9")
    shown.press("ArrowRight")
    assert "You wrote" not in shown.told()


def test_a_narrow_window_still_has_both_squares_side_by_side(opened):
    """A browser zoomed to 150 % on a projector of 1280 × 720, with JupyterLab's file list beside the lesson."""
    shown = opened()
    shown.page.set_viewport_size({"width": 426, "height": 480})
    shown.rested()
    left, right = shown.where("({ layout }, view) => layout(view).map(({ pane }) => pane)")
    assert left["y"] == right["y"]
    assert left["x"] + left["side"] < right["x"]
    assert left["side"] > 160


def test_every_control_moves_by_key(opened):
    shown = opened()
    rival = shown.slider("Kernel that races against NVIDIA's library")
    assert rival.get_attribute("aria-valuetext") == "naive (lesson 03)"
    rival.focus()
    for name in RIVALS[2:]:
        shown.page.keyboard.press("ArrowRight")
        shown.says(f"while the {NAMES[name]} kernel makes its first")
    shown.radio("slowed 400 times").focus()
    shown.page.keyboard.press("ArrowRight")
    shown.says("for one second")
    shown.press("End")
    shown.says(r"One second: the double buffered kernel has finished 322 products, cuBLAS 371\.")
    corner = shown.where("({ layout }, view) => { const { pane } = layout(view)[0]; return [pane.x + 9, pane.y + 9]; }")
    shown.page.mouse.move(*shown.at(*corner))
    shown.page.get_by_text("double buffered: lesson 15, 3.10 ms per product").wait_for()
