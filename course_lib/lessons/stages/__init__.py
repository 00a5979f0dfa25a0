"""Lesson 17, Stages: how many tiles must be on their way, where each element of a product in float64 lies, and what it brings."""

from course_lib.explorables import tiles_on_their_way
from course_lib.lessons.stages.flight import during_products, in_flight
from course_lib.lessons.stages.layouts import layout, padding, who_holds_what
from course_lib.lessons.stages.tiles import bytes_on_the_way, stages_by_littles_law
from course_lib.lessons.stages.times import scoreboard, speeds

__all__ = ["bytes_on_the_way", "during_products", "in_flight", "layout", "padding", "scoreboard", "speeds", "stages_by_littles_law",
           "tiles_on_their_way", "who_holds_what"]
