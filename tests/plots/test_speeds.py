"""Curves of sweeps: what belongs together, labels that tell apart, numbers beside the picture."""

from types import SimpleNamespace

import pytest

from course_lib.bench import plans
from course_lib.data import Record, load
from course_lib.errors import CourseError
from course_lib.plots import describe_speeds, draw_curves, live_points, roofline, speeds, speeds_table
from course_lib.plots.speeds import curves


def record(kernel, N, gflops, **parameters):
    return Record(kernel, N, parameters, 1e-3, 1e-3, 1e-3, gflops)


SOME = (record("one", 64, 1.0, bx=8), record("two", 64, 3.0, bx=8), record("two", 64, 4.0, bx=16), record("one", 96, 2.0, bx=8),
        record("two", 96, 5.0, bx=16), Record("two", 128, {"bx": 64}, state="skipped", problem="too many threads"))


def test_a_curve_for_each_kernel_and_each_other_choice():
    assert curves(SOME) == {"one": {64: 1, 96: 2}, "two, bx = 8": {64: 3}, "two, bx = 16": {64: 4, 96: 5}}
    assert curves(SOME, "bx") == {"one, N = 64": {8: 1}, "two, N = 64": {8: 3, 16: 4}, "one, N = 96": {8: 2}, "two, N = 96": {16: 5}}


def test_the_picture_its_numbers_and_its_words():
    ax = speeds(SOME, label="recorded somewhere")
    assert [line.get_label() for line in ax.lines] == ["one", "two, bx = 8", "two, bx = 16"]
    assert list(ax.lines[2].get_xdata()) == [64, 96]
    assert list(ax.lines[2].get_ydata()) == [4, 5]
    assert "recorded somewhere" in ax.get_xlabel()
    table = speeds_table(SOME)
    assert table.header == ("N", "one", "two, bx = 8", "two, bx = 16")
    assert table.rows == [("64", "1", "3", "4"), ("96", "2", "", "5")]
    assert "two, bx = 16 from 4 at 64 to 5 at 96, best 5 at 96" in describe_speeds(SOME)


def test_values_side_by_side():
    ax = draw_curves({"a": {64: 1.0, 65: 0.5, 2048: 2.0}, "b": {65: 3.0}}, xlabel="N", ylabel="y", even=True)
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0, 1], [1, 0.5], [2, 2]], [[1, 3]]]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["64", "65", "2048"]


def test_what_cannot_be_drawn():
    with pytest.raises(CourseError, match="no record has a speed and TW"):
        speeds(SOME, over="TW")
    with pytest.raises(CourseError, match="two records at N = 64"):
        speeds(SOME + (record("one", 64, 9.0, bx=8),))
    with pytest.raises(CourseError, match="9 curves are too many"):
        speeds([record(str(i), 64, 1.0) for i in range(9)])


def test_the_recorded_sweeps_can_be_drawn():
    wang = load("wang")
    twenty = [r for r in wang.records if r.N in plans.WANG_SIZES and r.dtype == "float64"]
    assert [line.get_label() for line in speeds(twenty, label=wang.label).lines] == [
        "dgemm_thread", "dgemm_block", "dgemm_ilp", "dgemm_outputs, by = 16", "dgemm_outputs, by = 8", "cuBLAS"]
    assert len(speeds_table(twenty).rows) == 20
    warps = curves(load("mxv").records, "threads", "gb_s")
    assert list(warps) == list(plans.MXV)
    assert all(len(line) == 8 for line in warps.values())
    active = curves(load("active").find("sgemm_volkov"), "dynamic_shared")
    assert len(active) == 5


def inside(ax):
    """Return whether the legend lies beside the drawing and within the figure."""
    ax.figure.canvas.draw()
    box, drawing, figure = (part.get_window_extent() for part in (ax.get_legend(), ax, ax.figure))
    return box.x0 >= drawing.x1 - 1 and box.x1 <= figure.x1 + 1 and box.y0 >= figure.y0 - 1


def test_legends_cover_no_curve_and_are_not_cut_off():
    ladder = load("ladder")
    best = [r for r in ladder.records if r.kernel in ("sgemm_naive", "sgemm_double_buffered", "cuBLAS")]
    assert inside(speeds(best, label=ladder.label))
    assert inside(speeds(load("mxv").records, over="threads", what="gb_s"))
    points = {r.kernel: (2 * 4096 / 12, r.gflops) for r in ladder.find(N=4096)}
    ax = roofline("H200", points)
    assert inside(ax)
    looks = [(line.get_marker(), line.get_color()) for line in ax.lines]
    assert len(set(looks)) == len(looks) == 1 + len(points)


def test_the_ticks_are_the_sizes_where_these_are_few():
    ladder = speeds(load("ladder").find("cuBLAS"))
    assert ladder.get_xscale() == "log"
    assert [ladder.xaxis.get_major_formatter()(x) for x in ladder.get_xticks()] == ["256", "512", "1,024", "2,048", "4,096", "8,192"]
    warps = speeds(load("mxv").records, over="threads", what="gb_s")
    assert (warps.get_xscale(), list(warps.get_xticks())) == ("linear", list(range(128, 1025, 128)))
    words = [text.get_text() for text in warps.get_legend().get_texts()]
    assert (words[0], words[-1]) == ("mxv_vls", "mxv_o_per_thd"), "fastest first"
    wang = [r for r in load("wang").find("cuBLAS") if r.dtype == "float64" and r.N in plans.WANG_SIZES]
    assert speeds(wang).get_xscale() == "linear"


def measured(kernel, N, gflops, **parameters):
    kernel = SimpleNamespace(name=kernel)
    return SimpleNamespace(kernel=kernel, N=N, parameters=parameters, label="measured on X", time=gflops, gflops=gflops)


def test_live_points_beside_recorded_curves():
    results = [measured("two", 64, 3.5, bx=16), measured("two", 96, 6.0, bx=16), measured("one", 64, None, bx=8)]
    live = live_points(results)
    assert live == {"two, measured on X": {64: 3.5, 96: 6.0}}
    *_, points = speeds(SOME, live=live, label="recorded somewhere").lines
    assert points.get_linestyle() == "None"
    assert (list(points.get_xdata()), list(points.get_ydata())) == ([64, 96], [3.5, 6.0])
    assert points.get_label() == "two, measured on X"
    assert "two, measured on X: 4 at 64, 6 at 96" in describe_speeds(SOME, live=live)
    assert len(speeds(SOME, live=live_points(results[2:])).lines) == 3
    assert live_points(results, over="bx") == {"two, measured on X": {16: 6.0}}
    assert live_points(results, over="TW") == {}


def test_a_recorded_tile_sweep_against_the_size():
    blocks = load("blocks")
    done = [r for r in blocks.records if (r.parameters["bx"], r.parameters["by"]) == (16, 16) and r.gflops is not None]
    tiles = sorted({(r.parameters["TA"], r.parameters["TB"], r.parameters["TW"]) for r in done})[:4]
    some = [r for r in done if (r.parameters["TA"], r.parameters["TB"], r.parameters["TW"]) in tiles]
    ax = speeds(some, log=True, label=blocks.label)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert len(ax.lines) == len(tiles) > 1
    assert sum(len(line.get_xdata()) for line in ax.lines) == len(some)
