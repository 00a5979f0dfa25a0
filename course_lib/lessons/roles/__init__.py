"""Lesson 18, Who copies, and who multiplies?: a producer and consumers, the reader's own kernel with both, and what a producer brings."""

from course_lib.explorables import producer_and_consumers
from course_lib.lessons.roles.times import speed, speeds
from course_lib.lessons.roles.tries import check_late, check_roles, with_consumer, with_mistake

__all__ = ["check_late", "check_roles", "producer_and_consumers", "speed", "speeds", "with_consumer", "with_mistake"]
