"""Lesson 08, Register blocking: how many words a multiply-add needs, what that costs in registers, and what the times say."""

from course_lib.explorables import warp_timelines
from course_lib.lessons.register_blocking.charts import warps_and_outputs
from course_lib.lessons.register_blocking.counts import shapes, words_per_multiply_add, words_read_by
from course_lib.lessons.register_blocking.experiments import fewer_wavefronts, time_with
from course_lib.lessons.register_blocking.grids import wasted_work
from course_lib.lessons.register_blocking.share import share_picture, thread_share
from course_lib.lessons.register_blocking.times import scoreboard
from course_lib.lessons.register_blocking.wang import their_kernels

__all__ = [
    "fewer_wavefronts", "scoreboard", "shapes", "share_picture", "their_kernels", "thread_share", "time_with", "warp_timelines",
    "warps_and_outputs", "wasted_work", "words_per_multiply_add", "words_read_by",
]
