"""Kernels around `wgmma` as they are written today: right on every order of warps, without a finding, and counted exactly."""

import numpy as np
import pytest
import wgmma_kernels
import wgmma_model as model

from course_lib import simt

WIDE, NARROW = (f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16" for n in (128, 64))
TILES = """
// rows of 64 elements, swizzled over 128 bytes
__device__ __forceinline__ void copy_tile(uint4* to, const uint4* from, int rows, int pitch) {
    for (int i = threadIdx.x; i < rows * 8; i += blockDim.x) COPY(to[i / 8 * 8 + (i % 8 ^ i / 8 % 8)], from[i / 8 * pitch + i % 8]);
}
__device__ __forceinline__ u64 tile(const uint4* at) { return descriptor(at, 16384, 1024, 1); }
"""
STORES = "#define COPY(to, from) (to) = (from)\n#define COPIED\n"
COPIES = """#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" \\
    :: "r"((unsigned)__cvta_generic_to_shared(&(to))), "l"(&(from)))
#define COPIED asm volatile("cp.async.wait_all;" ::: "memory");
"""
GEMM = """
// C[128 per block, 128] = A[M, K] B[128, K]^T; two warpgroups, three stages: a product stays under way while the next tiles are copied
extern "C" __global__ void __launch_bounds__(256) gemm(const uint4* A, const uint4* B, float* C, int K) {
    extern __shared__ __align__(1024) uint4 s[];
    const int t = threadIdx.x, group = t / 128, row0 = blockIdx.x * 128;
    float d[64] = {};
#pragma unroll 1
    for (int k0 = 0, stage = 0; k0 < K; k0 += 64, stage = (stage + 1) % STAGES) {
        uint4 *a = s + stage * 2048, *b = a + 1024;
        copy_tile(a, A + row0 * (K / 8) + k0 / 8, 128, K / 8);
        copy_tile(b, B + k0 / 8, 128, K / 8);
        COPIED
        PROXY;
        __syncthreads();
        FENCE;
        for (int k = 0; k < 4; ++k) multiply(d, tile(a + group * 512 + 2 * k), tile(b + 2 * k), 1);
        COMMIT;
        WAIT(1);
    }
    WAIT(0);
    for (int i = 0; i < 64; ++i) C[(row0 + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * 128 + i / 4 * 8 + t % 4 * 2 + i % 2] = d[i];
}
"""
CHAINED = """
// O = sum over rounds of bf16(A B^T / 8) V, halved after each: a product's sums become A of the next one, in registers
extern "C" __global__ void __launch_bounds__(128) chained(const uint4* A, const uint4* B, const uint4* V, float* O, int rounds) {
    extern __shared__ __align__(1024) uint4 s[];
    const int t = threadIdx.x;
    uint4 *a = s, *b = s + 512, *v = s + 1536;
    float o[32] = {};
    unsigned p[8][4];
    copy_tile(a, A, 64, 8);
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        __syncthreads();
        copy_tile(b, B + r * 1024, 128, 8);
        copy_tile(v, V + r * 1024, 128, 8);      // 128 lines along K, 64 columns
        PROXY;
        __syncthreads();
        float d[64];
        FENCE;
        for (int k = 0; k < 4; ++k) multiply(d, tile(a + 2 * k), tile(b + 2 * k), k > 0);
        COMMIT;
        WAIT(0);
        for (int k = 0; k < 8; ++k)
            for (int i = 0; i < 4; ++i)
                asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(p[k][i]) : "f"(d[8 * k + 2 * i + 1] / 8), "f"(d[8 * k + 2 * i] / 8));
        FENCE;
        for (int k = 0; k < 8; ++k) multiply(o, p[k], tile(v + 128 * k), 1);
        COMMIT;
        WAIT(0);
        for (int i = 0; i < 32; ++i) o[i] *= 0.5f;
    }
    for (int i = 0; i < 32; ++i) O[(t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * 64 + i / 4 * 8 + t % 4 * 2 + i % 2] = o[i];
}
"""
HEAD = wgmma_kernels.HELPERS + wgmma_kernels.operation(WIDE, 64, "f", (1, 1, 0, 0))
HEAD += wgmma_kernels.operation(NARROW, 32, "f", (1, 1, 1), from_registers=True)
ORDERS = ({}, {"warp_order": "reverse"}, {"warp_order": "interleaved"}, {"warp_order": 5}, {"racecheck": True})


def halves(rng, *shape):
    return (rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def gemm(copies, stages=3, text=GEMM, **how):
    rng = np.random.default_rng(2)
    A, B, C = halves(rng, 256, 256), halves(rng, 128, 256), np.zeros((256, 128), np.float32)
    report = simt.launch(HEAD + copies + TILES + text, "gemm", 2, 256, [A, B, C, np.int32(256)], arch="sm_90a",
                         dynamic_shared=stages * 32768, defines={"STAGES": stages}, **how)
    wanted = model.decode(A, "bf16") @ model.decode(B, "bf16").T
    return abs(C - wanted).max() < 1e-3, report


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("copies", [STORES, COPIES], ids=["stores", "copies"])
def test_a_product_that_stays_under_way_between_rounds(copies):
    counted = set()
    for how in ORDERS:
        right, report = gemm(copies, **how)
        assert right
        assert (report.hazards, report.products) == ((), ())
        assert report.pipeline.warps == {"neither": 0, "copies": 0, "products": 16, "both": 0} | (
            {"products": 0, "both": 16} if copies is COPIES else {})
        counted.add(tuple(report.counters.items()))
    assert len(counted) == 1                    # a warp that had to wait is not counted twice
    assert report.counters["multiply_adds_wgmma"] == 256 * 128 * 256


@pytest.mark.slow
def test_too_few_stages_are_a_hazard():
    """With one stage, a warp overwrites what its own product still reads; with two, what the other warpgroup's may still read."""
    own, others = (gemm(STORES, stages=stages, racecheck=True)[1].hazards for stages in (1, 2))
    assert {h.kind for h in own} >= {"WAR"}
    assert [(h.kind, h.first_thread[0] // 128 != h.second_thread[0] // 128) for h in others] == [("WAR", True)]


def test_copies_are_of_the_generic_proxy():
    right, report = gemm(COPIES, text=GEMM.replace("PROXY;", ""), racecheck=True)
    assert right
    assert {f.kind for f in report.products} == {"proxy"}


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize("how", ORDERS, ids=str)
def test_sums_become_factors_in_registers(how):
    rng = np.random.default_rng(3)
    A, (B, values) = halves(rng, 64, 64), halves(rng, 2, 2, 128, 64)
    found = np.zeros((64, 64), np.float32)
    report = simt.launch(HEAD + STORES + TILES + CHAINED, "chained", 1, 128, [A, B, values, found, np.int32(2)], arch="sm_90a",
                         dynamic_shared=(1536 + 1024) * 16, **how)
    wanted = 0
    for b, v in zip(B, values):
        scores = (model.decode(A, "bf16") @ model.decode(b, "bf16").T / 8).astype(np.float32)
        wanted = (wanted + scores @ model.decode(v, "bf16")) / 2
    assert abs(found - wanted).max() < 0.01 * abs(wanted).max()
    assert (report.hazards, report.products) == ((), ())


PTX = """.version 8.3
.target TARGET
.address_size 64
.visible .entry k(.param .u64 y) {
    .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    .shared .align 128 .b8 s[4096];
    ld.param.u64 %d1, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    shr.u32 %r3, %r2, 4;
    cvt.u64.u32 %d2, %r3;
    shl.b32 %r4, %r1, 4;
    add.u32 %r5, %r2, %r4;
    mov.b32 %r6, 0x3f803f80;
    st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mov.f32 %f1, 0f40000000;
    mov.f32 %f2, 0f40000000;
    mov.f32 %f3, 0f40000000;
    mov.f32 %f4, 0f40000000;
    setp.ge.u32 %p1, %r1, 128;
    wgmma.fence.sync.aligned;
    .loc 1 9 0
    FORM;
    wgmma.commit_group.sync.aligned;
    @!%p1 wgmma.wait_group.sync.aligned 0;
    @%p1 wgmma.wait_group.sync.aligned 0;
    mad.wide.u32 %d3, %r1, 4, %d1;
    st.global.f32 [%d3], %f4;
    ret;
}
"""
START = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"


@pytest.mark.parametrize(("operands", "wanted"), [
    ("%d2, %d2, 1, 1, 1, 0, 0", 18), ("%d2, %d2, 0, 1, -1, 0, 0", -16),
    ("%d2, %d2, %p1, 1, 1, 0, 0", 16), ("%d2, %d2, !%p1, 1, 1, 1, 1", 18),
    ("{%r6, %r6, %r6, %r6}, %d2, 1, -1, 1, 0", -14)])
def test_operands_as_ptx_writes_them(operands, wanted):
    y = np.zeros(128, np.float32)
    text = PTX.replace("TARGET", "sm_90a").replace("FORM", f"{START} {{%f1, %f2, %f3, %f4}}, {operands}")
    for racecheck in (False, True):
        report = simt.launch(text, "k", 1, 128, [y], racecheck=racecheck)
        assert set(y) == {wanted}
        assert report.products == ()


@pytest.mark.parametrize(("second", "fence", "found"), [
    (f"{START} {{%f1, %f2, %f3, %f4}}, %d2, %d2, 1, 1, 1, 0, 0", "", 0),
    ("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%f1, %f2, %f3, %f4}, %d2, %d2, 1, 1, 1, 0, 0", "", 1),
    ("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%f1, %f2, %f3, %f4}, %d2, %d2, 1, 1, 1, 0, 0", "wgmma.fence.sync.aligned;", 0)])
def test_only_products_of_one_shape_follow_each_other_without_a_fence(second, fence, found):
    first = f"{START} {{%f1, %f2, %f3, %f4}}, %d2, %d2, 1, 1, 1, 0, 0"
    text = PTX.replace("TARGET", "sm_90a").replace("FORM", f"{first};\n{fence}\n.loc 1 10 0\n{second}")
    report = simt.launch(text, "k", 1, 128, [np.zeros(128, np.float32)], racecheck=True)
    assert [(f.kind, f.first_line, f.second_line) for f in report.products] == [("unordered", 9, 10)] * found


@pytest.mark.parametrize("operands", ["{%f1, %f2, %f3}, %d2, %d2, 1, 1, 1, 0, 0", "{%f1, %f2, %f3, %f3}, %d2, %d2, 1, 1, 1, 0, 0",
                                      "{%f1, %f2, %f3, %f4}, %d2, %d2, 1, 1, 1", "{%f1, %f2, %f3, %f4}, %d2, %d2, 1, 2, 1, 0, 0",
                                      "{%f1, %f2, %f3, %f4}, %r2, %d2, 1, 1, 1, 0, 0", "{%f1, %f2, %f3, %f4}, %d2, %d2, %r1, 1, 1, 0, 0",
                                      "{%f1, %f2, %f3, %f4}, {%r6, %r6}, %d2, 1, 1, 1, 0", "{%d1, %d2, %d3, %d4}, %d2, %d2, 1, 1, 1, 0, 0"])
def test_what_is_not_ptx_is_refused(operands):
    with pytest.raises(simt.PtxSyntaxError) as caught:
        simt.launch(PTX.replace("TARGET", "sm_90a").replace("FORM", f"{START} {operands}"), "k", 1, 128, [np.zeros(128, np.float32)])
    assert caught.value.line == 9


def test_it_belongs_to_one_architecture():
    text = PTX.replace("TARGET", "sm_90").replace("FORM", f"{START} {{%f1, %f2, %f3, %f4}}, %d2, %d2, 1, 1, 1, 0, 0")
    with pytest.raises(simt.UnsupportedInstruction, match='sm_90a alone: launch with arch="sm_90a"'):
        simt.launch(text, "k", 1, 128, [np.zeros(128, np.float32)])
