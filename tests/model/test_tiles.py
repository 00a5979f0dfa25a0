"""The arithmetic of tiles, counted out block by block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.model import InputError
from course_lib.model.tiles import blocks, iterations, outputs_per_thread, tile_bytes, waste


@given(st.integers(1, 300), st.integers(1, 70))
def test_blocks_and_waste_as_counted(N, tile):
    starts = range(0, N, tile)
    assert blocks(N, tile) == len([(i, j) for i in starts for j in starts])
    covered = (len(starts) * tile) ** 2
    assert waste(N, tile) == pytest.approx((covered - N * N) / (N * N), abs=1e-12)
    assert iterations(N, tile) == len(starts)


def test_the_grid_of_the_thread_block_is_16_times_too_large():
    """Wang and Jin's setGrid: a block computes 64 x 64 elements, but the grid was cut for 16 x 16."""
    assert blocks(1024, 16) == 16 * blocks(1024, 64)


def test_sizes():
    assert tile_bytes(64, 64, 16) == (64 * 16 + 16 * 64) * 8
    assert outputs_per_thread(64, 64, 16, 8) == 32


@pytest.mark.parametrize("call", [lambda: outputs_per_thread(64, 64, 48, 1), lambda: blocks(0, 16), lambda: iterations(4, 0.5)])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()
