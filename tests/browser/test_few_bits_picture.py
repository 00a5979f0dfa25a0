"""Lesson 20's explorable in Chromium: it asks, is played, and every control has its effect."""
import pytest

from course_lib.explorables import few_bits

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = few_bits


def test_it_asks_before_it_tells_and_judges_the_prediction(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert "10.5" not in shown.told()
    shown.prediction().fill("10")
    shown.button("Play").click()
    shown.says(r"2 to the minus 10\.5;.* You said 10: nearly")


def test_after_the_end_every_control_shows_its_error_at_once(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.says("With 7 fraction bits the largest error of the product is 2 to the minus 10.5")
    shown.slider("Bits of the fraction").press("ArrowRight")
    shown.says("With 8 fraction bits the largest error of the product is 2 to the minus 11.5")
    shown.slider("Bits of the fraction").press("ArrowLeft")
    shown.slider("Parts of each number").press("ArrowRight")
    shown.says("7 fraction bits in each of 2 parts the largest error of the product is 2 to the minus 19.4")
    shown.slider("Parts of each number").press("ArrowRight")
    shown.says("3 parts the largest error of the product is 2 to the minus 28.6; .* It is less than")
    shown.radio("π").check(force=True)
    assert any(text["words"] == "x = π" for text in shown.written())
