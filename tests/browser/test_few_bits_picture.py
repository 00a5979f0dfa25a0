"""Lesson 20's explorable in Chromium: it asks, is played, and every control has its effect."""
import pytest

from course_lib.explorables import few_bits

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = few_bits


def test_it_asks_before_it_tells_and_judges_the_prediction(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert "10.4" not in shown.told()
    shown.prediction().fill("10")
    shown.button("Play").click()
    shown.says(r"2 to the minus 10\.4;.* You said 10: nearly")


def test_play_stops_at_the_bars_and_then_goes_on_to_two_and_three_parts(opened):
    shown = opened()
    for moment, said in (("the error of a product", "more than"), ("two parts", "each of 2 parts .* 2 to the minus 19.4"),
                         ("three parts", "3 parts .* 2 to the minus 29.1; .* It is less than")):
        shown.button("Play").click()
        shown.when(moment)
        shown.says(said)
    shown.button("Again").wait_for()


def test_a_remote_control_reaches_the_parts_and_the_controls_show_their_error_at_once(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("PageDown", "PageDown")
    shown.says("With 7 fraction bits the largest error of the product is 2 to the minus 10.4")
    shown.slider("Bits of the fraction").press("ArrowRight")
    shown.says("With 8 fraction bits the largest error of the product is 2 to the minus 11.3")
    shown.slider("Bits of the fraction").press("ArrowLeft")
    shown.press("PageDown")
    shown.says("7 fraction bits in each of 2 parts the largest error of the product is 2 to the minus 19.4")
    shown.slider("Bits of the fraction").press("ArrowRight")
    shown.says("8 fraction bits in each of 2 parts")
    shown.radio("π").check(force=True)
    assert any(text["words"] == "x = π" for text in shown.written())
