"""Lesson 10, Any size, any stride: its tables, pictures and controls."""

from course_lib.lessons.any_size.guards import guard_sliders, guarded, traced_run
from course_lib.lessons.any_size.pictures import block_map, describe_blocks, describe_rows_read, draw_rows_read, rows_read

__all__ = [
    "block_map", "describe_blocks", "describe_rows_read", "draw_rows_read", "guard_sliders", "guarded", "rows_read", "traced_run",
]
