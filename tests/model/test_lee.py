"""Lee's slides: which units his tables can have, and the two tables of indices checked by multiplying."""

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.model import InputError, lee

INITIAL = {256: 0.13, 512: 0.13, 1024: 0.19, 2048: 0.45, 4096: 3.60}
UNROLLED = {256: 0.11, 512: 0.11, 1024: 0.12, 2048: 0.26, 4096: 2.20}
CPU = {256: 0.06, 512: 0.64, 1024: 7.17, 2048: 156.19, 4096: 1311.08}


def test_the_tables_are_in_seconds():
    peak = device("GTX 690").peak_gflops
    for column in (INITIAL, UNROLLED):
        assert lee.possible_units(column, peak) == ("s", "min")
        assert lee.gflops(column[4096], "ms", 4096) > 10 * peak
    assert 0.1 < lee.gflops(CPU[4096], "s", 4096) < 0.11
    assert lee.gflops(CPU[256], "ms", 256) > 500          # no single core does that
    assert lee.gflops(UNROLLED[4096], "s", 4096) < 0.03 * peak


@pytest.mark.parametrize("loads_rows", [False, True])
@pytest.mark.parametrize("stores_rows", [False, True])
def test_every_order_of_indices_multiplies_right(loads_rows, stores_rows):
    """The pairing of load, store and read that `tile_of_b` assumes, carried out on one tile."""
    random = np.random.default_rng(1)
    A, B = random.standard_normal((2, 16, 16))
    Bs = np.full((16, 16), np.nan)
    for ty, tx in np.ndindex(16, 16):
        value = B[ty, tx] if loads_rows else B[tx, ty]
        Bs[(ty, tx) if stores_rows else (tx, ty)] = value
    read = Bs if loads_rows == stores_rows else Bs.T
    assert np.allclose(A @ read, A @ B)


def test_what_coalescing_gains_and_loses():
    tiling, coalescing, fixed = (lee.tile_of_b(*order) for order in ((False, False), (True, False), (True, True)))
    assert tiling.sectors - coalescing.sectors == 12
    assert coalescing.read_wavefronts - tiling.read_wavefronts == 112
    assert (fixed.sectors, fixed.store_wavefronts, fixed.read_wavefronts) == (4, 1, 16)


@pytest.mark.parametrize("call", [lambda: lee.gflops(1, "h", 256), lambda: lee.gflops(0, "s", 256), lambda: lee.gflops(1, "s", 0)])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()
