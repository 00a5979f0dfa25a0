"""Lesson 15's picture of registers in Chromium: played, stepped, its switch pressed, its cells pointed at."""
import re

import pytest

from course_lib.explorables import register_reads
from course_lib.explorables.reads import CODES, machine_code, steps
from course_lib.model.operands import operand_reads

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = register_reads
CYCLES = {name: operand_reads(machine_code(name)[0]).cycles for name in CODES.values()}


def test_steps_by_key_say_what_each_multiply_add_reads(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    assert not {str(cycles) for cycles in CYCLES.values() if cycles != 64} & set(re.findall(r"\d+", shown.told()))
    for step, (left, right) in enumerate(zip(*(steps(name)["adds"] for name in CODES.values()), strict=True), 1):
        if step > 18:
            break
        shown.press("ArrowRight")
        shown.when(f"^multiply-add {step} of 64$")
        for side, add in (("Left", left), ("Right", right)):
            shown.says(rf"{side}: {re.escape(add['text'])} reads {', '.join(f'R{r}' for r in add['read'])}\b")


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("96")
    shown.button("Play").click()
    shown.says(r"^Left: FFMA")
    shown.button("Pause").click()
    shown.press("End")
    rows, back = (CYCLES[name] for name in CODES.values())
    shown.says(rf"at least {rows} cycles for 64 multiply-adds\..*: {back} cycles\..* You said 96.*it is {rows}\.")


def test_the_pointer_tells_registers_and_instructions(opened):
    shown = opened()
    shown.press("End")
    shown.says("at least")
    cell = "({ layout }, view) => { const { lanes } = layout(view).left; return [lanes.x + 2, lanes.y + 1.3 * lanes.step]; }"
    shown.page.mouse.move(*shown.at(*shown.where(cell)))
    shown.page.get_by_text(re.compile(r"^R\d+, a (sum|factor of a (row|column)), for multiply-add 1$")).wait_for()
    square = "({ layout }, view) => { const { grid } = layout(view).right; return [grid.x + 0.5 * grid.cell, grid.y + 1.5 * grid.cell]; }"
    shown.page.mouse.move(*shown.at(*shown.where(square)))
    shown.page.get_by_text(re.compile(r"^multiply-add 16: FFMA ")).wait_for()
