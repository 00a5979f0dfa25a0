"""Lesson 15, Closing in on the library: its tables, pictures and controls."""

from course_lib.lessons.busy.choice import chosen_speeds, describe_choice
from course_lib.lessons.busy.search_steps import search_player
from course_lib.lessons.closing_in.operands import operand_rows, operand_table, outer_products
from course_lib.lessons.closing_in.overlap import describe_overlap, overlap, overlap_rows
from course_lib.lessons.closing_in.pictures import one_warp, overlap_picture, warp_picture
from course_lib.lessons.closing_in.warp_tile import describe_warp_tiles, warp_tile, warp_tiles

__all__ = [
    "chosen_speeds", "describe_choice", "describe_overlap", "describe_warp_tiles", "one_warp", "operand_rows", "operand_table",
    "outer_products", "overlap", "overlap_picture", "overlap_rows", "search_player", "warp_picture", "warp_tile", "warp_tiles",
]
