"""Lesson 01's explorable: its cache, in JavaScript, fetches and keeps the same lines as the course's own at every multiply-add."""

import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib.explorables.orders import CACHES, LINE_BYTES, N, counted, states, two_orders
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape
from course_lib.run import count_lines
from course_lib.widgets.compute import inputs

PICTURE = two_orders
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
VALUES = {"left": "ijk", "right": "ikj", "lines": 16}


def traced(order, lines):
    """Count a program of the catalog on the course's cache, and return the trace of all its accesses."""
    A, B, _ = inputs(N, N, N)
    return count_lines(f"gemm_{order}", A, B, cache=CacheShape(LINE_BYTES * lines), trace=3 * N**3)


MISSES = """(m, {N, per, order, lines}) => { const walk = new m.Walk(order, N, per, lines), said = [];
    for (let step = 1; step <= N ** 3; ++step) { const before = [...walk.fetched]; walk.to(step);
        said.push(walk.fetched.reduce((mask, now, i) => mask + (now > before[i] ? 2 ** i : 0), 0)); }
    return said.join(""); }"""


@pytest.mark.slow
@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("lines", [8, 16, 40])
@pytest.mark.parametrize("order", ORDERS)
def test_every_multiply_add_fetches_the_lines_that_the_program_fetches(page, order, lines):
    fetched = traced(order, lines).trace[:, 4].reshape(-1, 3)
    said = evaluate(page, MISSES, {"N": N, "per": 16, "order": order, "lines": lines})
    assert said == "".join(map(str, (fetched @ [1, 2, 4]).tolist()))


HELD = """(m, {N, per, order, lines}) => { const walk = new m.Walk(order, N, per, lines);
    return m.stops(N).map(step => [...walk.to(step).held.keys()]); }"""


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=4)
@pytest.mark.parametrize("order", ORDERS)
def test_at_every_stop_the_same_lines_are_in_the_cache(page, order):
    held, at = {}, [[]]
    for line, fetched, evicted in traced(order, 16).trace[:, 3:].tolist():
        held.pop(evicted if fetched else line, None)
        held[line] = True                                # the last one that was used stands last
        at.append(list(held))
    stops = evaluate(page, "(m, N) => m.stops(N)", N)
    assert evaluate(page, HELD, {"N": N, "per": 16, "order": order, "lines": 16}) == [at[3 * step] for step in stops]


TOTALS = """(m, {states}) => states.orders.map(order => states.caches.map(lines =>
    new m.Walk(order, states.N, states.per_line, lines).to(states.N ** 3).fetched))"""


@pytest.mark.slow
def test_every_position_of_the_controls_ends_with_the_counters_totals(page):
    found = evaluate(page, TOTALS, {"states": states()})
    for order, row in zip(ORDERS, found, strict=True):
        for lines, fetched in zip(CACHES, row, strict=True):
            assert fetched == counted(order, lines) == states()["totals"][order][lines], (order, lines)


def test_going_back_is_beginning_anew(page):
    function = "(m, steps) => { const walk = new m.Walk('ikj', 32, 16, 16); return steps.map(step => [...walk.to(step).fetched]); }"
    first, _, again = evaluate(page, function, [500, 9000, 500])
    assert first == again


def test_time_goes_by_multiply_adds_then_by_inner_loops_then_by_outer_ones(page):
    stops = evaluate(page, "(m, N) => m.stops(N)", N)
    assert set(np.diff(stops[:2 * N + 1])) == {1}
    assert (stops[0], stops[-1]) == (0, N**3)
    between = evaluate(page, "(m, ats) => { const stops = m.stops(32); return ats.map(at => m.doneAt({ stops }, at)); }", [0, 3, 64.5, 124])
    assert between == [0, 3, 80, 31 * 1024]


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [0, 1, 40, scene.steps].map(at => [m.says({ scene, values, at }), m.describes({ scene, values, at })]); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"states": states(), "values": VALUES})
    assert said[0][0].endswith("Predict, then play.")
    assert "A 0, B 0, C 0; by ikj: A 0, B 0, C 0." in said[0][1]
    assert not any(number in said[0][1] for number in ("34,880", "2,176", "16.0"))
    assert said[2][0] == "40 of 32,768 multiply-adds: ijk has fetched 44 lines, ikj 6."
    assert said[3][0].endswith("ijk has fetched 34,880 lines, ikj 2,176. ijk fetched 16 times as many as ikj.")
    assert sum(counted("ijk", 16)) == 34880
    assert sum(counted("ikj", 16)) == 2176
    same = evaluate(page, SAYS, {"states": states(), "values": VALUES | {"lines": 40}})
    assert same[3][0].endswith("That is the same.")


PAUSES = """(m, {states, places}) => places.map(values => { const scene = m.sceneOf(values, states);
    return [scene.pauses, scene.again, m.says({ scene, values, at: 33 })]; })"""


def test_it_pauses_where_a_line_comes_again_and_says_which(page):
    places = [VALUES, VALUES | {"lines": 40}, VALUES | {"left": "jki", "right": "jik"}]
    found = evaluate(page, PAUSES, {"states": states(), "places": places})
    said = "33 of 32,768 multiply-adds: ijk has fetched 37 lines, ikj 6."
    lost = " Now ijk needs lines of A and B again, but the cache has lost them. Press Play to go on."
    assert found[0] == [[33], [["ijk", ["A", "B"]]], said + lost]
    assert found[1][:2] == [[], []], "a cache of 40 lines has them still"
    assert found[1][2].endswith(", ikj 6.")
    assert found[2][1] == [["jki", ["A", "C"]], ["jik", ["B"]]]
    assert "jik needs a line of B again, but the cache has lost it." in found[2][2]


FRAMES = """(m, {states, values}) => [32, 33, 34].map(at => { const frames = [], scene = m.sceneOf(values, states);
    const pen = { fillRect() {}, fillText() {}, strokeRect(x, y) { if (this.lineWidth === 3) frames.push([x, y]); } };
    const view = { scene, values, at, width: 1280, height: 320, text: 14, ink: "", fontFamily: "" }, { left } = m.layout(view);
    m.picture.draw(pen, view);
    return [frames, ["A", "B"].map(name => [left[name].x - 3, left[name].y - 3])]; })"""


def test_at_the_pause_the_lines_that_come_again_are_framed(page):
    before, pause, after = evaluate(page, FRAMES, {"states": states(), "values": VALUES})
    assert before[0] == after[0] == []
    assert pause[0] == pause[1], "the first line of A and of B, on the left"


ANSWERS = """(m, {states, lefts, rights, caches}) => lefts.map(left => rights.map(right => caches.map(lines =>
    m.sceneOf({ left, right, lines }, states).answer)))"""


def test_the_answer_is_how_many_times_as_many_lines(page):
    found = evaluate(page, ANSWERS, {"states": states(), "lefts": ORDERS, "rights": ORDERS, "caches": CACHES})
    for left, rows in zip(ORDERS, found, strict=True):
        for right, answers in zip(ORDERS, rows, strict=True):
            for lines, answer in zip(CACHES, answers, strict=True):
                ratio = sum(counted(left, lines)) / sum(counted(right, lines))
                assert answer == (float(f"{ratio:.3g}") if ratio < 1 else int(10 * ratio + 0.5) / 10)
    assert found[ORDERS.index("ijk")][ORDERS.index("ikj")][CACHES.index(16)] == 16
    assert found[ORDERS.index("ikj")][ORDERS.index("ijk")][CACHES.index(16)] == 0.0624, "1/16 is right, too"


INSIDE = """(m, {states, widths, values}) => widths.flatMap(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 880 : 450) : m.picture.height(width, text, narrow);
    return Object.values(m.layout({ width, height, text, narrow, scene })).map(p => ({ width, height, cell: p.A.cell,
        ok: p.words.x >= 0 && p.words.x + p.words.w <= p.A.x && p.right <= width && p.bottom <= height }));
})"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS, "values": VALUES})
    assert [box for box in found if not box["ok"]] == []
    assert min(box["cell"] for box in found) > 2.5, "pixels of an element"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 150                         # the words, the player and the controls, in pixels, seen in Chromium
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600


def test_all_bars_have_one_scale_and_the_totals_stay_when_a_control_changes(page):
    most, answers = evaluate(page, '''(m, {states, places}) => [m.mostOf(states), places.map(values => {
        const { most, rest, steps } = m.sceneOf(values, states); return [most, rest === steps]; })]''',
        {"states": states(), "places": [VALUES, VALUES | {"lines": 128}]})
    assert most == max(max(counted(order, lines)) for order in ORDERS for lines in CACHES) == N**3
    assert answers == [[most, True]] * 2


def test_the_sides_are_side_by_side_beside_jupyterlabs_file_browser(page):
    function = '''(m, {states, values, widths}) => widths.map(width => { const scene = m.sceneOf(values, states), narrow = width < 700;
        const { left, right } = m.layout({ width, height: m.picture.height(width, 14, narrow), text: 14, narrow, scene });
        return [left.right < right.words.x, left.A.y === right.A.y]; })'''
    assert evaluate(page, function, {"states": states(), "values": VALUES, "widths": [800, 840, 984, 1280]}) == [[True, True]] * 4


def test_without_a_widget_the_answer_is_not_told():
    told = two_orders().static_text()
    assert "Run this cell" in told
    assert not any(number in told for number in ("34,880", "2,176", "16 times", "times as many"))
    assert len(json.dumps(states())) < 5_000
