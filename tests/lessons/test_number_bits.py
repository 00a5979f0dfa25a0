"""The bits of a number: what is drawn is what the formats keep."""

import matplotlib.colors as colors
import pytest

from course_lib.lessons.tensor_cores.number_bits import MANTISSA, describe_bits, draw_bits, in_formats


def test_a_row_for_each_format_and_each_part():
    found = in_formats("1 + 2⁻⁸", 1 + 2**-8)
    assert [name for name, _, _ in found.rows] == ["float32", "TF32", "bfloat16 = x0", "x1", "x2"]
    assert [value for _, value, _ in found.rows] == [1 + 2**-8, 1 + 2**-8, 1, 2**-8, 0]
    assert [found.error("TF32"), found.split_error] == [0, 0]
    assert found.error("bfloat16 = x0") == pytest.approx(2**-8 / (1 + 2**-8))


def test_cutting_off_is_another_number():
    assert in_formats("a", 2 - 2**-23).rows[1][1] == 2
    assert in_formats("a", 2 - 2**-23, cut=True).rows[1][1] == 2 - 2**-10
    assert in_formats("a", 2 - 2**-23, cut=True).split_error == 0


def test_only_bits_that_are_kept_are_drawn():
    ax = draw_bits(in_formats("1.5", 1.5))
    assert len(ax.patches) == 32 + 19 + 3 * 16
    dark = [p for p in ax.patches if p.get_alpha() == 1]
    ones = [p for p in dark if colors.same_color(colors.to_rgb(p.get_facecolor()), MANTISSA)]
    assert len(ones) == 3, "the first bit behind the point, in float32, TF32 and bfloat16"
    assert "TF32 1.5 is 0 01111111 1000" in describe_bits(in_formats("1.5", 1.5))
