"""The model of a pipeline with several stages: against a plain simulation cycle by cycle, and at its ends."""

import pytest

from course_lib.model.inputs import InputError
from course_lib.model.stages import DMMA_RATE, idle, period, pipeline, stages_needed


def cycle_by_cycle(tiles, stages, latency, multiply):
    """Return (issued, arrived, begun, done) of each tile, by stepping through all cycles."""
    issued, begun, done = {}, {}, {}
    now = 0
    while len(done) < tiles:
        done |= {tile: now for tile, start in begun.items() if tile not in done and now == start + multiply}
        free = len(begun) == len(done)
        nxt = len(begun)
        if free and nxt < tiles and nxt in issued and now >= issued[nxt] + latency:
            begun[nxt] = now
        # A stage is free when the product before the one that has begun is over: all threads have met behind it.
        room = stages if stages == 1 else stages - 1
        emptied = len(done) if stages == 1 else len(begun)
        while len(issued) < min(tiles, emptied + room):
            issued[len(issued)] = now
        now += 1
    return [(issued[n], issued[n] + latency, begun[n], done[n]) for n in range(tiles)]


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
@pytest.mark.parametrize(("latency", "multiply"), [(7, 5), (20, 5), (3, 5), (5, 5), (11, 1)])
def test_the_formulas_are_a_walk_through_all_cycles(stages, latency, multiply):
    found = pipeline(6, stages, latency, multiply)
    assert [(p.issued, p.arrived, p.begun, p.done) for p in found] == cycle_by_cycle(6, stages, latency, multiply)


@pytest.mark.parametrize("latency", [1, 300, 511, 512, 513, 1024, 1025, 1557])
def test_as_many_stages_as_needed_and_not_one_fewer(latency):
    needed = stages_needed(latency, 512)
    assert idle(pipeline(64, needed, latency, 512)) == 0
    assert idle(pipeline(64, needed - 1, latency, 512)) > 0
    assert period(needed, latency, 512) == 512 < period(needed - 1, latency, 512)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_the_period_is_that_of_the_long_run(stages):
    found = pipeline(1201, stages, 1557, 512)
    assert (found[-1].begun - found[0].begun) / 1200 == pytest.approx(period(stages, 1557, 512), rel=2e-3)


def test_the_rate_is_nvidias_for_the_whole_gpu():
    assert pytest.approx(67e12, rel=2e-3) == 2 * DMMA_RATE * 132 * 1.98e9


@pytest.mark.parametrize("wrong", [{"tiles": 0}, {"stages": 0}, {"latency": -1}, {"multiply": 0}, {"stages": 1.5}])
def test_what_is_no_number_of_them_is_refused(wrong):
    with pytest.raises(InputError):
        pipeline(**({"tiles": 4, "stages": 2, "latency": 9, "multiply": 5} | wrong))
