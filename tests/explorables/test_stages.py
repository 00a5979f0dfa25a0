"""Lesson 17's explorable: its cycles are the model's at every position, and its order of copies, waits and products the kernel's."""

import json

from javascript import evaluate

from course_lib import data
from course_lib.explorables import tiles_on_their_way
from course_lib.explorables.stages import PLACES, PRODUCTS, STAGES, TILES, at, idle_cycles, latencies, one_step, product_cycles, states
from course_lib.model.stages import idle, pipeline

PICTURE = tiles_on_their_way
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
VALUES = {"stages": 2, "product": "small", "latency": 1}
POSITIONS = [{"stages": stages, "product": product, "latency": latency}
             for product in PRODUCTS for stages in STAGES for latency in range(len(PLACES))]


def test_latencies_and_products_are_recorded_ones():
    """Copies with two stages and no product, and products whose copies bring nothing."""
    found = {}
    for row in data.readings("pipeline").rows:
        if (row["product"], row["copies"], row["stages"], row["everywhere"]) == ("none", "real", 2, True):
            found[row["tile"], row["dram"]] = round(row["median"])
        if (row["product"], row["copies"], row["stages"]) == ("whole", "zeros", 3):
            found[row["tile"]] = round(row["median"])
    for product, tile in (("small", "64 × 64, 8 warps"), ("large", "128 × 128"), ("ideal", "64 × 64, 8 warps")):
        assert [cycles for cycles, _ in latencies(product)] == [found[tile, dram] for dram in PLACES.values()]
        assert product_cycles(product) == (512 if product == "ideal" else found[tile])
    assert [cycles for cycles, _ in latencies("small")] == [733, 1280]


def test_every_position_is_the_models():
    for values in POSITIONS:
        cycles = latencies(values["product"])[values["latency"]][0]
        parcels = pipeline(TILES, values["stages"], cycles, product_cycles(values["product"]))
        assert parcels == at(values["product"], values["stages"], values["latency"])
        assert states()["at"]["{product}|{stages}|{latency}".format(**values)] == [[p.issued, p.arrived, p.begun, p.done] for p in parcels]
    assert len(json.dumps(states(), separators=(",", ":"))) < 20_000


COUNTED = """(m, {states, positions}) => positions.map(values => {
    const scene = m.sceneOf(values, states);
    return [scene.answer, scene.span, scene.times.map((_, step) => {
        const cycle = m.cycleAt(scene, step);
        return [cycle, m.counted(scene.tiles, cycle), m.inStages(scene.tiles, values.stages, cycle)]; })];
})"""


def test_what_is_counted_at_every_event_of_every_position_is_the_models(page):
    found = evaluate(page, COUNTED, {"states": states(), "positions": POSITIONS})
    for values, (answer, span, frames) in zip(POSITIONS, found, strict=True):
        parcels = at(values["product"], values["stages"], values["latency"])
        assert answer == idle(parcels) == idle_cycles(values["stages"], values["product"], values["latency"])
        assert span == at(values["product"], 1, values["latency"])[-1].done >= parcels[-1].done
        assert [cycle for cycle, *_ in frames] == sorted({0, *(n for p in parcels for n in (p.issued, p.arrived, p.begun, p.done))})
        for cycle, counted, held in frames:
            busy = sum(min(max(cycle - p.begun, 0), p.done - p.begun) for p in parcels)
            assert counted["busy"] == busy
            assert counted["idle"] == max(cycle - parcels[0].begun, 0) - busy
            assert counted["done"] == sum(p.done <= cycle for p in parcels)
            assert counted["way"] == [n for n, p in enumerate(parcels) if p.issued <= cycle < p.arrived]
            there = {n % values["stages"]: n for n, p in enumerate(parcels) if p.issued <= cycle < p.done}
            assert {n: one["tile"] for n, one in enumerate(held) if one} == there, "one step in a stage"


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    const said = scene.times.map((_, at) => m.says({ scene, values, at }, at));
    return [said, m.describes({ scene, values, at: 0 }, 0), m.describes({ scene, values, at: 3 }, 3)]; }"""


def test_the_words_ask_first_and_answer_last(page):
    said, described, later = evaluate(page, SAYS, {"states": states(), "values": VALUES})
    assert said[0].endswith("Predict, then play.")
    assert "1,280 cycles (from DRAM), and its product takes 1,047" in said[0]
    assert "1,631" not in said[0] + described
    assert all(words.startswith("Cycle ") for words in said[1:-1])
    assert said[-1].endswith("nothing was multiplied for 1,631 of 10,007 cycles, 16\u00a0%. A step took 1,280 cycles here, and "
                             "1,272 when it was recorded on the GPU.")
    assert "stage 0: " in later
    assert said[1] == "Cycle 1,280: step 0 is multiplied, and step 1 is on the way. Without a product so far: 0 cycles."


INSIDE = """(m, {states, positions, widths}) => widths.flatMap(([width, text]) => positions.map(values => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { rows, strip, memory, foot, slot, scale } = m.layout({ width, height, text, narrow, scene });
    const last = rows.x + Math.max(...scene.tiles.flat()) * scale;
    return { width, height, slot, ok: last <= width &&
        rows.y + rows.h < strip.y && strip.y + strip.h < memory.y && memory.y + memory.h < foot && foot < height };
}))"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "positions": POSITIONS, "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["slot"] for p in found) > 14, "pixels of a step"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + 170 <= 600


def test_the_picture_without_a_widget_is_one_step_and_tells_no_answer():
    assert [bar.get_width() for bar in one_step().patches if bar.get_width()] == [1280, 1047]
    shown = tiles_on_their_way()
    assert "Run this cell" in shown.static_text()
    assert "1,631" not in shown.static_html()
