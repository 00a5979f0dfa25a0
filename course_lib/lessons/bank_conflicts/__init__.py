"""Lesson 06, Bank conflicts and padding: what a column of a tile costs, what an unused word per row changes, and what it saves."""

from course_lib.explorables import banks
from course_lib.lessons.bank_conflicts.counts import by_padding, least_padding, padded_or_swizzled, recorded_us
from course_lib.lessons.bank_conflicts.in_memory import rows_in_banks
from course_lib.lessons.bank_conflicts.pictures import loads, one_warp, stores
from course_lib.lessons.bank_conflicts.slides import sixteen_banks
from course_lib.lessons.bank_conflicts.times import product_scoreboard, product_times, transposition_times

__all__ = [
    "banks", "by_padding", "least_padding", "loads", "one_warp", "padded_or_swizzled", "product_scoreboard", "product_times",
    "recorded_us", "rows_in_banks", "sixteen_banks", "stores", "transposition_times",
]
