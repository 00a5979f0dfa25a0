"""Device report and ladder: right figures, honest labels."""

import pytest

from course_lib.arch import DEVICES
from course_lib.data import Record, Recording, load
from course_lib.errors import CourseError
from course_lib.plots import describe_ladder, device_report, homework_report, ladder, ladder_table

RECORDING = Recording("NVIDIA X", "1.2", "2026-01-02", (
    Record("one", 1000, {}, 2e-3, 1.9e-3, 2.1e-3, 1000.0),
    Record("two", 1000, {}, 1e-3, 0.9e-3, 1.1e-3, 2000.0),
    Record("two", 2000, {}, 8e-3, 7e-3, 9e-3, 2000.0)))


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


def test_the_ladder_draws_what_was_recorded_and_says_where():
    ax = ladder(RECORDING, 1000)
    assert [bar.get_width() for bar in ax.patches] == [1000, 2000]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two"]
    assert "recorded on NVIDIA X, 2026-01-02" in ax.get_xlabel()
    assert "two 2,000" in describe_ladder(RECORDING, 1000)
    assert "NVIDIA X" in describe_ladder(RECORDING, 1000)


def test_the_table_gives_spread_and_driver():
    table = ladder_table(RECORDING, 1000)
    assert table.rows[0] == ("one", "2", "1.9 to 2.1", "1,000")
    assert "driver 1.2" in table.caption


def test_a_size_that_was_not_recorded_is_refused():
    with pytest.raises(CourseError, match="there is N = 1000, 2000"):
        ladder(RECORDING, 5)


def test_the_courses_own_recording_can_be_drawn():
    recording = load("ladder")
    assert [r.kernel for r in recording.records if r.N == 4096][:3] == ["sgemm_swapped", "sgemm_naive", "sgemm_tiled"]
    for record in recording.records:
        assert record.gflops == pytest.approx(2e-9 * record.N**3 / record.median_s, rel=1e-3)
    assert len(ladder(recording, 4096).patches) == 13
