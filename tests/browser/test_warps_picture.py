"""Lesson 08's explorable in Chromium: played, stepped, every control moved; its counters against the model."""
import re

import pytest

from course_lib.explorables import warp_timelines
from course_lib.explorables.warps import CYCLES, at, registers

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = warp_timelines
LAST = r"In 160 cycles the left scheduler started 20 multiply-adds and the right one 128\."


def started(shown):
    """Return the multiply-adds of both sides, as they are said at the end."""
    return tuple(map(int, re.search(r"started (\d+) multiply-adds? and the right one (\d+)", shown.says()).groups()))


def test_steps_by_key_have_the_models_counters(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    assert not {"20", "128"} & set(re.findall(r"\d+", shown.told())), "the beginning gives nothing away"
    left, right = at(1), at(8)
    for step in range(1, 25):
        shown.press("ArrowRight")
        shown.when(f"^cycle {step} of {CYCLES}$")
        adds = [sum(line[:step].count("M") for line in seen.warps) for seen in (left, right)]
        shown.says(rf"^After {step} cycles?, the left scheduler has started {adds[0]} multiply-adds? and the right one {adds[1]}\.")
    assert re.search(r"Left, in cycle 24: .*1[0-9] warps queues? for shared memory", shown.described())


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("53")
    shown.button("Play").click()
    shown.says(r"^After \d+ cycles")
    shown.button("Pause").click()
    stopped = shown.scrub.get_attribute("aria-valuetext")
    shown.page.wait_for_timeout(300)
    assert shown.scrub.get_attribute("aria-valuetext") == stopped
    shown.button("Play").click()
    shown.says(LAST + r".* You said 53; it is [0-9]")
    right, left = (shown.root.get_by_role("group", name=f"{side}: outputs") for side in ("Right", "Left"))
    right.get_by_text("4 × 4").click()
    shown.says(r"started 20 multiply-adds and the right one 80\..* You said 53; it is [0-9]")
    left.get_by_text("2 × 2").click()
    shown.says(r"^In 160 cycles (?!.*You said)")
    assert shown.prediction().input_value() == ""


def test_every_control_by_mouse_and_by_key(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    left, right = (shown.root.get_by_role("group", name=f"{side}: outputs") for side in ("Left", "Right"))
    for side in (2, 4, 1, 8):
        left.get_by_text(f"{side} × {side}").click()
        assert started(shown) == (at(side).multiply_adds, at(8).multiply_adds)
    right.get_by_label("8 × 8").press("ArrowLeft")
    assert started(shown) == (at(8).multiply_adds, at(4).multiply_adds)


def test_the_legend_has_all_three_kinds_of_waiting_once_they_are_seen(opened):
    shown = opened()
    words = {text["words"] for text in shown.written()}
    assert "issues a load" in words
    assert not any("queues" in some or "hollow" in some for some in words), "not before the first cycle"
    shown.press("End")
    shown.says(LAST)
    words = {text["words"] for text in shown.written()}
    assert {"stripes: queues for shared memory", "line: waits for its words", "hollow: ready, not its turn"} <= words
    kinds = {letter for side in (1, 8) for line in at(side).warps for letter in line}
    assert kinds == set("LMqwr"), "and all of them are there to be seen"


def test_the_pointer_tells_what_a_warp_does(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    for side, down, words in (("right", 0.8, "more than 4 warps do not fit: the registers are used up"),
                              ("left", 0.01, re.compile(r"cycle \d+, warp 0: queues for shared memory"))):
        inside = """({ layout }, view, [side, down]) => {
            const { rows } = layout(view)[side];
            return [rows.x + rows.w / 2, rows.y + down * rows.h];
        }"""
        shown.page.mouse.move(*shown.at(*shown.where(inside, [side, down])))
        shown.page.get_by_text(words).wait_for()


ROWS = """({ layout }, view, [side, warps]) => {
    const { rows, slot } = layout(view)[side];
    return { left: rows.x, right: rows.x + rows.w, top: rows.y, bottom: rows.y + warps * slot };
}"""


@pytest.mark.parametrize(("scheme", "full"), [("light", False), ("light", True), ("dark", True)])
def test_no_label_covers_a_bar_and_the_empty_rows_say_why(opened, scheme, full):
    shown = opened(1920, scheme)
    if full:
        shown.press("f")
        shown.page.locator(".wbw-projector").wait_for()
    of = {side: f"65,536 per multiprocessor, {registers(side)} per thread" for side in (2, 8)}
    for left, said in ((1, {of[8]}), (2, set(of.values()))):
        shown.root.get_by_role("group", name="Left: outputs").get_by_text(f"{left} × {left}").click()
        shown.press("End")
        shown.rested()
        words = {text["words"] for text in shown.written()}
        assert {some for some in words if some.startswith("65,536")} == said
        assert {"warp 1:", "its turn of", "80 cycles", "comes later"} <= words
        for side, outputs in (("left", left), ("right", 8)):
            rows = shown.where(ROWS, [side, len(at(outputs).warps)])
            assert [text["words"] for text in shown.written() if text["left"] < rows["right"] and text["right"] > rows["left"]
                    and text["top"] < rows["bottom"] and text["bottom"] > rows["top"]] == []
