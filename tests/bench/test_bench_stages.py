"""What copying ahead is worth: what is measured, that it was, of these kernels, and that every answer was right."""

from dataclasses import fields

import pytest

from course_lib import data
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.stages import ALONE, SIZES, Contestant, contestants
from course_lib.kernels import get
from course_lib.run import footprint

FOUND = data.readings("stages")


def test_every_contestant_was_recorded_at_every_size_and_was_right():
    names = [field.name for field in fields(Contestant)]
    assert [(row["N"], Contestant(**{name: row[name] for name in names})) for row in FOUND.rows] == [
        (size, one) for size in SIZES for one in contestants()]
    assert {row["wrong"] for row in FOUND.rows} == {""}
    assert all(0 < row["low_s"] <= row["median_s"] <= row["high_s"] < 1.1 * row["low_s"] for row in FOUND.rows)
    assert all(1000 < row["clock_mhz"] <= 1980 for row in FOUND.rows)


def test_what_was_recorded_are_these_kernels():
    assert FOUND.sources == {name: fingerprint_of(get(name)) for name in ("dgemm_mma", "dgemm_stages")}


@pytest.mark.parametrize("one", [one for one in contestants() if one.stages], ids=str)
def test_a_contestant_fits_and_one_that_is_to_be_alone_is(one):
    kernel, used = get(one.kernel), footprint(one.kernel, **one.parameters).resources.static_shared_bytes
    assert kernel.problems(**one.parameters) == ()
    if one.alone:
        assert one.dynamic + used == ALONE >= kernel.dynamic_bytes(**one.parameters) + used
        assert 2 * (ALONE + 1024) > 228 * 1024, "and no two of them fit"
    else:
        assert one.dynamic == kernel.dynamic_bytes(**one.parameters)
