"""Lesson 16, Tensor cores: its tables, pictures and controls."""

from course_lib.lessons.tensor_cores.costs import costs_of, costs_table
from course_lib.lessons.tensor_cores.errors import error_picture, errors_by_depth, relative_errors
from course_lib.lessons.tensor_cores.sliders import bit_sliders, error_sliders, lane_sliders
from course_lib.lessons.tensor_cores.tables import (
    costs_of_kernels,
    print_errors,
    print_fewer_products,
    print_peaks_and_best,
    print_rounded,
    speed_curves,
    speed_table,
)
from course_lib.plots.lane_shares import lane_share

__all__ = [
    "bit_sliders", "costs_of", "costs_of_kernels", "costs_table", "error_picture", "error_sliders", "errors_by_depth", "lane_share",
    "lane_sliders", "print_errors", "print_fewer_products", "print_peaks_and_best", "print_rounded", "relative_errors", "speed_curves",
    "speed_table",
]
