"""Lesson 03's explorable: every element and sector at every position is what the simulator traces."""

import itertools
import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib.errors import CourseError
from course_lib.explorables import who_computes
from course_lib.explorables.threads import DEEP, KERNELS, traced
from course_lib.run.traces import array_of, elements, owners, requests, touched_sectors

PICTURE = who_computes
PER_STEP = {"naive": (2, 2), "swapped": (16, 1)}       # sectors of A and of B that a step touches; lesson 03 works them out
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (848, 14), (984, 14), (1092, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))


@pytest.fixture(scope="module", params=KERNELS)
def position(request):
    """Return (values of the controls, the traced run)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        return {"kernel": request.param}, traced(request.param)


def states():
    return who_computes().states


EVERY = """(m, {states, values}) => [...Array(states.rows * states.columns / 32).keys()].map(warp => {
    const chosen = { ...values, warp }, all = 2 * states.deep;
    return { threads: [...Array(32).keys()].map(lane => m.threadOf(chosen, states, warp, lane)),
        asked: [...Array(all).keys()].map(number => m.numbered(chosen, states, number)),
        loaded: [...Array(all + 1).keys()].map(number => m.loaded(chosen, states, number)) };
})"""


def test_every_thread_every_request_and_every_counter_is_the_simulators(page, position):
    values, result = position
    who = owners(result)
    assert {tuple(sorted(np.unique(who.warp)))} == {tuple(range(8))}
    for found in evaluate(page, EVERY, {"states": states(), "values": values}):
        first = found["threads"][0]
        for lane, thread in enumerate(found["threads"]):
            place = thread["row"], thread["col"]
            assert (who.block_x[place], who.block_y[place], who.warp[place], who.lane[place]) == (
                thread["blockX"], thread["blockY"], thread["warp"], lane)
            assert thread["ty"] * 16 + thread["tx"] == 32 * thread["warp"] + lane
        mine = {"block": (first["blockX"], first["blockY"], 0), "warp": first["warp"]}
        A, B = (requests(result, array=name, load=True, **mine) for name in "AB")
        records = [*itertools.chain.from_iterable(zip(A, B, strict=True))]               # in each step one of A and one of B
        assert len(records) == 2 * DEEP
        sectors = 0
        for number, (record, asked) in enumerate(zip(records, found["asked"], strict=True)):
            base = array_of(result, asked["name"]).address
            assert elements(record, base, 4)[:, 1].tolist() == asked["elements"]
            assert (touched_sectors(record) - base // 32).tolist() == asked["sectors"]
            assert found["loaded"][number] == {"requests": number, "sectors": sectors}
            sectors += len(asked["sectors"])
        assert found["loaded"][-1] == {"requests": 2 * DEEP, "sectors": sectors}


def test_the_last_counters_are_those_of_the_whole_launch(page, position):
    values, result = position
    found = evaluate(page, EVERY, {"states": states(), "values": values})
    assert sum(warp["loaded"][-1]["requests"] for warp in found) == result.count("requests")
    assert sum(warp["loaded"][-1]["sectors"] for warp in found) == result.count("sectors")


def test_a_prediction_is_held_to_what_one_step_touches(page):
    function = "(m, {states, all}) => all.map(kernel => m.sceneOf({ kernel, warp: 0, lane: 0 }, states).answer)"
    assert evaluate(page, function, {"states": states(), "all": list(KERNELS)}) == [sum(PER_STEP[kernel]) for kernel in KERNELS]


def test_only_a_control_that_changes_the_launch_starts_anew(page):
    function = """(m, {states, values}) => [{}, { lane: 5 }, { warp: 3 }, { kernel: "swapped" }].map(change =>
        Boolean(m.sceneOf({ ...values, ...change }, states).keeps(m.sceneOf(values, states))))"""
    assert evaluate(page, function, {"states": states(), "values": who_computes().values}) == [True, True, True, False]


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, values, at })); }"""


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_words_ask_first_and_answer_last(page, kernel):
    """Both pictures end on the sum of one step: the first one on its kernel's alone, the second on both."""
    values = {"kernel": kernel, "warp": 1, "lane": 0}
    said = evaluate(page, SAYS, {"states": states(), "values": values})
    expected = sum(PER_STEP[kernel])
    assert said[0].endswith("How many sectors does its warp touch per step? Predict, then play.")
    assert f"{expected}" not in said[0].split("How many")[1]
    assert f" = {expected} sectors per step." in said[-1]
    assert said[-1].endswith(f"In {DEEP} steps, {2 * DEEP} requests touched {DEEP * expected} sectors.")
    assert "from x" not in said[-1], "the first picture does not tell the second one's answer"
    both = evaluate(page, SAYS, {"states": who_computes("swapped").states, "values": values})[-1]
    assert all(f"= {sum(PER_STEP[name])}" in both for name in KERNELS)
    assert [words.split(".")[0] for words in said[1:-1]] == [f"k = {k}" for k in range(DEEP - 1)]
    assert all("for A: column" in words and "for B: row" in words for words in said[1:-1]), "a step is one k: both requests"


def test_a_step_plays_both_requests_of_a_k(page):
    function = "(m, {states, ats}) => ats.map(at => m.moment(at, states)).map(({ number, done }) => [number, done])"
    found = evaluate(page, function, {"states": states(), "ats": [0, 0.25, 0.5, 0.75, 1, DEEP - 0.5, DEEP]})
    assert found == [[-1, 0], [0, 0.5], [0, 1], [1, 0.5], [1, 1], [2 * DEEP - 2, 1], [2 * DEEP - 1, 1]]


def test_the_first_picture_has_no_control_that_tells_what_the_second_asks(page):
    function = "(m, {states}) => m.picture.controls(states).map(control => control.key)"
    keys = [evaluate(page, function, {"states": who_computes(kernel).states}) for kernel in KERNELS]
    assert keys == [["warp", "lane"], ["warp", "lane", "kernel"]]


def test_both_pictures_begin_with_the_same_element(page):
    function = "(m, {states, values}) => m.threadOf(values, states, values.warp, values.lane)"
    for kernel, (block, thread) in {"naive": ((1, 0), (3, 5)), "swapped": ((0, 1), (5, 3))}.items():
        shown = who_computes(kernel)
        found = evaluate(page, function, {"states": shown.states, "values": shown.values})
        assert (found["row"], found["col"]) == (5, 19)
        assert ((found["blockX"], found["blockY"]), (found["tx"], found["ty"])) == (block, thread)


def test_every_element_finds_its_thread(page):
    function = "(m, {states, values}) => [[0, 0], [1, 3], [15, 31], [7, 20]].map(([row, col]) => m.whoComputes(values, states, row, col))"
    for kernel in KERNELS:
        found = evaluate(page, function, {"states": states(), "values": {"kernel": kernel, "warp": 0, "lane": 0}})
        assert [(t["row"], t["col"]) for t in found] == [(0, 0), (1, 3), (15, 31), (7, 20)]
        assert (found[1]["tx"], found[1]["ty"]) == ((3, 1) if kernel == "naive" else (1, 3))


INSIDE = """(m, {states, widths, all}) => widths.flatMap(([width, text]) => all.map(kernel => {
    const narrow = width < 700, height = text > 20 ? (width > 1500 ? 760 : 400) : m.picture.height(width, text, narrow);
    const values = { kernel, warp: 0, lane: 0 }, scene = m.sceneOf(values, states);
    const where = m.layout({ width, height, text, narrow, scene }), { panel, cell } = where;
    const [right, low] = narrow ? [width, panel.y] : [panel.x, height], touched = number => m.numbered(values, states, number).sectors;
    const most = m.pieceWide(where, [0, 1].map(number => m.numbered(values, states, number)));
    const boxes = [where.above, where.below].flatMap((row, number) => m.pieceBoxes(where, touched(number), row, most));
    const inside = name => { const [rows, columns] = m.sizeOf(states, name), { x, y } = where[name];
        return x >= 0 && x + columns * cell <= right && y + rows * cell <= low; };
    return { width, kernel, cell, piece: Math.min(...boxes.map(p => p.w)),
        alike: boxes.every(p => Math.abs(p.w - boxes[0].w) < 0.01), ok: where.low <= height
        && boxes.every(p => p.x > panel.x - 0.01 && p.x + p.w < panel.x + panel.w + 0.01) && ["A", "B", "C"].every(inside) };
}))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS, "all": list(KERNELS)})
    assert [box for box in found if not box["ok"]] == []
    assert all(box["alike"] for box in found), "A's sectors and B's are drawn to one scale"
    assert min(box["cell"] for box in found) > 6, "pixels of an element of A, B or C"
    assert min(box["cell"] for box in found if box["width"] in (848, 1092)) > 9, "in JupyterLab at 1280, with its file browser and without"
    assert min(box["piece"] for box in found) > 8, "pixels of a sector"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 160                         # the words, the player and the controls, in pixels, seen in Chromium
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600
    cell = 60                            # the two lines of code above it
    narrow, wide = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [840, 1092])
    assert max(narrow, wide) + around + cell <= 660, "of the 679 that JupyterLab leaves at 1280 × 800"


def test_without_a_widget_the_answer_is_not_told():
    shown = who_computes("swapped")
    assert "Run this cell" in shown.static_text()
    assert not any(number in shown.static_text() for number in ("17", " 4 ", "sector"))
    assert len(json.dumps(shown.states)) < 200
    with pytest.raises(CourseError, match="it has naive, swapped"):
        who_computes("tiled")


def test_the_steps_that_look_alike_pass_in_a_few_seconds(page):
    function = "(m, {states, values}) => { const s = m.sceneOf(values, states); return [...Array(s.steps).keys()].map(s.seconds); }"
    times = evaluate(page, function, {"states": states(), "values": who_computes().values})
    assert times[0] > 4, "time to look at the first step"
    assert sum(times) < 14
