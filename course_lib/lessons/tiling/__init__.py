"""Lesson 04, Tiling: how often each element is loaded, what a missing barrier does, and what the times say."""

from course_lib.explorables import side_by_side
from course_lib.lessons.tiling.counts import beside_naive, sectors_per_multiply_add
from course_lib.lessons.tiling.overtaking import overtaking, without_last_barrier
from course_lib.lessons.tiling.pictures import tile_and_loads
from course_lib.lessons.tiling.times import asked, faster, limits, scoreboard, slides, traffic

__all__ = [
    "asked", "beside_naive", "faster", "limits", "overtaking", "scoreboard", "sectors_per_multiply_add", "side_by_side",
    "slides", "tile_and_loads", "traffic", "without_last_barrier",
]
