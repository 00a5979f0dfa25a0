"""Warps that take turns: held to a simulation cycle by cycle, to Chien's tables, and to an H200's clock."""

import random

import pytest

from course_lib.data import readings
from course_lib.model import InputError, round_cycles, timeline, warps_to_hide


def cycle_by_cycle(warps, steps, chains=1):
    """Return (cycle, warp, step) of each issue, by looking at every cycle; whole numbers only."""
    ready_since, at, busy_until, found, cycle = [0] * warps, [0] * warps, 0, [], 0
    done = {}
    while min(at) < len(steps):
        able = [w for w in range(warps) if at[w] < len(steps) and ready_since[w] <= cycle]
        if able and cycle >= busy_until:
            first = min(ready_since[w] for w in able)
            warp = next(w for w in able if ready_since[w] == first)
            found.append((cycle, warp, at[warp]))
            busy_until, done[warp, at[warp]] = cycle + steps[at[warp]][0], cycle + steps[at[warp]][1]
            at[warp] += 1
            ready_since[warp] = max(busy_until, done.get((warp, at[warp] - chains), 0))
        cycle += 1
    return found


@pytest.mark.parametrize("seed", range(60))
def test_every_cycle_looked_at(seed):
    chance = random.Random(seed)
    warps = chance.randint(1, 9)
    steps = [(issue, issue + chance.randint(0, 40)) for issue in (chance.randint(1, 6) for _ in range(chance.randint(1, 7)))]
    chains = chance.choice((1, 1, 2, 3, 9))
    assert [(i.start, i.warp, i.step) for i in timeline(warps, steps, chains).issues] == cycle_by_cycle(warps, steps, chains)


@pytest.mark.parametrize("seed", range(20))
def test_what_no_schedule_may_do(seed):
    chance = random.Random(100 + seed)
    chains = chance.choice((1, 2, 4))
    found = timeline(chance.randint(1, 12), [(chance.uniform(0.2, 4), chance.uniform(4, 60)) for _ in range(5)], chains)
    assert len(found.issues) == 5 * found.warps
    assert all(b.start >= a.end for a, b in zip(found.issues, found.issues[1:])), "the scheduler issues one at a time"
    for warp in range(found.warps):
        own = [i for i in found.issues if i.warp == warp]
        assert [i.step for i in own] == list(range(5))
        assert all(b.start >= a.end for a, b in zip(own, own[1:])), "a warp issues in order"
        assert all(b.start >= a.done for a, b in zip(own, own[chains:])), "an instruction waits for the result it needs"
    assert sum(i.end - i.start for i in found.issues) + sum(b - a for a, b in found.idle) == pytest.approx(found.issues[-1].end)


@pytest.mark.parametrize("threads", [1, 64, 128, 192, 224, 256, 288, 320, 384, 512])
def test_chiens_table_2(threads):
    warps = -(-threads // 32)
    found = timeline(warps, [(6, 34.6)] * 12)
    starts = [i.start for i in found.issues if i.warp == 0]
    assert starts[-1] - starts[-2] == pytest.approx(round_cycles(threads, 34.6, 6))
    assert found.hidden == (warps >= warps_to_hide(34.6, 6))


def test_chiens_figure_6():
    found = timeline(16, [(4, 530), (4, 36)])
    assert found.idle == ((64, 530),), "after 64 cycles all 16 warps wait until the first result is there"
    assert found.cycles == 530 + 15 * 4 + 36
    assert not found.hidden
    assert timeline(133, [(4, 530), (4, 36)]).hidden
    assert not timeline(132, [(4, 530), (4, 36)]).hidden


@pytest.mark.parametrize(("warps", "chains"), [(1, 1), (1, 4), (2, 2), (4, 1), (3, 1), (8, 1), (1, 8), (4, 8)])
def test_chains_of_one_warp_hide_as_much_as_warps(warps, chains):
    """Only the product counts: a round lasts as long as the latency, or as its issues."""
    found = timeline(warps, [(1, 4)] * (6 * chains), chains)
    assert found.round_cycles == max(4, warps * chains)
    assert found.hidden == (warps * chains >= 4)


def test_one_round_has_no_length():
    assert timeline(2, [(1, 4)] * 3, 3).round_cycles == 0


@pytest.mark.parametrize("threads", [32, 128, 256, 512, 1024])
def test_an_h200s_chains_of_two_registers(threads):
    """Four schedulers share the warps; issue and latency from one warp and from the data sheet's rate, the rest predicted."""
    row, = readings("micro").find(kernel="micro_fma", threads=threads, REGISTERS=2)
    found = timeline(-(-threads // 128), [(1, 4)] * 256)
    assert found.issues[-1].end / 256 == pytest.approx(row["high"], rel=0.08)


@pytest.mark.parametrize(("warps", "steps", "words"), [
    (0, [(1, 2)], "warps"), (2, [], "1 to 20000"), (2, [(0, 3)], "issue"), (2, [(1, float("nan"))], "latency"), (2, [(5, 3)], "shorter"),
    (3000, [(1, 2)] * 10, "1 to 20000"), (2.5, [(1, 2)], "warps")])
def test_what_cannot_be_scheduled(warps, steps, words):
    with pytest.raises(InputError, match=words):
        timeline(warps, steps)


def test_there_is_a_chain_at_least():
    with pytest.raises(InputError, match="chains"):
        timeline(2, [(1, 4)], chains=0)
