"""Lesson 08's explorable: every letter of every position is the model's, and what JavaScript counts is what the model counts."""

import json

import pytest
from javascript import evaluate

from course_lib.explorables import warp_timelines
from course_lib.explorables.warps import CYCLES, SIDES, START, alone, fits, one_k, registers, states, tile_of
from course_lib.model.rounds import rounds
from course_lib.run import footprint

PICTURE = warp_timelines
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
VALUES = {"left": 1, "right": 8}


def test_every_position_is_the_models():
    for side in SIDES:
        seen = rounds(fits(side), 2 * side, side * side, start=START, cycles=CYCLES)
        assert states()["at"][str(side)] == {"warps": list(seen.warps), "shared": seen.shared, "registers": registers(side)}
    assert len(json.dumps(states(), separators=(",", ":"))) < 10_000


def test_as_many_warps_fit_as_the_compiled_kernel_leaves_registers_for():
    for side in SIDES:
        taken = footprint("sgemm_2d_tile", **tile_of(side)).occupancy
        assert len(states()["at"][str(side)]["warps"]) == taken.warps // 4
        assert side == 1 or taken.limiter == "registers"
    assert [fits(side) for side in SIDES] == [16, 12, 8, 4]
    for side in SIDES[1:]:
        block = 256 * registers(side)                                # of 16 × 16 threads
        assert states()["registers"] // block * 2 == fits(side), "as many blocks of two warps per scheduler as there are registers for"


def test_nothing_is_left_of_the_beginnings_queue():
    for side in SIDES:
        seen, later = (rounds(fits(side), 2 * side, side * side, start=start, cycles=CYCLES) for start in (START, 4 * START))
        busy, long = (CYCLES - some.shared.count(".") for some in (seen, later))
        assert busy == long == 4 * 2 / side * seen.multiply_adds, "as many loads as the multiply-adds need"


COUNTED = """(m, {states, sides, ats}) => sides.map(side => {
    const scene = m.sceneOf({ left: side, right: side }, states);
    return ats.map(at => m.counted(scene.sides.left.seen, at));
})"""


def test_the_counters_of_every_cycle_are_the_models(page):
    ats = list(range(0, CYCLES + 1, 16))
    found = evaluate(page, COUNTED, {"states": states(), "sides": SIDES, "ats": ats})
    for side, frames in zip(SIDES, found, strict=True):
        seen = rounds(fits(side), 2 * side, side * side, start=START, cycles=CYCLES)
        for at, frame in zip(ats, frames, strict=True):
            assert frame["adds"] == sum(line[:at].count("M") for line in seen.warps), (side, at)
            assert frame["loads"] == sum(line[:at].count("L") for line in seen.warps)
            assert frame["busy"] == at - seen.shared[:at].count(".")
        assert frames[-1]["adds"] == seen.multiply_adds


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    const said = [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, values, at }, at));
    return [scene.answer, ...said, m.describes({ scene, values, at: 0 }, 0)]; }"""


def test_the_words_ask_first_and_answer_last(page):
    answer, *said, described = evaluate(page, SAYS, {"states": states(), "values": VALUES})
    assert answer == 20
    assert said[0].endswith("Predict, then play.")
    assert not any(number in said[0] + described for number in ("20", "128"))
    assert "For each k a warp on the left issues 2 loads and 1 multiply-add. On the right it issues 16 and 64." in said[0]
    assert "Shared memory serves one load per cycle, for all four schedulers." in said[0]
    assert "Left: 16 of the 64 warps, 1 output per thread. Right: 4 of the 16 warps, 64 outputs per thread." in described
    assert "when the warps have long been at work" in described
    assert all(words.startswith(f"After {n} cycle") for n, words in enumerate(said[1:-1], 1))
    assert said[-1].startswith("In 160 cycles the left scheduler started 20 multiply-adds and the right one 128.")
    assert said[-1].endswith("busy for 160 cycles on the left and for 128 on the right.")
    assert "waits 23 cycles for the last word" in described


KEEPS = """(m, {states, values, others}) => { const before = m.sceneOf(values, states);
    return others.map(other => m.sceneOf({ ...values, ...other }, states).keeps(before)); }"""


def test_a_prediction_is_for_the_left_side_as_it_was(page):
    others = [{"right": 1}, {"left": 2}]
    assert evaluate(page, KEEPS, {"states": states(), "values": VALUES, "others": others}) == [True, False]


INSIDE = """(m, {states, values, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene }), { left, right } = where;
    const inside = p => p.rows.x >= 0 && p.rows.x + p.rows.w <= width + 0.01 && p.bottom <= height + 0.01 &&
        p.adds.y >= 0 && p.adds.y < p.shared.y && p.shared.y < p.rows.y;
    return { width, height, cell: left.cell, slot: left.slot, gap: narrow ? right.y - left.bottom : right.x - (left.rows.x + left.rows.w),
        ok: [left, right].every(inside) };
})"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "values": VALUES, "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["gap"] for p in found) > 0
    assert min(p["cell"] for p in found) > 1.4, "pixels of a cycle"
    assert min(p["slot"] for p in found) > 9, "pixels of a warp"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 160                         # the words, the player and the controls, in pixels, seen in Chromium
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600


def test_the_picture_without_a_widget_is_one_k():
    for side in SIDES:
        seen = rounds(1, 2 * side, side * side, start=START, cycles=6400)
        assert seen.multiply_adds / seen.cycles == pytest.approx(side * side / alone(side)[2], rel=0.01)
    bars = [patch for patch in one_k().patches if patch.get_width()]
    assert [bar.get_x() + bar.get_width() for bar in bars] == [2, 24, 25, 16, 38, 102]
    assert "102 cycles in all" in warp_timelines().static_html()


def test_without_a_widget_the_answer_is_not_told():
    shown = warp_timelines()
    assert "Run this cell" in shown.static_text()
    assert not any(word in shown.static_text() for word in ("20", "128", "faster", "busy"))
