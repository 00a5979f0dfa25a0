"""Lesson 14, A GEMM at work: its tables, pictures and controls."""

from course_lib.lessons.gemm_at_work.amdahl import amdahl_sliders
from course_lib.lessons.gemm_at_work.pictures import describe_iterations, describe_losses, iterations, losses, step_table
from course_lib.lessons.gemm_at_work.products import describe_products, product_boxes
from course_lib.lessons.gemm_at_work.training_step import step_sliders

__all__ = [
    "amdahl_sliders", "describe_iterations", "describe_losses", "describe_products", "iterations", "losses", "product_boxes",
    "step_sliders", "step_table",
]
