"""Lesson 05, Coalescing: what one warp's request touches, what that takes, and which index decides it."""

from course_lib.explorables import one_request, tile_load
from course_lib.lessons.coalescing.columns import old_and_new
from course_lib.lessons.coalescing.experiments import fetch_chart
from course_lib.lessons.coalescing.layouts import layouts, pieces
from course_lib.lessons.coalescing.products import b_line, gain_table, line_29_chart, line_29_ms, slides
from course_lib.lessons.coalescing.strides import recorded_us, stride_chart

__all__ = [
    "b_line", "fetch_chart", "gain_table", "layouts", "line_29_chart", "line_29_ms", "old_and_new", "one_request", "pieces",
    "recorded_us", "slides", "stride_chart", "tile_load",
]
