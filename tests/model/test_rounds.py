"""Rounds of loads and multiply-adds: held to the model of latency and throughput, and to microbenchmarks recorded on an H200."""

import itertools

import pytest

from course_lib import data
from course_lib.model import InputError, round_cycles, warps_to_hide
from course_lib.model.rounds import LATENCY, SCHEDULERS, rounds

LONG = {"start": 640, "cycles": 6400}


def alone(side):
    """Return the cycles of a round when a warp is alone: its loads, the wait for the last word, its multiply-adds."""
    return 2 * side + LATENCY - 1 + side * side


def share(side):
    """Return the cycles that a round of one warp keeps the busier of its scheduler and its share of shared memory."""
    return max(2 * side + side * side, SCHEDULERS * 2 * side)


@pytest.mark.parametrize("side", [1, 2, 4, 8])
@pytest.mark.parametrize("warps", [1, 2, 3, 4, 5, 8, 12, 16])
def test_the_long_run_is_what_latency_and_throughput_say(side, warps):
    seen = rounds(warps, 2 * side, side * side, **LONG)
    expected = warps * side * side / round_cycles(32 * warps, alone(side), share(side))
    assert seen.multiply_adds / seen.cycles == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("side", [1, 2, 4, 8])
def test_as_many_warps_as_the_model_says_reach_the_limit_and_fewer_do_not(side):
    enough = warps_to_hide(alone(side), share(side))
    limit = min(1 / (SCHEDULERS * 2 / side), side * side / (2 * side + side * side))
    at = {warps: rounds(warps, 2 * side, side * side, **LONG).multiply_adds / LONG["cycles"] for warps in (enough - 1, enough, 16) if warps}
    assert at[enough] == pytest.approx(limit, rel=0.005)
    assert at[16] == pytest.approx(limit, rel=0.005)
    assert at.get(enough - 1, 0) < 0.97 * limit


def test_every_cycle_of_every_warp_has_a_letter_and_nobody_issues_twice():
    seen = rounds(5, 4, 4, start=100, cycles=300)
    assert {len(line) for line in seen.warps} == {seen.cycles} == {300}
    for letters in zip(*seen.warps, strict=True):
        assert set(letters) <= set("LMwqr")
        assert sum(letter in "LM" for letter in letters) <= 1
        assert "r" not in letters or any(letter in "LM" for letter in letters), "a ready warp waits only because another one issues"


def test_a_round_is_loads_then_a_wait_then_multiply_adds():
    line, = rounds(1, 4, 4, cycles=120).warps
    pieces = [(letter, len(list(group))) for letter, group in itertools.groupby(line)]
    before_it = 3 * SCHEDULERS             # loads that shared memory serves before this scheduler's fourth: three of each scheduler
    assert pieces[:3] == [("L", 4), ("q", before_it + 1 - 4), ("w", LATENCY - 1)]
    assert [letter for letter, _ in pieces[:8]] == list("LqwMLqwM")
    assert pieces[3] == ("M", 4)
    assert next(itertools.groupby(rounds(1, 1, 1, start=1, latency=5).warps[0]))[0] == "w", "served at once: no queue"


def test_shared_memory_serves_one_load_per_cycle_and_every_scheduler_alike():
    seen = rounds(16, 2, 1, start=1280, cycles=1280)
    assert "." not in seen.shared
    assert {seen.shared.count(str(number)) for number in range(SCHEDULERS)} == {320}


def test_a_ring_in_shared_memory_is_as_fast_as_on_an_h200():
    rows = [row for row in data.readings("micro").find(kernel="micro_shared")
            if row["threads"] % 128 == 0 and "spread" not in row]
    assert len(rows) >= 5
    for row in rows:
        seen = rounds(row["threads"] // 128, 1, 1, **LONG)
        loads = sum(letter != "." for letter in seen.shared)
        assert seen.cycles / loads == pytest.approx(row["per_warp"], rel=0.05), row["threads"]


def test_with_one_word_per_multiply_add_the_model_is_at_most_8_percent_above_an_h200_from_two_warps_up():
    for row in data.readings("micro").find(kernel="micro_fma_shared"):
        warps, rest = divmod(row["threads"], 128)
        if rest or warps < 2:
            continue
        modelled = rounds(warps, 4, 4, **LONG).multiply_adds / LONG["cycles"]
        assert 1 <= modelled * SCHEDULERS * row["per_warp"] < 1.085


def test_the_latency_is_the_recorded_one():
    row, = (row for row in data.readings("micro").find(kernel="micro_shared", threads=32) if "spread" not in row)
    assert round(row["low"]) == LATENCY


def test_figures_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="warps"):
        rounds(0, 2, 1)
    with pytest.raises(InputError, match="adds"):
        rounds(1, 2, 0)
