"""Lesson 09, The outer product: its tables, pictures and controls."""

from course_lib.lessons.outer_product.cost_model import cost_sliders
from course_lib.lessons.outer_product.rank_one import describe_rank, rank_frames, rank_player, rank_step

__all__ = [
    "cost_sliders", "describe_rank", "rank_frames", "rank_player", "rank_step",
]
