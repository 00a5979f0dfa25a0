"""Lesson 02, The CPU done properly: a block that fits the cache, and how far a CPU can go."""

from course_lib.explorables import cache_blocks
from course_lib.lessons.cpu.crowding import rows_apart, sets
from course_lib.lessons.cpu.here import measured, measured_roofline
from course_lib.lessons.cpu.loops import beside_ikj, block_sizes, check, count, lines_per_multiply_add
from course_lib.lessons.cpu.play import block_sliders
from course_lib.lessons.cpu.recorded import block_times, climb, conditions, gain, read_rates, roofline, scoreboard, vector_times
from course_lib.lessons.cpu.slides import slides
from course_lib.lessons.cpu.threads import gains, lost_additions, serial_shares, thread_sliders

__all__ = [
    "beside_ikj", "block_sizes", "block_sliders", "block_times", "cache_blocks", "check", "climb", "conditions", "count", "gain", "gains",
    "lines_per_multiply_add", "lost_additions", "measured", "measured_roofline", "read_rates", "roofline", "rows_apart", "scoreboard",
    "serial_shares", "sets", "slides", "thread_sliders", "vector_times",
]
