"""Lesson 05's explorable in Chromium: stepped, played, moved by mouse and keyboard; what it says against the model."""
import re
from functools import partial

import numpy as np
import pytest

from course_lib.explorables import one_request, tile_load
from course_lib.model import sectors

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LANES = np.arange(32)
STRIDE, OFFSET = "Stride: from the piece of one lane to the piece of the next", "Offset: floats before the piece of lane 0"
LAST = r"They touch 12 sectors in 3 cache lines: 384 bytes, and 128 of them are wanted\."
PICTURE = partial(one_request, stride=3, wide=True)
walk = partial(tile_load, padded=True)


def counted(shown):
    """Return (sectors, lines, bytes wanted), as a screen reader is told."""
    return tuple(map(int, re.search(r"So far: (\d+) sectors? in (\d+) cache lines?, (\d+) bytes wanted", shown.described()).groups()))


def test_every_step_by_key_counts_one_lane_more(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    assert counted(shown) == (0, 0, 0)
    assert not any(number in shown.told() for number in ("12 sectors", "3 cache lines", "384"))
    for lanes in range(1, 33):
        shown.press("ArrowRight")
        shown.when(f"^{lanes} lane")
        at = [12 * lane for lane in range(lanes)]
        assert counted(shown) == (len({a // 32 for a in at}), len({a // 128 for a in at}), 4 * lanes)
    shown.says(LAST)


def test_it_plays_to_the_end_judges_the_prediction_and_then_follows_the_sliders(opened):
    shown = opened()
    shown.prediction().fill("4")
    shown.button("Play").click()
    shown.says(LAST + " You said 4; it is [0-9]")
    box = shown.slider(STRIDE).bounding_box()
    shown.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    shown.says(r"every sixteenth float\. They touch 32 sectors in 16 cache lines")
    shown.slider(STRIDE).fill("1")
    for offset in range(1, 9):
        shown.slider(OFFSET).press("ArrowRight")
        shown.says(f"They touch {sectors(4 * offset + 4 * LANES)} sectors")
    shown.press("Home")
    shown.says("Predict, then play")


def test_hide_takes_the_result_away_until_the_reader_plays_again(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.says(LAST)
    shown.button("Hide").click()
    shown.says("Predict, then play")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        shown.slider(STRIDE).press(key)
        shown.says("Predict, then play")
    shown.press("End")
    shown.says("every second float. They touch 8 sectors")
    shown.press("b")
    shown.says("Predict, then play")


@pytest.mark.parametrize("page", [PICTURE, walk], indirect=True)
@pytest.mark.parametrize("width", [800, 940, 1280])
def test_a_group_of_buttons_stands_in_one_line(opened, width):
    shown = opened()
    shown.page.set_viewport_size({"width": width, "height": 800})
    assert len({round(label.bounding_box()["y"]) for label in shown.root.locator(".wbw-choice label").all()}) == 1


def test_four_floats_are_loaded_or_refused(opened):
    shown = opened(reduced_motion="reduce")
    shown.slider(STRIDE).fill("1")
    shown.radio("4 floats").check(force=True)
    shown.press("End")
    shown.says("touch 16 sectors in 4 cache lines: 512 bytes, and all of them are wanted")
    shown.slider(OFFSET).press("ArrowRight")
    shown.says("must begin at a multiple of 16: the GPU stops the kernel and reports a misaligned address")
    for offset in (2, 3, 4, 5, 6, 7, 8):                       # each is refused, or counted, at once
        shown.slider(OFFSET).press("ArrowRight")
        shown.says("touch 17 sectors" if offset == 4 else "touch 16 sectors" if offset == 8 else "must begin at a multiple of 16")
    shown.press("Home")
    shown.says("Predict, then play")
    shown.slider(OFFSET).press("ArrowLeft")
    shown.says("must begin at a multiple of 16")


@pytest.mark.parametrize("page", [walk], indirect=True)
def test_the_lanes_of_a_tile_walk_through_b(opened):
    shown = opened(reduced_motion="reduce")
    shown.says(r"go down a column of B: lane 0 asks for B\[0\]\[0\], lane 1 for B\[1\]\[0\]")
    shown.press("End")
    shown.says("They touch 16 sectors in 16 cache lines")
    shown.radio("along a row").check(force=True)
    shown.says("go along a row of B. They touch 4 sectors in 2 cache lines: 128 bytes, and all of them are wanted")
    for pad in range(1, 9):
        shown.slider("ldb: floats from one row of B to the next").press("ArrowRight")
        shown.says(f"They touch {5 if pad < 8 else 4} sectors")


def test_a_lane_and_a_sector_say_what_they_are(opened):
    shown = opened()
    lane, sector = shown.where("""({ layout, byteBox }, view) => {
        const where = layout(view), box = byteBox(where, 160, 32);
        return [[where.lanes.x + 7.5 * where.lanes.w, where.lanes.y + 5], [box.x + 4, box.y + 4]];
    }""")
    shown.page.mouse.move(*shown.at(*lane))
    shown.page.get_by_text("lane 7 asks for bytes 84 to 87").wait_for()
    shown.page.mouse.move(*shown.at(*sector))
    shown.page.get_by_text("sector 5: bytes 160 to 191").wait_for()
