"""Lesson 19, Is every multiprocessor busy?: shares of work, what the reader's blocks really did, recorded times, and a choice by size."""

from course_lib.explorables import hand_over, tiles_on_multiprocessors
from course_lib.lessons.busy.choice import chosen_for_others
from course_lib.lessons.busy.counts import busiest_block, even_with, left_out, whole_or_even
from course_lib.lessons.busy.pictures import SMALL_TILE, shares_picture, what_blocks_did
from course_lib.lessons.busy.times import back_to_513, race_with_library, shares_recorded, splits_recorded

__all__ = [
    "SMALL_TILE", "back_to_513", "busiest_block", "chosen_for_others", "even_with", "hand_over",
    "left_out", "race_with_library", "shares_picture", "shares_recorded", "splits_recorded", "tiles_on_multiprocessors",
    "what_blocks_did", "whole_or_even",
]
