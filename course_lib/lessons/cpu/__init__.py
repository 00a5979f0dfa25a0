"""Lesson 02, The CPU done properly: a block that fits the cache, and how far one core can go."""

from course_lib.explorables import cache_blocks, sets
from course_lib.lessons.cpu.crowding import found_again, rows_apart
from course_lib.lessons.cpu.here import measured
from course_lib.lessons.cpu.loops import beside_ikj, check, count, lines_per_multiply_add
from course_lib.lessons.cpu.play import block_sliders
from course_lib.lessons.cpu.recorded import climb, gain, read_rates, vector_times
from course_lib.lessons.cpu.slides import slides
from course_lib.lessons.cpu.thread_scaling import thread_sliders

__all__ = [
    "beside_ikj", "block_sliders", "cache_blocks", "check", "climb", "count", "found_again", "gain", "lines_per_multiply_add",
    "measured", "read_rates", "rows_apart", "sets", "slides", "thread_sliders", "vector_times",
]
