"""The search for tiles: what it discards breaks a rule, what it prunes cannot win."""

import math

import numpy as np
import pytest

from course_lib import data, kernels
from course_lib.bench.search import DEPTHS, KERNEL, SIDE, TRIED, bounds, broken, candidates, recorded_times, search
from course_lib.errors import CourseError
from course_lib.model.bound import Work
from course_lib.run import run
from course_lib.run.bound import work_of

SIZES = (256, 512, 1024, 2048)


@pytest.mark.parametrize("N", SIZES)
def test_what_is_found_is_the_fastest_of_all_that_were_recorded(N):
    found = search(N)
    times, _ = recorded_times(N)
    assert found.all_times[found.best] == min(times.values())
    assert found.tried + len(found.steps[-1].pruned) == len(times) == 48
    assert found.missed > min(times.values())


@pytest.mark.parametrize("N", SIZES)
def test_no_bound_is_above_a_recorded_time(N):
    times, _ = recorded_times(N)
    limit = bounds(N)
    assert set(limit) == set(times)
    assert all(limit[c].seconds < times[c] for c in times)


def test_it_discards_exactly_what_the_kernel_refuses():
    kernel = kernels.get(KERNEL)
    refused = {c for c in candidates() if kernel.problems(**dict(zip(TRIED, c, strict=True)))}
    assert search(1024).steps[-1].discarded == refused
    assert {c for c in candidates() if broken(KERNEL, c)} == refused


def test_every_step_follows_from_the_one_before():
    found = search(2048)
    assert [s.phase for s in found.steps[:5]] == ["all", "rule", "rule", "rule", "bound"]
    assert found.steps[-1].phase == "end"
    tries = [s for s in found.steps if s.phase == "try"]
    for number, step in enumerate(tries, 1):
        assert len(step.times) == number
        best = min(step.times.values())
        assert step.pruned == {c for c, bound in step.bounds.items() if bound > best and c not in step.times}
        assert all(step.bounds[c] >= step.bounds[step.now] for c in step.bounds if c not in step.times)
    assert all(s.best == min(s.times, key=s.times.get) for s in tries)


def test_a_bound_that_is_no_bound_loses_the_best():
    """The other way round: with bounds that are too high the search prunes the winner, and says so."""
    times, _ = recorded_times(1024)
    limit = {c: b.seconds for c, b in bounds(1024).items()}
    winner = min(times, key=times.get)
    found = search(1024, limit=limit | {winner: 1.0})
    assert found.best != winner
    assert found.missed < min(found.steps[-1].times.values())


def test_times_of_ones_own_decide():
    times = dict.fromkeys(bounds(1024), 1.0)
    times[32, 32, 8, 8, 8] = 0.5
    found = search(1024, times)
    assert (found.best, found.tried, found.label) == ((32, 32, 8, 8, 8), 48, "your times")
    del times[64, 64, 16, 16, 16]
    with pytest.raises(CourseError, match=r"nobody measured \(64, 64, 16, 16, 16\)"):
        search(1024, times)
    with pytest.raises(CourseError, match="multiples of 128"):
        search(1000)


@pytest.mark.slow
@pytest.mark.parametrize("values", [(64, 64, 16, 16, 16), pytest.param((32, 64, 8, 32, 8), marks=pytest.mark.slow)])
def test_the_counters_in_the_file_are_those_of_the_simulator(values):
    rows = {row["K"]: row["work"] for row in data.readings("candidates").rows if tuple(row["values"]) == values}
    for K in DEPTHS:
        result = run(KERNEL, np.ones((SIDE, K)), np.ones((K, SIDE)), backend="sim", **dict(zip(TRIED, values, strict=True)))
        now, kept = work_of(result), Work(**rows[K])
        for name in ("blocks", "fmas", "wavefronts", "sectors", "l1_wavefronts", "block_sectors", "launch_sectors", "double"):
            assert getattr(now, name) == getattr(kept, name), name
        assert now.instructions == pytest.approx(kept.instructions, rel=0.1), "another version of the compiler may make a few more"


@pytest.mark.slow
def test_counts_at_another_size_are_those_of_a_launch_of_that_size():
    """Straight lines in K, and as many as there are blocks: held to a launch with other M, N and K."""
    from course_lib.bench.search import _at
    values = (64, 32, 16, 16, 16)
    counted = {row["K"]: Work(**row["work"]) for row in data.readings("candidates").rows if tuple(row["values"]) == values}
    guessed = _at(values, counted, 256)
    result = run(KERNEL, np.ones((256, 256)), np.ones((256, 256)), backend="sim", **dict(zip(TRIED, values, strict=True)))
    launched = work_of(result)
    for name in ("blocks", "fmas", "wavefronts", "sectors", "block_sectors", "launch_sectors"):
        assert math.isclose(getattr(guessed, name), getattr(launched, name)), name


def test_how_many_are_timed():
    """As docs/sweeps.md says."""
    found = search(1024)
    assert (found.tried, len(found.all_times), len(found.candidates)) == (17, 48, 144)
    assert search(256).tried == 45
    assert found.all_times[found.best] == min(found.all_times.values())
