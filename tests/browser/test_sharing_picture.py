"""Lesson 19's explorable in Chromium: played, stepped, every control moved; what is said against the model."""
import math
import re

import pytest

from course_lib.explorables import tiles_on_multiprocessors
from course_lib.explorables.sharing import SIZES
from course_lib.model.busiest_work import balance_of
from course_lib.model.stream_k import Sharing, split_k

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = tiles_on_multiprocessors
LAST = r"The busiest multiprocessor had 65 k-steps, and the mean is 12\.3: 81 % of the time was idle\."


def told(shown):
    """Return the busiest multiprocessor's k-steps, and how many partial sums there are, as they are said at the end."""
    words = shown.says()
    left = re.search(r"(\d+) partial sums? went", words)
    return int(re.search(r"had (\d+) k-steps?", words)[1]), int(left[1]) if left else 0


def right(N, blocks=None, split=None, tile=128, depth=8):
    """Return the same from the model: so many blocks, or so many for each tile."""
    tiles, steps = math.ceil(N / tile) ** 2, math.ceil(N / depth)
    found = balance_of(split_k(tiles, steps, split) if split else Sharing(tiles, steps, blocks).by_block, steps, 132)
    return found.busiest, found.left


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    assert not {"81", "107", "5.28"} & set(re.findall(r"[\d.]+", shown.told())), "the beginning gives nothing away"
    shown.prediction().fill("81")
    shown.button("Play").click()
    shown.says(r"^After \d+ k-steps?, 25 of 132 multiprocessors still work\.")
    shown.says(LAST + r".* You said 81: right\.")


def test_steps_by_key(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    for step in range(1, 5):
        shown.press("ArrowRight")
        shown.when(f"^k-step {step} of 65$")
        shown.says(rf"^After {step} k-steps?, 25 of 132")
    shown.press("End")
    shown.says(LAST)
    assert "busiest over the mean is 5.28" in shown.described()


def test_every_control_by_mouse_and_by_key(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    share = shown.root.get_by_role("group", name="Blocks")
    split = shown.slider("Split-K: blocks for each tile")
    assert split.is_disabled()
    share.get_by_text("stream-K").click()
    assert told(shown) == right(513, 132) == (13, 122)
    share.get_by_text("split-K").click()
    assert split.is_enabled()
    split.press("Home")
    for count in range(2, 9):
        assert split.get_attribute("aria-valuetext") == f"{count} blocks"
        assert told(shown) == right(513, split=count)
        split.press("ArrowRight")
    share.get_by_text("whole tiles").click()
    sizes = shown.slider("N: rows and columns of the matrices")
    sizes.press("Home")
    for N in SIZES:
        assert sizes.get_attribute("aria-valuetext") == str(N)
        assert told(shown) == right(N, math.ceil(N / 128) ** 2)
        sizes.press("ArrowRight")
    shown.root.get_by_role("group", name="Tile").get_by_text("64 × 64").click()
    assert told(shown) == right(2049, 33**2, tile=64, depth=16)


def test_the_pointer_tells_who_computes_what(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    inside = """({ layout }, view, [column, up]) => {
        const { columns, wide } = layout(view);
        return [columns.x + (column + 0.5) * wide, columns.y + columns.h - up];
    }"""
    for column, words in ((12, "multiprocessor 12, block 12: tile 12, k-steps 0 to 64"), (40, "multiprocessor 40: idle")):
        shown.page.mouse.move(*shown.at(*shown.where(inside, [column, 30])))
        shown.page.get_by_text(words).wait_for()


def test_a_tile_is_marked_by_key_and_the_end_stays(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    mark = shown.slider("Mark a tile of C and all its parts")
    assert mark.get_attribute("max") == "25"
    mark.press("ArrowRight")
    shown.says(LAST + r".* Marked is tile 0: computed in 1 piece, by block 0\.$")
    shown.root.get_by_role("group", name="Blocks").get_by_text("stream-K").click()
    shown.says(r"Marked is tile 0: computed in 5 pieces, by blocks 0 to 4\.$")
    shown.slider("N: rows and columns of the matrices").press("ArrowRight")
    assert mark.get_attribute("aria-valuetext") == "no tile"
