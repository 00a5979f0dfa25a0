"""Where a block's shared memory begins: at byte 1,024 from compute capability 8.0 on (measured on an H200), at 0 before."""

import re

import numpy as np
import pytest

from course_lib import simt

ADDRESSES = """
extern "C" __global__ void addresses(unsigned* out) {
    __shared__ __align__(16384) float first[8];
    __shared__ int second[40];
    extern __shared__ float behind[];
    out[0] = __cvta_generic_to_shared(first);
    out[1] = __cvta_generic_to_shared(second);
    out[2] = __cvta_generic_to_shared(behind);
    out[3] = (size_t)(void*)second % 256;
}
"""
# A product of 32 × 32 tiles that changes its buffers as some published kernels do: by flipping one bit of their addresses.
FLIPPED = """
extern "C" __global__ void flipped(int K, const float* A, const float* B, float* C) {
    __shared__ __align__(16384) float As[2][2][32][32], Bs[2][2][32][32];      // half of each is never used: 8 KiB apart
    const int tx = threadIdx.x, ty = threadIdx.y, N = 32 * gridDim.x;
    unsigned a = __cvta_generic_to_shared(&As[0][0][ty][0]), b = __cvta_generic_to_shared(&Bs[0][0][0][tx]);
    const int row = 32 * blockIdx.y + ty, col = 32 * blockIdx.x + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        asm volatile("st.shared.f32 [%0], %1;" :: "r"(a + 4 * tx), "f"(A[row * K + k0 + tx]));
        asm volatile("st.shared.f32 [%0], %1;" :: "r"(b + 128 * ty), "f"(B[(k0 + ty) * N + col]));
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float x, y;
            asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(a + 4 * k));
            asm volatile("ld.shared.f32 %0, [%1];" : "=f"(y) : "r"(b + 128 * k));
            acc += x * y;
        }
        a ^= FLIP;
        b ^= FLIP;
    }
    C[row * N + col] = acc;
}
"""


def addresses(arch, **options):
    out = np.zeros(4, np.uint32)
    report = simt.launch(ADDRESSES, "addresses", 1, 1, [out], arch=arch, dynamic_shared=64, **options)
    return out.tolist(), report


@pytest.mark.parametrize(("arch", "begin"), [("sm_75", 0), ("sm_80", 1024), ("sm_86", 1024), ("sm_90", 1024)])
def test_static_arrays_begin_behind_what_the_system_keeps_and_dynamic_ones_behind_them(arch, begin):
    found, report = addresses(arch)
    assert found == [begin, begin + 32, begin + 192, (begin + 32) % 256]
    assert [(v.name, v.offset) for v in report.shared] == [("first", 0), ("second", 32), ("behind", 192)], "counted from the first array"


def test_an_alignment_that_is_lost_is_told_with_its_line():
    assert addresses("sm_75")[1].lost_alignments == ()
    lost, = addresses("sm_90")[1].lost_alignments
    line = 1 + next(i for i, text in enumerate(ADDRESSES.splitlines()) if "out[0]" in text)
    assert (lost.name, lost.wanted, lost.address, lost.line) == ("first", 16384, 1024, line)
    assert re.match(rf"line {line}: first asks for an alignment of 16,384 bytes, but begins at byte 1,024", str(lost))


@pytest.mark.parametrize("align", [16, 128, 1024])
def test_an_alignment_that_is_kept_is_no_finding(align):
    text = ADDRESSES.replace("16384", str(align))
    assert simt.launch(text, "addresses", 1, 1, [np.zeros(4, np.uint32)], dynamic_shared=64).lost_alignments == ()


def product(arch, flip):
    rng = np.random.default_rng(5)
    A, B = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
    C = np.full((64, 64), np.nan, np.float32)
    report = simt.launch(FLIPPED, "flipped", (2, 2), (32, 32), [np.int32(64), A, B, C], arch=arch, defines={"FLIP": flip})
    return np.abs(C - A.astype(float) @ B).max(), report


def test_buffers_changed_by_flipping_a_bit_are_right_where_the_alignment_is_kept():
    error, report = product("sm_75", 8192)
    assert error < 1e-4
    assert report.lost_alignments == ()


def test_the_same_kernel_is_wrong_or_out_of_bounds_on_newer_gpus_and_told_why():
    """1,024 ^ 8,192 is the other buffer by luck; 1,024 ^ 1,024 is what the system keeps."""
    with pytest.raises(simt.OutOfBounds, match="in front of the block's shared memory"):
        product("sm_90", 1024)
    _, report = product("sm_90", 8192)
    assert {lost.name for lost in report.lost_alignments} == {"As", "Bs"}


def test_generic_shared_and_symbolic_accesses_find_the_same_byte():
    text = """
    extern "C" __global__ void same(int* out, int which) {
        __shared__ int a[64], b[64];
        const int t = threadIdx.x;
        for (int i = t; i < 64; i += 32) a[i] = i, b[i] = 100 + i;
        __syncthreads();
        int* p = which ? b : a;                                        // generic
        int direct;
        asm volatile("ld.shared.s32 %0, [%1+4];" : "=r"(direct) : "r"((unsigned)__cvta_generic_to_shared(&p[t])));
        out[t] = p[t] + 1000 * direct + 100000 * atomicAdd(&p[t], 5) + (__isShared(p) ? 0 : -1);
    }"""
    for which in (0, 1):
        out = np.zeros(32, np.int32)
        simt.launch(text, "same", 1, 32, [out, np.int32(which)], racecheck=True)
        t = np.arange(32) + 100 * which
        np.testing.assert_array_equal(out, t + 1000 * (t + 1) + 100000 * t)


def test_what_lies_in_front_is_out_of_bounds_by_any_address():
    for line in ("((volatile int*)a)[t - 40] = 1", '*(volatile int*)((char*)a - 8) = 1',
                 'asm volatile("st.shared.s32 [%0], %0;" :: "r"(1016))'):
        text = f'extern "C" __global__ void front(int t) {{ __shared__ int a[32]; {line}; }}'
        with pytest.raises(simt.OutOfBounds, match="in front of"):
            simt.launch(text, "front", 1, 1, [np.int32(0)])
