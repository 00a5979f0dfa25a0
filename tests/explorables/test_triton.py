"""Lesson 21's explorable: its events are what the simulator traced of Triton's loop, and nothing is told before it is played."""

import json
import re

import numpy as np
import pytest
from javascript import evaluate

from course_lib.explorables import what_triton_wrote
from course_lib.explorables.triton import BARRIER, LOAD, MULTIPLY, STAGES, TARGETS, TILES, buffers_of, events, groups, states
from course_lib.kernels.triton import PROGRAM, Setting, written
from course_lib.lessons.compiler import without_barriers
from course_lib.run.triton import multiply
from course_lib.widgets.compute import inputs

PICTURE = what_triton_wrote
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
POSITIONS = [Setting(stages, target) for target in TARGETS for stages in STAGES]
A_BYTES, ROW = 4096, 64                                  # of a tile of A, and of one of its rows
EACH = pytest.mark.parametrize("setting", POSITIONS, ids=lambda setting: setting.name)


def happened(setting):
    """Return what a warp did with A, as the simulator traced it: ("copy", place), ("load", place, half) and ("multiply",) by wgmma."""
    found, reads = [], False
    for r in multiply(*inputs(64, 64, 32 * TILES)[:2], setting, trace=[(0, 0)]).report.trace:
        first = int(r.addresses[0])
        if r.operation.startswith("wgmma.mma"):
            found.append(("multiply",))
        elif r.line != 19:
            continue
        elif r.operation.startswith("cp.async.cg"):
            if r.space == "shared" and reads:
                found.append(("copy", first // A_BYTES))
            reads = r.space == "global" and first >= 0           # a copy of zeros alone, behind the last step, reads nowhere
        elif r.operation.startswith("ldmatrix"):
            row, slot = first % A_BYTES // ROW, first % ROW // 16
            found.append(("load", first // A_BYTES, (slot ^ row // 2 % 4) // 2))
    return found


def told(setting):
    """Return the same of the picture's events, each once."""
    found = []
    for event in events(setting):
        if ordered := re.match(r"The copies of step \d+ are ordered into buffer (\d+)", event["says"]):
            found.append(("copy", int(ordered[1])))
        elif loaded := re.match(r"The (first|second) half of step (\d+) is loaded", event["says"]):
            found.append(("load", int(loaded[2]) % buffers_of(setting), int(loaded[1] == "second")))
        elif event["ptx"].startswith("wgmma × 2"):
            found.append(("multiply",))
    return found


@EACH
def test_the_events_are_what_was_traced(setting):
    traced = happened(setting)
    once = traced[::2]                                   # two copies and two loads of A, and two products, each time
    assert traced[1::2] == once
    if setting.stages > 1 and setting.arch == "sm_80":
        once = once[:len(once) - (once[-1] != told(setting)[-1])]        # the last turn loads the zeros behind the last step
    if setting.stages > 1 or setting.arch == "sm_90a":
        assert told(setting) == once


@EACH
def test_the_buffers_are_those_that_the_copies_write(setting):
    trace = multiply(*inputs(64, 64, 256)[:2], setting, trace=[(0, warp) for warp in range(4)]).report.trace
    writes = [r for r in trace if r.space == "shared" and r.line == 19 and r.operation.startswith(("cp.", "st."))]
    written_to = {int(address) for r in writes for address in np.asarray(r.addresses) if address >= 0}
    assert 16 * len(written_to) == A_BYTES * buffers_of(setting)


@EACH
def test_each_half_is_multiplied_once_and_out_of_registers_that_hold_it(setting):
    found = events(setting)
    assert found[-1]["multiplied"] == [2] * TILES
    assert found[-1]["running"] == -1
    assert found[-1]["registers"] == []
    for before, after in zip(found, found[1:]):
        assert all(old <= new for old, new in zip(before["multiplied"], after["multiplied"]))
        assert sum(after["multiplied"]) - sum(before["multiplied"]) in (0, 1, 2)
        assert len({step for step, _ in after["buffers"] if step >= 0}) == sum(step >= 0 for step, _ in after["buffers"])


def test_behind_the_loop_of_wgmma_the_last_buffer_is_free_and_no_line_is_named():
    last = events(Setting(3, "sm_90a"))[-1]
    assert (last["lines"], [3, "free"] in last["buffers"]) == ("", True)


def test_the_barriers_of_the_strip_are_those_that_can_be_taken_out():
    loop = states()["at"]["sm_80|3"]["loop"]
    places = [sum(count for _, count in loop[:i]) + 1 for i, (kind, _) in enumerate(loop) if kind == BARRIER]
    assert [f"number {n}, position {place}" for n, place in enumerate(places, 1)] == [row[0] for row in without_barriers(3).rows[1:]]


@EACH
def test_an_event_in_the_loop_lies_where_the_ptx_has_it(setting):
    order = {(first, last): kind for kind, first, last in groups(written(setting))}
    for event in events(setting):
        if event["at"] != [-1, -1]:
            kind = order[tuple(event["at"])]
            assert (kind == MULTIPLY) == event["ptx"].startswith(("mma", "wgmma ×"))
            assert (kind == LOAD) == event["ptx"].startswith("ldmatrix")


SAYS = """(m, [states, values]) => { const scene = m.sceneOf(values, states);
    const said = [...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at));
    return said.concat([m.picture.describes({ scene }, 0), scene.answer]); }"""


def test_the_words_ask_first_and_answer_last(page):
    for setting in POSITIONS:
        *said, described, answer = evaluate(page, SAYS, [states(), {"stages": setting.stages, "target": setting.arch}])
        assert said[0].endswith("Predict, then play.")
        assert said[1].endswith("Predict, then play.")
        assert answer == buffers_of(setting)
        size = written(setting).facts["shared"]
        assert said[-1].endswith(f"{answer} buffer{'s' * (answer > 1)} in shared memory. The block has {size:,} bytes of it.")
        assert not any(f"{size:,}" in text for text in [*said[:-1], described])


INSIDE = """(m, {states, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf({ stages: 4, target: "sm_90a" }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const found = m.layout({ width, height, text, narrow, scene });
    return { width, text: found.text, ok: found.key + (narrow ? 1.4 : 0) * found.text < height
        && found.panels.every(({ x, y, w, h }) => x > 0 && x + w <= width && y + h < found.strip.y) };
})"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [one for one in found if not one["ok"]] == []


def test_the_lines_that_the_picture_names_are_the_programs():
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    assert [lines[n - 1].strip()[:11] for n in (19, 20, 21)] == ["a = tl.load", "b = tl.load", "sums = tl.d"]


def test_without_a_widget_the_answer_is_not_told():
    shown = what_triton_wrote()
    assert "Run this cell" in shown.static_text()
    assert "buffer" not in shown.static_text()
    assert len(json.dumps(shown.states)) < 110_000
