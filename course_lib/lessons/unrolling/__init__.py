"""Lesson 07, Unrolling: what a loop costs in machine instructions, who unrolls it, and whether the time follows."""

from course_lib.explorables import unroll
from course_lib.lessons.unrolling.charts import beside, by_factor
from course_lib.lessons.unrolling.counts import per_multiply_add
from course_lib.lessons.unrolling.experiments import (
    fewer_wavefronts,
    more_instructions,
    more_wavefronts,
    recorded_ms,
    scoreboard,
    two_additions,
)
from course_lib.lessons.unrolling.measured import slides
from course_lib.lessons.unrolling.texts import three_texts

__all__ = [
    "beside", "by_factor", "fewer_wavefronts", "more_instructions", "more_wavefronts", "per_multiply_add", "recorded_ms", "scoreboard",
    "slides", "three_texts", "two_additions", "unroll",
]
