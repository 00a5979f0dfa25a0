"""The products of a step drawn: boxes to scale, stripes the way rows lie."""

import numpy as np
import pytest

from course_lib.lessons.gemm_at_work.products import describe_products, product_boxes
from course_lib.plots import render
from course_lib.training import Setting, gemms


@pytest.mark.parametrize("setting", [Setting(), Setting(hidden=512, batch=256), Setting(hidden=32, batch=1)])
def test_boxes_have_the_sizes_of_the_operands(setting):
    found = gemms(setting)
    ax = product_boxes(found)
    sizes = [(round(p.get_width()), round(p.get_height())) for p in ax.patches]
    assert sizes == [size for g in found for size in ((g.K, g.M), (g.N, g.K), (g.N, g.M))]
    assert render(ax, describe_products(found)).size[0] > 1000


def test_nothing_overlaps_and_nothing_is_cut_off():
    ax = product_boxes(gemms())
    edges = [(p.get_x(), p.get_y(), p.get_x() + p.get_width(), p.get_y() + p.get_height()) for p in ax.patches]
    for i, (a, b, c, d) in enumerate(edges):
        assert ax.get_xlim()[0] <= a < c <= ax.get_xlim()[1]
        assert ax.get_ylim()[1] <= b < d <= ax.get_ylim()[0]
        assert not any(a < g and e < c and b < h and f < d for e, f, g, h in edges[:i])


def test_stripes_stand_upright_in_turned_operands_alone():
    found = gemms()
    ax = product_boxes(found)
    transposed = [turn for g in found for turn in (*g.product.transposed, False)]
    for patch, turn in zip(ax.patches, transposed, strict=True):
        x, y, w, h = patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height()
        inside = [line.get_xydata() for line in ax.lines
                  if x <= np.mean(line.get_xdata()) <= x + w and y <= np.mean(line.get_ydata()) <= y + h]
        assert inside
        assert all((np.ptp(xy[:, 0]) == 0) == turn for xy in inside)
    words = [text.get_text() for text in ax.texts]
    assert "TT   W1 = W1 - rate Gᵀ Xᵀ" in words
    assert "M, N, K = 10, 128, 64" in words
    assert [word for word in words if "gradient of" in word] == ["gradient of W2", "gradient of W1"]


def test_words_have_all_five():
    words = describe_products(gemms())
    assert words.count("M, N, K") == 5
    assert "G = D W2 (NN; M, N, K = 64, 128, 10)" in words
