"""Lesson 02's picture of the sets: every read, at every position of the slider, is that of the course's model of a cache."""

import json
from collections import OrderedDict

import pytest
from javascript import evaluate

from course_lib.explorables import sets
from course_lib.explorables.sets import BLOCK, FLOATS, first_cache, reads, states, still_there
from course_lib.model.cache_lines import LineCounter, fetches

PICTURE = sets
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
ROWS = [*range(BLOCK), *range(BLOCK)]


def read_one_by_one(floats):
    """Return what was found, what was pushed out and what each set holds after each read, worked out once more."""
    cache = first_cache()
    held, told = [OrderedDict() for _ in range(cache.sets)], []
    for row in ROWS:
        rows = held[4 * floats * row // cache.line % cache.sets]
        found, gone = int(row in rows), -1
        if not found and len(rows) == cache.ways:
            gone, _ = rows.popitem(last=False)
        rows[row] = None
        rows.move_to_end(row)
        told.append((found, gone, {str(number): list(rows) for number, rows in enumerate(held) if rows}))
    return told


@pytest.mark.parametrize("floats", FLOATS)
def test_every_read_is_the_models(floats):
    cache = first_cache()
    lines = [4 * floats * row // cache.line for row in ROWS]
    assert [found == 0 for found, _ in reads(floats)] == fetches([1] * len(lines), lines, cache).tolist()
    assert reads(floats) == [[found, gone] for found, gone, _ in read_one_by_one(floats)]


HELD = """(m, states) => Object.keys(states.reads).map(floats => { const scene = m.sceneOf({ floats: Number(floats) }, states);
    const held = scene.reads.map((read, n) => Object.fromEntries(m.heldAfter(scene, n + 1)));
    return [scene.answer, m.foundAfter(scene, scene.steps), held]; })"""


def test_the_picture_holds_after_every_read_what_the_cache_does(page):
    for floats, (answer, second, held) in zip(FLOATS, evaluate(page, HELD, states()), strict=True):
        assert held == [rows for _, _, rows in read_one_by_one(floats)]
        assert answer == second["found"] == still_there(floats) == (0 if floats in (1024, 2048) else 16)
        assert second["asked"] == BLOCK


def test_the_sets_are_those_of_the_recorded_cache(page):
    cache = first_cache()
    assert (cache.sets, cache.ways) == (states()["sets"], states()["ways"]) == (64, 12)
    assert cache.sets * cache.line == 4096, "as the picture says"
    counter = LineCounter([(BLOCK, BLOCK, 1040)] * 3, 4, cache)
    for row in range(BLOCK):
        counter.touch(0, row, 0)
    assert [len(held) for held in counter.finish().sets] == [1] * 16 + [0] * 48
    assert evaluate(page, "(m, lines) => lines.map(line => m.setOf({ sets: 64 }, line))", [0, 63, 64, 130]) == [0, 63, 0, 2]


SAYS = """(m, {states, floats}) => { const scene = m.sceneOf({ floats }, states);
    return [m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


def test_the_words_ask_first_and_answer_last(page):
    described, asked, *said = evaluate(page, SAYS, {"states": states(), "floats": 1024})
    assert asked.endswith("How many of them does the second reading find in the cache? Predict, then play.")
    assert described == f"{asked} The cache is empty."
    assert not any(number in asked for number in (" 0 ", "12", "set"))
    assert said[11] == "First reading, row 11: its line is fetched, and goes into set 0."
    assert said[12].endswith("Set 0 is full, so row 0, which was used longest ago, is pushed out.")
    assert said[16] == ("Second reading, row 0: its line is gone, and is fetched again. "
                        "Set 0 is full, so row 4, which was used longest ago, is pushed out.")
    assert said[-1] == "Rows of 1024 floats. The second reading has found 0 of the 16 lines. All 16 belong to set 0, which holds 12."


@pytest.mark.parametrize(("floats", "words"), [(1040, "16 sets, one to each"), (1152, "8 sets, 2 to each"), (1280, "4 sets, 4 to each"),
                                               (1536, "2 sets, 8 to each")])
def test_the_end_says_over_how_many_sets_the_lines_are_spread(page, floats, words):
    *_, before, last = evaluate(page, SAYS, {"states": states(), "floats": floats})
    assert before == "Second reading, row 14: its line is still there."
    assert last == f"Rows of {floats} floats. The second reading has found 16 of the 16 lines. They belong to {words}."


BEGIN = "(m, {states, at}) => at.map(at => m.sceneOf({ floats: 1040 }, states, null, at).begin)"


def test_the_slider_shows_the_same_moment_again_where_one_reading_is_done(page):
    assert evaluate(page, BEGIN, {"states": states(), "at": [0, 7.5, 16, 20, 32]}) == [0, 0, 16, 16, 32]


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => Object.keys(states.reads).map(floats => {
    const narrow = width < 700, scene = m.sceneOf({ floats: Number(floats) }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene }), { memory, cache } = where;
    const moments = [...Array(2 * scene.steps + 1).keys()].flatMap(n => m.boxes(where, scene, n / 2)).filter(Boolean);
    const wide = where.edges.slice(1).map((edge, set) => edge - where.edges[set]);
    return { width, floats, line: memory.line, wide: Math.min(...wide), first: wide[0], high: memory.h,
        ok: memory.y + memory.h < cache.y && where.labels <= height && memory.x + memory.w <= width
        && moments.every(b => b.x >= 0 && b.x + b.w <= width && b.y >= memory.y - 0.01 && b.y + b.h <= height) }; }))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["line"] for p in found) > 3, "pixels of a line in memory"
    assert min(p["wide"] for p in found) > 4, "pixels of a set"
    assert min(p["first"] / p["wide"] for p in found if p["width"] >= 700) > 5, "the sets that matter are wide"
    assert min(p["first"] for p in found if p["width"] >= 1224) > 48, "room for a tower that a room can see"


def test_without_a_widget_the_answer_is_not_told():
    text = sets().static_text()
    assert "Run this cell" in text
    assert not any(word in text for word in (" 0 ", "12", "pushed"))
    assert len(json.dumps(states())) < 24_000
