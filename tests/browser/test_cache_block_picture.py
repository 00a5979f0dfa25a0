"""Lesson 02's explorable in Chromium: played, stepped, moved by mouse and keyboard; its counters against the course's own."""
import re

import pytest

from course_lib.explorables import cache_blocks
from course_lib.explorables.cache_block import FLOAT, N
from course_lib.model.cache_lines import CacheShape, blocked_steps, count_steps

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = cache_blocks
LAST = r"Lines of B: 2,048 without blocks, 128 in blocks of 16 × 16, 16 times fewer\."


def lines(block, cache, multiply_adds=N**3):
    """Return the lines of A, B and C that are fetched until then."""
    steps = tuple(index[:multiply_adds] for index in blocked_steps(N, N, N, block, block, block))
    return count_steps(steps, [(N, N, N)] * 3, FLOAT, CacheShape(cache))


def so_far(shown):
    """Return the lines of both sides, as a screen reader is told."""
    found = re.search(r"So far without blocks: (.*?)\. In blocks: (.*?)\.", shown.described())
    return [[int(number.replace(",", "")) for number in re.findall(r"([\d,]+) of", side)] for side in found.groups()]


def test_steps_by_key_have_the_counters_lines(opened):
    shown = opened(reduced_motion="reduce")
    assert "Predict, then play" in shown.says()
    assert not re.search(r"128|2,176|320|16 times", shown.told()), "no answer before the reader plays"
    for step in range(1, 9):
        shown.press("ArrowRight")
        shown.when(f"after {step * N * N:,} multiply-adds")
        assert so_far(shown) == [lines(N, 4096, step * N * N), lines(16, 4096, step * N * N)]
    shown.press("End")
    shown.says(LAST)


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("64")
    shown.page.keyboard.press("Space")
    shown.says(r"^After 1,024 of 32,768")
    shown.button("Pause").click()
    shown.press("End")
    shown.says(LAST + r".* You said 64; it is 128\.")


@pytest.mark.parametrize("then", ["click", "Space"])
def test_play_after_space_in_the_question_plays_on(opened, then):
    """The lesson says "write your prediction, press Play": whoever has already pressed Space must not pause the picture."""
    shown = opened()
    shown.prediction().fill("4")
    shown.page.keyboard.press("Space")
    button = shown.button("Pause")
    button.click() if then == "click" else shown.page.keyboard.press("Space")
    shown.says(r"^After 1,024 of 32,768")
    button.click()
    shown.button("Play").wait_for()


def test_the_pointer_tells_a_line(opened):
    shown = opened()
    shown.press("End")
    shown.says(LAST)
    row = "({ layout }, view) => { const { B } = layout(view).rows; return [B.x + 2 * B.cell, B.y + 5.5 * B.cell]; }"
    x, y = shown.at(*shown.where(row))
    shown.page.mouse.move(x, y)
    shown.page.get_by_text("B[5][0] to [15], one cache line: in the cache, fetched 32 times so far").wait_for()
