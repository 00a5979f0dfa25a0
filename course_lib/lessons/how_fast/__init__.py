"""Lesson 11, How fast could it be?: its tables, pictures and controls."""

from course_lib.lessons.how_fast.calculator import occupancy_sliders
from course_lib.lessons.how_fast.intervals import analyse, interval_picture, interval_sliders
from course_lib.lessons.how_fast.limits import limits_picture

__all__ = [
    "analyse", "interval_picture", "interval_sliders", "limits_picture", "occupancy_sliders",
]
