"""Animated pictures in the browser, one ES module and one Python class each; docs/explorables.md says how to write one."""

from course_lib.errors import require

require("course_lib.explorables", "anywidget", "matplotlib")

from course_lib.explorables.banks import banks
from course_lib.explorables.tiling import side_by_side

__all__ = ["banks", "side_by_side"]
