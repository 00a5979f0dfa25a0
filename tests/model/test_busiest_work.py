"""What the busiest multiprocessor does: against every way to place a few blocks, and the bound below what follows from an order."""

import itertools
import math

import numpy as np
import pytest

from course_lib.model import InputError
from course_lib.model.busiest_work import balance_of, busiest_work, cost_terms, dispatch
from course_lib.model.stream_k import Piece, Sharing, sharing


@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("works", [(5, 5, 5, 5), (7, 4, 4, 2, 2), (9, 1, 1, 1), (3, 3, 2, 2, 2), (0, 0, 1), (6,)])
def test_no_placement_has_less_on_its_busiest_place(works, places):
    least = min(max(sum(w for w, at in zip(works, where, strict=True) if at == place) for place in range(places))
                for where in itertools.product(range(places), repeat=len(works)))
    found = busiest_work([(1, float(w)) for w in works], places)
    assert found <= least
    assert found >= max(max(works), sum(works) / places)
    if len(set(works)) == 1:
        assert found == least == math.ceil(len(works) / places) * works[0]


def test_equal_blocks_are_counted_alike_in_one_group_and_in_many():
    for blocks, places in ((289, 132), (264, 132), (1, 7), (265, 264)):
        assert busiest_work([(blocks, 2.0)], places) == busiest_work([(1, 2.0)] * blocks, places)


@pytest.mark.parametrize("units", [[], [(0, 1.0)], [(3, -1.0)], [(3, math.nan)], [(3, math.inf)], [(1, 1.0), (2, -0.5)]])
def test_what_is_no_work_is_refused(units):
    with pytest.raises(InputError):
        busiest_work(units, 4)


def test_a_block_gets_the_multiprocessor_that_is_free_first():
    placed = dispatch([[Piece(0, 0, 0, 3)], [Piece(1, 1, 0, 1)], [Piece(2, 2, 0, 1)], [Piece(3, 3, 0, 1)]], 2)
    assert [(p.multiprocessor, p.start) for p in placed] == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_the_numbers_of_the_lesson():
    whole, fifth, even = (balance_of(Sharing(25, 65, blocks).by_block, 65, 132) for blocks in (25, 125, 132))
    assert (whole.busiest, whole.left, round(100 * whole.idle)) == (65, 0, 81)
    assert (fifth.busiest, fifth.left, round(100 * fifth.idle)) == (13, 100, 5)
    assert (even.busiest, even.left, round(100 * even.idle)) == (13, 122, 5)
    assert whole.ratio == pytest.approx(132 / 25)


@pytest.mark.parametrize(("tiles", "steps", "blocks"), [
    (25, 65, 25), (289, 257, 132), (81, 129, 243), (81, 33, 132), (264, 2, 132), (700, 9, 650)])
def test_nobody_does_less_than_the_least_that_the_bound_says(tiles, steps, blocks):
    """The bound, blocks in their order, and the term of the estimate: each of them at least the one before."""
    found = Sharing(tiles, steps, blocks)
    in_order = balance_of(found.by_block, steps, 132)
    assert busiest_work(found.groups, 132) <= in_order.busiest <= cost_terms(found, 1, 132)["busy"]
    assert in_order.left == found.partial
    assert sum(count * work for count, work in found.groups) == tiles * steps


def test_terms_of_the_estimate():
    whole = cost_terms(sharing(640, 640, 64, (64, 64, 16), 100), 4, 132)
    assert (whole["busy"], whole["alone"], whole["pieces"], whole["pieces alone"], whole["joined"]) == (4, 4, 1, 1, 0)
    crowded = cost_terms(sharing(640, 1280, 64, (64, 64, 16), 200), 4, 132)
    assert (crowded["busy"], crowded["alone"]) == (8, 4), "two blocks on a multiprocessor, at the same time"
    assert (crowded["pieces"], crowded["pieces alone"]) == (2, 1)
    alone = cost_terms(sharing(640, 1280, 64, (64, 64, 16), 200), 1, 132)
    assert (alone["alone"], alone["pieces alone"]) == (8, 2), "one after the other"
    cut = cost_terms(sharing(64, 64, 1600, (64, 64, 16), 10), 4, 132)
    assert (cut["busy"], cut["joined"]) == (10, 10)
    assert np.isfinite(list(cut.values())).all()
