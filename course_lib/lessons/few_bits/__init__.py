"""Lesson 20, How few bits?: its picture, tables and checks."""

from course_lib.explorables import few_bits as bits_of_a_number
from course_lib.lessons.few_bits.eight import sums_of_eight
from course_lib.lessons.few_bits.errors import error_sliders, errors_by_depth
from course_lib.lessons.few_bits.parts import beside_the_library, check_parts, odd_matrices, odd_numbers, rows_in_e4m3
from course_lib.lessons.few_bits.sums import cut_or_rounded, inputs_or_sums, nine_products, ways_to_add, when_enough

__all__ = ["beside_the_library", "bits_of_a_number", "check_parts", "cut_or_rounded", "error_sliders", "errors_by_depth", "inputs_or_sums",
           "nine_products", "odd_matrices", "odd_numbers", "rows_in_e4m3", "sums_of_eight", "ways_to_add", "when_enough"]
