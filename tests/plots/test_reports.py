"""Device report and ladder: right figures, honest labels."""

import json
from types import SimpleNamespace

import pytest

from course_lib.arch import DEVICES
from course_lib.errors import CourseError
from course_lib.plots import describe_ladder, device_report, ladder, ladder_table, recorded_ladder

RESULTS = [SimpleNamespace(kernel=SimpleNamespace(name=name), M=4, N=4, K=4, counters_label="simulated",
                           count=lambda what, sectors=sectors: sectors) for name, sectors in (("one", 32), ("two", 8))]
RECORD = {"device": "NVIDIA X", "driver": "1.2", "date": "2026-01-02", "N": 1000, "kernels": [
    {"name": "one", "parameters": {}, "median_ms": 2.0, "low_ms": 1.9, "high_ms": 2.1},
    {"name": "two", "parameters": {}, "median_ms": 1.0, "low_ms": 0.9, "high_ms": 1.1}]}


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


def test_unknown_device_lists_those_there_are():
    with pytest.raises(CourseError, match="H200"):
        device_report("H300")


def test_without_a_recording_the_ladder_shows_simulated_counters(tmp_path):
    assert recorded_ladder(tmp_path / "none.json") is None
    ax = ladder(RESULTS)
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.125]
    assert "simulated" in ax.get_xlabel()
    assert "simulated" in ladder_table(RESULTS).caption
    assert "one 0.5" in describe_ladder(RESULTS)


def test_a_recording_shows_gflops_with_device_and_date(tmp_path):
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps(RECORD))
    record = recorded_ladder(path)
    ax = ladder(RESULTS, record)
    assert [bar.get_width() for bar in ax.patches] == [1000, 2000]
    assert "recorded on NVIDIA X, 2026-01-02" in ax.get_xlabel()
    table = ladder_table(RESULTS, record)
    assert table.rows[0] == ("one", "2.000", "1.900", "2.100", "1,000")
    assert "driver 1.2" in table.caption
    assert "NVIDIA X" in describe_ladder(RESULTS, record)


def test_a_recording_that_does_not_say_where_it_is_from_is_refused(tmp_path):
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps({"N": 1, "kernels": []}))
    with pytest.raises(CourseError, match="device, driver, date"):
        recorded_ladder(path)
