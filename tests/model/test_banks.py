"""Shared-memory wavefronts: what an H200 measured, and rules that hold for any pattern."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.model import InputError, conflicts, services, shared_wavefronts

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "wavefronts.json").read_text())["rows"]
LANES = np.arange(32)
offsets = st.lists(st.integers(0, 2000), min_size=32, max_size=32).map(np.array)
masks = st.integers(0, 2**32 - 1).map(lambda bits: (bits >> LANES & 1).astype(bool))


def access(row):
    return np.array(row["index"]) * row["width"], row["width"], (row["mask_bits"] >> LANES & 1).astype(bool)


def test_the_recording_is_complete():
    assert len(MEASURED) == 243
    assert {row["width"] for row in MEASURED} == {4, 8, 16}


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row['pattern']}-{row['mask']}-{8 * row['width']}bit")
def test_every_pattern_as_measured_on_an_h200(row):
    found = [count(*access(row), kind) for kind in ("load", "store") for count in (shared_wavefronts, conflicts)]
    assert found == [row["ld_wavefronts"], row["ld_conflicts"], row["st_wavefronts"], row["st_conflicts"]]


def groups(distances, kinds):
    """Return phases as in the model, but merged only in these kinds of access and for these partners."""

    def phases(addresses, width, active, kind):
        size = {8: 16, 16: 8}.get(width, 32)
        for distance in distances if kind in kinds and width > 4 else ():
            both = active & active[LANES ^ distance]
            if (addresses[both] == addresses[LANES ^ distance][both]).all():
                return LANES.reshape(-1, 2 * size)
        return LANES.reshape(-1, size)

    return phases


@pytest.mark.parametrize(("distances", "kinds", "wrong"), [
    ((1, 2), ("load",), 0), ((), (), 17), ((1,), ("load",), 4), ((2,), ("load",), 5), ((1, 2), ("load", "store"), 17),
])
def test_the_recording_tells_the_rule_from_simpler_ones(monkeypatch, distances, kinds, wrong):
    monkeypatch.setattr("course_lib.model.banks.phases", groups(distances, kinds))
    missed = [row for row in MEASURED if (shared_wavefronts(*access(row)), shared_wavefronts(*access(row), "store"))
              != (row["ld_wavefronts"], row["st_wavefronts"])]
    assert len(missed) == wrong


@given(offsets, masks)
def test_words_are_served_bank_by_bank(words, active):
    per_bank = [set(words[active & (words % 32 == bank)]) for bank in range(32)]
    assert shared_wavefronts(4 * words, 4, active) == max(map(len, per_bank))
    assert shared_wavefronts(4 * words, 4, active, kind="store") == max(map(len, per_bank))


@given(offsets, masks, st.sampled_from([1, 2]), st.sampled_from(["load", "store"]))
def test_narrow_accesses_count_the_words_they_lie_in(places, active, width, kind):
    narrow = places * width
    assert shared_wavefronts(narrow, width, active, kind) == shared_wavefronts(narrow // 4 * 4, 4, active, kind)
    assert conflicts(narrow, width, active, kind) == conflicts(narrow // 4 * 4, 4, active, kind)


@given(offsets, masks, st.sampled_from([8, 16]))
def test_wide_stores_are_the_sum_of_their_phases(places, active, width):
    wavefronts = phases = 0
    for lanes in LANES.reshape(-1, 128 // width):
        words = {int(word) + i for word in places[lanes][active[lanes]] * (width // 4) for i in range(width // 4)}
        wavefronts += max((sum(word % 32 == bank for word in words) for bank in range(32)), default=0)
        phases += bool(words)
    assert shared_wavefronts(places * width, width, active, "store") == wavefronts
    assert conflicts(places * width, width, active, "store") == wavefronts - phases


@given(offsets, masks, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from(["load", "store"]), st.integers(0, 50))
def test_a_shift_by_whole_rows_changes_nothing_and_idle_lanes_do_not_count(places, active, width, kind, rows):
    moved = places * width + 128 * rows
    assert shared_wavefronts(moved, width, active, kind) == shared_wavefronts(places * width, width, active, kind)
    elsewhere = np.where(active, places * width, -7)
    assert shared_wavefronts(elsewhere, width, active, kind) == shared_wavefronts(places * width, width, active, kind)


def test_no_active_lane_takes_no_wavefront():
    nobody = np.zeros(32, bool)
    assert shared_wavefronts(4 * LANES, 4, nobody) == conflicts(4 * LANES, 4, nobody) == 0


def test_the_slides_column_of_a_16_by_16_tile_is_8_way_on_32_banks():
    half_warps = (LANES % 16 * 16 + LANES // 16) * 4
    assert shared_wavefronts(half_warps) == 8
    assert shared_wavefronts((LANES % 16 * 17 + LANES // 16) * 4) <= 2


@pytest.mark.parametrize(("arguments", "words"), [
    ((4 * LANES, 3), "width is 3, but a lane accesses 1, 2, 4, 8 or 16 bytes"),
    ((4 * LANES[:31],), "32 addresses"),
    ((4.0 * LANES,), "whole numbers of bytes, not float64"),
    ((4 * LANES - 4,), "lane 0 has address -4"),
    ((4 * LANES + 2,), "lane 0 has address 2, but an access of 4 bytes needs a multiple of 4"),
    ((4 * LANES, 8), "lane 1 has address 4, but an access of 8 bytes"),
    ((4 * LANES, 4, np.ones(16, bool)), "(16,)"),
    ((4 * LANES, 4, LANES), "True or False, not int64"),
    ((4 * LANES, 4, None, "read"), "kind is 'read', but an access is a \"load\" or a \"store\""),
])
def test_bad_input_is_named(arguments, words):
    for count in (shared_wavefronts, conflicts):
        with pytest.raises(InputError) as caught:
            count(*arguments)
        assert isinstance(caught.value, CourseError)
        assert isinstance(caught.value, ValueError)
        assert words in str(caught.value)


@given(offsets, masks, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from(["load", "store"]))
def test_services_use_the_measured_number_of_wavefronts_and_serve_everyone(index, active, width, kind):
    found = services(index * width, width, active, kind)
    assert max((s.wavefront for s in found), default=0) == shared_wavefronts(index * width, width, active, kind)
    busy = [(s.wavefront, s.word % 32) for s in found]
    assert len(set(busy)) == len(busy), "a bank serves one word in a wavefront"
    for lane in LANES[active]:
        wanted = {(index[lane] * width + byte) // 4 for byte in range(width)}
        assert {s.word for s in found if lane in s.lanes} == wanted
    assert not {lane for s in found for lane in s.lanes} - set(LANES[active])
