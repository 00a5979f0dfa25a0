"""What limits a launch: its room and what is under way, against counts by hand and against the bound."""

import math
from dataclasses import replace

import pytest

from course_lib.errors import CourseError
from course_lib.model import occupancy
from course_lib.run import LaunchLimits, UnderWay, bound_of, limits_of
from course_lib.widgets.compute import evaluate

SMALL = {"BM": 32, "BN": 32, "BK": 8, "TM": 4, "TN": 4}


@pytest.fixture(scope="module")
def small():
    return evaluate("sgemm_2d_tile", 256, SMALL, backend="sim")


def test_one_block_on_an_sm_by_hand(small):
    found = limits_of(small)
    assert (found.given, found.block_warps, found.warps) == (1, 2, 2)      # 64 blocks, 132 SMs; 64 threads
    assert found.filled_by == ("this grid",)
    assert found.loads.had == 2 * (2 * 32 * 8 // 64)                       # two warps; two tiles of 32 × 8 floats, 64 threads
    assert found.multiply_adds.had == 2 * 16
    cycles = max(v for k, v in found.bound.terms.items() if k != "latency") * found.on.clock_mhz * 1e6
    assert found.loads.needed == pytest.approx(2 * 8 * 32 / cycles * 240)     # 8 loads a step, 32 steps, of two warps
    assert found.multiply_adds.needed == pytest.approx(32 * 32 * 256 / 32 / cycles * 4, rel=0.01)     # and the product with alpha
    assert not found.loads.enough
    assert found.multiply_adds.enough


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("N", "more", "binds"), [(256, {}, True), (512, {}, False), (256, {"BK": 16}, False)])
def test_too_little_is_under_way_exactly_where_latency_binds(small, N, more, binds):
    result = small if (N, more) == (256, {}) else evaluate("sgemm_2d_tile", N, SMALL | more, backend="sim")
    found = limits_of(result)
    assert (found.bound.binds == "latency") == binds == (not found.loads.enough)
    longest = found.bound.terms[found.busy]
    assert found.loads.needed / found.loads.had == pytest.approx(found.bound.terms["latency"] / longest)
    assert found.busy != "latency"
    assert found.bound == bound_of(result)


def test_a_longer_latency_needs_more(small):
    assert limits_of(small, latency_cycles=480).loads.needed == pytest.approx(2 * limits_of(small).loads.needed)
    assert limits_of(small, fma_latency=8).multiply_adds.needed == pytest.approx(2 * limits_of(small).multiply_adds.needed)


def room(threads, registers, shared, given):
    from course_lib.arch import device
    fits = occupancy(device("H200"), threads, registers, shared)
    return LaunchLimits(device("H200"), None, fits, math.ceil(threads / 32), given, None, UnderWay(1, 1))


def test_what_keeps_the_next_block_out():
    assert room(256, 64, 0, 100).filled_by == ("registers",)
    assert room(256, 64, 0, 100).warps == 32
    assert room(256, 64, 0, 4).filled_by == ("registers", "this grid")
    assert room(256, 32, 0, 100).filled_by == ("warps", "registers")
    assert room(64, 32, 0, 1000).room["blocks"] == 64                      # 32 blocks of two warps
    assert max(room(256, 16, 0, 1000).room.values()) == 64                 # no more than there is place for
    assert room(32, 16, 0, 100).filled_by == ("blocks",)


@pytest.mark.slow
def test_where_a_warp_does_not_load_in_every_step_nothing_is_said_of_loads():
    found = limits_of(evaluate("sgemm_2d_tile", 128, SMALL | {"TM": 1, "TN": 1}, backend="sim"))
    assert found.loads is None
    assert found.multiply_adds.had == found.warps


def test_a_kernel_by_columns_is_refused(small):
    with pytest.raises(CourseError, match="row-major kernels only"):
        limits_of(replace(small, kernel=replace(small.kernel, layout="column")))
