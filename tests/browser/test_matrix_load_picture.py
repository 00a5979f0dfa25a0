"""Lesson 16's picture of ldmatrix in Chromium: played, stepped, its slider moved."""

import pytest

from course_lib.explorables import matrix_load

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = matrix_load


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("32")
    shown.button("Play").click()
    shown.says(r"^Wavefront 1: the pieces of lanes 0 to 7, from 32 banks, go to register 0 of lanes 0 to 31")
    shown.button("Pause").click()
    shown.press("End")
    shown.says(r"In all 4 wavefronts for 128 words\..*You said 32.*it is 4\.")


def test_another_padding_asks_anew(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.slider("Padding: unused numbers at the end of each row").press("ArrowLeft")
    shown.says(r"^With no unused number at the end of each row: .*How many wavefronts")
    shown.press("Home", "ArrowRight")
    shown.says(r"^Wavefront 1: the pieces of lane 0, from 4 banks, go to register 0 of lanes 0 to 3")
    shown.press("End")
    shown.says("In all 32 wavefronts")
