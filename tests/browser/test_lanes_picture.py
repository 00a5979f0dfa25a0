"""Lesson 15's picture of lanes in Chromium: played, stepped, its switch pressed, its fields pointed at."""
import re

import pytest

from course_lib.explorables import lanes
from course_lib.explorables.lanes import PLACEMENTS, states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = lanes


def needed(name):
    return sum(len(load["waves"]) for load in states()["at"][name]["loads"])


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    assert "20" not in re.findall(r"\d+ wavefronts", shown.told())
    shown.prediction().fill("16")
    shown.button("Play").click()
    shown.says(r"^a4\[0\], wavefront 1: 4 words of As for lanes 0 to 15")
    shown.button("Pause").click()
    shown.press("End")
    shown.says(r"In all 20 wavefronts for 4 loads\..*cannot keep up\. You said 16.*it is 20\.")


def test_the_switch_asks_anew_for_each_placement(opened):
    shown = opened(reduced_motion="reduce")
    for name in ("plain", "fed"):
        shown.press("End")
        shown.root.get_by_text(PLACEMENTS[name]).click()
        shown.says("How many wavefronts does the warp need for the 4 loads")
        assert shown.prediction().input_value() == ""
        shown.press("End")
        shown.says(f"In all {needed(name)} wavefronts")


def test_the_pointer_tells_lanes(opened):
    shown = opened()
    shown.root.get_by_text(PLACEMENTS["fed"]).click()
    shown.rested()
    place = "({ layout }, view) => { const { tile } = layout(view); return [tile.x + 5.5 * tile.unit.x, tile.y + 6.5 * tile.unit.y]; }"
    shown.page.mouse.move(*shown.at(*shown.where(place)))
    shown.page.get_by_text("lane 3: row 6, column 5 of the warp's tile").wait_for()
