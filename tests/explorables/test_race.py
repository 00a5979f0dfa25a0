"""Lesson 00's explorable: every counter at every moment follows from the recorded times, and every cell from the recorded order."""

import json
import math

import numpy as np
import pytest
from javascript import evaluate

from course_lib import data
from course_lib.explorables.race import LIBRARY, NAMES, RIVALS, SIDE, WHOLE, N, race, states

PICTURE = race
MS = {kernel: 1e3 * data.load("ladder").find(kernel, N)[0].median_s for kernel in NAMES}
WATCHED = {row["kernel"]: row for row in data.readings("filling").rows}
FILLS = {kernel: np.array(row["filled_us"]) / row["watched_us"] for kernel, row in WATCHED.items()}
PLACES = [{"show": show, "rival": rival, "pace": pace} for show in ("two", "all") for rival in range(len(RIVALS)) for pace in (400, 1)]
SLOWED = {"show": "two", "rival": RIVALS.index("sgemm_naive"), "pace": 400}
WIDTHS = ((360, 12), (390, 12), (410, 12), (560, 14), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))


def test_the_lanes_are_the_ladder_with_the_library_last():
    lanes = states()["lanes"]
    assert [lane["kernel"] for lane in lanes] == [r.kernel for r in data.load("ladder").find(N=N)], "none is left out"
    assert lanes[-1]["kernel"] == LIBRARY
    assert {lane["kernel"]: lane["ms"] for lane in lanes} == MS
    assert len(json.dumps(states())) < 30_000


PLAYED = """(m, {states, places}) => places.map(values => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => { const ms = m.clock(scene, at);
        return { ms, lanes: scene.lanes.map(lane => ({ kernel: lane.kernel, ...m.done(lane, ms) })) }; }); })"""


@pytest.mark.slow
def test_every_counter_at_every_step_follows_from_the_recording(page):
    found = evaluate(page, PLAYED, {"states": states(), "places": PLACES})
    for values, steps in zip(PLACES, found, strict=True):
        rival = RIVALS[values["rival"]]
        assert steps[-1]["ms"] == (1000 if values["pace"] == 1 else MS[rival]), "it ends when the rival is done, or after a second"
        assert {lane["kernel"] for lane in steps[0]["lanes"]} == (set(NAMES) if values["show"] == "all" else {rival, LIBRARY})
        for number, step in enumerate(steps):
            assert step["ms"] == min(number, steps[-1]["ms"])
            for lane in step["lanes"]:
                whole = math.floor(step["ms"] / MS[lane["kernel"]] + 1e-9)
                assert lane["products"] == whole
                assert lane["part"] == pytest.approx(max(0, step["ms"] / MS[lane["kernel"]] - whole), abs=1e-9)


def test_the_answer_is_what_the_librarys_lane_says_at_the_end(page):
    answers = evaluate(page, "(m, {states, places}) => places.map(values => m.sceneOf(values, states).answer)",
                       {"states": states(), "places": PLACES})
    for values, answer in zip(PLACES, answers, strict=True):
        lasts = 1000 if values["pace"] == 1 else MS[RIVALS[values["rival"]]]
        assert answer == lasts // MS[LIBRARY]
    assert answers[PLACES.index(SLOWED)] == 9
    assert answers[PLACES.index(SLOWED | {"pace": 1})] == 371


def test_the_recorded_order_is_of_the_same_products_and_of_correct_ones():
    timed = {record.kernel: record for record in data.load("ladder").find(N=N)}
    assert list(WATCHED) == list(NAMES), "each kernel of the race was watched, the library too"
    for kernel, row in WATCHED.items():
        assert (row["N"], row["parameters"]) == (N, timed[kernel].parameters)
        assert row["correct"]
        assert row["first_is_last"], "the number that was seen first is the one that C has at the end"
        assert row["alone_us"] == pytest.approx(1e3 * MS[kernel], rel=0.02)
        assert row["watched_us"] == pytest.approx(row["alone_us"], rel=0.02), "the watcher changes little"
        assert len(row["filled_us"]) == SIDE**2
        assert 0 < min(FILLS[kernel]) < max(FILLS[kernel]) <= 1


def test_the_browser_gets_each_moment_of_the_recording(page):
    found = evaluate(page, "(m, states) => states.lanes.map(m.fills)", states())
    for kernel, fills in zip(NAMES, found, strict=True):
        assert fills == pytest.approx(FILLS[kernel], abs=0.5001 / WHOLE)


# A pen that notes the rectangles: the cells of two C at each of some moments, row by row, each with its colour.
CELLS = """(m, {states, values, moments}) => moments.map(at => {
    const scene = m.sceneOf(values, states), drawn = [];
    const pen = { globalAlpha: 1, strokeRect() {}, fillText() {}, measureText: words => ({ width: 7 * words.length }),
        fillRect(x, y) { drawn.push({ x, y, tone: pen.fillStyle, alpha: pen.globalAlpha }); } };
    const view = { scene, values, at, width: 984, height: 330, text: 14, narrow: false, dark: false, ink: "ink" };
    m.picture.draw(pen, view);
    return m.layout({ ...view, text: m.textOf(view) }).map(({ lane, pane }, n) => {
        const cells = drawn.slice(n * states.side ** 2, (n + 1) * states.side ** 2).sort((a, b) => a.y - b.y || a.x - b.x);
        const inside = cells.every(({ x, y }) => x >= pane.x && x < pane.x + pane.side && y >= pane.y && y < pane.y + pane.side);
        return { kernel: lane.kernel, inside, tones: cells.map(({ tone, alpha }) => (alpha < 1 ? "empty" : tone)) };
    }); })"""


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("rival", RIVALS)
def test_at_each_moment_the_cells_that_are_drawn_filled_are_those_of_the_recording(page, rival):
    moments = np.linspace(0, MS[rival], 23)[:-1].tolist()
    values = {"show": "two", "rival": RIVALS.index(rival), "pace": 400}
    found = evaluate(page, CELLS, {"states": states(), "values": values, "moments": moments})
    changed = 0
    for at, (ours, library) in zip(moments, found, strict=True):
        assert (ours["kernel"], library["kernel"]) == (rival, LIBRARY)
        for lane in (ours, library):
            products, part = divmod(at / MS[lane["kernel"]], 1)
            now = FILLS[lane["kernel"]] <= part
            sure = abs(FILLS[lane["kernel"]] - part) > 1 / WHOLE          # the moments are rounded for the browser
            tones = np.array(lane["tones"])
            assert lane["inside"]
            assert len(tones) == SIDE**2
            assert sure.mean() > 0.5
            assert len(set(tones[sure & now])) <= 1
            assert len(set(tones[sure & ~now])) <= 1
            assert not set(tones[sure & now]) & set(tones[sure & ~now]), "filled and not yet filled differ"
            assert ("empty" in tones) is bool(products == 0 and not now.all())
            changed += 0 < now.sum() < SIDE**2
    assert changed > 20, "most of the moments are in the middle of a product"


def test_from_where_c_fills_is_told_as_it_was_recorded():
    row, column = np.divmod(np.arange(SIDE**2), SIDE)
    for lane in states()["lanes"]:
        along = {"top": row, "left": column}
        assert np.corrcoef(along.pop(lane["begins"]), FILLS[lane["kernel"]])[0, 1] > 0.96
        assert abs(np.corrcoef(*along.values(), FILLS[lane["kernel"]])[0, 1]) < 0.04
    assert {lane["name"] for lane in states()["lanes"] if lane["begins"] == "left"} == {"swapped", "cuBLAS"}


KEY = """(m, {states, values, moments}) => { const scene = m.sceneOf(values, states);
    return moments.map(ms => scene.lanes.map(lane => m.keyOf({ scene, ms }, lane))); }"""


def test_the_key_names_the_product_of_each_tone(page):
    begin, soon, middle, end = evaluate(page, KEY, {"states": states(), "values": SLOWED, "moments": [0, 3, 12, MS["sgemm_naive"]]})
    assert begin == [[], []]
    assert soon == [[{"tone": 0, "words": "product 1, under way"}],
                    [{"tone": 1, "words": "product 2, nothing final yet"}, {"tone": 0, "words": "product 1, complete"}]]
    assert middle == [[{"tone": 0, "words": "product 1, under way"}],
                      [{"tone": 0, "words": "product 5, under way"}, {"tone": 1, "words": "product 4, complete"}]]
    assert end == [[{"tone": 0, "words": "product 1, complete"}],
                   [{"tone": 1, "words": "product 10, under way"}, {"tone": 0, "words": "product 9, complete"}]]
    (naive, library), = evaluate(page, KEY, {"states": states(), "values": SLOWED | {"pace": 1}, "moments": [500]})
    assert naive == library == [{"tone": 1, "words": "one product per small square"}]


PILES = """(m, {states, values, at}) => { const drawn = [];
    const pen = { strokeRect() { drawn.framed = true; }, fillText() {}, measureText: words => ({ width: 7 * words.length }),
        fillRect(x, y, w, h) { drawn.push({ x, y, w, h, tone: pen.fillStyle }); } };
    const size = { width: 984, height: 330, text: 14, narrow: false, dark: false, ink: "ink" };
    const scene = m.sceneOf(values, states), view = { scene, values, at, ...size };
    m.picture.draw(pen, view);
    const within = ({ x, y, side }) => box => box.x >= x && box.x + box.w <= x + side && box.y >= y - 0.01 && box.y + box.h <= y + side;
    const squares = drawn.filter(({ tone }) => tone !== "ink");
    const lanes = m.layout({ ...view, text: m.textOf(view) });
    return { framed: !!drawn.framed, piles: lanes.map(({ pane }) => squares.filter(within(pane))) }; }"""


@pytest.mark.parametrize("show", ["two", "all"])
def test_in_real_time_each_finished_product_is_one_small_square_in_a_pile_without_a_frame(page, show):
    values = SLOWED | {"pace": 1, "show": show}
    found = evaluate(page, PILES, {"states": states(), "values": values, "at": 1000})
    shown = NAMES if show == "all" else ["sgemm_naive", LIBRARY]
    assert not found["framed"]
    for kernel, squares in zip(shown, found["piles"], strict=True):
        assert len({(square["x"], square["y"]) for square in squares}) == len(squares) == int(1000 / MS[kernel])


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => [m.says({ scene, values, at }), m.describes({ scene, values, at })]); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"states": states(), "values": SLOWED})
    assert said[0][0].endswith("while the naive kernel makes its first? Predict, then play.")
    assert said[0][1].endswith("filled: naive 0, cuBLAS 0. Products finished: naive 0, cuBLAS 0.")
    assert f"in the order that was {data.readings('filling').label}: from the top naive; from the left cuBLAS. " in said[0][1]
    full = {kernel: (FILLS[kernel] <= 12 / MS[kernel] % 1).sum() for kernel in ("sgemm_naive", LIBRARY)}
    assert f"filled: naive {full['sgemm_naive']}, cuBLAS {full[LIBRARY]}. Products finished: naive 0, cuBLAS 4." in said[12][1]
    assert not any(digit in said[0][0] for digit in "123456789")
    assert said[12][0] == "12 ms: the naive kernel has finished 0 products, cuBLAS 4."
    assert said[-1][0] == ("After 25.4 ms the naive kernel has finished its first product. cuBLAS has finished nine, "
                           "and is at work on its next.")
    second = evaluate(page, SAYS, {"states": states(), "values": SLOWED | {"pace": 1}})
    assert "371" not in second[0][0]
    assert "Each small square that appears is one finished product." in second[0][0]
    assert "order" not in second[0][1]
    assert second[-1][0] == "One second: the naive kernel has finished 39 products, cuBLAS 371."


def test_with_all_of_them_the_words_say_so_and_the_shares_come_last(page):
    library = MS[LIBRARY]
    for pace in (400, 1):
        said = evaluate(page, SAYS, {"states": states(), "values": SLOWED | {"show": "all", "pace": pace}})
        assert said[0][0].startswith("All 13 multiply ")
        assert not any("%" in part for part in (*said[0], *said[-2]))
        assert "how fast each is, with cuBLAS at 100" in said[-1][0]
        assert all(f"({100 * library / ms:.0f} %)" in said[-1][1].partition(f"{NAMES[kernel]} ")[2] for kernel, ms in MS.items())
    assert "warp tile 330 (89 %), double buffered 322 (87 %), cuBLAS 371 (100 %)" in said[-1][1]


INSIDE = """(m, {states, widths, places}) => widths.flatMap(([width, text]) => places.flatMap(values => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 880 : 450) : m.picture.height(width, text, narrow), type = m.textOf({ width, height, text });
    return m.layout({ width, height, text, narrow, scene }).map(({ pane, words, under, below }) => ({ width, height, side: pane.side,
        ok: pane.x >= 0 && pane.y >= 0 && pane.x + pane.side <= width && pane.y + pane.side <= height && words.x + words.w <= width + 1
            && (under === undefined || under + 1.25 * type <= height) && (below === undefined || below + 4 * type <= height) }));
}))"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS, "places": [SLOWED, SLOWED | {"show": "all"}]})
    assert [box for box in found if not box["ok"]] == []
    assert min(box["side"] for box in found if not 400 <= box["width"] < 700) > 60
    assert min(box["side"] for box in found) > 40, "all 13 in half a window"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 150                         # the words, the player and the controls, in pixels, seen in Chromium
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600


def test_without_a_widget_the_answer_is_not_told():
    told = race().static_text()
    assert "Run this cell" in told
    assert f"the speed that was {data.load('ladder').label}, and in the order that was {data.readings('filling').label}." in told
    assert not any(number in told for number in ("25.4", "2.7", "371", "nine", "times faster"))


def test_another_kernel_can_begin():
    assert race("tiled").values["rival"] == RIVALS.index("sgemm_tiled")
