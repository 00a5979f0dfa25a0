"""Lesson 18, Who copies, and who multiplies?: a producer and consumers, the reader's own kernel with both, and how fast the real one is."""

from course_lib.explorables import producer_and_consumers
from course_lib.lessons.roles.costs import copies_per_step, speeds
from course_lib.lessons.roles.tries import check_late, check_roles, with_consumer, with_mistake

__all__ = ["check_late", "check_roles", "copies_per_step", "producer_and_consumers", "speeds", "with_consumer", "with_mistake"]
