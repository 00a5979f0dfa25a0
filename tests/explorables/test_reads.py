"""Lesson 15's picture of registers: what it reads at every step is what the rule of the model says of the recorded machine code."""

import json
from dataclasses import replace

import pytest
from javascript import evaluate

from course_lib import data
from course_lib.bench import closing
from course_lib.explorables.reads import CODES, Line, machine_code, number, register_reads, sides, states, steps
from course_lib.model.operands import is_ffma, operand_reads
from course_lib.toolchain import nvrtc_version

PICTURE = register_reads
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
LOOPS = list(CODES.values())


@pytest.mark.parametrize("name", LOOPS)
def test_every_step_adds_what_the_model_counts(name):
    code, _ = machine_code(name)
    adds, found = [line for line in code if is_ffma(line)], steps(name)["adds"]
    assert len(adds) == len(found) == 64
    even = odd = 0
    for n, add in enumerate(found):
        even, odd = even + sum(r % 2 == 0 for r in add["read"]), odd + sum(r % 2 for r in add["read"])
        # The loop's first multiply-add comes after its last: what that one keeps is left out, as by a loop of one turn more.
        turned = operand_reads([adds[-1], *adds[:n + 1]], loop=False)
        first = operand_reads([adds[-1]], loop=False)
        assert (even, odd) == (turned.even - first.even, turned.odd - first.odd), (name, n)
        operands = {number(word) for word in adds[n].operands[1:]}
        assert operands == set(add["read"]) | set(add["kept"])
        assert add["text"].startswith("FFMA R")
    whole = operand_reads(code)
    assert (whole.even, whole.odd, whole.multiply_adds) == (even, odd, 64)


@pytest.mark.parametrize("name", LOOPS)
def test_the_square_has_each_product_once(name):
    found = steps(name)
    assert sorted((add["row"], add["column"]) for add in found["adds"]) == [(i, j) for i in range(8) for j in range(8)]
    assert len({*found["rows"], *found["columns"]}) == 16
    for add in found["adds"]:
        row, column = found["rows"][add["row"]], found["columns"][add["column"]]
        assert {row, column} <= {number(word.rstrip(",")) for word in add["text"].split()[2:]}


@pytest.mark.parametrize("name", LOOPS)
def test_the_recorded_code_is_what_this_compiler_makes_if_it_is_the_same(name):
    _, version = machine_code(name)
    row, = (row for row in closing.machine_code() if row["code"] == name)
    recorded, = data.readings("closing").find(code=name)
    if version == ".".join(map(str, nvrtc_version())):
        assert row == recorded
    assert sum(line[0] == "FFMA" for line in row["instructions"]) == sum(line[0] == "FFMA" for line in recorded["instructions"]) == 64


def test_there_and_back_takes_fewer_cycles_in_the_recorded_code_and_in_this_compilers():
    made = {row["code"]: row["instructions"] for row in closing.machine_code()}
    here = {name: [Line(16 * n, op, tuple(words)) for n, (op, *words) in enumerate(lines)] for name, lines in made.items()}
    rows, back = LOOPS
    for code in ({name: machine_code(name)[0] for name in LOOPS}, here):
        assert 64 <= operand_reads(code[back]).cycles < operand_reads(code[rows]).cycles


def test_the_micro_loops_go_as_they_are_called():
    rows, back = (steps(name)["adds"] for name in LOOPS)
    assert [(add["row"], add["column"]) for add in rows] == [(i, j) for i in range(8) for j in range(8)]
    assert [(add["row"], add["column"]) for add in back] == [(i, 7 - j if i % 2 else j) for i in range(8) for j in range(8)]


def test_other_code_is_refused():
    code, _ = machine_code("outer_in_rows")
    broken = [replace(code[1], operands=("R0", "R1", "R2", "R0")), *code]
    with pytest.raises(ValueError, match="8 registers with each of 8 others"):
        sides(tuple(broken))


COUNTED = "(m, states) => states.orders.map(order => [...Array(65).keys()].map(n => m.counted(order, n)))"


def test_the_counters_of_every_step_are_those_of_the_reads(page):
    found = evaluate(page, COUNTED, states())
    for name, frames in zip(LOOPS, found, strict=True):
        adds = steps(name)["adds"]
        for n, frame in enumerate(frames):
            read = [r for add in adds[:n] for r in add["read"]]
            odd = sum(r % 2 for r in read)
            assert frame == {"adds": n, "even": len(read) - odd, "odd": odd, "cycles": max(n, odd, len(read) - odd)}


SAYS = """(m, states) => { const scene = m.sceneOf({}, states);
    return [scene.answer, m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


def test_the_words_ask_first_and_answer_last(page):
    answer, described, asked, *said = evaluate(page, SAYS, states())
    rows, back = (operand_reads(machine_code(name)[0]) for name in LOOPS)
    assert answer == rows.cycles
    assert "at least, row by row? Predict, then play." in asked
    assert str(answer) not in asked + described
    assert said[0].startswith(f"Left: {steps(LOOPS[0])['adds'][0]['text']} reads R")
    assert said[-1] == (f"Row by row, the banks deliver {rows.even} even and {rows.odd} odd registers, which takes at least "
                        f"{rows.cycles} cycles for 64 multiply-adds. There and back, they deliver {back.even} and {back.odd}: "
                        f"{back.cycles} cycles.")


INSIDE = """(m, {states, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf({}, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene }), panels = [where.left, where.right];
    return { width, cell: where.left.lanes.w / scene.most, square: where.left.grid.cell, words: where.left.words.w,
        ok: panels.every(p => p.x >= 0 && p.x + p.wide <= width + 0.01 && p.grid.y + 8 * p.grid.cell < p.lanes.y
            && p.bottom <= where.foot + 0.01) }; })"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["cell"] for p in found) > 2.5, "pixels of a cycle"
    assert min(p["square"] for p in found) > 14
    assert min(p["words"] for p in found) > 130


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in register_reads().static_text()
    assert not any(str(operand_reads(machine_code(name)[0]).cycles) in register_reads().static_text() for name in LOOPS)
    assert len(json.dumps(states())) < 15_000
