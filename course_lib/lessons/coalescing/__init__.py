"""Lesson 05, Coalescing: what one warp's request touches, what that takes, and which index decides it."""

from course_lib.explorables import one_request, tile_load
from course_lib.lessons.coalescing.column_access import column_sliders
from course_lib.lessons.coalescing.columns import old_and_new
from course_lib.lessons.coalescing.experiments import fetch_chart, fetches, under_way
from course_lib.lessons.coalescing.layouts import layouts, pieces
from course_lib.lessons.coalescing.mistakes import with_slip
from course_lib.lessons.coalescing.products import (
    asked_of_l2,
    b_line,
    behind_l1,
    beside_uncoalesced,
    between,
    line_29_chart,
    line_29_ms,
    scoreboard,
    slides,
)
from course_lib.lessons.coalescing.strides import recorded_us, stride_speeds, stride_times

__all__ = [
    "asked_of_l2", "b_line", "behind_l1", "beside_uncoalesced", "between", "column_sliders", "fetch_chart", "fetches", "layouts",
    "line_29_chart", "line_29_ms", "old_and_new", "one_request", "pieces", "recorded_us", "scoreboard", "slides", "stride_speeds",
    "stride_times", "tile_load", "under_way", "with_slip",
]
