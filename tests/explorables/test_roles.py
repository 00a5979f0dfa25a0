"""Lesson 18's explorable: what it shows is the order of the simulator's trace, and in that order no stage is used by two steps."""

import json

import pytest
from javascript import evaluate

from course_lib.explorables import producer_and_consumers
from course_lib.explorables.roles import CONSUMERS, STAGES, STEPS, pipelined, states

PICTURE = producer_and_consumers
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
WHO = range(len(CONSUMERS))


@pytest.mark.parametrize("stages", STAGES)
def test_each_step_is_ordered_multiplied_and_released_by_both_before_its_stage_is_filled_again(stages):
    found = pipelined(stages)
    assert [len(times) for times in (found.ordered, found.arrived, *found.begun, *found.released)] == [STEPS] * 6
    for k in range(STEPS):
        assert all(found.ordered[k] < found.arrived[k] < found.begun[who][k] < found.released[who][k] for who in WHO)
        if k >= stages:
            assert max(found.released[who][k - stages] for who in WHO) < found.ordered[k]
    assert [step for *_, step in found.waited] == list(range(stages, STEPS)), "whoever finds an unused stage does not wait"
    for begin, end, step in found.waited:
        assert begin < max(found.released[who][step - stages] for who in WHO) < end < found.ordered[step]


@pytest.mark.parametrize("stages", STAGES)
def test_a_consumer_begins_the_next_products_before_it_releases_a_stage(stages):
    found = pipelined(stages)
    assert all(found.begun[who][k + 1] < found.released[who][k] for who in WHO for k in range(STEPS - 1))


def test_events_are_numbered_from_one_on_and_the_states_are_small():
    for stages in STAGES:
        found = pipelined(stages)
        times = {("order", -1): found.ordered, ("stall", -1): {step: begin for begin, _, step in found.waited}}
        times |= {("begin", who): found.begun[who] for who in WHO} | {("release", who): found.released[who] for who in WHO}
        assert [times[kind, who][step] for kind, who, step in found.events] == list(range(1, len(found.events) + 1))
    assert len(json.dumps(states())) < 8_000


COUNTED = """(m, {states, stages}) => stages.map(stages => {
    const scene = m.sceneOf({ stages }, states);
    return [scene.answer, Array.from({ length: scene.steps + 1 }, (_, at) =>
        [m.counted(scene, at), Array.from({ length: stages }, (_, slot) => m.inStage(scene, slot, at))])];
})"""


def test_what_lies_in_a_stage_at_every_event_is_the_traces(page):
    for stages, (answer, frames) in zip(STAGES, evaluate(page, COUNTED, {"states": states(), "stages": list(STAGES)}), strict=True):
        found = pipelined(stages)
        assert answer == len(found.waited) == STEPS - stages
        for at, (counted, held) in enumerate(frames):
            there = [k for k in range(STEPS) if found.ordered[k] <= at < max(found.released[who][k] for who in WHO)]
            assert sorted(one["tile"] for one in held if one) == there
            assert [k % stages for k in there] == [slot for k in there for slot, one in enumerate(held) if one and one["tile"] == k]
            assert counted["used"] == len(there)
            assert counted["ordered"] == sum(time <= at for time in found.ordered)
            assert counted["waited"] == sum(begin <= at for begin, *_ in found.waited)
            for one in filter(None, held):
                for who, state in enumerate(one["of"]):
                    begun, released = found.begun[who][one["tile"]], found.released[who][one["tile"]]
                    assert (state == "released", state == "multiply") == (released <= at, begun <= at < released)
                    assert (state == "way") == (at < found.arrived[one["tile"]])


SAYS = """(m, {states, stages}) => { const scene = m.sceneOf({ stages }, states);
    return Array.from({ length: scene.steps + 1 }, (_, at) => [m.says({ scene, at }, at), m.picture.describes({ scene, at }, at)]); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = [words for words, _ in evaluate(page, SAYS, {"states": states(), "stages": 3})]
    assert said[0].endswith("Predict, then play.")
    assert said[1] == "The producer orders the copies of step 0 into stage 0, which nobody has used yet."
    assert said[4] == "The producer waits: step 3 belongs into stage 0, and step 0 still lies there."
    assert said[8] == ("Consumer 0 has multiplied step 0 and releases stage 0. Consumer 1 still needs it. "
                       "How often will the producer have to wait in all 8 steps? Predict, then play.")
    assert said[10] == "Consumer 1 has multiplied step 0 and releases stage 0. Consumer 0 has released it, too: the stage is free."
    assert said[11] == "The producer orders the copies of step 3 into stage 0: both consumers have released step 0."
    assert said[-1].endswith("All 8 steps are multiplied. The producer had to wait 5 times.")
    assert not any("5 times" in words for words in said[:-1])


BEGIN = """(m, {states, stages}) => stages.map(stages => {
    const scene = m.sceneOf({ stages }, states);
    return [scene, m.counted(scene, scene.begin)];
})"""


def test_it_opens_where_the_first_half_of_a_stage_is_free_and_the_producer_waits(page):
    for scene, counted in evaluate(page, BEGIN, {"states": states(), "stages": list(STAGES)}):
        assert scene["events"][scene["begin"] - 1] == ["release", 0, 0]
        assert (counted["used"], counted["waited"]) == (scene["stages"], 1)


def test_the_alternative_text_says_what_lies_where(page):
    described = [words for _, words in evaluate(page, SAYS, {"states": states(), "stages": 3})]
    assert described[0].endswith("Stage 0: free; Stage 1: free; Stage 2: free.")
    assert described[8].endswith("Stage 0: step 0, released by consumer 0, in products of consumer 1; Stage 1: step 1, "
                                 "in products of consumer 0, waiting for consumer 1; Stage 2: step 2, on its way.")


INSIDE = """(m, {states, stages, widths}) => widths.flatMap(([width, text]) => stages.map(stages => {
    const narrow = width < 700, scene = m.sceneOf({ stages }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { lanes, memory, foot, lane } = m.layout({ width, height, text, narrow, scene });
    return { width, height, lane,
        ok: lanes.x + lanes.w <= width && lanes.y + lanes.h < memory.y && memory.y + memory.h < foot && foot < height };
}))"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "stages": list(STAGES), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["lane"] for p in found) > 24, "pixels of a row"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + 170 <= 600


def test_without_a_widget_it_tells_no_answer():
    shown = producer_and_consumers()
    assert "Run this cell" in shown.static_text()
    assert "5" not in shown.static_html()
