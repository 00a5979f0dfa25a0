"""Lesson 12, Measuring the machine: its tables, pictures and controls."""

from course_lib.lessons.measuring.gantt import clocks, describe_clocks, describe_gantt, gantt
from course_lib.lessons.measuring.warp_clock import warp_sliders, who_issues

__all__ = [
    "clocks", "describe_clocks", "describe_gantt", "gantt", "warp_sliders", "who_issues",
]
