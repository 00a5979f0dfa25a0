"""The controls on a training step: what they run, say and draw."""

import pytest

from course_lib.lessons.gemm_at_work.training_step import BATCH, HIDDEN, step_bars, step_facts, step_sliders, view_step, widest
from course_lib.plots import render
from course_lib.training import KINDS, Setting, step_cost


@pytest.mark.parametrize("way", ["separate", "fused"])
def test_a_position_is_the_step_that_ran(way):
    view, cost = view_step(way, 32, 16), step_cost(way, Setting(32, 16))
    assert sum(view.totals) == cost.count("sectors")
    assert view.totals == tuple(load + store for _, _, load, store in cost.rows())
    assert view.kernels == cost.kernels
    names = {name for found in view.sectors for name in found}
    assert names == ({"sgemm_op"} if way == "fused" else {"transpose", "sgemm_multiply", "matrix_sum"})


def test_facts_are_counts_with_shapes():
    facts = step_facts(view_step("separate", 128, 64))
    assert facts["TT  H: M × N × K"] == "64 × 128 × 64"
    assert [label[:2] for label in facts if "M × N × K" in label] == ["TT", "NT", "NN", "TN", "TT"]
    assert (facts["kernels"], facts["sectors"], facts["multiply-adds"]) == ("16", "39,184", f"{2 * 64 * 128 * 64 + 3 * 64 * 128 * 10:,}")
    assert facts["times as many"] == f"{39184 / 10096:.2f}"


def test_of_the_library_only_the_least_is_said():
    view = view_step("library", 32, 16)
    facts, (_, words) = step_facts(view), step_bars(view)
    assert facts["times as many"] == "not counted"
    assert facts["kernels"] == "5 or more"
    assert facts["sectors"].endswith("at least")
    assert "at least, modelled" in words
    assert "counted" not in words


@pytest.mark.parametrize("way", KINDS)
def test_bars_add_up_to_the_totals_and_fit(way):
    view = view_step(way, 64, 32)
    ax, words = step_bars(view)
    ends = {}
    for bar in ax.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends.get(row, 0), bar.get_x() + bar.get_width())
    assert [ends[row] for row in range(5)] == list(view.totals)
    assert max(view.totals) < 0.8 * ax.get_xlim()[1]
    assert f"{view.totals[4]:,} ({100 * view.totals[4] / sum(view.totals):.0f} %)" in "".join(text.get_text() for text in ax.texts)
    assert "W1 = W1 - rate Gᵀ Xᵀ" in words
    assert render(ax, words).size[0] > 600


def test_all_ways_have_one_axis():
    assert len({step_bars(view_step(way, 64, 32))[0].get_xlim() for way in KINDS}) == 1


@pytest.mark.parametrize(("hidden", "batch"), [(32, 16), (512, 16), (32, 256), (512, 256)])
def test_the_corners_fit_the_axis(hidden, batch):
    view = view_step("separate", hidden, batch)
    assert max(view.totals) < 1.1 * widest(view.gemms)


def test_the_controls():
    box = step_sliders()
    assert [control.values for control in box.controls] == [KINDS, HIDDEN, BATCH]
    assert "39,184" in box.static_text()
    assert "<img" in box.static_html()
