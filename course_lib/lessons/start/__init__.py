"""Lesson 00, Start here: the race, the climb from the first kernel to the library, and how each number of the course is known."""

from course_lib.explorables.race import race
from course_lib.lessons.start.climb import climb
from course_lib.lessons.start.labels import beside, counted, faster, least_s, prepare, prepare_simulator, tell
from course_lib.lessons.start.pictures import one_second, who_takes

__all__ = [
    "beside", "climb", "counted", "faster", "least_s", "one_second", "prepare", "prepare_simulator", "race", "tell",
    "who_takes",
]
