"""Shared memory of CC 1.x and 3.x: Lee's slide, and all choices that the hardware has, tried."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import InputError, half_warp_steps, kepler_wavefronts, shared_wavefronts
from course_lib.model.old_banks import bank_table

LANES = np.arange(32)
masks = st.integers(0, 2**32 - 1).map(lambda bits: (bits >> LANES & 1).astype(bool))
words = st.lists(st.integers(0, 200), min_size=32, max_size=32).map(np.array)


@cache
def by_trying(left):
    """Return the fewest steps for a sorted tuple of words: every step that the guide allows is tried."""
    if not left:
        return 0
    best = len(left)
    for word in set(left):
        others = [w for w in left if w != word]
        choices = [{w for w in others if w % 16 == bank} for bank in {w % 16 for w in others} - {word % 16}]
        for served in product(*choices):
            rest = list(others)
            for w in served:
                rest.remove(w)
            best = min(best, 1 + by_trying(tuple(rest)))
    return best


@given(st.lists(st.sampled_from([0, 16, 32, 1, 17, 33, 2]), max_size=9))
def test_the_fewest_steps_are_those_found_by_trying(wanted):
    places = np.zeros(32, int)
    places[:len(wanted)] = wanted
    assert half_warp_steps(4 * places, len(wanted) > LANES) == (by_trying(tuple(sorted(wanted))), 0)


@pytest.mark.parametrize(("places", "steps"), [
    (LANES % 16 * 16, (16, 16)), (LANES % 16 * 17, (1, 1)), (LANES // 16, (1, 1)),
    (LANES // 4, (4, 4)),                  # four banks, four lanes on a word each: one broadcast a step
])
def test_known_patterns(places, steps):
    assert half_warp_steps(4 * places) == steps


def test_the_slides_column_is_16_way_on_16_banks_8_way_on_32_and_4_way_on_kepler():
    column = 4 * (LANES % 16 * 16)
    assert max(half_warp_steps(column)) == 16
    assert shared_wavefronts(column) == 8
    assert kepler_wavefronts(column) == 4


@given(words, masks)
def test_half_warps_are_served_between_one_step_and_one_a_lane(places, active):
    steps = half_warp_steps(4 * places, active)
    for half in (0, 1):
        mine = places[16 * half:16 * half + 16][active[16 * half:16 * half + 16]]
        most = max((list(mine % 16).count(bank) for bank in range(16)), default=0)
        fewest = max((len(set(mine[mine % 16 == bank])) for bank in range(16)), default=0)
        assert fewest <= steps[half] <= most


@pytest.mark.slow
@given(words, masks)
def test_kepler_serves_what_is_32_words_apart_in_one_group_together(places, active):
    found = kepler_wavefronts(4 * places, active)
    served = {(int(w) // 64, int(w) % 32) for w in places[active]}
    assert found == max((sum(bank == b for _, bank in served) for b in range(32)), default=0)
    assert found <= shared_wavefronts(4 * places, 4, active) <= 2 * found


def test_the_bank_table_holds_every_word_once():
    table = bank_table(16, rows=256)
    assert sorted(set(table.ravel())) == list(range(0, 16384, 4))
    assert (table[:, -1] == table[:, -2]).all()
    assert (bank_table(32)[:, 1] - bank_table(32)[:, 0] == 128).all()


def test_bad_input_is_named():
    with pytest.raises(InputError, match="multiple of 4"):
        half_warp_steps(np.arange(32))
