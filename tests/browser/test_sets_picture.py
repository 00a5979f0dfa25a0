"""Lesson 02's picture of the sets in Chromium: played, stepped, its slider moved by keyboard; the pointer tells lines and sets."""

import pytest

from course_lib.explorables import sets

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = sets
SLIDER = "Floats per row: how far the rows of B are from each other"


def counters(shown):
    """Return the large numbers on the picture: lines in the cache, lines found again."""
    written = shown.written()
    largest = max(text["px"] for text in written)
    return [text["words"] for text in sorted(written, key=lambda text: text["left"]) if text["px"] == largest]


def test_it_asks_first_and_judges_the_prediction(opened):
    shown = opened(reduced_motion="reduce")
    assert "Predict, then play" in shown.says()
    assert counters(shown) == ["–", "–"]
    assert not any(word in shown.told() for word in ("of 16 lines", "is pushed out", "0 lines"))
    shown.prediction().fill("4")
    shown.press("End")
    shown.says(r"The second reading has found 0 of the 16 lines\. .* You said 4; it is 0\.")
    assert counters(shown) == ["12", "0"]


def test_it_plays_and_each_new_line_pushes_the_oldest_out(opened):
    shown = opened()
    shown.button("Play").click()
    shown.says(r"^First reading, row 0: its line is fetched, and goes into set 0\.$")
    shown.button("Pause").click()
    shown.press("Home", *["ArrowRight"] * 13)
    shown.says(r"^First reading, row 12: .* row 0, which was used longest ago, is pushed out\.")
    shown.rested()
    words = [text["words"] for text in shown.written()]
    assert {"row 0 is pushed out", "of 16 lines in the cache", "row 1", "row 12"} <= set(words)
    assert counters(shown) == ["12", "–"], "the 13th line is in, and the first is out"
    assert "set 0: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12." in shown.described()


def test_the_tower_falls_apart_when_the_slider_moves_after_the_end(opened):
    shown = opened()
    shown.press("End")
    shown.says("found 0 of the 16")
    slider = shown.slider(SLIDER)
    slider.press("ArrowRight")
    shown.says(r"^Rows of 1040 floats\. The second reading has found 16 of the 16 lines\. They belong to 16 sets, one to each\.$")
    shown.rested()
    assert counters(shown) == ["16", "16"]
    assert slider.get_attribute("aria-valuetext") == "1040: 16 unused"
    slider.press("End")
    shown.says(r"^Rows of 2048 floats\. The second reading has found 0 of the 16 lines")


def test_a_slider_that_moves_before_the_end_asks_anew(opened):
    shown = opened()
    shown.press("ArrowRight")
    shown.when("first reading, row 0")
    shown.slider(SLIDER).press("ArrowRight")
    shown.says(r"^Rows of 1040 floats\. .*Predict, then play\.")


@pytest.mark.parametrize(("place", "words"), [
    ("[(edges[1] + edges[2]) / 2, memory.y + 1.5 * memory.line]", "line 65 of memory belongs to set 1: row 1 of the block"),
    ("[(edges[2] + edges[3]) / 2, memory.y + 1.5 * memory.line]", "line 66 of memory belongs to set 2"),
    ("[(edges[15] + edges[16]) / 2, cache.floor - 5]", "set 15 holds 1 line: row 15"),
    ("[(edges[16] + edges[17]) / 2, cache.floor - 5]", "set 16 is empty")])
def test_the_pointer_tells_lines_and_sets(opened, place, words):
    shown = opened(reduced_motion="reduce")
    shown.press("End")
    shown.slider(SLIDER).press("ArrowRight")
    shown.says("They belong to 16 sets")
    where = f"({{ layout }}, view) => {{ const {{ memory, cache, edges }} = layout(view); return {place}; }}"
    shown.page.mouse.move(*shown.at(*shown.where(where)))
    shown.page.get_by_text(words, exact=True).wait_for()
