"""Errors over K: what is run, what is said, what is drawn."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.kernels import UserKernel, get
from course_lib.lessons.few_bits.errors import KINDS, Errors, describe_errors, draw_errors, errors_by_depth, matrices_of
from course_lib.run import matches, run

NAMES = ("sgemm_naive", "sgemm_mma", "sgemm_bf16", "sgemm_split")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_kernel_exceeds_its_bound(kind):
    for found in errors_by_depth(NAMES, kind, (8, 40)):
        assert all(found.errors[K] < found.bounds[K] for K in (8, 40)), found.kernel


@pytest.mark.slow
def test_numbers_that_are_all_rounded_down_come_near_the_bound():
    found = errors_by_depth(("sgemm_mma", "sgemm_wmma", "sgemm_bf16"), KINDS[2], (16,))
    assert [e.errors[16] > share * e.bounds[16] for e, share in zip(found, (0.95, 0.95, 0.84), strict=True)] == [True] * 3
    assert all(e.errors[16] < 0.7 * e.bounds[16] for e in errors_by_depth(("sgemm_mma", "sgemm_bf16"), KINDS[0], (16,)))


@pytest.mark.slow
def test_bits_that_are_cut_off_show_there_alone():
    """The lesson's question: without `cvt` the low bits are lost; random numbers hide it, chosen ones do not."""
    text = get("sgemm_mma").source
    wrong = text.replace('asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));', "y = __float_as_uint(x);")
    assert wrong != text
    cut = UserKernel.from_source(wrong, like="sgemm_mma")
    A, B = matrices_of(KINDS[0], 64)
    bits = np.full((16, 64), 0x3F801FFF, np.uint32).view(np.float32)
    tile = {"BM": 16, "BN": 16, "BK": 16, "WM": 16, "WN": 16}
    assert matches(run(cut, A, B, backend="sim", **tile).C, A, B, inputs="tf32")
    assert not matches(run(cut, bits, bits.T.copy(), backend="sim", **tile).C, bits, bits.T, inputs="tf32")


def test_the_kinds_are_what_they_say():
    A, B = matrices_of(KINDS[1], 100)
    assert A.dtype == B.dtype == np.float32
    assert (A.shape, B.shape) == ((16, 100), (100, 16))
    assert min(A.min(), B.min()) > 0
    assert matrices_of(KINDS[0], 100)[0].min() < 0
    low = matrices_of(KINDS[2], 100)[0].view(np.uint32) & 0xFFFF
    assert set(low.ravel().tolist()) == {0x6FFF}
    with pytest.raises(CourseError, match="no numbers 'large'"):
        matrices_of("large", 8)


MADE = (Errors("one", {8: 1e-4, 32: 2e-4}, {8: 1e-3, 32: 1e-3}), Errors("two", {8: 0.0, 32: 1e-7}, {8: 1e-6, 32: 2e-6}))


def test_each_kernel_has_a_line_and_a_bound_of_its_colour():
    ax = draw_errors(MADE)
    lines = ax.lines[:4]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-", "--"]
    assert [line.get_color() for line in lines[::2]] == [line.get_color() for line in lines[1::2]]
    assert lines[1].get_ydata().tolist() == [1e-3, 1e-3]
    assert np.isnan(lines[2].get_ydata()[0]), "0 has no place on a logarithmic axis"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two", "dashed: the bound"]
    assert "two 0 at 8 and 2⁻²³·³ at 32 (bounds 2⁻¹⁹·⁹ and 2⁻¹⁸·⁹)" in describe_errors(MADE)
