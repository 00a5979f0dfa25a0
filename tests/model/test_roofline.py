"""The roofline: Wang and Jin's figures for one GPU of a K80, and what holds for any device."""

import math

import numpy as np
import pytest

from course_lib.arch import DEVICES, device
from course_lib.model import InputError, attainable, knee, peak

K80 = device("Tesla K80")


@pytest.mark.parametrize(("exact", "printed", "digits"), [
    (240 / 8, 30, 0),                                       # GB/s -> 10^9 doubles a second
    (peak(K80, double=True), 1370, 0),                      # 13 SMs * 64 units * 2 * 823.5 MHz
    (8 * knee(K80, double=True), 45.7, 1),                  # operations a double; printed as 45.6, cut off
    (693 / 30, 23.1, 1),
    (8 * knee(K80, double=True, bandwidth_gb_s=154), 71.2, 1),    # printed as 72.1, from 154/8 = 19
    (693 / (154 / 8), 36.0, 1),                             # printed as 36.5, from 19
])
def test_wang_and_jins_figures(exact, printed, digits):
    assert round(exact, digits) == printed


def test_the_printed_figures_come_from_their_rounding():
    assert round(1370 / 19, 1) == 72.1
    assert round(693 / 19, 1) == 36.5
    assert math.floor(10 * 8 * knee(K80, double=True)) / 10 == 45.6


@pytest.mark.parametrize("d", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("double", [False, True])
def test_memory_bounds_below_the_knee_and_arithmetic_above(d, double):
    corner = knee(d, double)
    assert attainable(d, corner, double) == pytest.approx(peak(d, double))
    assert attainable(d, corner / 2, double) == pytest.approx(peak(d, double) / 2)
    assert attainable(d, corner * 2, double) == peak(d, double)
    assert attainable(d, 1, double) == pytest.approx(min(d.bandwidth_gb_s, peak(d, double)))


def test_arrays_keep_their_shape_and_scalars_are_floats():
    bound = attainable(device("H200"), np.array([[0.0, 1.0], [10.0, np.inf]]))
    assert bound.tolist() == [[0.0, 4800.0], [48000.0, peak(device("H200"))]]
    assert type(attainable(device("H200"), 3)) is float


@pytest.mark.parametrize("intensity", [-1, float("nan"), [1.0, -2.0]])
def test_a_negative_intensity_is_refused(intensity):
    with pytest.raises(InputError, match="from 0 up"):
        attainable(device("H200"), intensity)


@pytest.mark.parametrize("bandwidth", [0, -5, float("nan")])
def test_a_bandwidth_that_is_not_positive_is_refused(bandwidth):
    with pytest.raises(InputError, match="positive number"):
        knee(device("H200"), bandwidth_gb_s=bandwidth)
