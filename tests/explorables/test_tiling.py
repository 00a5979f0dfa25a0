"""Lesson 04's explorable: every counter at every moment is what the simulator counts and traces."""

import json
import re
from pathlib import Path

import pytest
from javascript import evaluate

from course_lib.explorables import side_by_side
from course_lib.explorables.tiling import DEPTH, LAUNCHES, TILE, states, traced
from course_lib.plots import requests, touched_sectors

PICTURE = side_by_side
LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "04_tiling.ipynb"
STEPS = 2 * (2 + 1 + TILE + 1) + 1
SIDES = tuple(LAUNCHES)
WARPS = TILE * TILE // 32
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1243, 19), (1243, 21))


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        return {side: traced(side) for side in SIDES}


def loads_before(side, step):
    """Return how many load requests each warp has made before a step: two per k in the naive kernel, one per load step in the tiled one."""
    kinds = [s["kind"] for s in states()["steps"][:step]]
    return 2 * kinds.count("multiply") if side == "naive" else kinds.count("load")


def counted(result, warp, first):
    """Return (requests, sectors) of a warp's first load requests, straight from the trace."""
    records = requests(result, load=True, warp=warp)[:first]
    return len(records), sum(len(touched_sectors(record)) for record in records)


def test_the_steps_are_those_of_two_tiles_with_two_barriers_each():
    kinds = [step["kind"] for step in states()["steps"]]
    assert kinds == (["load", "load", "barrier", *["multiply"] * TILE, "barrier"] * 2) + ["store"]
    assert [step["k"] for step in states()["steps"] if step["kind"] == "multiply"] == list(range(DEPTH))
    assert len(json.dumps(states(), separators=(",", ":"))) < 300_000


def test_every_thread_touches_what_the_kernels_formulas_say():
    threads = [divmod(t, TILE) for t in range(TILE * TILE)]
    for step in states()["steps"]:
        naive, tiled, k, k0 = step["naive"], step["tiled"]["touch"], step["k"], step["tile"] * TILE
        if step["kind"] == "multiply":
            assert naive["touch"] == {"A": [ty * DEPTH + k for ty, tx in threads], "B": [k * TILE + tx for ty, tx in threads]}
            assert tiled == {"As": [ty * TILE + k - k0 for ty, tx in threads], "Bs": [(k - k0) * TILE + tx for ty, tx in threads]}
        elif step["kind"] == "load":
            own = list(range(TILE * TILE))
            A, B = [ty * DEPTH + k0 + tx for ty, tx in threads], [(k0 + ty) * TILE + tx for ty, tx in threads]
            assert tiled in ({"A": A, "As": own}, {"B": B, "Bs": own})
        elif step["kind"] == "store":
            assert naive["touch"]["C"] == tiled["C"] == list(range(TILE * TILE))


LOADED = """(m, {states, ats}) => ["naive", "tiled"].map(side => ats.map(at => {
    const found = m.loaded(states, side, at);
    return [found.requests, found.sectors, found.times.A.concat(found.times.B).reduce((a, b) => a + b)];
}))"""


def test_the_counters_of_every_frame_are_the_traces(page, results):
    found = evaluate(page, LOADED, {"states": states(), "ats": list(range(STEPS + 1))})
    for side, frames in zip(SIDES, found, strict=True):
        for step, (asked, sectors, coloured) in enumerate(frames):
            warps = [counted(results[side], warp, loads_before(side, step)) for warp in range(WARPS)]
            assert [asked, sectors] == [sum(numbers) for numbers in zip(*warps, strict=True)], (side, step)
            assert coloured == sectors, "what the boxes' colours add up to"


@pytest.mark.exhaustive
def test_between_two_steps_the_counters_go_warp_by_warp(page, results):
    halves = [(step, half / 2) for step in range(STEPS) for half in range(2 * WARPS)]
    found = evaluate(page, LOADED, {"states": states(), "ats": [step + done / WARPS for step, done in halves]})
    for side, frames in zip(SIDES, found, strict=True):
        for (step, part), (asked, sectors, _) in zip(halves, frames, strict=True):
            done = int(part)
            warps = [counted(results[side], w, loads_before(side, step + (w < done))) for w in range(WARPS)]
            assert [asked, sectors] == [sum(numbers) for numbers in zip(*warps, strict=True)], (side, step, done)


def test_the_last_counters_are_the_simulators(page, results):
    found = evaluate(page, LOADED, {"states": states(), "ats": [STEPS]})
    for side, [(asked, sectors, _)] in zip(SIDES, found, strict=True):
        assert asked == results[side].count("requests") == states()["steps"][-1][side]["requests"]
        assert sectors == results[side].count("sectors") == states()["steps"][-1][side]["total"]


def test_every_sector_is_loaded_eight_times_by_the_naive_block_and_once_by_the_tiled_one(page):
    function = """(m, {states, steps}) => ['naive', 'tiled'].map(side => {
        const {A, B} = m.loaded(states, side, steps).times; return [...A, ...B]; })"""
    naive, tiled = evaluate(page, function, {"states": states(), "steps": STEPS})
    assert set(naive) == {8}
    assert set(tiled) == {1}
    assert len(naive) == len(tiled) == 2 * TILE * DEPTH // 8


HELD = """(m, {states, ats}) => ats.map(at => ['As', 'Bs'].map(name => {
    const parts = [...m.heldAt(states, at, name).values()];
    return [parts.filter(part => part === 1).length, parts.filter(part => part < 1).length];
}))"""


def test_shared_memory_fills_before_a_barrier_and_may_be_overwritten_after_the_next(page):
    ats = [0, 0.5, 1, 2, 3, 10, 19, 20, 20.01, 20.5, 21, 22, 40, 41]
    held = dict(zip(ats, evaluate(page, HELD, {"states": states(), "ats": ats}), strict=True))
    stored, = {held.pop(0.5)[0][0], held[20.5][0][0]}
    assert 0 < stored < TILE * TILE, "some warps have stored their rows"
    full, none, old = [TILE * TILE, 0], [0, 0], [0, TILE * TILE]
    assert held.pop(20.5) == [[stored, TILE * TILE - stored], old], "and the others still hold the tile before"
    assert held == {0: [none, none], 1: [full, none], **dict.fromkeys((2, 3, 10, 19, 20, 22, 40), [full, full]),
                    20.01: [old, old], 21: [full, old], 41: [old, old]}


def test_the_marks_are_the_four_barriers(page):
    scene = evaluate(page, "(m, {states}) => m.sceneOf({ row: 5, column: 3 }, states)", {"states": states()})
    assert [mark["step"] for mark in scene["marks"]] == [i for i, step in enumerate(states()["steps"], 1) if step["kind"] == "barrier"]
    assert scene["marks"][1]["label"] == "second barrier of the first tiles"


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, values, at })); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"states": states(), "values": {"row": 5, "column": 3}})
    assert said[0].endswith("Predict, then play.")
    assert "thread (3, 5) needs row 5 of A and column 3 of B" in said[0]
    assert not any(number in said[0] for number in ("1,024", "128", "8 times")), "the question gives nothing away"
    assert [i for i, words in enumerate(said) if "barrier" in words] == [3, 20, 23, 40]
    assert all("Naive" in words and "Tiled" in words for words in said[1:] if "barrier" not in words)
    assert said[-1].startswith("Naive: 1,024 sectors, each one loaded 8 times. Tiled: 128, each loaded once. That is 8 times fewer. Why 8?")
    assert said[-1].endswith("Why 8?"), "the reason is the lesson's to give"


def test_a_sector_of_a_is_asked_for_by_one_warp_eight_times_and_one_of_b_by_eight_warps_once():
    """What the lesson says of row 5 and column 3."""
    for name, row, column, warps, times in (("A", 5, 0, 1, 8), ("B", 0, 3, 8, 1)):
        width = {"A": DEPTH, "B": TILE}[name]
        sector, steps = (row * width + column) // 8, [step for step in states()["steps"] if step["kind"] == "multiply"]
        by_warp = [sum(sector in step["naive"]["sectors"][name][warp] for step in steps) for warp in range(WARPS)]
        assert sorted(by_warp) == [0] * (WARPS - warps) + [times] * warps, name
    said = re.sub(r"\[([^]]*)\]\(glossary[^)]*\)", r"\1", LESSON.read_text(encoding="utf-8"))
    assert "The 16 threads that need row 5 of A are in one warp, which asks once for each of the 8 floats of a sector." in said
    assert "Column 3 of B is needed by all 8 warps, and each of them asks for itself." in said


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => {
    const narrow = width < 700, values = { row: 5, column: 3 }, scene = m.sceneOf(values, states);
    const height = text > 14 ? { 19: 560, 21: 640, 28: 860 }[text] : m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene });
    return Object.values(where).flatMap(p => ["A", "B", "C", "As", "Bs"].map(name => {
        const [rows, columns] = states.shapes[name], at = p[name];
        return { width, name, cell: at.cell, ok: at.x >= 0 && at.y >= 0 && at.x + columns * at.cell <= width && p.high <= height
            && (name.length < 2 || at.x + columns * at.cell <= p.box.x + p.box.w + 1 && at.y + rows * at.cell <= p.box.y + p.box.h + 1) };
    }));
})"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [box for box in found if not box["ok"]] == []
    assert min(box["cell"] for box in found if len(box["name"]) == 1) > 4.5, "pixels of an element of A, B or C"
    assert min(box["cell"] for box in found) > 2.5
    assert min(box["cell"] for box in found if box["width"] in (1243, 1864)) > 6, "on a projector, also at a zoom of 150 %"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 102                         # the words, the player and the sliders, in pixels, seen in Chromium
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600


def test_without_a_widget_the_answer_is_not_told():
    shown = side_by_side()
    assert "Run this cell" in shown.static_text()
    assert not any(number in shown.static_text() for number in ("1,024", "1024", "128", "eight"))
