"""Lesson 04's race of the warps in Chromium: played, stepped, and with the barrier put back."""
import pytest

from course_lib.explorables import overtaking

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = overtaking


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    assert "224" not in shown.told()
    begin = [text["words"] for text in shown.written()]
    assert begin.count("warp 3") == 4, "in each square, and beside its line"
    assert "Each warp stores two rows of As and of Bs, and computes two rows of C." in begin
    shown.prediction().fill("256")
    shown.button("Play").click()
    shown.says(r"^Warp 0 loads its part of the first tiles")
    shown.says(r"224 of its 256 elements are wrong\..* You said 256: nearly, it is 224\.$")
    assert "224 of 256 elements of C are wrong" in {text["words"] for text in shown.written()}


def test_the_barrier_is_put_back_by_key_and_nothing_is_wrong(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.says("^C is stored, and 224")
    shown.radio("left out").press("ArrowLeft")
    shown.says("^The eight warps .* Both barriers are there")
    shown.press("End")
    shown.says("^C is stored, and none of its 256 elements are wrong")
    shown.radio("left out").check(force=True)
    shown.press("Home", *["ArrowRight"] * 12)
    shown.when("^step 12 of 42: warp 1, multiply")
    shown.says("^Warp 1 multiplies the first tiles, but 32 elements that it reads are of the next ones already")
