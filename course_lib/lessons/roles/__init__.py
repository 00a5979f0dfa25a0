"""Lesson 18, Who copies, and who multiplies?: a producer and consumers, the reader's own kernel with both, and what a producer brings."""

from course_lib.explorables import producer_and_consumers
from course_lib.lessons.roles.stores import race, store_cycles
from course_lib.lessons.roles.times import speed, speeds
from course_lib.lessons.roles.tries import check_late, check_roles, with_consumer, with_mistake

__all__ = ["check_late", "check_roles", "producer_and_consumers", "race", "speed", "speeds", "store_cycles", "with_consumer",
           "with_mistake"]
