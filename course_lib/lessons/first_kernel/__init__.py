"""Lesson 03, A first kernel: who computes which element, what a warp asks memory for, and what that costs."""

from course_lib.explorables import who_computes
from course_lib.lessons.first_kernel.blocks import sectors_and_lines, warp_times
from course_lib.lessons.first_kernel.counts import beside, lines_per_step, shapes
from course_lib.lessons.first_kernel.guards import inputs, right_inputs, without_column_guard, without_guard
from course_lib.lessons.first_kernel.padding import padded_ms, padded_rows, places, rows_apart
from course_lib.lessons.first_kernel.plan import plan
from course_lib.lessons.first_kernel.stores import who_stores
from course_lib.lessons.first_kernel.surplus import surplus
from course_lib.lessons.first_kernel.times import scoreboard, slides, slower, time_bars, traffic

__all__ = [
    "beside", "inputs", "lines_per_step", "padded_ms", "padded_rows", "places", "plan",
    "right_inputs", "rows_apart", "scoreboard", "sectors_and_lines", "shapes", "slides", "slower", "surplus", "time_bars", "traffic",
    "warp_times",
    "who_computes", "who_stores", "without_column_guard", "without_guard",
]
