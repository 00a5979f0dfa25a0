"""Lesson 16, Tensor cores: which lane holds what, and how to keep the tensor cores fed."""

from course_lib.explorables import fragments as who_holds_what
from course_lib.explorables import matrix_load as how_ldmatrix_reads
from course_lib.lessons.tensor_cores.counts import feeding, next_tiles, wavefronts_of_a_product
from course_lib.lessons.tensor_cores.mistake import through_unit, with_exchanged
from course_lib.lessons.tensor_cores.times import in_float64, scoreboard

__all__ = ["feeding", "how_ldmatrix_reads", "in_float64", "next_tiles", "scoreboard", "through_unit", "wavefronts_of_a_product",
           "who_holds_what", "with_exchanged"]
