"""Global sectors: examples whose answer is known, and rules that hold for any pattern."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import InputError, sectors

LANES = np.arange(32)
places = st.lists(st.integers(0, 5000), min_size=32, max_size=32).map(np.array)
masks = st.integers(0, 2**32 - 1).map(lambda bits: (bits >> LANES & 1).astype(bool))
widths = st.sampled_from([1, 2, 4, 8, 16])


@pytest.mark.parametrize(("addresses", "width", "expected"), [
    (LANES, 1, 1), (2 * LANES, 2, 2), (4 * LANES, 4, 4), (8 * LANES, 8, 8), (16 * LANES, 16, 16),
    (4 * LANES + 4, 4, 5),             # one element off: a fifth sector
    (0 * LANES, 4, 1),                 # a broadcast
    (32 * LANES, 4, 32), (4096 * LANES, 4, 32),
    (4 * (LANES % 16 * 512 + LANES // 16), 4, 16),     # a column of a row-major matrix, twice
    (4 * LANES[::-1], 4, 4),
])
def test_known_patterns(addresses, width, expected):
    assert sectors(addresses, width) == expected


@pytest.mark.slow
@given(places, widths, masks)
def test_counts_the_bytes_that_are_touched(places, width, active):
    touched = {(int(address) + i) // 32 for address in places[active] * width for i in range(width)}
    assert sectors(places * width, width, active) == len(touched)


@given(places, widths, masks)
def test_idle_lanes_and_whole_sectors_do_not_matter(places, width, active):
    expected = sectors(places * width, width, active)
    assert sectors(np.where(active, places * width, -1), width, active) == expected
    assert sectors((places * width + 3200).astype(np.uint64), width, active) == expected


def test_no_active_lane_takes_no_sector():
    assert sectors(4 * LANES, 4, np.zeros(32, bool)) == 0


@pytest.mark.parametrize(("arguments", "words"), [
    ((4 * LANES + 1,), "lane 0 has address 1, but an access of 4 bytes needs a multiple of 4"),
    ((4 * LANES, 32), "width is 32"),
    ((-4 * LANES,), "lane 1 has address -4"),
    (([1, 2, 3],), "32 addresses"),
])
def test_bad_input_is_named(arguments, words):
    with pytest.raises(InputError) as caught:
        sectors(*arguments)
    assert words in str(caught.value)
