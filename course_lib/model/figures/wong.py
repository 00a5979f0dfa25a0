"""The figures of Wong's report, SGEMM in Caffe."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from course_lib.data import documents
from course_lib.model.banks import shared_wavefronts
from course_lib.model.figures import INPUTS, Figure
from course_lib.model.speedup import caffe_inv_rate, loads_per_element
from course_lib.model.tiles import tile_bytes


def _row(place, what, printed, exact, function, **more):
    return Figure("N", place, what, printed, exact, f"model.{function}", **more)


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    rates, lanes = documents.WONG_RATES.column("iterations a second"), np.arange(32)
    yield _row("A", "iterations a second from 6.59977 s for 100", "15.1521", 100 / 6.59977, "speedup.saved_ms", how=INPUTS,
               low=100 / 6.599775, high=100 / 6.599765, remark="the seconds are printed with six digits")
    yield _row("A", "learning rate at iteration 9900, Caffe's policy inv", "0.00596843", caffe_inv_rate(9900), "speedup.caffe_inv_rate",
               remark="with the parameters of Caffe's LeNet example, which the report does not name")
    yield _row("A", "cuBLAS over own kernels", "3", rates["cuBLAS"] / rates["fused"], "speedup.least_share")
    yield _row("C", "threads of a block, multiplication", "256", 16 * 16, "tiles.outputs_per_thread")
    yield _row("C", "threads of a block, transposition", "256", 32 * 8, "tiles.outputs_per_thread")
    yield _row("D", "accesses to global memory with tiles of 16, at best", "1/16", Fraction(loads_per_element(16)),
               "speedup.loads_per_element", remark="printed as \"by a factor of tile width\"")
    yield _row("D", "elements of a tile", "256", tile_bytes(16, 0, 16, 1), "tiles.tile_bytes", remark="printed as 16x16")
    yield _row("E", "ways of a column of a 32 x 32 tile", "32", shared_wavefronts(4 * 32 * lanes), "shared_wavefronts")
    yield _row("E", "ways with rows of 33", "1", shared_wavefronts(4 * 33 * lanes), "shared_wavefronts",
               remark="printed as \"consecutive banks\"")
