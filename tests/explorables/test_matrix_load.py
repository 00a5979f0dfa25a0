"""Lesson 16's picture of ldmatrix: its wavefronts are the counter's, its registers those of an instruction that is run."""

import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib import simt
from course_lib.explorables.matrix_load import PADS, first_load, matrix_load, states
from course_lib.kernels import UserKernel, get
from course_lib.plots.lane_shares import lane_share
from course_lib.run import run
from course_lib.widgets.compute import inputs

PICTURE = matrix_load
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
EVERY = pytest.mark.parametrize("pad", PADS)
NEEDED = {0: 32, 8: 4, 16: 8, 24: 4}
RUN = r"""
extern "C" __global__ void k(int row, unsigned* out) {                   // word n of shared memory holds n; out[lane][register]
    __shared__ __align__(16) unsigned tile[1024];
    for (int n = threadIdx.x; n < 1024; n += 32) tile[n] = n;
    __syncthreads();
    const unsigned from = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % 16 * row + threadIdx.x / 16 * 4]);
    unsigned x[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from) : "memory");
    for (int e = 0; e < 4; ++e) out[4 * threadIdx.x + e] = x[e];
}
"""


@pytest.mark.slow
@EVERY
def test_each_word_goes_where_the_instruction_puts_it(pad):
    found, out = states()["at"][str(pad)], np.zeros((32, 4), np.uint32)
    simt.launch(RUN, "k", 1, 32, [np.int32(found["row"]), out])
    words = [word for wave in found["waves"] for word in wave]
    assert len(words) == 128
    assert all(out[lane, register] == number for number, _, lane, register in words)
    assert found["row"] == (64 + pad) / 2


def test_the_registers_are_those_of_the_fragment():
    for number, _, lane, register in (word for wave in states()["at"]["8"]["waves"] for word in wave):
        row, column = divmod(number, 36)
        assert lane_share("mma 16×8×16, bfloat16", lane).elements["A"][2 * register] == (row, 2 * column)


@pytest.mark.slow
@EVERY
def test_the_wavefronts_are_the_counters(pad):
    A, B, _ = inputs(128, 128, 64)
    text = get("sbgemm_mma").source.replace("#define LDA (BK + 8)", f"#define LDA (BK + {pad})")
    result = run(UserKernel.from_source(text, like="sbgemm_mma"), A, B, backend="sim")
    of_b = 8 * 4 * 2 * 4                         # eight warps, four times each, load two pairs of fragments: four wavefronts for each pair
    assert result.count("wavefronts") - of_b == 8 * 4 * 4 * NEEDED[pad]
    assert len(states()["at"][str(pad)]["waves"]) == NEEDED[pad]
    assert first_load(pad).width == 16


@EVERY
def test_a_wavefront_reads_no_bank_twice(pad):
    for wave in states()["at"][str(pad)]["waves"]:
        assert len({word % 32 for word, *_ in wave}) == len(wave) == 128 // NEEDED[pad]
        assert len({register for *_, register in wave}) == 1


SAYS = """(m, {states, pad}) => { const scene = m.sceneOf({ pad }, states);
    return [scene.answer, m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


@EVERY
def test_the_words_ask_first_and_answer_last(page, pad):
    answer, described, asked, *said = evaluate(page, SAYS, {"states": states(), "pad": pad})
    assert answer == len(said) == NEEDED[pad]
    assert "Predict, then play." in asked
    assert f"{answer} wavefronts" not in asked + described
    assert said[-1].endswith(f"In all {answer} wavefronts for 128 words.")
    assert f"each row begins {(64 + pad) // 2 % 32} banks further" in described


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => states.pads.map(pad => {
    const narrow = width < 700, scene = m.sceneOf({ pad }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { memory, side, grids, chip, cell, bottom } = m.layout({ width, height, text, narrow, scene });
    return { width, pad, cell: Math.min(cell.w, cell.h),
        ok: memory.x + memory.w <= (narrow ? width : side.x) && memory.y + memory.h <= (narrow ? side.y : height)
        && bottom <= height && grids[1].x + 4 * chip.w <= width }; }))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["cell"] for p in found) > 8, "pixels of a word"


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in matrix_load().static_text()
    assert "wavefronts" not in matrix_load().static_text()
    assert len(json.dumps(states())) < 12_000
