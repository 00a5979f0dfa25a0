"""Who holds what in an instruction of tensor cores: the picture against the manual's formulas and against a product that is run."""

import matplotlib.colors as colors
import numpy as np
import pytest

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.plots.lane_shares import HELD, INSTRUCTIONS, WANTED, describe_lane, draw_lane, lane_share

TF32, BF16, _ = INSTRUCTIONS
COPY = r"""
extern "C" __global__ void k(const float* a, const float* b, float* d) {        // a[lane][4], b[lane][2], d[lane][4]
    const unsigned* A = (const unsigned*)a + 4 * threadIdx.x;
    const unsigned* B = (const unsigned*)b + 2 * threadIdx.x;
    float c[4] = {};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
    for (int e = 0; e < 4; ++e) d[4 * threadIdx.x + e] = c[e];
}
"""


def test_a_product_by_the_shares_is_the_product():
    """Deal A and B out as the shares say, run the instruction, collect C as they say."""
    rng = np.random.default_rng(4)
    A, B = (rng.integers(-20, 21, shape).astype(np.float32) for shape in ((16, 8), (8, 8)))
    shares = [lane_share(TF32, lane) for lane in range(32)]
    a, b = (np.float32([[X[place] for place in share.elements[name]] for share in shares]) for X, name in ((A, "A"), (B, "B")))
    d = np.zeros((32, 4), np.float32)
    simt.launch(COPY, "k", 1, 32, [a, b, d])
    C = np.full((16, 8), np.nan, np.float32)
    for share, values in zip(shares, d, strict=True):
        for place, value in zip(share.elements["C"], values, strict=True):
            C[place] = value
    assert np.array_equal(C, A @ B)


def test_bfloat16_by_the_manuals_formulas():
    for lane in range(32):
        g, t = divmod(lane, 4)
        places = lane_share(BF16, lane).elements
        assert places["A"] == tuple((g + 8 * (i // 2 % 2), 2 * t + i % 2 + 8 * (i // 4)) for i in range(8))
        assert places["B"] == tuple((2 * t + i % 2 + 8 * (i // 2), g) for i in range(4))
        assert places["C"] == tuple((g + 8 * (i // 2), 2 * t + i % 2) for i in range(4))


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_every_element_is_in_one_lane(instruction):
    shares = [lane_share(instruction, lane) for lane in range(32)]
    m, n, k = shares[0].shape
    for name, rows, cols in (("A", m, k), ("B", k, n), ("C", m, n)):
        held = [place for share in shares for place in share.elements[name]]
        assert sorted(held) == [(row, col) for row in range(rows) for col in range(cols)]


def test_sources_are_the_lanes_of_the_row_and_the_column():
    share = lane_share(TF32, 22)
    assert share.sources == (*range(16, 20), 20, 21, 22, 23)       # columns 4 and 5 of B: lanes 16 to 23; row 5 and 13 of A: 20 to 23
    assert lane_share(TF32, 5).sources == (4, 5, 6, 7, *range(8, 16))
    assert share.registers == {"A": 4, "B": 2, "C": 4} == lane_share(BF16, 22).registers


def test_the_drawing_marks_one_lane_and_what_it_needs():
    share = lane_share(TF32, 5)
    ax = draw_lane(share)
    assert len(ax.patches) == 16 * 8 + 8 * 8 + 16 * 8
    found = [colors.to_hex(patch.get_facecolor()).lower() for patch in ax.patches]
    assert found.count(HELD.lower()) == 4 + 2 + 4
    assert found.count(WANTED.lower()) == 2 * 8 - 4 + 2 * 8
    assert found[1 * 8 + 1] == HELD.lower(), "A (1, 1)"
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert {numbers.count(str(lane)) for lane in range(32)} == {10}
    assert "lane 5 holds of A (1, 1), (9, 1), (1, 5), (9, 5)" in describe_lane(share)


def test_refusals():
    with pytest.raises(CourseError, match="no lane 32"):
        lane_share(TF32, 32)
    with pytest.raises(CourseError, match="no instruction 'mma'"):
        lane_share("mma", 0)
