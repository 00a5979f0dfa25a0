"""Lesson 01's explorable in Chromium: played and stepped; every control moved; its counters against the course's own."""
import re

import pytest

from course_lib.explorables import two_orders
from course_lib.explorables.orders import counted

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = two_orders
LAST = r"ijk has fetched 34,880 lines, ikj 2,176\. ijk fetched 16 times as many as ikj\."


def fetched(shown):
    """Return the lines of A, B and C that both sides have fetched, as a screen reader is told."""
    return [[int(n) for n in found] for found in re.findall(r"by [ijk]{3}: A (\d+), B (\d+), C (\d+)", shown.described())]


def test_at_the_beginning_nobody_is_told_which_order_fetches_more(opened):
    shown = opened()
    shown.says("Predict, then play")
    assert fetched(shown) == [[0, 0, 0], [0, 0, 0]]
    assert not re.search(r"34,880|2,176|16\.0|better|worse|slower", shown.told())


def test_the_keys_step_through_multiply_adds_and_end_with_the_counters_totals(opened):
    shown = opened(reduced_motion="reduce")
    for number in range(1, 33):
        shown.press("ArrowRight")
        shown.when(f"^{number} multiply-adds")
        assert fetched(shown)[0] == [1 + (number > 16), number, 1]
        assert fetched(shown)[1] == [1, 1 + (number > 16), 1 + (number > 16)]
    shown.press("End")
    shown.says(LAST)
    assert fetched(shown) == [counted("ijk", 16), counted("ikj", 16)]


def test_it_plays_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("2")
    shown.button("Play").click()
    shown.says(r"^\d+ of 32,768 multiply-adds: ijk has fetched \d+ lines, ikj \d+\.")
    shown.press("End")
    shown.says(LAST + r" You said 2; it is 16\.")


def test_what_plays_pauses_once_where_the_orders_part(opened):
    shown = opened()
    shown.button("Play").click()
    shown.says(r"^33 of 32,768 .* Now ijk needs lines of A and B again, but the cache has lost them\. Press Play to go on\.$")
    shown.button("Play").click()
    shown.says(r"^3[4-9] of 32,768 multiply-adds: ijk has fetched \d+ lines, ikj \d+\.$")
    shown.press("Home")
    shown.press("ArrowRight")
    shown.says(r"^1 of 32,768")


def test_every_control_moves_by_key(opened):
    shown = opened()
    shown.press("End")
    left, right = (shown.root.get_by_role("group", name=name) for name in ("Left", "Right"))
    for side, order in ((left, "jki"), (right, "kij")):
        side.get_by_role("radio", name=order).focus()
        shown.page.keyboard.press("Space")
    cache = shown.slider("How many lines the cache holds")
    cache.focus()
    shown.page.keyboard.press("ArrowRight")
    assert cache.get_attribute("aria-valuetext") == "24 lines"
    shown.says("jki has fetched 66,560 lines, kij 3,136")                    # the end stays the end
    assert fetched(shown) == [counted("jki", 24), counted("kij", 24)]
    shown.page.mouse.move(*shown.at(*shown.where("({ layout }, view) => { const { B } = layout(view).left; return [B.x + 9, B.y + 9]; }")))
    shown.page.get_by_text(re.compile(r"^B\(\d+, 0\) to B\(\d+, 15\), one line: (not )?in the cache")).wait_for()
