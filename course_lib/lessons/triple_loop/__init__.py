"""Lesson 01, The triple loop: what a product costs, which cache lines an order of the loops fetches, and what the times say."""

from course_lib.explorables.orders import two_orders
from course_lib.lessons.triple_loop.layout import layout
from course_lib.lessons.triple_loop.loops import check, count, fetched, tried
from course_lib.lessons.triple_loop.times import columns, gflops, measured, one_at_a_time, scoreboard, six, slides

__all__ = [
    "check", "columns", "count", "fetched", "gflops", "layout", "measured", "one_at_a_time", "scoreboard", "six", "slides", "tried",
    "two_orders",
]
