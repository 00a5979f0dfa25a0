"""Shares of work: every unit is computed once, and what `sgemm_stream_k` really does in the simulator is what the arithmetic says."""

import itertools

import numpy as np
import pytest

from course_lib.model.shares import Piece, balance_of, dispatch, pieces, tile_place
from course_lib.run import run
from course_lib.run.traces import array_of, every_warp

SMALL = {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "STAGES": 2, "RESIDENT": 1, "WIDE": 1}
SHAPES = ((70, 100, 75), (33, 32, 16), (290, 40, 50), (64, 64, 200))
LAUNCHES = [(*shape, blocks) for shape, blocks in itertools.product(SHAPES, (1, 3, 7, 12))]
SHARED = [(25, 65, 132), (25, 65, 125), (25, 65, 25), (289, 257, 132), (81, 129, 243), (81, 129, 648), (81, 33, 132), (3, 40, 200),
          (7, 3, 5), (1, 1, 9), (264, 2, 132)]


@pytest.mark.parametrize(("tiles", "steps", "blocks"), SHARED)
def test_every_unit_is_computed_once_and_evenly(tiles, steps, blocks):
    found = pieces(tiles, steps, blocks)
    units = [(p.tile, s) for block in found for p in block for s in range(p.first, p.last)]
    assert sorted(units) == list(itertools.product(range(tiles), range(steps)))
    amounts = [sum(p.steps for p in block) for block in found]
    assert max(amounts) - min(amounts) <= 1
    assert all(p.steps > 0 for block in found for p in block)


@pytest.mark.parametrize(("tiles", "steps", "blocks"), SHARED)
def test_nobody_waits_for_somebody_who_waits(tiles, steps, blocks):
    found = pieces(tiles, steps, blocks)
    for block in found:
        waits = [p.first > 0 and p.last == steps for p in block]
        leaves = [p.last < steps for p in block]
        assert sum(leaves) <= 1, "one place for partial sums per block is enough"
        assert not any(waits[:leaves.index(True)]) if any(leaves) else True, "what others wait for comes before any waiting"
    ends = {p.tile: p.block for block in found for p in block if p.last == steps}
    assert all(p.block <= ends[p.tile] for block in found for p in block), "only earlier blocks are waited for"


@pytest.mark.parametrize(("tiles", "steps", "blocks"), SHARED)
def test_a_block_waits_for_one_step_at_most(tiles, steps, blocks):
    placed = dispatch(pieces(tiles, steps, blocks), 132)
    done = {}
    for one in placed:
        if one.piece.last < steps:
            done[one.piece.tile] = max(done.get(one.piece.tile, 0), one.start + one.piece.steps)
    late = [done.get(one.piece.tile, 0) - one.start - one.piece.steps for one in placed if one.piece.last == steps]
    assert max(late) <= 1


def test_the_numbers_of_the_lesson():
    whole, fifth, even = (balance_of(pieces(25, 65, blocks), 65, 132) for blocks in (25, 125, 132))
    assert (whole.busiest, whole.left, round(100 * whole.idle)) == (65, 0, 81)
    assert (fifth.busiest, fifth.left, round(100 * fifth.idle)) == (13, 100, 5)
    assert (even.busiest, even.left, round(100 * even.idle)) == (13, 122, 5)
    assert whole.ratio == pytest.approx(132 / 25)


@pytest.mark.parametrize(("M", "N", "K", "blocks"), LAUNCHES)
def test_what_the_blocks_of_the_kernel_do(M, N, K, blocks):
    tiles_m, tiles_n, steps = -(-M // 32), -(-N // 32), -(-K // 16)
    said = pieces(tiles_m * tiles_n, steps, blocks)
    assert computed_by(M, N, K, blocks) == [[(*tile_place(p.tile, tiles_m, tiles_n), p.first, p.last) for p in block] for block in said]


def computed_by(M, N, K, blocks):
    """Return (row of tiles, column of tiles, first, last) of each piece that each block of `sgemm_stream_k` computes, from its trace.

    What lane 0 of warp 0 copies tells which tile and which k-steps. A piece ends when the warp stores sums.
    """
    rng = np.random.default_rng(19)
    A, B = rng.standard_normal((M, K), dtype=np.float32), rng.standard_normal((K, N), dtype=np.float32)
    result = run("sgemm_stream_k", A, B, backend="sim", trace=every_warp((blocks,), (64,)), blocks=blocks, **SMALL)
    assert np.abs(result.C - A.astype(float) @ B).max() < 1e-4
    arrays = {name: array_of(result, name) for name in "AB"}
    found = [[] for _ in range(blocks)]
    for block in range(blocks):
        asked = {"A": [], "B": []}                       # elements that lane 0 copied since the last piece
        for record in result.trace:
            if record.block[0] != block or record.warp != 0 or record.space != "global":
                continue
            if record.operation.startswith("cp.async"):
                for name, array in arrays.items():
                    if array.address <= record.addresses[0] < array.address + array.nbytes:
                        asked[name].append((int(record.addresses[0]) - array.address) // 4)
            elif record.operation.startswith("st.global") and "u32" not in record.operation and asked["A"]:
                rows, ks = np.divmod(asked["A"], K)
                others, columns = np.divmod(asked["B"], N)
                assert (ks.min() // 16, ks.max() // 16) == (others.min() // 16, others.max() // 16)
                found[block].append((rows.min() // 32, columns.min() // 32, ks.min() // 16, ks.max() // 16 + 1))
                asked = {"A": [], "B": []}
    return found


def test_a_block_gets_the_multiprocessor_that_is_free_first():
    placed = dispatch([[Piece(0, 0, 0, 3)], [Piece(1, 1, 0, 1)], [Piece(2, 2, 0, 1)], [Piece(3, 3, 0, 1)]], 2)
    assert [(p.multiprocessor, p.start) for p in placed] == [(0, 0), (1, 0), (1, 1), (1, 2)]
