"""Lesson 20, How few bits?: its picture, tables and checks."""

from course_lib.explorables import few_bits as bits_of_a_number
from course_lib.lessons.few_bits.eight import sums_of_eight
from course_lib.lessons.few_bits.errors import error_sliders, errors_by_depth
from course_lib.lessons.few_bits.parts import (
    beside_the_library,
    check_parts,
    describe_beside_the_library,
    draw_beside_the_library,
    odd_numbers,
    rows_in_e4m3,
)
from course_lib.lessons.few_bits.sums import nine_products, ways_to_add, when_enough, where_errors_come_from

__all__ = ["beside_the_library", "bits_of_a_number", "check_parts", "describe_beside_the_library", "draw_beside_the_library",
           "error_sliders", "errors_by_depth", "nine_products", "odd_numbers", "rows_in_e4m3", "sums_of_eight", "ways_to_add",
           "when_enough", "where_errors_come_from"]
