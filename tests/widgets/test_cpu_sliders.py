"""The lines of a loop order are those of the program."""

import pytest

from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape
from course_lib.run import count_lines
from course_lib.widgets.compute import inputs
from course_lib.widgets.cpu_sliders import count_order


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("order", ORDERS)
def test_a_position_is_the_programs_own_count(order):
    A, B, _ = inputs(48, 48, 48)
    assert count_order(order, 48, 2048).fetched == count_lines(f"gemm_{order}", A, B, cache=CacheShape(2048), by="python").fetched
