"""Peaks and balance in Koppelman's units, for every device of the table."""

import pytest

from course_lib.arch import DEVICES
from course_lib.model import balance, knee


@pytest.mark.parametrize("d", DEVICES.values(), ids=DEVICES)
def test_against_the_roofline(d):
    found = balance(d)
    assert 2 * found.gfmas == pytest.approx(d.peak_gflops)
    assert 2 * found.gfmas_double == pytest.approx(d.peak_gflops_double)
    assert found.per_element == pytest.approx(knee(d) * 4 / 2)               # operations a byte, 4 bytes, 2 operations a multiply-add
    assert found.per_element_double == pytest.approx(knee(d, double=True) * 8 / 2)
    assert found.dp_per_sm >= 1
    assert found.dp_per_sm * d.sms * d.clock_mhz / 1e3 == pytest.approx(found.gfmas_double)
