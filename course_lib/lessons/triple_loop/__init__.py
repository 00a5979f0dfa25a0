"""Lesson 01, The triple loop: what a product costs, which cache lines an order of the loops fetches, and what the times say."""

from course_lib.explorables.orders import two_orders
from course_lib.lessons.triple_loop.layout import layout
from course_lib.lessons.triple_loop.loops import check, count, failed, fetched, tried
from course_lib.lessons.triple_loop.pictures import sets
from course_lib.lessons.triple_loop.times import fits, measured, scoreboard, six, slides, split, waits

__all__ = [
    "check", "count", "failed", "fetched", "fits", "layout", "measured", "scoreboard", "sets", "six", "slides", "split", "tried",
    "two_orders", "waits",
]
