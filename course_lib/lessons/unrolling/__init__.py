"""Lesson 07, Unrolling: what a loop costs in machine instructions, who unrolls it, and whether the time follows."""

from course_lib.explorables import unroll
from course_lib.lessons.unrolling.charts import unroll_picture
from course_lib.lessons.unrolling.counts import beside, by_factor, innermost
from course_lib.lessons.unrolling.experiments import fewer_wavefronts, one_change, recorded_ms, scoreboard
from course_lib.lessons.unrolling.measured import slides
from course_lib.lessons.unrolling.rest import first_columns
from course_lib.lessons.unrolling.texts import three_texts

__all__ = [
    "beside", "by_factor", "fewer_wavefronts", "first_columns", "innermost", "one_change", "recorded_ms", "scoreboard",
    "slides", "three_texts", "unroll", "unroll_picture",
]
