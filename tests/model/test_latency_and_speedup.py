"""Little's law and Amdahl's, against a queue that is served step by step and times that are added up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import (
    InputError,
    amdahl,
    bytes_in_flight,
    least_share,
    round_cycles,
    saved_ms,
    serial_share,
    threads_in_flight,
    warps_to_hide,
)


@given(st.integers(1, 16), st.integers(1, 60), st.integers(1, 8))
def test_warps_take_turns(warps, latency, issue):
    """Round robin by hand: a warp may issue when its last result is there and the unit is free."""
    ready, now, rounds = [0] * warps, 0, 40
    for _ in range(rounds):
        for warp in range(warps):
            now = max(now, ready[warp])
            ready[warp] = now + max(latency, issue)
            now += issue
    expected = round_cycles(32 * warps, latency, issue)
    assert now == pytest.approx(rounds * expected, abs=warps * issue + latency)
    assert (warps >= warps_to_hide(latency, issue)) == (warps * issue >= latency)


def test_bytes_in_flight():
    assert bytes_in_flight(100, 500, 1000) == pytest.approx(100e9 * 500e-9)
    assert threads_in_flight(100, 500, 1000, 4) == 12500


@given(st.floats(0, 1), st.floats(0.1, 1e6))
def test_amdahl_adds_up_the_times(share, factor):
    assert amdahl(share, factor) == pytest.approx(1 / (share / factor + (1 - share)))
    assert amdahl(share, math.inf) >= amdahl(share, factor) - 1e-9


@given(st.floats(1, 1e4))
def test_the_least_share_is_what_vanishing_yields(speedup):
    assert amdahl(least_share(speedup), math.inf) == pytest.approx(speedup)


@given(st.floats(0.01, 1), st.floats(1.01, 1e4))
def test_the_least_share_for_a_factor_is_amdahls_law_read_backwards(share, factor):
    assert least_share(amdahl(share, factor), factor) == pytest.approx(share, rel=1e-6)
    assert least_share(amdahl(share, factor)) <= share + 1e-9


def test_a_part_cannot_bring_more_than_it_gained():
    assert least_share(3, 3) == 1
    assert least_share(amdahl(1, 443), 443) == 1, "which is 443.00000000000006"
    assert least_share(1, 1) == least_share(1) == 0
    for factor in (2.9, math.nan):
        with pytest.raises(InputError, match="cannot make the whole"):
            least_share(3, factor)


def test_milliseconds_saved():
    assert saved_ms(10, 20) == pytest.approx(50)


@pytest.mark.parametrize("call", [
    lambda: amdahl(1.1, 2), lambda: amdahl(0.5, 0), lambda: amdahl(math.nan, 2), lambda: least_share(0.5), lambda: saved_ms(0, 1),
    lambda: bytes_in_flight(0, 1, 1), lambda: warps_to_hide(1, math.nan), lambda: round_cycles(0, 1, 1),
])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()


@given(st.floats(0, 1), st.integers(2, 1000))
def test_the_serial_share_is_amdahls_law_read_backwards(share, workers):
    assert serial_share(amdahl(1 - share, workers), workers) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize(("gain", "workers"), [(0, 2), (math.nan, 2), (2.0, 1), (2.0, math.nan), (2.0, math.inf)])
def test_no_serial_share_of_nonsense(gain, workers):
    with pytest.raises(InputError):
        serial_share(gain, workers)


def test_a_gain_beyond_the_workers_gives_a_negative_share():
    assert serial_share(2.2, 2) < 0
