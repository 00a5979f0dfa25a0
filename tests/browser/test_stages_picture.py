"""Lesson 17's explorable in Chromium: stepped, played, every control moved; what it says against the model."""
import re

import pytest

from course_lib.explorables import tiles_on_their_way
from course_lib.explorables.stages import PRODUCTS, STAGES, at, idle_cycles, latencies

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = tiles_on_their_way
NAMES = ("Stages: steps whose tiles have room in shared memory", "Copies: how long those of a step are on their way")


def test_steps_by_key_are_the_models_events(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    assert "1,631" not in shown.told(), "the beginning gives nothing away"
    parcels = at("small", 2, 1)
    times = sorted({0, *(cycle for p in parcels for cycle in (p.issued, p.arrived, p.begun, p.done))})
    for step, cycle in enumerate(times[1:-1], 1):
        shown.press("ArrowRight")
        shown.when(f"^cycle {cycle:,}, event {step} of {len(times) - 1}$")
        busy = sum(min(max(cycle - p.begun, 0), p.done - p.begun) for p in parcels)
        shown.says(rf"Without a product so far: {max(cycle - parcels[0].begun, 0) - busy:,} cycles?\.$")
    assert re.search(r"In shared memory, stage 0: .*; stage 1: ", shown.described())


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("1631")
    shown.button("Play").click()
    shown.says(r"^Cycle [\d,]+: ")
    shown.says(r"multiplied for 1,631 of 10,007 cycles, 16\s%\. A step took 1,280 cycles here, and 1,272 when .* You said 1631: right\.")
    shown.slider(NAMES[0]).press("ArrowRight")
    shown.says(r"multiplied for 0 of 8,376 cycles, 0\s%\. A step took 1,047 cycles here, and 1,032 when it was recorded on the GPU\.$")
    assert shown.prediction().input_value() == "", "another question"


def test_every_control_by_mouse_and_by_key(opened):
    shown = opened()
    shown.press("End")
    room, latency = map(shown.slider, NAMES)
    for product, words in PRODUCTS.items():
        shown.root.get_by_text(words, exact=True).click()
        latency.press("Home")
        for n, (cycles, source) in enumerate(latencies(product)):
            assert latency.get_attribute("aria-valuetext") == f"{cycles:,} cycles, {source}"
            room.press("Home")
            for count in STAGES:
                assert room.get_attribute("aria-valuetext") == ("1 stage" if count == 1 else f"{count} stages")
                shown.says(rf"nothing was multiplied for {idle_cycles(count, product, n):,} of ")
                room.press("ArrowRight")
            latency.press("ArrowRight")


def test_the_pointer_tells_when_a_step_was_on_its_way(opened):
    shown = opened()
    shown.press("End")
    shown.says("All 8 steps")
    parcel = at("small", 2, 1)[3]
    inside = """({ layout }, view, [cycle, step]) => {
        const { rows, slot, scale } = layout(view);
        return [rows.x + cycle * scale, rows.y + (step + 0.5) * slot];
    }"""
    for cycle, words in ((parcel.issued + 100, f"step 3: on its way from cycle {parcel.issued:,} to {parcel.arrived:,}"),
                         (parcel.begun + 100, f"step 3: multiplied from cycle {parcel.begun:,} to {parcel.done:,}")):
        shown.page.mouse.move(*shown.at(*shown.where(inside, [cycle, 3])))
        shown.page.get_by_text(words).wait_for()
