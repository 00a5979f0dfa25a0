"""Lesson 15, Closing in on the library: what feeds a multiply-add, in counts, pictures and recorded times."""

from course_lib.explorables import gap, lanes, register_reads
from course_lib.lessons.closing_in.feeding import cycles_per_k, gained, one_change, scoreboard, wavefronts_of, wavefronts_per_k
from course_lib.lessons.closing_in.tried_next import tried_next

__all__ = ["cycles_per_k", "gained", "gap", "lanes", "one_change", "register_reads", "scoreboard", "tried_next", "wavefronts_of",
           "wavefronts_per_k"]
