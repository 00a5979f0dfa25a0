"""Lesson 18's explorable in Chromium: stepped, played, its control moved; what it says against the trace."""
import pytest

from course_lib.explorables import producer_and_consumers
from course_lib.explorables.roles import STAGES, STEPS, pipelined

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = producer_and_consumers
STAGES_SLIDER = "Stages: steps whose tiles have room in shared memory"
WORDS = {"order": "The producer orders the copies of step {k} ", "stall": "The producer waits at .*: step {k} ",
         "arrive": "All bytes of step {k} have come",
         "begin": "Consumer {who} begins to multiply step {k},",
         "release": "Consumer {who} has multiplied step {k} "}


def test_steps_by_key_are_the_events_of_the_trace(opened):
    shown = opened(reduced_motion="reduce")
    events = pipelined(3)
    shown.when(f"^event 10 of {len(events)}$")
    shown.says("Consumer 1 still needs it. How often will the producer have to wait in all 8 steps")
    assert "5 times" not in shown.told(), "the opening gives nothing away"
    shown.press("Home")
    shown.says("Predict, then play")
    for step, (kind, who, k) in enumerate(events[:15], 1):
        shown.press("ArrowRight")
        shown.when(f"^event {step} of {len(events)}$")
        shown.says("^" + WORDS[kind].format(who=who, k=k))
    assert "Stage 0: step 3, on its way; empty has bit 1, full has bit 1" in shown.described()


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("5")
    shown.press("End")
    shown.says(r"The producer had to wait 5 times\. You said 5: right\.")


def test_the_slider_by_key(opened):
    shown = opened()
    shown.press("End")
    slider = shown.slider(STAGES_SLIDER)
    slider.press("Home")
    for stages in STAGES:
        assert slider.get_attribute("aria-valuetext") == f"{stages} stages"
        shown.press("End")
        shown.says(rf"The producer had to wait {STEPS - stages} times\.")
        slider.press("ArrowRight")
