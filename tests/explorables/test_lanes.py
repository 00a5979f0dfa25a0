"""Lesson 15's picture of lanes: each wavefront is the counter's and the model's, each piece what the lane stores."""

import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib.explorables.lanes import BLOCK, DEPTH, PLACEMENTS, lanes, pieces, states, traced
from course_lib.model import shared_wavefronts
from course_lib.run.traces import array_of, elements, requests

PICTURE = lanes
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
EVERY = pytest.mark.parametrize("name", PLACEMENTS)
NEEDED = {"wide": 20, "plain": 12, "fed": 8}
ORDER = ("a4[0]", "a4[1]", "b4[0]", "b4[1]")


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@EVERY
def test_the_wavefronts_are_those_of_the_counter(name):
    found, result = states()["at"][name], traced(name)
    waves = sum(len(load["waves"]) for load in found["loads"])
    assert waves == NEEDED[name] == result.count("wavefronts", "load") / (BLOCK * BLOCK // (64 * 32) * DEPTH)
    assert tuple(load["name"] for load in found["loads"]) == ORDER


@EVERY
def test_a_wavefront_brings_each_of_its_lanes_four_words_of_different_banks(name):
    found = states()["at"][name]
    for number, load in enumerate(found["loads"]):
        assert sorted(lane for wave in load["waves"] for lane in wave["lanes"]) == list(range(32)), "each lane once"
        for wave in load["waves"]:
            assert len({(word + load["bank"]) % 32 for word in wave["words"]}) == len(wave["words"]) <= 32
            wanted = set()
            for lane in wave["lanes"]:
                tops = sorted({piece[load["side"] == "column"] for piece in found["pieces"][lane]})
                first = tops[number % 2] if len(tops) > 1 else tops[0] + 4 * (number % 2)
                wanted |= set(range(first, first + 4))
            assert wanted == set(wave["words"]), (load["name"], wave["lanes"])


@EVERY
def test_the_loads_are_those_of_the_first_k(name):
    result = traced(name)
    for array, row in (("As", BLOCK + 4), ("Bs", BLOCK)):
        every = requests(result, array=array, load=True, space="shared", warp=0)
        assert len(every) == 2 * DEPTH
        base = min(int(request.addresses.min()) for request in every)
        assert all(int(request.addresses.max()) + 16 - base <= 4 * row for request in every[:2])
        for load, request in zip([load for load in states()["at"][name]["loads"] if load["array"] == array], every, strict=False):
            assert len(load["waves"]) == shared_wavefronts(request.addresses, width=16)


@EVERY
def test_the_pieces_are_what_the_lanes_store(name):
    result = traced(name)
    C = array_of(result, "C")
    stored = {(int(lane), *divmod(int(element), result.ldc)) for request in requests(result, array="C", load=False, warp=0)
              for lane, element in elements(request, C.address, C.itemsize)}
    drawn = {(lane, top + i, left + j) for lane, mine in enumerate(pieces(result)) for top, left, high, wide in mine
             for i in range(high) for j in range(wide)}
    assert drawn == stored
    assert len(drawn) == 2048
    assert np.prod([states()["at"][name][side] for side in ("rows", "columns")]) == 2048


def test_one_piece_is_the_placement_of_sgemm_vectorized():
    assert pieces(traced("sgemm_vectorized")) == states()["at"]["wide"]["pieces"]
    assert traced("sgemm_vectorized").count("wavefronts", "load") == traced("wide").count("wavefronts", "load")


def test_lanes_in_squares_share_rows_and_columns_and_lanes_in_rows_do_not():
    for name, squares in (("fed", True), ("plain", False)):
        first = [mine[0][:2] for mine in states()["at"][name]["pieces"]]
        assert all(first[lane][0] == first[lane ^ 1][0] for lane in range(32))
        assert all(first[lane][1] == first[lane ^ 2][1] for lane in range(32)) is squares
    first = states()["at"]["fed"]["pieces"]
    assert [[start // 4 for start in first[lane][0][:2]] for lane in (5, 18)] == [[2, 1], [1, 2]], "the lesson's two examples"


def test_each_box_stands_over_the_lanes_of_its_wavefront(page):
    waves = [wave["lanes"] for name in PLACEMENTS for load in states()["at"][name]["loads"] for wave in load["waves"]]
    for lanes_of, found in zip(waves, evaluate(page, "(m, waves) => waves.map(m.runs)", waves), strict=True):
        assert [lane for first, many in found for lane in range(first, first + many)] == lanes_of
    assert evaluate(page, "(m, lanes) => m.runs(lanes)", [0, 1, 4, 6, 7]) == [[0, 2], [4, 1], [6, 2]]


SAYS = """(m, {states, placement}) => { const scene = m.sceneOf({ placement }, states);
    return [scene.answer, m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


@EVERY
def test_the_words_ask_first_and_answer_last(page, name):
    answer, described, asked, *said = evaluate(page, SAYS, {"states": states(), "placement": name})
    assert answer == len(said) == NEEDED[name]
    assert "Predict, then play." in asked
    assert f"{answer} wavefronts" not in asked + described
    played = [(load, n, wave) for load in states()["at"][name]["loads"] for n, wave in enumerate(load["waves"], 1)]
    for words, (load, n, wave) in zip(said, played, strict=True):
        assert words.startswith(f"{load['name']}, wavefront {n}: {len(wave['words'])} words of {load['array']} for lane")
    verdict = "cannot keep up" if answer > 16 else "can keep up"
    assert f"In all {answer} wavefronts for 4 loads. Four warps need {4 * answer} cycles of shared memory" in said[-1]
    assert said[-1].endswith(f"shared memory {verdict}.")


WORDS = """(m, {states, placement}) => { const scene = m.sceneOf({ placement }, states);
    return [...Array(scene.steps + 1).keys()].map(done => scene.loads.map((_, i) => {
        const { before, now } = m.words(scene, i, done); return [before.size, now.size]; })); }"""


@EVERY
def test_words_that_have_come_stay_and_those_of_a_wavefront_stand_out(page, name):
    found = evaluate(page, WORDS, {"states": states(), "placement": name})
    assert found[0] == [[0, 0]] * 4
    assert [before for before, _ in found[-1]] == [len({word for wave in load["waves"] for word in wave["words"]})
                                                   for load in states()["at"][name]["loads"]]
    assert all(sum(now > 0 for _, now in step) == 1 for step in found[1:]), "one load at a time"


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => states.placements.map(([placement]) => {
    const narrow = width < 700, scene = m.sceneOf({ placement }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { tile, panel, loads, banks, bottom, text: size } = m.layout({ width, height, text, narrow, scene });
    return { width, placement, unit: Math.min(tile.unit.x, tile.unit.y),
        ok: tile.x > 0 && tile.x + tile.w <= (narrow ? width : panel.x) + 0.01
        && tile.y + tile.h <= (narrow ? panel.y : height) + 0.01 && bottom <= height + 0.01 && panel.w > 20 * size
        && loads.w > 15 * size && loads.x + loads.w <= width && loads.y + 4 * loads.row < banks.y - 1.2 * size
        && banks.w > 15 * size }; }))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["unit"] for p in found) > 2, "pixels of an element"


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in lanes().static_text()
    assert not any(f"{many} wavefronts" in lanes().static_text() for many in NEEDED.values())
    assert len(json.dumps(states())) < 15_000
