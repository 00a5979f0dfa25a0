"""The three panels, the staircases and the time lines: every bar, point and line is what the models say."""

import matplotlib.colors
import pytest

from course_lib.arch import DEVICES, device
from course_lib.errors import CourseError
from course_lib.lessons.how_fast.interval_pictures import COLOURS, describe_intervals, draw_intervals
from course_lib.lessons.how_fast.limits import describe_limits, draw_limits
from course_lib.lessons.how_fast.occupancy import PANELS, describe_stairs, next_steps, occupancy_stairs, stairs
from course_lib.model import interval, occupancy
from course_lib.plots import style
from course_lib.run import LaunchLimits, UnderWay

FEW = UnderWay(26.8, 16)


def limits(loads=FEW, given=1):
    on = device("H200")
    return LaunchLimits(on, None, occupancy(on, 256, 64, 0), 8, given, loads, UnderWay(7, 32))


def colour(patch):
    return matplotlib.colors.to_hex(patch.get_facecolor()).upper()


def test_the_bars_are_the_room_and_the_marked_ones_keep_the_next_block_out():
    found = limits()
    _, room, _ = draw_limits(found, lambda ax: None).axes
    assert [bar.get_width() for bar in room.patches] == list(found.room.values()) == [64, 64, 32, 64, 8]
    marked = [label.get_text() for label, bar in zip(room.get_yticklabels(), room.patches) if colour(bar) == style.VERMILION]
    assert marked == ["this grid"]
    assert room.get_title(loc="left") == "Room: 8 of 64 warps"
    assert describe_limits(found).startswith("An SM holds 8 of 64 warps; alone would allow: blocks 64, warps 64, registers 32,")


def test_what_is_under_way_stands_beside_what_is_needed():
    waiting = draw_limits(limits(), lambda ax: None).axes[2]
    there = [line for line in waiting.lines if line.get_marker() == "s"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in there] == [(16, 0), (32, 1)]
    assert [line.get_color() for line in there] == [style.VERMILION, style.GREEN]
    assert [line.get_xdata()[0] for line in waiting.lines if line not in there] == [26.8, 7]
    assert not waiting.patches, "a bar has no length on a logarithmic axis"
    assert waiting.get_title(loc="left") == "Waiting: it shows"
    assert "global loads 16 there, 26.8 needed" in describe_limits(limits())


def test_unknown_loads_leave_their_row_out():
    waiting = draw_limits(limits(loads=None), lambda ax: None).axes[2]
    assert len([line for line in waiting.lines if line.get_marker() == "s"]) == 1
    assert waiting.get_title(loc="left") == "Waiting: hidden"
    assert "global loads" not in describe_limits(limits(loads=None))


def test_the_roofs_are_drawn_into_the_first_panel():
    got = []
    figure = draw_limits(limits(), got.append)
    assert got == figure.axes[:1]


@pytest.mark.parametrize("name", DEVICES)
def test_every_step_of_the_stairs_is_an_occupancy(name):
    on = device(name)
    found = stairs(on, 96, 40, 4096)
    assert list(found) == list(PANELS)
    for n, warps in found[PANELS[0]][::5]:
        assert warps == occupancy(on, n, 40, 4096).warps
    for r, warps in found[PANELS[1]][::17]:
        assert warps == occupancy(on, 96, r, 4096).warps
    for kib, warps in found[PANELS[2]][::7]:
        assert warps == occupancy(on, 96, 40, kib * 1024).warps
    assert len(occupancy_stairs(on, 96, 40, 4096).axes) == 3


def test_the_point_stands_on_the_stairs():
    figure = occupancy_stairs(device("H200"), 256, 65, 8192)
    now = occupancy(device("H200"), 256, 65, 8192).warps
    points = [next(line for line in ax.lines if line.get_marker() == "o") for ax in figure.axes]
    assert [(p.get_xdata()[0], p.get_ydata()[0]) for p in points] == [(256, now), (65, now), (8, now)]
    assert "3 blocks, 24 of 64 warps; limited by registers" in figure.get_suptitle()


def test_the_next_step_is_the_first_that_helps():
    on = device("H200")
    up = next_steps(on, 256, 65, 8192)[PANELS[1]]
    here = occupancy(on, 256, 65, 8192).warps
    assert occupancy(on, 256, up, 8192).warps > here
    assert all(occupancy(on, 256, r, 8192).warps == here for r in range(up + 1, 66))
    both = {"registers": 32, "shared_bytes": 33 * 1024}
    assert next_steps(on, 256, **both) == {PANELS[2]: 31}
    assert next_steps(device("Tesla C1060"), 64, 30, 2048) == {}
    assert "alone lets no more warps fit" in describe_stairs(device("Tesla C1060"), 64, 30, 2048)


def test_what_no_launch_may_ask_for_is_refused():
    with pytest.raises(CourseError, match="Tesla C1060"):
        occupancy_stairs(device("Tesla C1060"), 1024, 16, 0)


LINES = {n: interval.spans(interval.program_loaded_first(n, n)) for n in (8, 16)}
THREADS = {"for bandwidth": {8: 60.0, 12: 40.0, 16: 50.0}, "for issue": {8: 900.0, 12: 400.0, 16: 269.0}}


def test_the_pieces_of_a_line_lie_end_to_end():
    time, _ = draw_intervals(LINES, 16, THREADS, 2048, title="K0").axes
    widths = {}
    for kind, bars in zip([*COLOURS] * 2, time.collections):
        row = 8 if len(widths) < 4 else 16
        widths[row, kind] = sum(path.vertices[:, 0].max() - path.vertices[:, 0].min() for path in bars.get_paths())
        assert (bars.get_alpha() == 1) == (row == 16)
    assert widths[16, "multiply-adds"] == 256
    assert sum(width for (row, _), width in widths.items() if row == 16) == 672
    assert [text.get_text() for text in time.texts] == ["472", "672"]


def test_the_points_are_the_chosen_n_and_the_fewest_is_marked():
    _, threads = draw_intervals(LINES, 16, THREADS, 2048, title="K0").axes
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in threads.lines if line.get_marker() not in ("None", None)]
    assert points == [(16, 50.0), (16, 269.0)]
    labels = [text.get_text() for text in threads.get_legend().get_texts()]
    assert "fewest at N = 12" in labels
    falling = {"for bandwidth": {8: 60.0, 12: 50.0, 16: 40.0}}
    _, threads = draw_intervals(LINES, 16, falling, 2048, title="K0").axes
    assert not any("fewest" in text.get_text() for text in threads.get_legend().get_texts())
    assert "bandwidth 50, for issue 269" in describe_intervals(LINES, 16, THREADS, 2048)
