"""Exercise 15 beyond what every exercise is tested for: what one warp does in its order, and what padding and other tiles cost."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.grading import check, part
from course_lib.grading.judge.in_order import barriers_per_tile, between_barriers, loads_in_the_open, steps
from course_lib.grading.shown import order_table

EXERCISE = "15_closing_in"
RECORDS = {"L": ("ld.global.f32", "global"), "R": ("ld.shared.v4.f32", "shared"), "W": ("st.shared.f32", "shared"), "B": ("bar.sync", None),
           "C": ("cp.async.ca.shared.global", "global"), "c": ("cp.async.ca.shared.global", "shared"), "S": ("st.global.f32", "global")}


def traced(order):
    """Return a report whose warp did this: global load, shared Read, Write, Barrier, Copy (its two records Cc), Store."""
    records = ((line, *RECORDS[one]) for line, one in enumerate(order, 1))
    return SimpleNamespace(trace=[SimpleNamespace(operation=operation, space=space, line=line, block=(0, 0, 0), warp=0)
                                  for line, operation, space in records])


@pytest.mark.parametrize(("order", "share"), [
    ("LWBRBS", 1.0),                # one buffer: loaded, stored, and everyone waits
    ("LWBLRWBRS", 0.5),             # two buffers: the second load has the products before its store
    ("LWBLWRBRS", 1.0),             # stored at once, products afterwards
    ("LWBLRBWBRS", 0.5),            # hidden with one buffer: that takes two barriers
    ("CcBCcRBRS", 0.5),             # a copy needs no store
    ("CcLWBCcLWRBRS", 0.75),        # A through registers and stored at once, B copied under the work
    ("LWBLRWRRRBRRRRS", 1.0),       # one read of four under the load
    ("LRS", 0.0), ("RS", 0.0)])
def test_a_load_is_hidden_by_what_is_read_before_it_is_needed(order, share):
    assert loads_in_the_open(traced(order), 0).value == share


def test_barriers_and_the_lines_that_they_are_in():
    reading = barriers_per_tile(traced("LWBRBLWBRB"), 0)
    assert (reading.value, reading.words) == (2.0, "4 / 2 tiles")
    assert reading.shares == {3: 1, 5: 1, 8: 1, 10: 1}
    assert between_barriers(steps(traced("LLWBRRRBBCcLWLWLWRS").trace)) == [
        "2 global loads, 1 shared write", "3 shared reads", "1 copy, 3 times (global load, shared write), 1 shared read"]


@pytest.mark.slow
@pytest.mark.sampled(slow=1)
@pytest.mark.parametrize(("pad", "conflicts"), [(0, 2), (4, 1), (8, 2), (12, 1), (16, 2), (28, 1)])
def test_what_padding_costs(pad, conflicts, answers):
    """Rows k and k + 4 of A's tile are 4 (64 + pad) words apart: 16 banks for odd multiples of 4, else none."""
    verdict = check(answers("solutions", EXERCISE)["lean"].replace("[BM + 4]", f"[BM + {pad}]"), part(EXERCISE, "main"))
    assert verdict.values["shared wavefronts stored per multiply-add of a warp"] == (conflicts + 1) / 64
    assert verdict.passed == (conflicts == 1)


@pytest.mark.slow
@pytest.mark.sampled(slow=1)
@pytest.mark.parametrize(("BM", "BN"), [(128, 64), (64, 128), (32, 128)])
def test_a_tile_moves_what_part_1_says(BM, BN, answers):
    source = answers("solutions", EXERCISE)["lean"]
    source = source.replace("#define BM 64", f"#define BM {BM}").replace("#define BN 64", f"#define BN {BN}")
    values = list(check(source, part(EXERCISE, "main")).values.values())
    requests, sectors, wavefronts, size = part(EXERCISE, "plan").expected(BM, BN, 8)
    assert np.allclose([values[0], values[1], values[3], values[6]], [requests, sectors, wavefronts, size + 4 * 4 * 8], rtol=1e-12)


@pytest.mark.slow
def test_the_order_of_a_warp_as_a_table(answers):
    ahead = part(EXERCISE, "ahead")
    assert [row[0] for row in order_table(answers("solutions", EXERCISE)["ahead"], ahead).rows] == ["1", "7", "1"]
    assert "why" in order_table("", ahead).header[0]
