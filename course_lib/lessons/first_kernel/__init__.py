"""Lesson 03, A first kernel: who computes which element, what a warp asks memory for, and what that costs."""

from course_lib.explorables import who_computes
from course_lib.lessons.first_kernel.dose import by_positions
from course_lib.lessons.first_kernel.memory import in_memory
from course_lib.lessons.first_kernel.plan import plan
from course_lib.lessons.first_kernel.shapes import warp_times
from course_lib.lessons.first_kernel.stores import who_stores
from course_lib.lessons.first_kernel.surplus import surplus
from course_lib.lessons.first_kernel.times import padded_rows, scoreboard, shape_costs, slides
from course_lib.lessons.first_kernel.touched import both

__all__ = [
    "both", "by_positions", "in_memory", "padded_rows", "plan", "scoreboard", "shape_costs", "slides", "surplus", "warp_times",
    "who_computes", "who_stores",
]
