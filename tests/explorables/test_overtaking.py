"""Lesson 04's second explorable: what every warp does is what the simulator traced, and the spoilt sums are the wrong elements of C."""

import json
from pathlib import Path

import numpy as np
import pytest
from javascript import evaluate

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.explorables import overtaking
from course_lib.explorables.overtaking import BARRIER, WARPS, T, courses_own, matrices, states_of, traced
from course_lib.magic import from_cell

PICTURE = overtaking
KEYS = ("there", "out")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def lessons_kernel():
    cells = json.loads((Path(__file__).resolve().parents[2] / "notebooks" / "04_tiling.ipynb").read_text(encoding="utf-8"))["cells"]
    return from_cell("".join(next(cell["source"] for cell in cells if cell["id"] == "mine")))[1]


@pytest.fixture(scope="module", params=["course", "lesson"])
def states(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        if request.param == "course":
            return courses_own()
        text = lessons_kernel()
        before, _, after = text.rpartition(BARRIER)
        return states_of(text, before + after, bx=T, by=T)


def test_the_sums_that_read_a_later_tile_are_the_wrong_elements_of_c(states):
    for key in KEYS:
        spoilt = {element for step in states[key]["steps"] for element in step.get("spoilt", ())}
        assert sorted(spoilt) == states[key]["wrong"], key
    assert states["there"]["wrong"] == []
    assert states["out"]["wrong"] == list(range(32, 256)), "warp 0 alone is right"


def test_the_answers_are_the_simulators():
    text = kernels.get("sgemm_tiled").source
    before, _, after = text.rpartition(BARRIER)
    A, B = (np.asarray(matrix, dtype=np.float64) for matrix in matrices())
    for key, kernel in zip(KEYS, (text, before + after), strict=True):
        C = traced(kernel, BM=T, BN=T, BK=T).C
        far = np.flatnonzero(np.abs(C - A @ B) > 1e-3)
        assert far.tolist() == courses_own()[key]["wrong"]


def test_with_both_barriers_all_warps_have_done_the_same_at_each_of_them(states):
    kinds = [(step["kind"], step["warp"], step["tile"]) for step in states["there"]["steps"]]
    turn = [[(kind, warp, tile) for warp in range(WARPS)] for tile in (0, 1) for kind in ("fill", "multiply")]
    bars = [[("barrier", -1, number)] for number in range(4)]
    assert kinds == sum((t + b for t, b in zip(turn, bars, strict=True)), []) + [("store", warp, 1) for warp in range(WARPS)]


def test_without_the_second_barrier_each_warp_overwrites_what_the_next_still_needs(states):
    middle = states["out"]["steps"][WARPS + 1:3 * WARPS + 1]
    assert [(step["kind"], step["warp"], step["tile"]) for step in middle] == [
        (kind, warp, tile) for warp in range(WARPS) for kind, tile in (("multiply", 0), ("fill", 1))]
    early = [sum(map(len, step["early"].values())) for step in middle if step["kind"] == "multiply"]
    assert early == [32 * warp for warp in range(WARPS)]
    assert [step["kind"] for step in states["out"]["steps"]].count("barrier") == 2


STATE = """(m, {states, key, ats}) => { const scene = m.sceneOf({ barrier: key }, states);
    return ats.map(at => { const { held, spoilt } = m.stateAt(scene.all, at);
        return [Object.values(held).map(words => [...words.values()].reduce((sum, tile) => sum + tile, 0)), [...spoilt].length]; }); }"""


def test_what_is_drawn_between_the_steps_is_what_was_stored_by_then(page, states):
    steps = states["out"]["steps"]
    found = evaluate(page, STATE, {"states": states, "key": "out", "ats": list(range(len(steps) + 1))})
    second, spoilt = 0, 0
    for step, (held, wrong) in zip([{}, *steps], found, strict=True):
        second += 32 * (step.get("kind") == "fill" and step["tile"] == 1)
        spoilt += len(step.get("spoilt", ()))
        assert held == [second, second], "words of the second tiles, in As and in Bs"
        assert wrong == spoilt


SAYS = """(m, {states, key}) => { const scene = m.sceneOf({ barrier: key }, states);
    return [scene.answer, ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene, at }))]; }"""


def test_the_words_ask_first_and_answer_last(page, states):
    for key, answer, last in (("there", 0, "C is stored, and none of its 256 elements are wrong."),
                              ("out", 224, "C is stored, and 224 of its 256 elements are wrong.")):
        wrong, first, *said = evaluate(page, SAYS, {"states": states, "key": key})
        assert wrong == answer
        assert first.startswith("The eight warps of one block: the simulator lets warp 0 go on until a barrier stops it, then warp 1")
        assert first.endswith("Predict, then play.")
        assert "224" not in first
        assert said[-1].startswith(last)
        bars = [words.partition(":")[0] for words in said if "barrier, round" in words]
        assert bars == [f"The {name} barrier, round {n}" for n in (1, 2) for name in ("first", "second")[:1 + (key == "there")]]
    assert "Warp 1 multiplies the first tiles, but 32 elements that it reads are of the next ones already: 32 sums of C are wrong." in said


def test_the_warps_come_one_after_another_from_warp_0_on(states):
    for key in KEYS:
        steps = [step for step in states[key]["steps"] if step["kind"] == "multiply" and step["tile"] == 0]
        assert [step["warp"] for step in steps] == list(range(WARPS)), key


def test_each_warps_rows_are_outlined_from_the_beginning(page, states):
    function = "(m, {states}) => m.sceneOf({ barrier: 'out' }, states).bands"
    own = [[2 * warp, 2 * warp + 1] for warp in range(WARPS)]
    assert evaluate(page, function, {"states": states}) == {"As": own, "Bs": own, "C": own}
    down = {**states, "out": {**states["out"], "steps": [
        {**step, "writes": {"As": list(range(step["warp"], 256, 8)), "Bs": step["writes"]["Bs"]}} if step["kind"] == "fill" else step
        for step in states["out"]["steps"]]}}
    assert evaluate(page, function, {"states": down})["As"] == [None] * WARPS, "columns, not rows"


def test_what_is_shown_instead_is_said_first(page):
    said = evaluate(page, SAYS, {"states": courses_own() | {"instead": "Not yours."}, "key": "out"})
    assert said[1].startswith("Not yours. The eight warps of one block")


def test_a_kernel_without_two_tiles_is_refused():
    text = kernels.get("sgemm_naive").source
    with pytest.raises(CourseError, match="two shared tiles"):
        states_of(text, text, bx=T, by=T)


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in overtaking().static_text()
    assert "224" not in overtaking().static_text()
