"""Device report: right figures, honest labels."""

import pytest

from course_lib.arch import DEVICES
from course_lib.errors import CourseError
from course_lib.lessons.matrix_vector.device import homework_report
from course_lib.plots import device_report


def test_device_report_has_a_column_per_device_and_computed_peaks():
    table = device_report("h200", DEVICES["GTX 690"])
    assert table.header == ("", "H200", "GTX 690")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["compute capability"] == ("9.0", "3.0")
    assert rows["peak, single precision, GFLOP/s"] == ("66,908", "3,130")
    assert rows["operations a byte, single precision"] == ("13.9", "16.3")


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_can_be_reported(name):
    assert len(device_report(name).rows) == 12


@pytest.mark.parametrize("name", DEVICES)
def test_the_homeworks_report_agrees_with_the_table(name):
    d, words = DEVICES[name], homework_report(name)
    assert [line.partition(": ")[0] for line in words.splitlines()] == ["GPU 0"] * 5
    assert f"PEAK: {d.peak_gflops / 2:.0f} SP GFLOPS {d.peak_gflops_double / 2:.0f} DP GFLOPS" in words
    assert f"COMP/COMM: {2 * d.balance:.1f} SP" in words
    assert "GLOBAL MEM" not in words


def test_unknown_device_lists_those_there_are():
    with pytest.raises(CourseError, match="H200"):
        device_report("H300")
