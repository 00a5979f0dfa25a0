"""Lesson 19's second explorable in Chromium: played, stepped; what it says and writes on its canvas."""
import pytest

from course_lib.explorables import hand_over

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = hand_over


def test_it_asks_before_it_tells_and_judges_the_prediction(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert "after 10" not in shown.told()
    shown.prediction().fill("10")
    shown.button("Play").click()
    shown.says("in the second block 3 waits")
    shown.press("End")
    shown.says(r"each waits for the next: 10 k-steps\..* You said 10: right\.")


def test_by_key_two_orders_are_done_while_the_chain_waits(opened):
    shown = opened(reduced_motion="reduce")
    for step in range(1, 6):
        shown.press("ArrowRight")
        shown.when(f"^k-step {step}$")
    shown.says("the first and the third order are done; in the second blocks 0, 1 and 2 wait")
    words = [text["words"] for text in shown.written()]
    assert (words.count("done after 4 k-steps"), words.count("3 blocks wait"), words.count("waits")) == (2, 1, 4)
