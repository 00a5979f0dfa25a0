"""Pipelines of bulk copies and mbarriers: right ones are quiet, and each mistake is reported for its reason, if the answer is right too."""

import pytest
from bulk_kernels import COPYING, FINDINGS, HAZARDS, MISUSES, QUIET, RIGHT, WAITS, line_of, run

from course_lib import simt

ORDERS = ("forward", "reverse", "interleaved")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernel", RIGHT, ids=["loading", "storing", "copying"])
def test_a_right_pipeline_is_right_and_quiet(kernel, order):
    right, report = run(kernel, warp_order=order)
    assert right
    assert (report.hazards, report.async_findings, report.stray_shuffles) == ((), (), ())
    right, report = run(kernel, warp_order=order, racecheck=False)
    assert right
    assert report.async_findings == ()


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("name", QUIET)
def test_other_ways_to_say_the_same_are_quiet(name):
    kernel, changed = QUIET[name]
    right, report = run(kernel, **changed)
    assert right
    assert (report.hazards, report.async_findings) == ((), ())


@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("name", HAZARDS)
def test_what_nothing_orders_is_reported(name):
    kernel, changed, right, (kind, first, second) = HAZARDS[name]
    found_right, report = run(kernel, **changed)
    assert right is None or found_right == right
    lines = [(h.first_line, h.second_line) for h in report.hazards if h.kind == kind]
    wanted = tuple(words and line_of(kernel, words) for words in (first, second))
    assert any(all(w in (None, line) for w, line in zip(wanted, pair)) for pair in lines), report.hazards
    assert all("__pipeline_wait_prior" not in str(h) for h in report.hazards) or kernel is COPYING


@pytest.mark.parametrize("name", FINDINGS)
def test_a_missing_fence_or_wait_is_reported(name):
    kernel, changed, right, (kind, first, second) = FINDINGS[name]
    found_right, report = run(kernel, **changed)
    assert found_right == right
    wanted = kind, line_of(kernel, first), line_of(kernel, second)
    assert wanted in {(f.kind, f.first_line, f.second_line) for f in report.async_findings}
    assert {f.kind for f in report.async_findings} == {kind}


@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", WAITS)
def test_a_wait_that_nobody_ends_is_an_error(name, order):
    kernel, changed, words, why = WAITS[name]
    with pytest.raises(simt.BarrierDeadlock) as caught:
        run(kernel, warp_order=order, racecheck=False, **changed)
    error = caught.value
    assert why in str(error)
    assert "The other warps wait too" in str(error)
    if words:
        assert f"line {line_of(kernel, words)}" in str(error)


@pytest.mark.slow
@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("name", MISUSES)
def test_an_operation_that_an_mbarrier_does_not_allow_is_an_error(name):
    kernel, changed, why = MISUSES[name]
    with pytest.raises(simt.MbarrierMisuse) as caught:
        run(kernel, racecheck=False, **changed)
    assert why in str(caught.value)
    assert caught.value.line > 0
    assert caught.value.thread
