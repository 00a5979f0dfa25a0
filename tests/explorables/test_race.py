"""Lesson 00's explorable: every counter at every moment follows from the recorded times."""

import json
import math

import pytest
from javascript import evaluate

from course_lib import data
from course_lib.explorables.race import LIBRARY, NAMES, RIVALS, N, race, states

PICTURE = race
MS = {kernel: 1e3 * data.load("ladder").find(kernel, N)[0].median_s for kernel in NAMES}
PLACES = [{"show": show, "rival": rival, "pace": pace} for show in ("two", "all") for rival in range(len(RIVALS)) for pace in (400, 1)]
SLOWED = {"show": "two", "rival": RIVALS.index("sgemm_naive"), "pace": 400}
WIDTHS = ((360, 12), (390, 12), (410, 12), (560, 14), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))


def test_the_lanes_are_the_ladder_with_the_library_last():
    lanes = states()["lanes"]
    assert [lane["kernel"] for lane in lanes] == [r.kernel for r in data.load("ladder").find(N=N)], "none is left out"
    assert lanes[-1]["kernel"] == LIBRARY
    assert {lane["kernel"]: lane["ms"] for lane in lanes} == MS
    assert len(json.dumps(states())) < 3_000


PLAYED = """(m, {states, places}) => places.map(values => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => { const ms = m.clock(scene, at);
        return { ms, lanes: scene.lanes.map(lane => ({ kernel: lane.kernel, ...m.done(lane, ms) })) }; }); })"""


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


def test_squares_fill_in_proportion_to_the_time(page):
    found = evaluate(page, "(m, {side, parts}) => parts.map(part => m.filled(part, side))", {"side": 32, "parts": [0, 0.25, 0.5, 1]})
    assert found == [0, 256, 512, 1024]


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(at => [m.says({ scene, values, at }), m.describes({ scene, values, at })]); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"states": states(), "values": SLOWED})
    assert said[0][0].endswith("while the naive kernel makes its first? Predict, then play.")
    assert said[0][1].endswith("Products finished: naive 0, cuBLAS 0.")
    assert not any(digit in said[0][0] for digit in "123456789")
    assert said[12][0] == "12 ms: the naive kernel has finished 0 products, cuBLAS 4."
    assert said[-1][0] == ("After 25.4 ms the naive kernel has finished its first product. cuBLAS has finished nine, "
                           "and is at work on its next.")
    second = evaluate(page, SAYS, {"states": states(), "values": SLOWED | {"pace": 1}})
    assert "371" not in second[0][0]
    assert "Each small cell is now one whole product." in second[0][0]
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
    assert "recorded on NVIDIA H200" in told
    assert not any(number in told for number in ("25.4", "2.7", "371", "nine", "times faster"))


def test_another_kernel_can_begin():
    assert race("tiled").values["rival"] == RIVALS.index("sgemm_tiled")
