"""Who computes which k-steps: every unit is computed once, and what both kernels really do in the simulator is what the arithmetic says."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import InputError
from course_lib.model.busiest_work import dispatch
from course_lib.model.stream_k import Sharing, block_counts, sharing, split_k, tile_place
from course_lib.run import run
from course_lib.run.traces import array_of, every_warp

KERNELS = {"sgemm_stream_k": {"WM": 16, "WN": 32, "TM": 4, "TN": 4}, "dgemm_stream_k": {"WM": 32, "WN": 16}}
SMALL = {"BM": 32, "BN": 32, "BK": 16, "STAGES": 2, "RESIDENT": 1, "WIDE": 1}
SHAPES = ((70, 100, 75), (33, 32, 16), (290, 40, 50), (64, 64, 200), (130, 70, 33))
LAUNCHES = [(*shape, blocks) for shape, blocks in itertools.product(SHAPES, (1, 3, 7, 12))]
SHARED = [(25, 65, 132), (25, 65, 125), (25, 65, 25), (289, 257, 132), (81, 129, 243), (81, 129, 648), (81, 33, 132), (3, 40, 200),
          (7, 3, 5), (1, 1, 9), (264, 2, 132)]


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 40))
def test_every_unit_is_computed_once_and_evenly(tiles, steps, blocks):
    found = Sharing(tiles, steps, blocks)
    units = [(p.tile, s) for block in found.by_block for p in block for s in range(p.first, p.last)]
    assert sorted(units) == list(itertools.product(range(tiles), range(steps)))
    amounts = [sum(p.steps for p in block) for block in found.by_block]
    assert (min(amounts), max(amounts)) == (found.least, found.most)
    assert found.most - found.least <= 1
    assert sorted(amounts, reverse=True) == [steps for count, steps in found.groups for _ in range(count)]
    assert all(p.steps > 0 for block in found.by_block for p in block)
    assert [len(block) for block in found.by_block] == found.pieces_of_blocks.tolist()
    assert found.partial == sum(p.last < steps for block in found.by_block for p in block)
    assert found.pieces == sum(map(len, found.by_block)) == tiles + found.partial, "every tile has one last piece"


@given(st.integers(1, 20), st.integers(1, 12), st.integers(1, 9))
def test_split_k_cuts_each_tile_by_itself(tiles, steps, split):
    found = split_k(tiles, steps, split)
    assert len(found) == tiles * split
    computed = [(p.tile, s) for block in found for p in block for s in range(p.first, p.last)]
    assert computed == list(itertools.product(range(tiles), range(steps)))
    assert all(p.block == number and p.tile == number // split for number, block in enumerate(found) for p in block)
    amounts = [sum(p.steps for p in block) for block in found]
    assert max(amounts) - min(amounts) <= 1
    if steps % split == 0:
        assert found == Sharing(tiles, steps, tiles * split).by_block, "there it is what the kernels do"


@pytest.mark.parametrize(("tiles", "steps", "blocks"), SHARED)
def test_nobody_waits_for_somebody_who_waits(tiles, steps, blocks):
    found = Sharing(tiles, steps, blocks).by_block
    for block in found:
        waits = [p.first > 0 and p.last == steps for p in block]
        leaves = [p.last < steps for p in block]
        assert sum(leaves) <= 1, "one place for partial sums per block is enough"
        assert not any(waits[:leaves.index(True)]) if any(leaves) else True, "what others wait for comes before any waiting"
    ends = {p.tile: p.block for block in found for p in block if p.last == steps}
    assert all(p.block <= ends[p.tile] for block in found for p in block), "only earlier blocks are waited for"


@pytest.mark.parametrize(("tiles", "steps", "blocks"), SHARED)
def test_a_block_waits_for_one_step_at_most(tiles, steps, blocks):
    placed = dispatch(Sharing(tiles, steps, blocks).by_block, 132)
    done = {}
    for one in placed:
        if one.piece.last < steps:
            done[one.piece.tile] = max(done.get(one.piece.tile, 0), one.start + one.piece.steps)
    late = [done.get(one.piece.tile, 0) - one.start - one.piece.steps for one in placed if one.piece.last == steps]
    assert max(late) <= 1


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize(("M", "N", "K", "blocks"), LAUNCHES)
@pytest.mark.parametrize("name", KERNELS)
def test_what_the_blocks_of_the_kernels_do(name, M, N, K, blocks):
    said = sharing(M, N, K, (32, 32, 16), blocks)
    place = {tile: tile_place(tile, math.ceil(M / 32), math.ceil(N / 32)) for tile in range(said.tiles)}
    assert computed_by(name, M, N, K, blocks) == [[(*place[p.tile], p.first, p.last) for p in block] for block in said.by_block]


def computed_by(name, M, N, K, blocks):
    """Return (row of tiles, column of tiles, first, last) of each piece that each block of a kernel computes, from its trace.

    What lane 0 of warp 0 copies tells which tile and which k-steps. A piece ends when the warp has waited for all copies.
    """
    rng = np.random.default_rng(19)
    dtype = np.dtype(np.float32 if name == "sgemm_stream_k" else np.float64)
    A, B = (rng.standard_normal(shape).astype(dtype) for shape in ((M, K), (K, N)))
    result = run(name, A, B, backend="sim", trace=every_warp((blocks,), (64,)), blocks=blocks, **SMALL, **KERNELS[name])
    assert np.abs(result.C - A.astype(float) @ B).max() < 1e-4
    arrays = {name: array_of(result, name) for name in "AB"}
    found = [[] for _ in range(blocks)]
    for block in range(blocks):
        asked = {"A": [], "B": []}                       # elements that lane 0 copied since the last piece
        for record in result.trace:
            if record.block[0] != block or record.warp != 0:
                continue
            if record.operation == "cp.async.wait_all":
                rows, ks = np.divmod(asked["A"], K)
                others, columns = np.divmod(asked["B"], N)
                assert (ks.min() // 16, ks.max() // 16) == (others.min() // 16, others.max() // 16)
                found[block].append((rows.min() // 32, columns.min() // 32, ks.min() // 16, ks.max() // 16 + 1))
                asked = {"A": [], "B": []}
            elif record.operation.startswith("cp.async") and record.space == "global":
                for name, array in arrays.items():
                    if array.address <= record.addresses[0] < array.address + array.nbytes:
                        asked[name].append((int(record.addresses[0]) - array.address) // dtype.itemsize)
    return found


def test_no_number_of_blocks_is_tried_twice_or_without_work():
    assert block_counts(64, 64, 16, (64, 64, 16), 4, 132) == (1,)
    assert all(n >= 1 for n in block_counts(1, 1, 1, (128, 128, 8), 2, 132))


@pytest.mark.parametrize("values", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 2.5, 1), (1, 1, True)])
def test_what_is_no_launch_is_refused(values):
    with pytest.raises(InputError, match="a launch has|whole number"):
        Sharing(*values)
