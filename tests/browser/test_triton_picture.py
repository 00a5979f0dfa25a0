"""Lesson 21's explorable in Chromium: played, stepped, both controls moved; what it says and writes on its canvas."""
import pytest

from course_lib.explorables import what_triton_wrote

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = what_triton_wrote


def words(shown):
    return [text["words"] for text in shown.written()]


def test_it_asks_before_it_tells_and_judges_the_prediction(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert "step 0 comes" in words(shown)
    shown.prediction().fill("3")
    shown.button("Play").click()
    shown.says("The copies of step 1 are ordered into buffer 1")
    shown.press("End")
    shown.says(r"4 steps with 2 buffers in shared memory\. The block has 16,384 bytes of it\..*You said 3")


def test_by_key_a_buffer_is_filled_again_while_half_a_step_waits_in_registers(opened):
    shown = opened(reduced_motion="reduce")
    shown.press(*["ArrowRight"] * 8)
    shown.when("^event 9 of ")
    shown.says("The copies of step 2 are ordered into buffer 0")
    found = words(shown)
    assert {"cp.async × 4", "lines 19, 20: a, b = tl.load(…)", "step 2 comes", "step 1 comes"} <= set(found)
    assert {"step 0, 2nd half", "step 0, half"} <= set(found)


def test_the_button_goes_to_the_first_refill_from_anywhere(opened):
    shown = opened(reduced_motion="reduce")
    for key in ("End", "ArrowRight", "Home"):
        shown.press(key)
        shown.button("First refill").click()
        shown.when("^event 9 of ")
        shown.press(*["ArrowRight"] * 3)
    shown.button("First refill").click()
    shown.when("^event 9 of ")


def test_the_other_target_has_a_buffer_more(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.radio("sm_90a").check(force=True)
    shown.says(r"4 steps with 3 buffers in shared memory\. The block has 24,576 bytes")
    assert "none: wgmma reads" in words(shown)
    shown.slider("num_stages: stages that Triton was asked for").press("ArrowRight")
    shown.says("with 4 buffers in shared memory")
