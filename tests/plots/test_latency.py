"""Sweeps and rings, read off their Axes."""

import pytest

from course_lib import plots
from course_lib.data import documents
from course_lib.errors import CourseError
from course_lib.model import read_sweep

POINTS = documents.CHIEN_2.column("maximum")


def test_points_line_and_knee():
    found = read_sweep(POINTS)
    ax = plots.thread_sweeps({"MAD": POINTS}, {"MAD": found}, label="made up")
    line, points, knee = ax.lines
    assert line.get_xydata().ravel().tolist() == pytest.approx([0, 34.6, 32 * found.knee, 34.6, 512, 96.9])
    assert points.get_xydata().tolist() == [[x, POINTS[x]] for x in sorted(POINTS)]
    assert knee.get_xydata()[0].tolist() == pytest.approx([32 * 34.6 / (96.9 / 16), 34.6])
    assert "made up" in ax.get_xlabel()
    assert ax.get_ylim()[0] == ax.get_xlim()[0] == 0
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["MAD", "knee"]


def test_a_sweep_that_nobody_has_read_has_points_alone():
    ax = plots.thread_sweeps({"MAD": POINTS, "unread": {32: 4.0, 1024: 8.0}}, {"MAD": read_sweep(POINTS)})
    assert [line.get_xydata().tolist() for line in ax.lines[3:]] == [[[32, 4], [1024, 8]]]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["MAD", "unread", "knee"]
    assert [t.get_text() for t in plots.thread_sweeps({"unread": POINTS}, {}).get_legend().get_texts()] == ["unread"]
    words = plots.describe_sweeps({"unread": {1024: 8.0, 32: 4.0}}, {})
    assert words == "Cycles of a step against active threads: unread: 4.0 at 32, 8.0 at 1024."


def test_what_this_machine_measured_is_beside_it():
    ax = plots.thread_sweeps({"MAD": POINTS}, {"MAD": read_sweep(POINTS)}, live={"measured here": {32: 30.0, 64: 31.0}})
    assert ax.lines[-1].get_xydata().tolist() == [[32, 30], [64, 31]]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["MAD", "measured here", "knee"]


def test_the_first_of_several_sweeps_is_seen_below_the_others():
    ax = plots.thread_sweeps({"one": POINTS, "same": POINTS}, {"one": read_sweep(POINTS), "same": read_sweep(POINTS)})
    line, hollow, _, other, full, _ = ax.lines
    assert hollow.get_markerfacecolor() == "none"
    assert full.get_markerfacecolor() != "none"
    assert hollow.get_markersize() > full.get_markersize()
    assert line.get_linewidth() > other.get_linewidth()


def test_too_many_sweeps():
    many = {str(i): POINTS for i in range(9)}
    with pytest.raises(CourseError, match="9 sweeps are too many"):
        plots.thread_sweeps(many, {name: read_sweep(POINTS) for name in many})


def test_rings():
    curves = {"next slot": {4096: 34.0, 2**18: 175.0, 2**28: 679.0}, "33 on": {2**28: 692.0}}
    ax = plots.ring_sizes(curves, {"L1": 2**18}, label="made up")
    assert [line.get_xydata().tolist() for line in ax.lines[:2]] == [[[x, y] for x, y in points.items()] for points in curves.values()]
    assert list(ax.lines[2].get_xdata()) == [2**18, 2**18]
    assert [t.get_text().strip() for t in ax.texts] == ["L1 ends"]
    assert ax.get_xscale() == "log"
    assert max(max(points.values()) for points in curves.values()) < ax.get_ylim()[1]
    ax.figure.canvas.draw()
    assert "4 KiB" in [t.get_text() for t in ax.get_xticklabels()]
    assert "33 on: 692 at 256 MiB" in plots.describe_rings(curves, "made up")


def test_a_sweep_in_words():
    words = plots.describe_sweeps({"MAD": POINTS}, {"MAD": read_sweep(POINTS)}, "made up")
    assert "made up" in words
    assert "flat at 34.6, has its knee at 183 threads" in words
    assert "96.9 at 512" in words
