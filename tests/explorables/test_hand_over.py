"""Lesson 19's second explorable: what it draws are the model's turns, and nothing is told before it is played."""

import json

from javascript import evaluate

from course_lib.explorables import hand_over
from course_lib.explorables.hand_over import EXAMPLE, states

PICTURE = hand_over
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))


def test_in_each_order_every_k_step_is_computed_once_and_a_tile_ends_when_all_its_parts_are_left():
    tiles, steps, blocks = EXAMPLE
    for order in states()["orders"]:
        for tile in range(tiles):
            mine = [turn for turn in order["turns"] if turn["tile"] == tile]
            ending, = (turn for turn in mine if turn["ends"])
            assert sum(turn["computed"] - turn["start"] for turn in mine) == steps
            assert ending["end"] == max(turn["computed"] for turn in mine)
        for block in range(blocks):
            mine = [turn for turn in order["turns"] if turn["block"] == block]
            assert [turn["start"] for turn in mine] == [0, *(turn["end"] for turn in mine[:-1])]
    assert [order["done"] for order in states()["orders"]] == [4, 10, 4]


def test_who_waits_at_each_moment(page):
    function = "(m, states) => states.orders.map(order => [...Array(11).keys()].map(at => m.waiting(order, at).sort()))"
    first, chain, mirror = evaluate(page, function, states())
    assert first == mirror == [[]] * 11
    assert chain == [[], [3], [2, 3], [1, 2, 3], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1], [0, 1], [0], []]


SAYS = """(m, states) => { const scene = m.sceneOf({}, states);
    return [...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at)).concat(m.picture.describes({ scene }, 0)); }"""


def test_the_words_ask_first_and_answer_last(page):
    *said, described = evaluate(page, SAYS, states())
    assert said[0].endswith("Predict, then play.")
    assert not any(told in said[0] + described for told in ("10", "after 4"))
    assert said[1] == "After 1 k-step: in the first and the third order nobody waits; in the second block 3 waits."
    assert said[5] == "After 5 k-steps: the first and the third order are done; in the second blocks 0, 1 and 2 wait."
    assert said[-1] == ("When the last block ends a tile, all are done after 4 k-steps. When the first block ends it, each waits for the "
                        "next: 10 k-steps. With its loop reversed it is 4 again.")


INSIDE = """(m, {states, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf({}, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { panels, key, step } = m.layout({ width, height, text, narrow, scene });
    return { width, step, ok: panels.every(({ x, y, w, h }) => x > 0 && y > 0 && x + w <= width + 1e-6 && y + h < key) && key < height };
})"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["step"] for p in found) > 12, "pixels of a k-step: its words fit"


def test_without_a_widget_the_answer_is_not_told():
    shown = hand_over()
    assert "Run this cell" in shown.static_text()
    assert "10" not in shown.static_text()
    assert len(json.dumps(shown.states)) < 3000
