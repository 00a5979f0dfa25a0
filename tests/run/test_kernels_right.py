"""The kernels of the catalog are right on every shape, and touch nothing that is not theirs."""

import numpy as np
import pytest

from course_lib.kernels import KERNELS
from course_lib.run import mismatch, run

SQUARE = ({}, {"TILE": 32}, {"TILE": 5}, {"TILE": 1})
OUTPUTS = ({}, {"TA": 32, "TB": 16, "TW": 8, "bx": 4, "by": 16}, {"TA": 5, "TB": 21, "TW": 7, "bx": 3, "by": 5},
           {"TA": 1, "TB": 1, "TW": 1, "bx": 1, "by": 1})
WARP = ({}, {"BM": 32, "BN": 64, "BK": 16, "WM": 32, "WN": 16, "TM": 4, "TN": 4},
        {"BM": 64, "BN": 32, "BK": 12, "WM": 64, "WN": 32, "TM": 8, "TN": 8})
SIZES = {
    "sgemm_swapped": ({}, {"bx": 7, "by": 5}, {"bx": 1, "by": 64}, {"bx": 1024, "by": 1}),
    "sgemm_naive": ({}, {"bx": 7, "by": 5}, {"bx": 1, "by": 64}, {"bx": 1024, "by": 1}),
    "sgemm_tiled": ({}, {"BM": 16, "BN": 16, "BK": 16}, {"BM": 8, "BN": 16, "BK": 24}, {"BM": 5, "BN": 7, "BK": 3},
                    {"BM": 2, "BN": 32, "BK": 40}, {"BM": 1, "BN": 1, "BK": 1}),
    "sgemm_1d_tile": ({}, {"BM": 16, "BN": 32, "BK": 8, "TM": 4}, {"BM": 15, "BN": 7, "BK": 5, "TM": 3},
                      {"BM": 2, "BN": 33, "BK": 40, "TM": 2}, {"BM": 1, "BN": 1, "BK": 1, "TM": 1}),
    "sgemm_2d_tile": ({}, {"BM": 16, "BN": 32, "BK": 8, "TM": 2, "TN": 4}, {"BM": 15, "BN": 14, "BK": 5, "TM": 3, "TN": 7},
                      {"BM": 4, "BN": 66, "BK": 20, "TM": 4, "TN": 2}, {"BM": 1, "BN": 1, "BK": 1, "TM": 1, "TN": 1}),
    "sgemm_uncoalesced": SQUARE, "sgemm_coalesced": SQUARE,
    "sgemm_padded": (*SQUARE, {"TILE": 8, "PAD": 3}, {"PAD": 0}),
    "sgemm_unrolled": ({}, {"TILE": 32, "UNROLL": 1}, {"TILE": 5, "UNROLL": 3}, {"TILE": 1, "UNROLL": 1}),
    "sgemm_vectorized": ({}, {"BM": 32, "BN": 16, "BK": 12, "TM": 4, "TN": 4}, {"BM": 8, "BN": 32, "BK": 4, "TM": 4, "TN": 8}),
    "sgemm_prefetched": ({}, {"BM": 32, "BN": 16, "BK": 16, "TM": 4, "TN": 4}, {"BM": 8, "BN": 32, "BK": 8, "TM": 4, "TN": 8}),
    "sgemm_warp_tile": WARP,
    "sgemm_op": SQUARE,
    "sgemm_double_buffered": WARP,
}
SIZES |= {
    "sgemm_wmma": ({}, {"BM": 32, "BN": 64, "BK": 8, "WM": 16, "WN": 64}, {"BM": 48, "BN": 16, "BK": 24, "WM": 48, "WN": 16}),
    "sgemm_mma": ({}, {"BM": 16, "BN": 48, "BK": 8, "WM": 16, "WN": 48}, {"BM": 64, "BN": 32, "BK": 24, "WM": 32, "WN": 32}),
    **{name: ({}, {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}, {"BM": 48, "BN": 64, "BK": 32, "WM": 48, "WN": 32},
              {"BM": 16, "BN": 16, "BK": 64, "WM": 16, "WN": 16}) for name in ("sgemm_bf16", "sgemm_split")},
}
SIZES["sbgemm_mma"] = ({}, {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}, {"BM": 48, "BN": 64, "BK": 64, "WM": 48, "WN": 32})
SIZES["sbgemm_stages"] = ({}, {"BM": 32, "BN": 32, "BK": 32, "WM": 16, "WN": 32, "STAGES": 2},
                          {"BM": 48, "BN": 96, "BK": 64, "WM": 48, "WN": 96, "STAGES": 4}, {"BM": 256, "BN": 192, "WN": 96})
SIZES["sbgemm_tma"] = ({}, {"BN": 128, "STAGES": 2, "GROUP": 1, "blocks": 2}, {"STAGES": 3, "GROUP": 3, "blocks": 3})
SIZES["sbgemm_clusters"] = ({}, {"BN": 128, "STAGES": 2, "GROUP": 1, "blocks": 2}, {"STAGES": 3, "GROUP": 3, "blocks": 4})
SIZES["sbgemm_wide_stores"] = SIZES["sbgemm_tma"]
SIZES["sgemm_parts"] = ({}, {"GROUP": 1, "blocks": 3})
SIZES["bgemm_clusters"] = ({}, {"BN": 128, "STAGES": 2, "GROUP": 1, "blocks": 2}, {"STAGES": 2, "GROUP": 3, "blocks": 4})
SIZES["b8gemm_clusters"] = SIZES["bgemm_clusters"]
for letter in "sd":
    SIZES |= {
        f"{letter}gemm_thread": ({}, {"bx": 7, "by": 5}),
        f"{letter}gemm_block": SQUARE,
        f"{letter}gemm_ilp": ({}, {"TILE": 16, "OUT": 16}, {"TILE": 6, "OUT": 3}),
    }
    SIZES |= {f"{letter}gemm_{idea}": OUTPUTS for idea in ("outputs", "readonly", "rank1", "dots")}
RUNGS = ("sgemm_stages", "sgemm_serpentine", "sgemm_wide_stores")
AHEAD = ({"BM": 32, "BN": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4},
         {"BM": 64, "BN": 32, "BK": 32, "WM": 32, "WN": 32, "TM": 8, "TN": 4, "STAGES": 4, "TRANSA": 0})
SIZES |= {name: ({}, *AHEAD) for name in RUNGS}
SIZES["sgemm_stream_k"] = ({}, *({**tile, "blocks": blocks} for tile, blocks in zip(AHEAD, (7, 5), strict=True)))
SIZES["dgemm_stream_k"] = ({}, {"BM": 32, "BN": 32, "WM": 16, "WN": 32, "STAGES": 2, "blocks": 3},
                           {"BM": 32, "BN": 64, "BK": 32, "WM": 32, "WN": 32, "SLICES": 2, "STAGES": 3, "blocks": 11})
SIZES["dgemm_mma"] = ({}, {"BM": 32, "BN": 32, "WM": 16, "WN": 32}, {"BM": 48, "BN": 64, "BK": 32, "WM": 48, "WN": 16})
SIZES["dgemm_stages"] = ({}, *({**tile, "STAGES": stages} for tile, stages in zip(SIZES["dgemm_mma"][1:], (3, 2), strict=True)),
                         {"BM": 16, "BN": 16, "WM": 16, "WN": 8, "STAGES": 7}, {"BM": 32, "BN": 32, "WM": 16, "WN": 32, "STAGES": 1})
OUTER = ({}, {"THREADS": 32, "VECTORS": 3, "COLS": 5, "BK": 8, "GAP": 2}, {"THREADS": 16, "VECTORS": 1, "COLS": 1, "BK": 16, "SEL": 1})
SIZES |= {f"sgemm_method{m}": OUTER for m in ("5_v1", "5_v3", "6", "7", "8")}
SIZES["sgemm_outer_rows"] = ({}, {"THREADS": 32, "ROWS": 7, "BK": 8}, {"THREADS": 16, "ROWS": 1, "BK": 1})
PARTIAL = {name for name, kernel in KERNELS.items() if kernel.sizes_of(1, 1, 1, kernel.check())}    # not for every size: test_outer.py
NAMES = tuple(name for name in KERNELS if name not in PARTIAL)
SMALL = {name: SIZES[name][1 if len(SIZES[name]) > 1 else 0] for name in NAMES}      # quick to compile
# Every kernel at its small tile in every run of the tests; all tiles, the large ones too, in the slow tests.
CASES = [pytest.param(name, values, marks=() if values is SMALL[name] else pytest.mark.slow) for name in NAMES for values in SIZES[name]]
SHAPES = [(1, 1, 1), (17, 1, 33), (1, 17, 5), (15, 17, 16), (33, 31, 32), (31, 33, 2), (53, 29, 37)]


def matrices(name, M, N, K, pads=(0, 0, 0)):
    rng = np.random.default_rng([M, N, K])
    shapes = ((M, K), (K, N), (M, N))
    return [rng.standard_normal((r, c + pad)).astype(KERNELS[name].dtype)[:, :c] for (r, c), pad in zip(shapes, pads, strict=True)]


@pytest.mark.slow
@pytest.mark.sampled(slow=8)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_every_shape(name, values):
    for M, N, K in SHAPES:
        A, B, _ = matrices(name, M, N, K)
        result = run(name, A, B, backend="sim", **values)
        assert mismatch(result.C, A, B, inputs=KERNELS[name].inputs) is None, (M, N, K)


@pytest.mark.sampled(test=2, slow=16)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_padded_rows_and_factors(name, values):
    column = KERNELS[name].layout == "column"
    kernel = KERNELS[name]
    strides = {"bf16": (24, 24, 28), "e4m3": (32, 32, 24)}.get(kernel.stored if kernel.boxes else "", (21, 24, 28))      # whole 16 bytes
    for alpha, beta in ((1, 0), (-1.5, 0)) if kernel.result else ((1, 1), (-1.5, 0.25), (0, 2), (3, 0)):
        A, B, C = matrices(name, 19, 23, 18, pads=(3, 1, 5))
        if beta == 0:
            C[...] = np.nan                   # must not be read
        result = run(name, A, B, None if kernel.result else C, alpha=alpha, beta=beta, backend="sim", **values)
        assert (result.lda, result.ldb, result.ldc) == ((19, 18, 19) if column else (*strides[:2], 24) if kernel.result else strides)
        assert mismatch(result.C, A, B, C, alpha=alpha, beta=beta, inputs=KERNELS[name].inputs) is None
        assert result.stray_writes == 0


@pytest.mark.slow
@pytest.mark.sampled(slow=12)
@pytest.mark.parametrize("name", NAMES)
def test_no_races(name):
    A, B, _ = matrices(name, 40, 33, 70)
    assert run(name, A, B, racecheck=True, backend="sim", **SMALL[name]).hazards == ()


@pytest.mark.slow
@pytest.mark.sampled(slow=9)
@pytest.mark.parametrize("name", NAMES)
def test_a_large_rectangle_of_primes(name):
    A, B, C = matrices(name, 997, 1009, 1013, pads=(2, 0, 1))
    C, beta = (None, 0) if KERNELS[name].result else (C, -2)
    result = run(name, A, B, C, alpha=0.5, beta=beta, backend="sim")
    assert mismatch(result.C, A, B, C, alpha=0.5, beta=beta, inputs=KERNELS[name].inputs) is None
