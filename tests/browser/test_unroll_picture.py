"""Lesson 07's explorable in Chromium: played, stepped, and every UNROLL by mouse and keyboard; its counters against the machine code."""

import re

import pytest

from course_lib.explorables import unroll
from course_lib.explorables.unroll import FACTORS, counts, states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = unroll
NAMES = {"multiply-adds": "multiply", "shared-memory loads": "load", "the inner loop itself": "loop", "once per tile": "tile"}
ENDS = {1: "Each of the 16 iterations takes", 2: "Each of the 8 iterations takes", 4: "Each of the 4 iterations takes",
        8: "Each of the 2 iterations takes", 16: "The 16 multiply-adds of each thread take"}


def so_far(shown):
    """Return (instructions, {kind: instructions}) as a screen reader is told."""
    said = shown.described()
    found = re.search(r"So far (\d+) instructions?", said)
    return int(found[1]), {kind: int(n[1]) for name, kind in NAMES.items() if (n := re.search(rf"{name} (\d+)", said[found.end():]))}


def radio(shown, factor):
    return shown.root.get_by_role("radio", name=str(factor), exact=True)


def expected(factor, done):
    state = states()[str(factor)]
    kinds = [state["code"][n]["kind"] for n in state["order"][:done]]
    return len(kinds), {kind: kinds.count(kind) for kind in set(kinds)}


def test_every_instruction_by_key_has_the_counts_of_the_machine_code(opened):
    shown = opened(reduced_motion="reduce")
    radio(shown, 4).check(force=True)
    shown.says(r"With UNROLL = 4 .* per multiply-add of a thread\? Predict, then play")
    assert so_far(shown)[0] == 0
    order = states()["4"]["order"]
    for done in range(1, len(order) + 1):
        shown.press("ArrowRight")
        shown.when(rf"^instruction {done}$")
        assert so_far(shown) == expected(4, done)
        now = states()["4"]["code"][order[done - 1]]
        assert (f"instruction {done}, " if now["kind"] == "tile" else now["text"]) in shown.says()
    shown.press("ArrowRight")
    shown.when("^sorted by kind$")
    shown.says(ENDS[4])


def test_at_the_beginning_nothing_tells_the_answer(opened):
    shown = opened()
    assert any(text["words"].startswith("FFMA") for text in shown.written()), "the machine code stands there from the beginning"
    assert not any(word in shown.told() for word in ("instructions per multiply-add", "159", "9.94", " 8 "))


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    radio(shown, 16).check(force=True)
    shown.prediction().fill("3.75")
    shown.button("Play").click()
    shown.says("No inner loop is left, line 34")
    shown.button("Pause").click()
    stopped = shown.when("instruction")
    shown.page.wait_for_timeout(300)
    assert shown.when("instruction") == stopped
    shown.button("Play").click()
    shown.says(ENDS[16] + r".* You said 3\.75: right\.")


def test_the_key_b_goes_from_iteration_to_iteration(opened):
    shown = opened(reduced_motion="reduce")
    inner = states()["1"]["inner"]
    for iteration in (0, 1, 2):
        shown.press("b")
        shown.when(rf"^instruction {inner[0] + 8 * iteration}$")
        shown.press("ArrowRight")
        shown.says(rf"^Iteration {iteration + 1} of 16, line 34: LDS")


def test_every_unroll_by_keyboard_asks_for_the_instructions_and_then_shows_them(opened):
    shown, rolled = opened(), counts(states()["1"])
    shown.press("End")
    shown.says(ENDS[1])
    for factor in FACTORS[1:]:
        radio(shown, FACTORS[FACTORS.index(factor) - 1]).focus()
        shown.page.keyboard.press("ArrowRight")
        shown.says(r"How many instructions per multiply-add of a thread will be left\? Predict, then play\.")
        assert radio(shown, factor).is_checked()
        assert so_far(shown) == (rolled.total(), dict(rolled)), "still the boxes of UNROLL = 1"
        now = counts(states()[str(factor)])
        shown.prediction().fill(str(now.total() / 16))
        shown.prediction().press("Space")
        shown.says(ENDS[factor] + r".*: right\.")
        assert so_far(shown) == (now.total(), dict(now))
        assert 0 < int(shown.scrub.input_value()) < 60, "the slider stands near its beginning: the machine code can still be played"
        shown.rested()
        assert "with UNROLL = 1: 9.94" in " ".join(text["words"] for text in shown.written())


def test_pointing_at_a_line_tells_what_became_of_it(opened):
    shown = opened()
    shown.press("End")
    shown.says(ENDS[1])
    place = shown.where("""({ layout }, view) => { const { source, line } = layout(view);
        const row = view.scene.state.source.findIndex(l => l.number === 33); return [source.x + 60, source.y + (row + 0.5) * line]; }""")
    shown.page.mouse.move(*shown.at(*place))
    shown.page.get_by_text("line 33: 80 instructions executed so far").wait_for()
    place = shown.where("""({ layout, topRow }, view) => {
        const { code, line } = layout(view), top = topRow(view.scene, view.scene.many + 1, code.rows);
        const n = view.scene.rowOf[view.scene.state.code.findIndex(i => i.kind === "multiply")];
        return [code.x + 60, code.y + (n - top + 0.5) * line]; }""")
    shown.page.mouse.move(*shown.at(*place))
    shown.page.get_by_text(re.compile(r"FFMA .*: executed 16 times so far")).wait_for()
    place = shown.where("({ layout }, view) => { const { code, line } = layout(view); return [code.x + 60, code.y + 0.5 * line]; }")
    shown.page.mouse.move(*shown.at(*place))
    shown.page.get_by_text("27 instructions so far, once per tile").wait_for()


def test_where_the_code_is_cut_off_it_says_so(opened):
    shown = opened()
    radio(shown, 16).check(force=True)
    shown.press("End")
    shown.says(ENDS[16])
    assert any("more rows" in text["words"] for text in shown.written())


def test_whoever_leaves_the_full_screen_by_f_goes_on_with_the_picture(opened):
    shown = opened()
    shown.press("f")
    shown.page.locator(".wbw-projector").wait_for()
    shown.page.keyboard.press("f")
    shown.page.locator(".wbw:not(.wbw-projector)").wait_for()
    shown.page.keyboard.press("End")
    shown.says(ENDS[1])
    shown.page.keyboard.press("ArrowLeft")
    shown.when(r"^instruction 159$")
