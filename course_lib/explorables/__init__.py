"""Animated pictures in the browser, one ES module and one Python class each; docs/explorables.md says how to write one."""

from course_lib.explorables.banks import banks

__all__ = ["banks"]
