"""What the controls of the CPU lessons compute, draw and say."""

import pytest

from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import line_window
from course_lib.run import count_lines
from course_lib.widgets import cpu_sliders
from course_lib.widgets.compute import inputs
from course_lib.widgets.cpu_sliders import (
    block_bars,
    block_facts,
    block_sliders,
    blocked_lines,
    compiler_note,
    count_blocks,
    count_order,
    line_bars,
    line_facts,
    line_picture,
    line_player,
    order_sliders,
    trace_order,
)


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("order", ORDERS)
def test_a_position_is_the_programs_own_count(order):
    A, B, _ = inputs(48, 48, 48)
    assert count_order(order, 48, 2048).fetched == count_lines(f"gemm_{order}", A, B, cache=CacheShape(2048), by="python").fetched


def test_the_table_says_what_was_counted():
    counted = count_order("ijk", 32, 1024)
    facts = line_facts(counted)
    assert facts["lines fetched, B"] == f"{32**3:,}" == facts["multiply-adds"]
    assert facts["uses of a fetched line, B"] == "1"
    assert facts["lines fetched, all"] == f"{counted.total:,}"
    assert facts["lines / multiply-add"] == f"{counted.total / 32**3:.4f}"


def test_the_bars_keep_their_axis_so_that_moves_can_be_compared():
    ax, alt = line_bars(count_order("jki", 32, 1024))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[0] == widths[2] == 1
    assert widths[3] == pytest.approx(sum(widths[:3]))
    assert ax.get_xlim() == line_bars(count_order("ikj", 32, 1024))[0].get_xlim() == (0, 2.4)
    assert "A 1.0000" in alt
    assert "gemm_jki" in alt


def test_the_picture_shows_the_step_that_was_asked_for():
    figure, alt = line_picture("jki", 64)
    assert "Order jki" in alt
    assert "after 64 multiply-adds" in alt
    seen = line_window(trace_order("jki"), 64, cpu_sliders.LAST)
    assert figure.axes[0].get_title(loc="left").startswith(f"A(i, k): {seen.misses['A']} line")
    assert len(trace_order("jki").trace) == 3 * cpu_sliders.STEPS[-1]


def test_the_controls_move(wait_s):
    box = order_sliders("ijk", N=32, size=1024, sizes=(32, 64))
    assert f"{32**3:,}" in box.table.value
    box.boxes["order"].value = "ikj"
    assert box.engine.settle(wait_s)
    assert "order = ikj, N = 32, cache = 1 KiB" in box.status.value
    assert "before" in box.table.value
    box.close()


@pytest.mark.slow
def test_the_player_draws(wait_s):
    box = line_player("ijk", 32)
    assert "after 32 multiply-adds" in box.image.value
    box.boxes["step"].value = 40
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert "after 40 multiply-adds" in box.image.value
    box.close()


def test_the_note_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(cpu_sliders, "no_compiler", lambda: "")
    assert compiler_note() is True
    assert "every cell runs" in capsys.readouterr().out
    monkeypatch.setattr(cpu_sliders, "no_compiler", lambda: "there is no compiler")
    assert compiler_note() is False
    assert capsys.readouterr().out.endswith("there is no compiler.\n")


@pytest.mark.parametrize(("block", "N", "size"), [(16, 64, 4096), (16, 128, 4096), (32, 64, 16384), (32, 96, 16384)])
def test_blocks_that_fit_fetch_what_the_formula_says(block, N, size):
    assert 12 * block * block <= size
    assert count_blocks(block, N, size).per_multiply_add == pytest.approx(blocked_lines(block, N), rel=1e-12)


def test_blocks_that_do_not_fit_gain_nothing():
    assert count_blocks(32, 64, 4096).per_multiply_add >= count_order("ikj", 64, 4096).per_multiply_add
    assert count_blocks(8, 64, 2048).per_multiply_add > blocked_lines(8, 64), "part of each line is not used"


def test_the_table_of_a_blocked_loop():
    facts = block_facts(count_blocks(16, 32, 2048))
    assert facts["1/(8b) + 1/(16N)"] == f"{1 / 128 + 1 / 512:.4f}"
    assert facts["bytes of three blocks"] == "3,072"
    assert facts["bytes of the cache"] == "2,048"
    assert not [label for label in facts if "uses" in label]


def test_the_bars_of_a_blocked_loop():
    counted = count_blocks(16, 64, 4096)
    ax, alt = block_bars(counted)
    plain = count_order("ikj", 64, 4096).per_multiply_add
    assert [bar.get_width() for bar in ax.patches] == [plain, counted.per_multiply_add, blocked_lines(16, 64)]
    assert ax.get_xlim() == (0, 0.12)
    assert f"ikj, no blocks {plain:.4f}" in alt


def test_the_blocks_controls_move(wait_s):
    box = block_sliders(16, N=32, size=2048, blocks=(8, 16), sizes=(32,))
    box.boxes["b"].value = 8
    assert box.engine.settle(wait_s)
    assert "b = 8, N = 32, cache = 2 KiB" in box.status.value
    assert f"{count_blocks(8, 32, 2048).total:,}" in box.table.value
    box.close()
