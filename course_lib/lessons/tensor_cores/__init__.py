"""Lesson 16, Tensor cores: its tables, pictures and controls."""

from course_lib.lessons.tensor_cores.costs import costs_of, costs_table
from course_lib.lessons.tensor_cores.errors import error_picture, relative_errors
from course_lib.lessons.tensor_cores.sliders import lane_sliders
from course_lib.lessons.tensor_cores.tables import costs_of_kernels, print_peaks_and_best, speed_curves, speed_table
from course_lib.plots.lane_shares import lane_share

__all__ = [
    "costs_of", "costs_of_kernels", "costs_table", "error_picture", "lane_share", "lane_sliders", "print_peaks_and_best", "relative_errors",
    "speed_curves", "speed_table",
]
