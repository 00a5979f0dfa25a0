"""Uniform code does what reference code does: the same bits, the same counters per line, over kernels, shapes and blocks."""

import numpy as np
import pytest

from course_lib import kernels, simt

SHAPES = [(40, 40, 40), (33, 65, 17), (64, 96, 32), (5, 3, 70)]
TILES = [(16, 16, 16), (8, 32, 8), (16, 16, 8), (32, 8, 16)]


def matrices(m, n, k):
    rng = np.random.default_rng(m * n + k)
    return (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))


def start(source, name, grid, block, args, traced=False, **how):
    """Launch on one worker; `traced` records every warp."""
    warps, blocks = -(-int(np.prod(block)) // 32), int(np.prod(grid))
    trace = [(b, w) for b in range(blocks) for w in range(warps)] if traced else ()
    return simt.launch(source, name, grid, block, args, workers=1, trace=trace, **how)


def gemm(source, name, shape, grid, block, **how):
    """Run a kernel with the course's arguments; return (C, report)."""
    m, n, k = shape
    A, B, C = matrices(m, n, k)
    i, f = np.int32, np.float32
    args = [i(m), i(n), i(k), f(1.5), A, i(k), B, i(n), f(0.5), C, i(n)]
    return C, start(source, name, grid, block, args, **how)


def same(uniform, reference):
    """Hold two (answer, report) to each other."""
    assert uniform[0].tobytes() == reference[0].tobytes()
    assert uniform[1].counters == reference[1].counters
    assert uniform[1].lines == reference[1].lines


def both(run):
    """Run with uniform code, with reference code, and with reference code whose every access goes through the runtime.

    A launch whose warps take turns has no uniform code, and one that is traced has no access code of its own either.
    """
    plain = run(traced=True)
    same(run(), plain)
    same(run(warp_order="interleaved"), plain)


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tiles(shape, tile):
    BM, BN, BK = tile
    both(lambda **how: gemm(kernels.get("sgemm_tiled").source, "sgemm_tiled", shape, (-(-shape[1] // BN), -(-shape[0] // BM)),
                            (BN, BM), defines={"BM": BM, "BN": BN, "BK": BK}, **how))


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("block", [(16, 16), (32, 8), (8, 4), (5, 13)], ids=str)
@pytest.mark.parametrize("name", ["sgemm_naive", "sgemm_swapped"])
def test_from_global_memory(name, block):
    for shape in SHAPES:
        m, n = shape[:2][::-1] if name == "sgemm_naive" else shape[:2]
        grid = (-(-m // block[0]), -(-n // block[1]))
        both(lambda shape=shape, grid=grid, **how: gemm(kernels.get(name).source, name, shape, grid, block, **how))


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("name", "sizes"), [("sgemm_1d_tile", (32, 32, 8, 4, 1)), ("sgemm_2d_tile", (32, 64, 8, 4, 4))])
def test_thread_tiles(name, sizes, shape):
    BM, BN, BK, TM, TN = sizes
    defines = dict(zip(("BM", "BN", "BK", "TM", "TN") if TN > 1 else ("BM", "BN", "BK", "TM"), sizes))
    both(lambda **how: gemm(kernels.get(name).source, name, shape, (-(-shape[1] // BN), -(-shape[0] // BM)), (BN // TN, BM // TM),
                            defines=defines, **how))


BODIES = {
    "a row per warp": "s[(i / 128) * 64 + (i % 32) / 4 * 2] = i; __syncthreads(); out[n] = s[(i / 128) * 64 + (i % 32) / 4 * 2];",
    "a row per two warps": "int w = i / 32, r = w / 2 * 64 + w % 2 * 32; s[r + (i % 32 ^ 5)] = i; __syncthreads(); out[n] = s[r + i % 32];",
    "a guarded load": "int v = 7; if (i % 32 < 9 + b) v = in[n]; out[n] = v;",
    "a guarded store": "if (i % 3) out[n] = in[n] + 1;",
    "both branches": "if (in[n] & 1) out[n] = in[n] * 3; else out[n] = s[i] = in[n] + 5;",
    "nested": "int v = in[n]; if (v & 1) { v += 3; if (v & 4) v *= in[i]; } out[n] = v;",
    "a loop of some": "int v = 0; for (int k = 0; k < (i & 7); ++k) v += in[n] >> k; out[n] = v;",
    "a loop with a guard": "int v = 0; for (int k = 0; k < 9; ++k) { if ((i & 31) + k < 31) v += in[n + k]; v ^= k; } out[n] = v;",
    "a guarded load, then diverged": "int v = 0; if (i & 2) v = in[n]; if (i < 33) { __syncwarp(); v += s[i + 3] = 4; } out[n] = v;",
    "out at once": "if (i >= 40) return; s[i] = in[n]; out[n] = s[i] + 1;",
    "reduction": "s[i] = in[n]; __syncthreads(); for (int d = 64; d; d /= 2) { if (i < d) s[i] += s[i + d]; __syncthreads(); } "
                 "if (i == 0) out[b] = s[0];",
    "selected address": "out[n] = (i & 1 ? in : out)[n] + (i < 70 ? s : s + 3, 1);",
    "vectors": "if (i < 77) { int4 v = ((const int4*)in)[n / 4]; out[n] = v.x + v.y * v.z - v.w; }",
}


def body(text, threads, **how):
    source = f'extern "C" __global__ void f(const int* in, int* out) {{ __shared__ int s[512]; ' \
             f"const int i = threadIdx.x, b = blockIdx.x, n = b * 256 + i;\n{text}\n}}"
    out = np.arange(1024, dtype=np.int32)
    return out, start(source, "f", 3, threads, [np.arange(7, 1031, dtype=np.int32) * 77 % 1009, out], **how)


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("threads", [256, 200, 32, 7])
@pytest.mark.parametrize("name", BODIES)
def test_bodies(name, threads):
    both(lambda **how: body(BODIES[name], threads, **how))


UNREACHED = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    mov.f32 %f1, 0f3F800000;
    setp.gt.u32 %p1, %r2, 5;
    @%p1 bra JOIN;
    add.f32 %f1, %f2, %f1;
JOIN:
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
    mov.f32 %f2, 0f40000000;
}
"""


@pytest.mark.parametrize("n", [3, 9])
def test_a_register_that_only_unreachable_code_writes(n):
    def run(**how):
        out = np.full(96, 7, np.float32)
        return out, start(UNREACHED, "k", 1, 96, [out, np.int32(n)], **how)
    both(run)
    assert (run()[0] == 1).all()


SHIFTED = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    add.u32 %r1, %r1, %r2;
    shl.b32 %r3, %r1, AMOUNT;
    mul.wide.u32 %rd2, %r3, 4;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd1, %rd2;
    add.u64 %rd4, %rd4, %rd3;
    st.global.u32 [%rd4], %r3;
    ret;
}
"""


@pytest.mark.parametrize("amount", [-3, -1, 0, 1, 31, 32, 40, 0xffffffff])
def test_lanes_that_are_shifted_by_a_constant(amount):
    """The amount is a number without sign, and 32 or more shift everything out; with 31 every second lane is far outside."""
    text, n = SHIFTED.replace("AMOUNT", str(amount)), 2

    def run(**how):
        out = np.zeros(256, np.uint32)
        return out, start(text, "k", 1, 64, [out, np.int32(n)], **how)
    if amount == 31:
        with pytest.raises(simt.OutOfBounds):
            run()
        return
    both(run)
    expected = np.zeros(256, np.uint32)
    for lane in range(64):
        value = (lane + n) << amount if amount in (0, 1) else 0
        expected[value + lane] = value
    assert (run()[0] == expected).all()
