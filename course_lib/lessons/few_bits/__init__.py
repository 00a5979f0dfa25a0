"""Lesson 20, How few bits?: its pictures, tables and checks."""

from course_lib.explorables import few_bits as bits_of_a_number
from course_lib.lessons.few_bits.eight import sums_of_eight
from course_lib.lessons.few_bits.errors import error_sliders, errors_by_depth
from course_lib.lessons.few_bits.parts import beside_the_library, check_parts, odd_numbers, rows_in_e4m3
from course_lib.lessons.few_bits.pictures import nine_products, parts_or_sums, sides_of_sums, small_products, speed_and_error
from course_lib.lessons.few_bits.sums import numbers, when_enough

__all__ = ["beside_the_library", "bits_of_a_number", "check_parts", "error_sliders", "errors_by_depth", "nine_products", "numbers",
           "odd_numbers", "parts_or_sums", "rows_in_e4m3", "sides_of_sums", "small_products", "speed_and_error", "sums_of_eight",
           "when_enough"]
