"""Lesson 04's explorable in Chromium: played, stepped and clicked; its counters against the simulator."""
import re

import pytest

from course_lib.explorables import side_by_side
from course_lib.explorables.tiling import states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = side_by_side
LAST = r"Naive: 1,024 sectors, each one loaded 8 times\. Tiled: 128, each loaded once\."


def so_far(shown):
    """Return (sectors, requests) of both sides, as a screen reader is told."""
    found = re.search(r"naive (\d+) sectors in (\d+) requests, tiled (\d+) in (\d+)", shown.described())
    return tuple(map(int, found.groups()))


def test_every_step_by_key_has_the_simulators_counters(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    assert so_far(shown) == (0, 0, 0, 0)
    naive = {"requests": 0, "total": 0}
    for number, step in enumerate(states()["steps"], start=1):
        naive, tiled = step["naive"] or naive, step["tiled"]
        shown.press("ArrowRight")
        shown.when(f"^step {number} of 41")
        assert so_far(shown) == (naive["total"], naive["requests"], tiled["total"], tiled["requests"])
    shown.says(LAST)


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("16")
    shown.button("Play").click()
    shown.says(r"^k = 1\. Naive")
    shown.button("Pause").click()
    stopped = shown.scrub.get_attribute("aria-valuetext")
    shown.page.wait_for_timeout(300)
    assert shown.scrub.get_attribute("aria-valuetext") == stopped
    shown.button("Play").click()
    shown.says(LAST + r".* You said 16; it is [0-9]")


def test_a_key_and_a_button_go_from_barrier_to_barrier(opened):
    shown = opened()
    assert shown.button("Next barrier").get_attribute("title") == "To the first barrier of the first tiles (key: b)"
    for step in (3, 20):
        shown.press("b")
        shown.when(f"^step {step} of 41: barrier")
    shown.says("^Tiled: the second barrier")
    for step in (23, 40, 3):
        shown.button("Next barrier").click()
        shown.when(f"^step {step} of 41: barrier")


def test_the_picture_does_not_tell_the_answer_before_the_end(opened):
    shown = opened()
    for keys in (("Home",), ("ArrowRight",) * 4):
        shown.press(*keys)
        shown.rested()
        assert not {"8", "16 times", "8 times"} & {text["words"] for text in shown.written()}
    shown.press("End")
    shown.says(LAST)
    shown.rested()
    assert "8" in {text["words"] for text in shown.written()}, "the numbers of the colours"
    shown.press("ArrowLeft")
    shown.when("^step 40 of 41")
    shown.rested()
    assert "8" in {text["words"] for text in shown.written()}, "who has seen the end keeps them"
    shown.press("Home")
    shown.says("Predict, then play")
    shown.rested()
    assert not {"7", "8"} & {text["words"] for text in shown.written()}, "Home asks anew, for whoever rehearses"


def test_the_watched_thread_is_chosen_by_click_and_by_key_and_time_stands_still(opened):
    shown = opened()
    rows, columns = (shown.slider(f"{name} of C that the watched thread computes") for name in ("row", "column"))
    assert (rows.input_value(), columns.input_value()) == ("5", "3")
    shown.prediction().fill("8")
    rows.press("ArrowRight")
    shown.says(r"thread \(3, 6\) needs row 6 of A and column 3 of B")
    shown.press(*["ArrowRight"] * 5)
    shown.says(r"^k = 1\.")
    corner = shown.at(*shown.where("""({ layout }, view) => {
        const { C } = layout(view).tiled;
        return [C.x + 9.5 * C.cell, C.y + 12.5 * C.cell];
    }"""))
    shown.page.mouse.move(*corner)
    tip = shown.page.get_by_text("C[12][9]: click to watch it")
    tip.wait_for()
    left, right = shown.where("({ layout }, view) => { const { A } = layout(view).tiled; return [A.x, A.x + 32 * A.cell]; }")
    assert not left < tip.bounding_box()["x"] - shown.at(0, 0)[0] < right, "the label hides no element of A"
    shown.page.mouse.click(*corner)
    assert (rows.input_value(), columns.input_value()) == ("12", "9")
    shown.says(r"^k = 1\.")
    assert shown.prediction().input_value() == "8"
