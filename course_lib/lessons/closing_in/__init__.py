"""Lesson 15, Closing in on the library: what feeds a multiply-add, in counts, pictures and recorded times."""

from course_lib.explorables import gap, lanes, register_reads
from course_lib.lessons.closing_in.feeding import (
    crossed,
    gained,
    milliseconds,
    one_change,
    registers_alone,
    scoreboard,
    wavefronts_of,
    wavefronts_per_k,
)
from course_lib.lessons.closing_in.overlap import describe_overlap, overlap, overlap_rows
from course_lib.lessons.closing_in.pictures import on_the_way, one_warp, overlap_picture, warp_picture
from course_lib.lessons.closing_in.tried_next import tried_next
from course_lib.lessons.closing_in.warp_tile import describe_warp_tiles, warp_tile, warp_tiles

__all__ = [
    "crossed", "describe_overlap", "describe_warp_tiles", "gained", "gap", "lanes", "milliseconds", "on_the_way", "one_change", "one_warp",
    "overlap", "overlap_picture", "overlap_rows", "register_reads", "registers_alone", "scoreboard", "tried_next", "warp_picture",
    "warp_tile", "warp_tiles", "wavefronts_of", "wavefronts_per_k",
]
