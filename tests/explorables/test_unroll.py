"""Lesson 07's explorable: what the warp executes, in which order, against the machine code, the simulator and the whole step."""

import json
from collections import Counter

import pytest
from javascript import evaluate

from course_lib import kernels
from course_lib.explorables import unroll
from course_lib.explorables.unroll import FACTORS, KERNEL, KINDS, TILE, counts, states
from course_lib.grading.judge.machine_code import counts_of
from course_lib.run import run
from course_lib.toolchain import compile_cuda, executed, sass, whole_step
from course_lib.widgets.compute import inputs

PICTURE = unroll
WIDTHS = ((360, 12), (390, 12), (640, 14), (700, 14), (768, 14), (800, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
EACH = pytest.mark.parametrize("factor", FACTORS)
WARPS = TILE * TILE // 32


def state(factor):
    return states()[str(factor)]


@pytest.mark.slow
@EACH
def test_the_kinds_are_the_shares_of_the_whole_step(factor):
    found, shares = counts(state(factor)), whole_step(KERNEL, TILE=TILE, UNROLL=factor).shares()
    assert [found[kind] / TILE for kind in KINDS] == list(shares.values())


@EACH
def test_a_tile_more_is_what_the_simulator_and_the_machine_code_execute_more(factor):
    """One step along K, from two launches that differ by one step: counters of the simulator, spread over the machine code."""
    kernel = kernels.get(KERNEL)
    defines = kernel.defines(TILE=TILE, UNROLL=factor)
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch="sm_90", defines=defines), kernel.entry)
    times = []
    for steps in (2, 3):
        A, B, _ = inputs(TILE, TILE, steps * TILE)
        times.append(executed(code, counts_of(run(KERNEL, A, B, backend="sim", TILE=TILE, UNROLL=factor))))
    more, shown = Counter(), Counter(state(factor)["code"][n]["text"] for n in state(factor)["order"])
    for i in code:
        more[i.text.replace(".reuse", "")] += (times[1].times[i.offset] - times[0].times[i.offset]) / WARPS
    assert times[0].met
    assert times[1].met
    assert +more == shown


@EACH
def test_the_order_is_straight_but_for_the_loop(factor):
    now = state(factor)
    order, inner = now["order"], now["inner"]
    assert (inner is None) == (factor == TILE)
    steps = [b - a for a, b in zip(order, order[1:], strict=False)]
    back = [step for step in steps if step != 1]
    assert back == ([inner[0] - inner[1]] * (TILE // factor - 1) if inner else [])
    assert (order[0], order[-1]) == (0, len(now["code"]) - 1)
    assert len(json.dumps(states(), separators=(",", ":"))) < 60_000


@EACH
def test_each_line_of_code_comes_from_a_line_that_is_shown(factor):
    shown = {line["number"]: line["text"] for line in state(factor)["source"]}
    assert all(len(line["text"]) <= 38 and "…" not in line["text"] for line in state(factor)["source"])
    assert shown[32] == f"#pragma unroll {factor}"
    assert {i["line"] for i in state(factor)["code"]} <= set(shown)
    assert {i["line"] for i in state(factor)["code"] if i["kind"] in ("multiply", "load")} == {34}
    assert {i["line"] for i in state(factor)["code"] if i["kind"] == "loop"} <= {33}


EXECUTED = """(m, {states, unroll}) => { const scene = m.sceneOf({ unroll }, states);
    return [...Array(scene.steps + 1).keys()].map(at => m.executed(scene, at)); }"""


@EACH
def test_the_counters_of_every_step_are_those_of_the_order(page, factor):
    frames, now, times = evaluate(page, EXECUTED, {"states": states(), "unroll": factor}), state(factor), None
    for at, frame in enumerate(frames):
        done = now["order"][:at]
        times = [done.count(n) for n in range(len(now["code"]))]
        assert frame["done"] == len(done) == min(at, len(now["order"]))
        assert frame["times"] == times
        kinds = [now["code"][n]["kind"] for n in done]
        assert [frame["kinds"][kind] for kind in KINDS] == [kinds.count(kind) for kind in KINDS]
    assert sum(times) == len(now["order"])


PLACES = """(m, {states, unroll}) => { const scene = m.sceneOf({ unroll }, states);
    return [scene.place, scene.kinds, scene.answer, scene.marks]; }"""


@EACH
def test_in_the_end_the_boxes_lie_sorted_by_kind(page, factor):
    place, kinds, answer, marks = evaluate(page, PLACES, {"states": states(), "unroll": factor})
    assert sorted(place) == list(range(len(kinds)))
    lying = [kind for _, kind in sorted(zip(place, kinds, strict=True))]
    assert lying == sorted(lying, key=KINDS.index)
    inner, times = state(factor)["inner"], TILE // factor
    loop = inner[1] - inner[0] + 1 if inner else sum(kind != "tile" for kind in kinds)
    assert answer == len(kinds) / TILE, "instructions per multiply-add"
    first = inner[0] if inner else next(n for n, kind in enumerate(kinds) if kind != "tile")
    assert [mark["step"] for mark in marks] == [first + i * loop for i in range(times)]


SAYS = """(m, {states, unroll}) => { const scene = m.sceneOf({ unroll }, states);
    return [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, at })); }"""


@EACH
def test_the_words_ask_first_and_answer_last(page, factor):
    said, now = evaluate(page, SAYS, {"states": states(), "unroll": factor}), state(factor)
    asked = "does it execute per multiply-add of a thread?" if factor == 1 else "How many instructions per multiply-add of a thread?"
    assert asked in said[0]
    assert said[0].endswith("Predict, then play.")
    total, loop = len(now["order"]), sum(now["code"][n]["kind"] != "tile" for n in now["order"]) * factor // TILE
    assert not any(f" {number} " in said[0] for number in {total, loop} - {factor})
    for j, n in enumerate(now["order"], start=1):
        once = now["code"][n]["kind"] == "tile"
        assert f"instruction {j}, {'before' if j < total / 2 else 'after'}" in said[j] if once else f"{now['code'][n]['text']} " in said[j]
        assert f"line {now['code'][n]['line']}:" in said[j]
        assert said[j].startswith("Once per tile") == once
    assert f"{loop} instructions" in said[-1]
    assert f"executed {total} instructions for 16 multiply-adds of each thread: {round(total / TILE + 1e-9, 2):g} per" in said[-1]
    assert (said[-1].startswith("The 16 multiply-adds of each thread take")) == (factor == TILE)


COMPARED = """(m, {states, unroll}) => { const rolled = m.sceneOf({ unroll: 1 }, states), plain = m.sceneOf({ unroll }, states);
    const scene = m.sceneOf({ unroll }, states, rolled, rolled.steps), view = at => ({ scene, at });
    const steps = [...Array(scene.steps - 1).keys()];
    const back = m.sceneOf({ unroll: 1 }, states, scene, 2), early = m.sceneOf({ unroll }, states, rolled, 5);
    const again = at => m.sceneOf({ unroll: unroll === 16 ? 2 : 2 * unroll }, states, scene, at);
    return { asks: scene.asks, begin: scene.begin, steps: scene.steps, pauses: scene.pauses, told: scene.told, ends: m.endsOf(scene),
        marks: [scene.marks, plain.marks].map(marks => marks.map(mark => mark.step)), moves: [0, 1, 2].map(at => again(at).moves),
        said: [0, 1, 2].map(i => m.says(view(i))), asked: [0, 2, 3, scene.steps].map(at => again(at).asks),
        code: steps.slice(1).map(at => [m.says(view(2 + at)), m.says({ scene: plain, at })]),
        back: [back.asks, back.begin, back.steps], early: [early.asks, early.begin] }; }"""


@pytest.mark.parametrize("factor", FACTORS[1:])
def test_after_sorting_another_unroll_asks_before_it_shows(page, factor):
    found, now, rolled = evaluate(page, COMPARED, {"states": states(), "unroll": factor}), counts(state(factor)), counts(state(1))
    many, whole = now.total(), rolled.total()
    assert [found[name] for name in ("asks", "begin", "pauses", "told", "steps")] == [True, 0, [2], 2, many + 3]
    assert found["back"] == [False, whole + 1, whole + 1]
    assert found["early"] == [False, 0]
    question, faded, answer = found["said"]
    assert question.startswith("These are the boxes of UNROLL = 1.")
    assert question.endswith("How many instructions per multiply-add of a thread will be left? Predict, then play.")
    assert f"has faded: {whole - many} instructions of {whole}" in faded
    assert f"executed {many} instructions for 16 multiply-adds of each thread" in answer
    assert answer.endswith("Press Play once more to watch the warp execute this machine code.")
    assert sorted(found["ends"]) == list(range(whole)), "each box of UNROLL = 1 is kept or lies faded on top"
    kinds = [kind for kind in KINDS for _ in range(rolled[kind])]
    assert Counter(kind for kind, end in zip(kinds, found["ends"], strict=True) if end < many) == now


@pytest.mark.parametrize("factor", FACTORS[1:])
def test_after_the_comparison_its_machine_code_is_played_from_the_beginning(page, factor):
    found = evaluate(page, COMPARED, {"states": states(), "unroll": factor})
    assert len(found["code"]) == counts(state(factor)).total() + 1
    assert all(later == alone for later, alone in found["code"])
    assert found["marks"][0] == [step + 2 for step in found["marks"][1]]
    assert found["asked"] == [True, True, False, True], "in the midst of the machine code another UNROLL begins anew"
    assert found["moves"] == [False, False, True], "whoever changes the question does not see its answer"


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => Object.keys(states).flatMap(key => {
    const scene = m.sceneOf({ unroll: Number(key) }, states), narrow = width < 700;
    const height = text > 20 ? (width > 1500 ? 880 : 450) : m.picture.height(width, text, narrow);
    const { pile, code, source, legend, line, mode, text: small } = m.layout({ width, height, text, narrow, scene });
    const ends = [pile.x + pile.w <= width + 0.5, pile.bottom <= height, pile.bottom - pile.h >= pile.y - 0.5,
        code.x + code.w <= width + 0.5,
        code.y + code.rows * line <= height + 0.5, source.y + source.rows * line <= height, legend.y + 3 * 1.45 * small <= height];
    return [{ width, key, mode, ok: ends.every(Boolean), ends, cell: pile.cell, small }];
}))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [box for box in found if not box["ok"]] == []
    assert min(box["cell"] for box in found) > 10, "pixels of a box"
    assert {box["mode"] for box in found} == {"wide", "middle", "narrow"}


ROWS = """(m, {states, unroll}) => { const { codeRows, rowOf } = m.sceneOf({ unroll }, states); return [codeRows, rowOf]; }"""


@EACH
def test_what_comes_once_per_tile_stands_in_two_rows(page, factor):
    rows, row_of = evaluate(page, ROWS, {"states": states(), "unroll": factor})
    code = state(factor)["code"]
    assert [n for row in rows for n in row["members"]] == list(range(len(code)))
    assert [place for place, row in enumerate(rows) for _ in row["members"]] == row_of
    assert [row["folded"] for row in rows] == [True, *[False] * (len(rows) - 2), True]
    for row in rows:
        assert {code[n]["kind"] == "tile" for n in row["members"]} == {row["folded"]}
        assert row["folded"] or all(code[n]["purpose"] for n in row["members"]), "each instruction that is shown has its purpose"


TOPS = """(m, {states, unroll, rows}) => { const scene = m.sceneOf({ unroll }, states);
    return [[...Array(scene.many).keys()].map(j => m.topRow(scene, j + 1, rows)), scene.rowOf]; }"""


@EACH
def test_the_row_that_is_executed_is_in_sight_and_a_short_loop_stands_still(page, factor):
    rows, now = 17, state(factor)
    tops, row_of = evaluate(page, TOPS, {"states": states(), "unroll": factor, "rows": rows})
    for index, top in zip(now["order"], tops, strict=True):
        assert top <= row_of[index] < top + rows
    if factor in (1, 2, 4):
        first = now["order"].index(now["inner"][1])
        assert len(set(tops[first:first + now["order"].count(now["inner"][1])])) == 1


def test_without_a_widget_the_answer_is_not_told():
    shown = unroll()
    assert "Run this cell" in shown.static_text()
    assert not any(letter.isdigit() for letter in shown.static_text())
