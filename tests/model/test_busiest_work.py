"""Who does how much: against every way to place a few blocks, and against what each block does in the simulator."""

import itertools
import math

import numpy as np
import pytest

from course_lib.model import InputError
from course_lib.model.busiest_work import busiest_work, shared_steps
from course_lib.run import run
from course_lib.run.traces import every_warp


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


@pytest.mark.parametrize(("tiles", "steps", "blocks"), [(1, 1, 1), (25, 33, 132), (289, 257, 264), (5, 4, 3), (7, 3, 7), (8, 5, 3),
                                                         (2, 9, 40)])
def test_all_steps_are_shared_out(tiles, steps, blocks):
    found = shared_steps(tiles, steps, blocks)
    assert sum(found.steps) == tiles * steps == sum(count * work for count, work in found.units)
    assert sum(count for count, _ in found.units) == blocks == len(found.steps)
    assert max(found.steps) - min(found.steps) <= 1
    assert sum(found.pieces) == tiles + found.partial, "every tile has one last piece"


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", ["sgemm_stream_k", "dgemm_stream_k"])
@pytest.mark.parametrize(("M", "N", "K", "blocks"), [(256, 192, 40, 5), (192, 128, 96, 4), (130, 70, 33, 7), (64, 64, 16, 3),
                                                  (256, 256, 32, 4)])
def test_each_block_does_its_steps_in_the_simulator(name, M, N, K, blocks):
    """Each step commits a group and each piece S - 1 more; each piece ends with one `wait_all`."""
    kind, stages = (np.float64 if name == "dgemm_stream_k" else np.float32), 3
    tile = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32} | ({} if kind == np.float64 else {"TM": 8, "TN": 4})
    result = run(name, np.ones((M, K), kind), np.ones((K, N), kind), backend="sim", trace=every_warp((blocks, 1), (32, 1)),
                 blocks=blocks, STAGES=stages, WIDE=1, **tile)
    expected = shared_steps(math.ceil(M / 64) * math.ceil(N / 64), math.ceil(K / 16), blocks)
    seen = [[r.operation for r in result.trace if r.block[0] == block] for block in range(blocks)]
    pieces = tuple(operations.count("cp.async.wait_all") for operations in seen)
    steps = tuple(ops.count("cp.async.commit_group") - (stages - 1) * n for ops, n in zip(seen, pieces, strict=True))
    assert (pieces, steps) == (expected.pieces, expected.steps)
