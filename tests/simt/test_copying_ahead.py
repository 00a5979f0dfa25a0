"""Kernels that copy ahead, in parts: copies of whole warps, sums of long chains, and lanes that lie near each other."""

import numpy as np
import pytest
from test_uniform import both, start

from course_lib.simt.codegen.uniform.known import insert
from course_lib.simt.model.arithmetic import insert as model_insert

ROUNDS = 300
COPIES = """#include <cuda_pipeline.h>
extern "C" __global__ void copies(const float* x, const int* from, const int* to, const int* zeros, float* y) {
    __shared__ __align__(16) float s[64 * WORDS * 8];
    const int t = threadIdx.x;
    for (int i = 0; i < ROUNDS; ++i) {     // more copies than a warp can have under way, and another order of the lanes in each
        __pipeline_memcpy_async(s + WORDS * (64 * (i % 8) + to[64 * i + t]), x + WORDS * from[64 * i + t], 4 * WORDS, zeros[64 * i + t]);
        __pipeline_commit();
        if (i >= 6 && i < 270) __pipeline_wait_prior(3);      // when all places of the queue were used once, more are under way
        else if (i >= 6) __pipeline_wait_prior(6);
        __syncthreads();
        if (i >= 6)
            for (int w = 0; w < WORDS; ++w) y[64 * WORDS * (i - 6) + WORDS * t + w] = s[64 * WORDS * ((i - 6) % 8) + WORDS * t + w];
    }
}
"""
SUMS = """
extern "C" __global__ void sums(const float* x, float* y) {
    const int t = threadIdx.x;
    float c[4][4] = {}, half = 0;
#pragma unroll
    for (int k = 0; k < 24; ++k)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                if (k == 12 && i == 1 && j == 2) half = c[1][2];      // an old sum that is still wanted
                c[i][j] = __fmaf_rn(x[(8 * k + i) * 64 + t], x[(8 * k + 4 + j) * 64 + t], c[i][j]);
            }
    for (int i = 0; i < 16; ++i) y[64 * i + t] = c[i / 4][i % 4];
    y[64 * 16 + t] = half;
}
"""
NEAR = """
extern "C" __global__ void near_lanes(const float4* x, float4* y) {
    __shared__ float4 s[128];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    s[t] = x[t];
    s[t + 64] = x[t + 64];
    __syncthreads();
    const int row = (lane >> 1 & 1) + (lane >> 2) % (ROWS / 2) * 2, col = (lane & 1) + (lane >> 2) / (ROWS / 2) * 2;
    const float4 a = s[FIRST + 32 * warp + row], b = s[FIRST + 32 * warp + 8 + col];
    const float2 c = reinterpret_cast<const float2*>(s)[FIRST + 64 * warp + 2 * row + 1];
    y[t] = make_float4(a.x + b.w, a.y - b.z, a.z * b.y, a.w + c.x);
    y[t + 64] = make_float4(c.y, b.x, a.x, b.y);
}
"""


@pytest.mark.parametrize("words", [1, 2, 4])
@pytest.mark.parametrize("order", ["straight", "mixed", "some"])
def test_copies_of_whole_warps(order, words):
    """Side by side, in any order, and with lanes that read nothing and may point anywhere; counters too."""
    rng = np.random.default_rng(words)
    straight = np.tile(np.arange(64, dtype=np.int32), (ROUNDS, 1))
    mixed = np.array([rng.permutation(64) for _ in range(ROUNDS)], np.int32)
    from_, to = (straight, straight) if order == "straight" else (rng.integers(0, 64, (ROUNDS, 64)).astype(np.int32), mixed)
    zeros = np.where(rng.random((ROUNDS, 64)) < (0.3 if order == "some" else 0), 4 * words, 0).astype(np.int32)
    if order == "some":
        zeros[5], zeros[6] = 4 * words, 0
        from_ = np.where(zeros > 0, 1 << 20, from_).astype(np.int32)
    x = rng.standard_normal((64, words)).astype(np.float32)
    wanted = np.full((ROUNDS - 6, 64, words), np.nan, np.float32)
    for i in range(ROUNDS - 6):
        wanted[i, to[i]] = np.where(zeros[i][:, None] > 0, 0, x[np.minimum(from_[i], 63)])

    def run(**how):
        y = np.full((ROUNDS - 6, 64, words), np.nan, np.float32)
        report = start(COPIES, "copies", 1, 64, [x, from_, to, zeros, y], defines={"WORDS": words, "ROUNDS": ROUNDS}, **how)
        assert y.tobytes() == wanted.tobytes()
        return y, report
    both(run)


def test_sums_of_a_long_chain():
    """In place, unless the old sum is still wanted; also with infinite numbers and those near the ends of the range."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((24 * 8, 64)).astype(np.float32)
    x[rng.random(x.shape) < 0.01] = 0
    x[3::40, ::9], x[5::50, ::7] = 1e30, 1e-38
    x[100, 5], x[101, 6] = np.inf, -np.inf

    def run(**how):
        y = np.full((17, 64), 7, np.float32)
        return y, start(SUMS, "sums", 1, 64, [x, y], **how)
    both(run)
    y, wide = run()[0], x.astype(np.float64).reshape(24, 2, 4, 64)
    with np.errstate(all="ignore"):
        exact, size = (np.einsum("kit,kjt->ijt", part[:, 0], part[:, 1]) for part in (wide, np.abs(wide)))
        half, half_size = (np.einsum("kt,kt->t", part[:12, 0, 1], part[:12, 1, 2]) for part in (wide, np.abs(wide)))
    for found, wanted, most in ((y[:16].reshape(4, 4, 64), exact, size), (y[16], half, half_size)):
        inside = np.isfinite(wanted) & (most < 3e38)
        assert inside.sum() > inside.size // 2
        assert (np.abs(found[inside] - wanted[inside]) <= 24 * 2.0**-23 * most[inside] + 1e-44).all()


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("rows", [2, 4, 8])
def test_lanes_near_each_other(rows, first):
    """Vectors of which several lanes read the same, at places that shifts and inserted bits make, from 16 to 256 bytes apart."""
    x = np.random.default_rng(3).standard_normal((128, 4)).astype(np.float32)

    def run(**how):
        y = np.full((128, 4), 7, np.float32)
        return y, start(NEAR, "near_lanes", 1, 64, [x, y], defines={"ROWS": rows, "FIRST": first}, **how)
    both(run)
    lane, warp, found = np.arange(64) % 32, np.arange(64) // 32, run()[0]
    row = (lane >> 1 & 1) + (lane >> 2) % (rows // 2) * 2
    col = (lane & 1) + (lane >> 2) // (rows // 2) * 2
    a, b = x[first + 32 * warp + row], x[first + 32 * warp + 8 + col]
    c = x.reshape(-1, 2)[first + 64 * warp + 2 * row + 1]
    wanted = np.stack([a[:, 0] + b[:, 3], a[:, 1] - b[:, 2], a[:, 2] * b[:, 1], a[:, 3] + c[:, 0]], 1)
    assert (found[:64] == wanted).all()
    assert (found[64:] == np.stack([c[:, 1], b[:, 0], a[:, 0], b[:, 1]], 1)).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_inserted_bits_that_are_known(bits):
    numbers = np.array([0, 1, -1, 5, -(1 << (bits - 1)), (1 << (bits - 1)) - 1, 0x12345678])
    for at in (0, 1, 5, 31, 32, 63, 64, 200, 256, 257):
        for count in (0, 1, 7, 31, 32, 33, 63, 64, 255, 256):
            found = insert(numbers[:, None], numbers[None, :], np.int64(at), np.int64(count), bits)
            for i, a in enumerate(numbers.tolist()):
                for j, b in enumerate(numbers.tolist()):
                    mask = (1 << bits) - 1
                    wanted = model_insert(("bfi", f"b{bits}"), set(), (a & mask, b & mask, at, count))
                    assert int(found[i, j]) & mask == wanted
