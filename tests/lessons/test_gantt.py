"""Gantt pictures, read off their Axes."""

import pytest

from course_lib import plots
from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.lessons import measuring
from course_lib.model import timeline


def bars(ax, row, colour):
    """Return (start, end) of the bars of one row and colour."""
    found = []
    for patches in ax.collections:
        for path, face in zip(patches.get_paths(), patches.get_facecolors()):
            (left, low), (right, high) = path.get_extents().get_points()
            if low < row < high and face[:3] == pytest.approx(colour, abs=0.01):
                found.append((round(float(left), 6), round(float(right), 6)))
    return sorted(found)


BLUE, ORANGE, PALE, WHITE = (0, 0.447, 0.698), (0.902, 0.624, 0), (0.749, 0.867, 0.941), (1, 1, 1)


def test_a_latency_that_shows():
    ax = measuring.gantt(timeline(2, [(6, 20)] * 2))
    assert bars(ax, 0, BLUE) == [(0, 6), (20, 26)]
    assert bars(ax, 1, BLUE) == [(6, 12), (26, 32)]
    assert bars(ax, 0, PALE) == [(6, 20), (26, 40)]
    assert bars(ax, 2, BLUE) == [(0, 6), (6, 12), (20, 26), (26, 32)]
    assert bars(ax, 2, WHITE) == [(12, 20)]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["warp 0", "warp 1", "scheduler"]
    assert "scheduler idle" in [t.get_text() for t in ax.get_legend().get_texts()]
    assert "busy 75 %" in ax.get_title(loc="left")
    assert "modelled" in ax.get_xlabel()


def test_a_latency_that_is_hidden():
    ax = measuring.gantt(timeline(6, [(6, 36)] * 3))
    assert bars(ax, 6, WHITE) == []
    assert ax.get_title(loc="left") == "6 warps: the latency is hidden"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["instruction issues", "waits for its result"]


def test_steps_with_names_and_a_last_cycle():
    found = timeline(3, [(4, 30), (4, 10)])
    ax = measuring.gantt(found, names=["load", "store"])
    assert bars(ax, 3, ORANGE) == [(30, 34), (34, 38), (38, 42)]
    cut = measuring.gantt(found, names=["load", "store"], until=32)
    assert cut.get_xlim() == (0, 32)
    assert bars(cut, 3, ORANGE) == [(30, 32)]
    words = measuring.describe_gantt(found, names=["load", "store"])
    assert "load: 4 cycles of issue, 30 until the result; store: 4 cycles of issue, 10" in words
    assert "waits once, 18 cycles" in words
    assert plots.render(ax, words).alt == words


def test_it_draws_into_given_axes():
    mine = plots.bars({"x": 1}, unit="u")
    assert measuring.gantt(timeline(2, [(1, 2)]), mine) is mine
    assert measuring.clocks([(0, 0, 5)], mine) is mine


def test_recorded_clocks():
    micro = readings("micro")
    rows = [row for row in micro.rows if "gantt" in row]
    assert rows
    for row in rows:
        ax = measuring.clocks(row["gantt"], label=micro.label)
        assert [(p.get_x(), p.get_x() + p.get_width()) for p in ax.patches] == [(begin, end) for _, begin, end in row["gantt"]]
        assert micro.label in ax.get_xlabel()
        assert [t.get_text() for t in ax.texts] == [f"{end - begin:,}" for _, begin, end in row["gantt"]]
        assert f"take {min(e - b for _, b, e in row['gantt'])} to" in measuring.describe_clocks(row["gantt"])


def test_what_cannot_be_drawn():
    with pytest.raises(CourseError, match="65 warps are too many"):
        measuring.gantt(timeline(65, [(1, 2)]))
    with pytest.raises(CourseError, match="1 names for 2 steps"):
        measuring.gantt(timeline(2, [(1, 2)] * 2), names=["load"])
    with pytest.raises(CourseError, match="no clocks"):
        measuring.clocks([])
