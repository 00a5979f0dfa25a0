"""Lesson 18's explorable: it shows the order of the simulator's trace, and the bits of its barriers are those that the waits need."""

import itertools
import json

import pytest
from javascript import evaluate

from course_lib.explorables import producer_and_consumers
from course_lib.explorables.roles import CONSUMERS, STAGES, STEPS, pipelined, states, when

PICTURE = producer_and_consumers
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
WHO = range(len(CONSUMERS))


@pytest.mark.parametrize("stages", STAGES)
def test_each_step_is_ordered_multiplied_and_released_by_both_before_its_stage_is_filled_again(stages):
    ordered, arrived, stalls = (when(stages, kind) for kind in ("order", "arrive", "stall"))
    begun, released = ([when(stages, kind, who) for who in WHO] for kind in ("begin", "release"))
    assert [len(times) for times in (ordered, arrived, *begun, *released)] == [STEPS] * 6
    for k in range(STEPS):
        assert all(ordered[k] < arrived[k] < begun[who][k] < released[who][k] for who in WHO)
        if k >= stages:
            assert max(released[who][k - stages] for who in WHO) < ordered[k]
    assert list(stalls) == list(range(stages, STEPS)), "whoever finds an unused stage does not wait"
    for step, begin in stalls.items():
        assert begin < max(released[who][step - stages] for who in WHO) < ordered[step]
    assert len(pipelined(stages)) == 6 * STEPS + len(stalls)
    assert len(json.dumps(states())) < 8_000


@pytest.mark.parametrize("stages", STAGES)
def test_a_consumer_begins_the_next_products_before_it_releases_a_stage(stages):
    for who in WHO:
        begun, released = when(stages, "begin", who), when(stages, "release", who)
        assert all(begun[k + 1] < released[k] for k in range(STEPS - 1))


FRAMES = """(m, {states, stages}) => stages.map(stages => {
    const scene = m.sceneOf({ stages }, states), slots = Array.from({ length: stages }, (_, slot) => slot);
    return [scene.answer, Array.from({ length: scene.steps + 1 }, (_, at) =>
        [m.counted(scene, at), slots.map(slot => m.inStage(scene, slot, at)), slots.map(slot => m.barriers(scene, slot, at)),
         m.doing(scene, at)])];
})"""


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """Return for each number of stages the answer, and what the picture computes at every event."""
    page = producer_and_consumers().write_page(tmp_path_factory.mktemp("page"))
    return dict(zip(STAGES, evaluate(page, FRAMES, {"states": states(), "stages": list(STAGES)}), strict=True))


@pytest.mark.parametrize("stages", STAGES)
def test_what_lies_in_a_stage_at_every_event_is_the_traces(frames, stages):
    answer, shown = frames[stages]
    ordered, arrived, stalls = (when(stages, kind) for kind in ("order", "arrive", "stall"))
    begun, released = ([when(stages, kind, who) for who in WHO] for kind in ("begin", "release"))
    assert answer == len(stalls) == STEPS - stages
    for at, (counted, held, _, _) in enumerate(shown):
        there = [k for k in range(STEPS) if ordered[k] <= at < max(released[who][k] for who in WHO)]
        assert sorted(one["tile"] for one in held if one) == there
        assert [k % stages for k in there] == [slot for k in there for slot, one in enumerate(held) if one and one["tile"] == k]
        assert counted["used"] == len(there)
        assert counted["ordered"] == sum(time <= at for time in ordered.values())
        assert counted["waited"] == sum(begin <= at for begin in stalls.values())
        for one in filter(None, held):
            for who, state in enumerate(one["of"]):
                first, last = begun[who][one["tile"]], released[who][one["tile"]]
                assert (state == "released", state == "multiply") == (last <= at, first <= at < last)
                assert (state == "way") == (at < arrived[one["tile"]])


@pytest.mark.parametrize("stages", STAGES)
def test_the_bits_are_those_that_the_waits_of_the_kernel_need(frames, stages):
    """A wait names a parity, and passes when the bit is no longer that: so the lesson says, and so the trace goes on."""
    shown = frames[stages][1]
    for at, (kind, _, k) in enumerate(pipelined(stages), start=1):
        (*_, before, _), (*_, after, roles) = shown[at - 1], shown[at]
        slot, parity = k % stages, k // stages % 2
        named = {"order": ("empty", parity ^ 1), "stall": ("empty", parity ^ 1), "begin": ("full", parity)}.get(kind)
        if named:
            barrier, parity_named = named
            assert (before[slot][barrier]["bit"] == parity_named) == (kind == "stall")
        flipped = [(there, name) for there in range(stages) for name in ("empty", "full")
                   if before[there][name]["bit"] != after[there][name]["bit"]]
        second = kind == "release" and all(when(stages, "release", who)[k] <= at for who in WHO)
        assert flipped == ([(slot, "full")] if kind == "arrive" else [(slot, "empty")] if second else [])
        if kind == "order":
            assert before[slot]["full"] == {"bit": parity, "bytes": 0, "arrivals": 1}
            assert after[slot]["full"] == {"bit": parity, "bytes": 2 * 64 * (128 + 128), "arrivals": 0}
        if kind in ("order", "stall"):
            assert roles["producer"] == {"kind": kind, "tile": k}
        for who, consumer in enumerate(roles["consumers"]):
            begun, released = when(stages, "begin", who), when(stages, "release", who)
            assert consumer["under"] == [step for step in range(STEPS) if begun[step] <= at < released[step]]
            if consumer["waits"] is not None:
                assert at < when(stages, "arrive")[consumer["waits"]]


SAYS = """(m, {states, stages}) => { const scene = m.sceneOf({ stages }, states);
    return Array.from({ length: scene.steps + 1 }, (_, at) => [m.says({ scene, at }, at), m.picture.describes({ scene, at }, at)]); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = [words for words, _ in evaluate(page, SAYS, {"states": states(), "stages": 3})]
    assert said[0].endswith("Predict, then play.")
    assert said[1] == "The producer orders the copies of step 0 into stage 0, which nobody has used yet."
    assert said[4] == "The producer waits at empty(0): step 3 belongs into stage 0, and step 0 still lies there."
    assert said[5] == "All bytes of step 0 have come, and the bit of full(0) flips from 0 to 1."
    assert said[10] == ("Consumer 0 has multiplied step 0 and releases stage 0. Consumer 1 still needs it. "
                        "How often will the producer have to wait in all 8 steps? Predict, then play.")
    assert said[12] == ("Consumer 1 has multiplied step 0 and releases stage 0. It is the second to do so, "
                        "and the bit of empty(0) flips from 0 to 1: the stage is free.")
    assert said[13] == "The producer orders the copies of step 3 into stage 0: both consumers have released step 0."
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
    nothing = "empty has bit 0, full has bit 0."
    assert described[0].endswith(f"Stage 0: free; {nothing} Stage 1: free; {nothing} Stage 2: free; {nothing}")
    assert described[10].endswith("Stage 0: step 0, released by consumer 0, in products of consumer 1; empty has bit 0, full has bit 1. "
                                  "Stage 1: step 1, in products of consumer 0, waiting for consumer 1; empty has bit 0, full has bit 1. "
                                  f"Stage 2: step 2, on its way; {nothing}")


INSIDE = """(m, {states, stages, widths}) => widths.flatMap(([width, text]) => stages.map(stages => {
    const narrow = width < 700, scene = m.sceneOf({ stages }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene });
    const ofStages = where.stages.flatMap(({ empty, box, full }) => [empty, box, full]);
    return { width, height, text: where.text, rects: [where.producer, ...(where.key ? [where.key] : []), ...where.consumers, ...ofStages] };
}))"""


def test_nothing_leaves_the_picture_or_lies_on_something_else_at_any_width(page):
    for found in evaluate(page, INSIDE, {"states": states(), "stages": list(STAGES), "widths": WIDTHS}):
        rects = [(r["x"], r["y"], r["x"] + r["w"], r["y"] + r["h"]) for r in found["rects"]]
        assert all(0 <= x0 < x1 <= found["width"] and 0 < y0 < y1 <= found["height"] for x0, y0, x1, y1 in rects), found
        assert all(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a, b in itertools.combinations(rects, 2)), found
        assert min(y1 - y0 for _, y0, _, y1 in rects) >= 1.9 * found["text"]
        assert found["text"] >= 11


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + 170 <= 600


def test_without_a_widget_it_tells_no_answer():
    shown = producer_and_consumers()
    assert "Run this cell" in shown.static_text()
    assert "a tile of C of 128 × 128" in shown.static_text()
    assert "5" not in shown.static_html()
