"""Training runs drawn: curves that lie on each other, bars of iterations a second, tables and words with the same numbers."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.lessons.gemm_at_work.pictures import (
    describe_iterations,
    describe_losses,
    iterations,
    iterations_table,
    losses,
    smooth,
    step_table,
)
from course_lib.plots import render
from course_lib.training import Setting, step_cost

FALL = 2.5 * np.exp(-np.arange(40) / 20)
RUNS = {"separate": FALL, "fused": FALL, "library": FALL + 1e-3 * (np.arange(40) == 7)}
SPEEDS = [{"products": products, "backend": "gpu", "hidden": hidden, "batch": 64, "per_s": per_s, "low": 0.9 * per_s, "high": 1.2 * per_s}
          for hidden, speeds in ((128, (9000, 14500, 16000)), (4096, (800, 900, 5000)))
          for products, per_s in zip(("separate", "fused", "library"), speeds, strict=True)]


def test_losses_are_drawn_smoothed_each_within_the_one_before():
    ax = losses(RUNS, note="made up")
    assert [line.get_label() for line in ax.lines] == list(RUNS)
    assert np.allclose(ax.lines[0].get_ydata(), [FALL[max(0, i - 9):i + 1].mean() for i in range(40)])
    assert list(ax.lines[0].get_xdata()) == list(range(1, 41))
    widths = [line.get_linewidth() for line in ax.lines]
    assert widths == sorted(widths, reverse=True)
    assert len({line.get_linestyle() for line in ax.lines}) == 3
    assert "made up" in ax.get_xlabel()
    words = describe_losses(RUNS)
    assert "separate from 2.50 to 0.45 in 40 steps" in words
    assert "at most 1.0e-03 apart" in words
    assert "at most 1.0e-03 apart" in describe_losses(RUNS, digits=5)
    assert describe_losses(RUNS, digits=3).endswith("they differ by one in the last of the 3 digits recorded at most.")
    assert "apart" not in describe_losses({"one": FALL, "two": FALL[:5]})
    assert render(ax, words).size[0] > 800


def test_smoothing():
    assert smooth(np.arange(5.0), 3).tolist() == [0, 0.5, 1, 2, 3]
    assert len(smooth([])) == 0


def test_bars_their_numbers_and_their_words():
    ax = iterations(SPEEDS, note="made up")
    panels = ax.figure.axes
    assert [[patch.get_height() for patch in panel.patches] for panel in panels] == [[9000, 14500, 16000], [800, 900, 5000]]
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["9,000", "14,500", "16,000"], ["800", "900", "5,000"]]
    assert [panel.get_xlabel() for panel in panels] == ["128 hidden,\nbatch of 64", "4096 hidden,\nbatch of 64"]
    assert [panel.get_ylim()[0] for panel in panels] == [0, 0]
    assert all(panel.get_ylim()[1] > row["high"] for panel, row in zip(panels, (SPEEDS[2], SPEEDS[5]), strict=True))
    legend, = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["separate", "fused", "library"]
    assert legend.get_title().get_text() == "made up"
    table = iterations_table(SPEEDS, "speeds")
    assert table.rows[1] == ("4096 hidden, batch of 64", "800", "900", "5,000")
    assert "with 128 hidden neurons and batches of 64 separate 9,000, fused 14,500, library 16,000;" in describe_iterations(SPEEDS)


def test_both_kinds_of_machine_and_a_bar_that_is_not_there():
    more = [*SPEEDS, SPEEDS[2] | {"backend": "cpu", "per_s": 7000, "low": 6900, "high": 7100}]
    table = iterations_table(more)
    assert table.header[-2:] == ("library (GPU)", "library (CPU)")
    assert [row[-1] for row in table.rows] == ["7,000", ""]
    assert [len(panel.patches) for panel in iterations(more).figure.axes] == [4, 3]
    assert describe_iterations(more).count("CPU") == 1


def test_what_cannot_be_drawn():
    with pytest.raises(CourseError, match="separate has two speeds with 128 hidden"):
        iterations([*SPEEDS, SPEEDS[0]])
    for draw in (losses, describe_losses, iterations, iterations_table):
        with pytest.raises(CourseError, match="no training run"):
            draw([])


def test_the_table_of_a_step_has_every_sector():
    costs = [step_cost(products, Setting(hidden=16, batch=16)) for products in ("separate", "fused")]
    table = step_table(costs)
    assert table.header == ("product", "separate: kernels", "separate: sectors", "fused: kernels", "fused: sectors")
    assert [row[1] for row in table.rows] == [4, 3, 2, 3, 4, 16]
    assert [row[3] for row in table.rows] == [1] * 5 + [5]
    for column in (2, 4):
        numbers = [int(row[column].replace(",", "")) for row in table.rows]
        assert sum(numbers[:-1]) == numbers[-1]
    assert int(table.rows[-1][2].replace(",", "")) == costs[0].count("sectors")
