"""Lesson 08, Register blocking: how many words a multiply-add needs, what that costs in registers, and what the times say."""

from course_lib.explorables import warp_timelines
from course_lib.lessons.register_blocking.charts import warps_and_outputs, words_or_work
from course_lib.lessons.register_blocking.counts import words_per_multiply_add, words_read_by
from course_lib.lessons.register_blocking.experiments import time_again, time_with
from course_lib.lessons.register_blocking.grids import wasted_work
from course_lib.lessons.register_blocking.share import share_picture, thread_share
from course_lib.lessons.register_blocking.times import scoreboard
from course_lib.lessons.register_blocking.wang import their_kernels

__all__ = [
    "scoreboard", "share_picture", "their_kernels", "thread_share", "time_again", "time_with", "warp_timelines", "warps_and_outputs",
    "wasted_work", "words_or_work", "words_per_multiply_add", "words_read_by",
]
