"""Lesson 13, When nothing is reused: its tables, pictures and controls."""

from course_lib.lessons.matrix_vector.device import homework_report
from course_lib.lessons.matrix_vector.levels import (
    describe_levels,
    describe_time_by_sectors,
    l2_write_rates,
    level_bars,
    level_table,
    time_by_sectors,
)
from course_lib.lessons.matrix_vector.vectors import (
    counted_table,
    describe_warp_bars,
    launch_table,
    p_mode_table,
    recorded_rates,
    resource_table,
    share_bars,
    star_table,
    used_picture,
    warp_bars,
)

__all__ = [
    "counted_table", "describe_levels", "describe_time_by_sectors", "describe_warp_bars", "homework_report", "l2_write_rates",
    "launch_table", "level_bars", "level_table", "p_mode_table", "recorded_rates", "resource_table", "share_bars", "star_table",
    "time_by_sectors", "used_picture", "warp_bars",
]
