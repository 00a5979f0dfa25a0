"""Lesson 16's picture: who holds what against the simulator's table, an instruction that it ran, and the manual's formulas."""

import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib import simt
from course_lib.explorables.fragments import SHOWN, fragments, states
from course_lib.plots.lane_shares import lane_share

PICTURE = fragments
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
EVERY = pytest.mark.parametrize("key", SHOWN)
RUN = r"""
extern "C" __global__ void k(const unsigned* a, const unsigned* b, float* d) {        // a[lane][4], b[lane][2], d[lane][4]
    const unsigned* A = a + 4 * threadIdx.x, *B = b + 2 * threadIdx.x;
    float c[4] = {};
    asm volatile("mma.sync.aligned.INSTRUCTION.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
    for (int e = 0; e < 4; ++e) d[4 * threadIdx.x + e] = c[e];
}
"""
FORMS = {"tf32": "m16n8k8.row.col.f32.tf32.tf32", "bf16": "m16n8k16.row.col.f32.bf16.bf16"}


def dealt(key, name, matrix):
    """Return the 32-bit registers of each lane in which the picture says a matrix lies."""
    found, wide = states()["at"][key], matrix.shape[1]
    elements = np.zeros((32, matrix.size // 32), np.float32)
    for i, (lane, slot) in enumerate(zip(found["owner"][name], found["slot"][name], strict=True)):
        elements[lane, slot] = matrix[i // wide, i % wide]
    bits = elements.view(np.uint32)
    return bits if key == "tf32" else bits[:, 0::2] >> 16 | bits[:, 1::2] & 0xFFFF0000


@pytest.mark.parametrize("key", FORMS)
def test_an_instruction_that_is_run_agrees(key):
    """A and B are dealt out as the picture says, small integers that every format holds; C is collected as it says."""
    found, rng = states()["at"][key], np.random.default_rng(16)
    m, n, k = (found[side] for side in "mnk")
    A, B = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    d = np.zeros((32, 4), np.float32)
    a, b = (np.ascontiguousarray(dealt(key, name, matrix)) for name, matrix in (("A", A), ("B", B)))
    simt.launch(RUN.replace("INSTRUCTION", FORMS[key]), "k", 1, 32, [a, b, d])
    C = np.reshape([d[lane, slot] for lane, slot in zip(found["owner"]["C"], found["slot"]["C"], strict=True)], (m, n))
    assert np.array_equal(C, A @ B)


def formulas(key, g, t):
    """Return the elements of a lane as the PTX manual writes them: (row, column) in the order of the registers."""
    C = [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]
    if key == "bf16":
        return {"A": [(g + 8 * (i // 2 % 2), 2 * t + i % 2 + 8 * (i // 4)) for i in range(8)],
                "B": [(2 * t + i % 2 + 8 * (i // 2), g) for i in range(4)], "C": C}
    return {"A": [(g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)], "B": [(t, g), (t + 4, g)], "C": C}


FOUND = """(m, {states, key}) => { const held = states.at[key]; return [...Array(32).keys()].map(lane => ({ ...Object.fromEntries(
    ["A", "B", "C"].map(name => [name, m.elementsOf(held, name, lane)])), all: m.sources(held, lane, held.k).all })); }"""


@EVERY
def test_elements_and_sources_are_the_manuals_and_the_tables(page, key):
    for lane, found in enumerate(evaluate(page, FOUND, {"states": states(), "key": key})):
        share = lane_share(SHOWN[key], lane)
        for name, places in formulas(key, *divmod(lane, 4)).items():
            assert [tuple(place) for place in found[name]] == places == list(share.elements[name])
        assert found["all"] == sorted(share.sources)
    assert states()["at"][key]["registers"] == ({"A": 8, "B": 4, "C": 8} if key == "f64" else {"A": 4, "B": 2, "C": 4})


FACTORS = """(m, {states, key}) => { const held = states.at[key];
    return [...Array(32).keys()].map(lane => [...Array(held.k).keys()].map(k => m.factors(held, lane, k))); }"""


@EVERY
def test_each_step_brings_the_factors_of_the_lanes_sums(page, key):
    for lane, steps in enumerate(evaluate(page, FACTORS, {"states": states(), "key": key})):
        sums = lane_share(SHOWN[key], lane).elements["C"]
        for k, found in enumerate(steps):
            assert {tuple(place) for place in found["A"]} == {(row, k) for row, _ in sums}
            assert {tuple(place) for place in found["B"]} == {(k, column) for _, column in sums}


SAYS = """(m, {states, instruction, lane}) => { const scene = m.sceneOf({ instruction, lane }, states);
    return [scene.answer, m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


@EVERY
@pytest.mark.parametrize("lane", [5, 22])
def test_the_words_ask_first_and_answer_last(page, key, lane):
    answer, described, asked, *said = evaluate(page, SAYS, {"states": states(), "instruction": key, "lane": lane})
    assert answer == len(lane_share(SHOWN[key], lane).sources) == {5: 12, 22: 8}[lane]
    assert "Predict, then play." in asked
    assert f"{answer} lanes" not in asked + described
    assert len(said) == states()["at"][key]["k"]
    assert said[-1].endswith(f"In all {answer} lanes of 32 hold factors of lane {lane}'s sums.")
    assert not any("In all" in words for words in said[:-1])


def test_what_the_words_say_of_a_step(page):
    said = evaluate(page, SAYS, {"states": states(), "instruction": "tf32", "lane": 5})
    assert said[2 + 4] == "k = 3: A at (1, 3) (9, 3) lies in lane 7, B at (3, 2) (3, 3) in lanes 11 and 15."


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => states.instructions.map(([instruction]) => {
    const narrow = width < 700, scene = m.sceneOf({ instruction, lane: 5 }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { grids: { A, B, C }, cell, panel, chips, list, text: size } = m.layout({ width, height, text, narrow, scene });
    const last = narrow ? 4.2 : instruction === "bf16" ? 8.5 : 7.35, rows = 32 / chips.across;
    return { width, instruction, cell: Math.min(cell.w, cell.h), numbers: width < 984 || cell.h > 0.88 * size && cell.w > 1.25 * size,
        ok: A.x >= 0 && B.y >= size && B.x >= A.x + A.w && A.y >= B.y + B.h && C.x === B.x && C.y === A.y
        && C.x + C.w <= width && C.y + C.h <= height
        && (narrow ? panel.y > C.y + C.h : panel.x >= C.x + C.w + 6 * size) && list.y > chips.y + rows * chips.h + size
        && panel.x + panel.w <= width && chips.x + chips.across * chips.w <= width && list.y + (last + 0.3) * size <= height }; }))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["cell"] for p in found) > 10, "pixels of an element"
    assert all(p["numbers"] for p in found), "every element has its lane, where there is room for a lesson"


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in fragments().static_text()
    assert "12" not in fragments().static_text()
    assert len(json.dumps(states())) < 20_000
