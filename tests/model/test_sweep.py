"""Latency and throughput from a sweep: held to Chien's own reading, and to the points that were not used."""

import pytest

from course_lib.data import documents, readings
from course_lib.model import InputError, read_sweep, warps_to_hide
from course_lib.model.sweep import ThreadSweep


def recorded(name, **wanted):
    return {row["threads"]: row["high"] for row in readings("micro").find(kernel=name, **wanted)}


def test_chiens_table_2_gives_his_two_numbers():
    """He says 34.6 and 6 cycles, and six warps."""
    found = read_sweep(documents.CHIEN_2.column("maximum"))
    assert found.latency == 34.6
    assert found.per_warp == pytest.approx(6, rel=0.01)
    assert found.knee == pytest.approx(34.6 / 6, rel=0.01)
    for threads, total in documents.CHIEN_2.column("total").items():
        assert found.cycles(threads) == pytest.approx(float(total), rel=0.01)


def test_chiens_table_3_gives_his_two_numbers():
    found = read_sweep(documents.CHIEN_3.column("maximum"))
    assert (found.latency, round(found.per_warp, 2)) == (31.5, 4.16)
    assert warps_to_hide(found.latency, found.per_warp) == 8


@pytest.mark.parametrize(("name", "wanted", "most"), [
    ("micro_fma", {"REGISTERS": 2}, 0.05), ("micro_fma", {"REGISTERS": None}, 0.25), ("micro_fma_shared", {}, 0.09)])
def test_the_points_in_between_are_near_what_the_ends_predict(name, wanted, most):
    cycles = recorded(name, **wanted)
    found = read_sweep(cycles)
    errors = [cycles[threads] / found.cycles(threads) - 1 for threads in cycles]
    assert max(map(abs, errors)) < most


def test_the_knee_is_latency_times_throughput():
    assert [round(ThreadSweep(*pair).knee, 2) for pair in ((4, 0.25), (4, 0.5), (35, 6))] == [16, 8, 5.83]


@pytest.mark.parametrize(("cycles", "words"), [
    ({}, "two numbers"), ({32: 4.0}, "two numbers"), ({1: 4.0, 32: 4.0}, "two numbers"), ({32: 4.0, 256: 4.1}, "hardly longer"),
    ({32: 0, 256: 4}, "cycles"), ({32: float("nan"), 256: 4}, "cycles")])
def test_what_cannot_be_read(cycles, words):
    with pytest.raises(InputError, match=words):
        read_sweep(cycles)
