"""Segments of CC 1.3: the programming guide's own pictures, a second way to count, and Chien's shares."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import InputError, bus_bytes, effective_bandwidth, sectors, transactions
from course_lib.model.segments import column_efficiencies, padded

LANES = np.arange(32)
places = st.lists(st.integers(0, 300), min_size=32, max_size=32).map(np.array)
masks = st.integers(0, 2**32 - 1).map(lambda bits: (bits >> LANES & 1).astype(bool))
widths = st.sampled_from([1, 2, 4, 8, 16])


def by_bytes(addresses, width, active):
    """Count the bytes moved another way: for every segment the smallest of its aligned pieces that holds all bytes."""
    total, segment = 0, {1: 32, 2: 64}.get(width, 128)
    for half in (range(16), range(16, 32)):
        touched = {int(addresses[lane]) + i for lane in half if active[lane] for i in range(width)}
        for start in {byte // segment * segment for byte in touched}:
            mine = {byte for byte in touched if start <= byte < start + segment}
            pieces = [range(at, at + size) for size in (32, 64, 128) if size <= segment
                      for at in range(start, start + segment, size)]
            total += min(len(piece) for piece in pieces if mine <= set(piece))
    return total


@given(places, widths, masks)
def test_as_counted_byte_by_byte(where, width, active):
    found = transactions(where * width, width, active)
    assert sum(t.size for t in found) == bus_bytes(where * width, width, active) == by_bytes(where * width, width, active)
    for lane in np.flatnonzero(active):
        at = where[lane] * width
        assert sum(t.start <= at and at + width <= t.start + t.size for t in found if t.half == lane // 16) == 1
    assert all(t.start % t.size == 0 for t in found)


@given(places, masks)
def test_a_sector_count_never_moves_more(where, active):
    assert 32 * sectors(4 * where, 4, active) <= bus_bytes(4 * where, 4, active) or not active.any()


@pytest.mark.parametrize(("addresses", "sizes"), [
    (4 * LANES, [64, 64]),                                   # aligned: one 64-byte transfer a half-warp
    (4 * LANES[::-1], [64, 64]),                             # any order within the segment
    (4 * LANES + 4, [128, 64, 32]),                          # one word off
    (8 * LANES, [128, 128]),
    (128 * LANES, [32] * 32),
    (0 * LANES, [32, 32]),
])
def test_known_patterns(addresses, sizes):
    assert [t.size for t in transactions(addresses)] == sizes


def test_chiens_columns():
    assert column_efficiencies(64) == (1,)
    assert column_efficiencies(72) == (1, Fraction(2, 3), 1, Fraction(2, 3))
    seventh, third = Fraction(4, 7), Fraction(2, 3)
    assert column_efficiencies(68) == (1, seventh, third, seventh, 1, seventh, third, seventh)
    assert effective_bandwidth(68) == Fraction(59, 84)


@pytest.mark.parametrize("ld", range(32, 200))
def test_padding_to_16_never_wastes_and_to_8_a_sixth_at_most(ld):
    assert effective_bandwidth(padded(ld, 16)) == 1
    assert effective_bandwidth(padded(ld, 8)) >= Fraction(5, 6)
    assert effective_bandwidth(ld) <= 1
    assert effective_bandwidth(padded(ld, 8), today=True) == 1


@pytest.mark.parametrize("ld", [0, 31, 64.0, True])
def test_a_bad_leading_dimension_is_named(ld):
    with pytest.raises(InputError, match="ld is"):
        effective_bandwidth(ld)
