"""Lesson 17, Stages: how many tiles must be on their way, what a step waits for, and where each element of a product in float64 lies."""

from course_lib.explorables import tiles_on_their_way
from course_lib.lessons.stages.experiment import alone, law, law_drawn, law_of_yours
from course_lib.lessons.stages.flight import during_products, in_flight, with_wait
from course_lib.lessons.stages.layouts import padding, who_holds_what
from course_lib.lessons.stages.tiles import bytes_on_the_way
from course_lib.lessons.stages.times import scoreboard

__all__ = ["alone", "bytes_on_the_way", "during_products", "in_flight", "law", "law_drawn", "law_of_yours", "padding", "scoreboard",
           "tiles_on_their_way", "who_holds_what", "with_wait"]
