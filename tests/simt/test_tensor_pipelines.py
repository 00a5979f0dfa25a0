"""A product as fast kernels write it: a warp fills stages with boxes of tensors, warpgroups multiply them and store a box each."""

import numpy as np
import pytest
import wgmma_kernels
from bulk_kernels import HEAD as MBARRIERS

from course_lib import simt
from course_lib.simt.host.counters import BULK_ONCE
from course_lib.tensor_maps import TensorMap

HELPERS = wgmma_kernels.HELPERS.replace("typedef unsigned long long u64;", "")
for name in ("FENCE", "COMMIT", "WAIT"):            # those of wgmma beside those of bulk copies
    HELPERS = HELPERS.replace(f"#define {name}", f"#define MMA_{name}")
D = ", ".join(f"%{i}" for i in range(64))
HEAD = MBARRIERS + HELPERS + f"""
struct alignas(64) CUtensorMap {{ u64 opaque[16]; }};
#define LOAD_BOX(to, map, x, y, bar) \\
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {{%2, %3}}], [%4];" \\
        :: "r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(bar)) : "memory")
#define STORE_BOX(map, x, y, from) \\
    ASM("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {{%1, %2}}], [%3];" \\
        :: "l"(map), "r"(x), "r"(y), "r"(at(from)) : "memory")
#define multiply(d, a, b) \\
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{D}}}, %64, %65, 1, 1, 1, 0, 0;" \\
        : {", ".join(f'"+f"(d[{i}])' for i in range(64))} : "l"(a), "l"(b))
"""
KERNEL = """
// C[M, N] = A[M, K] B[N, K]^T. A stage has 64 rows of A for each warpgroup and 128 of B, 64 numbers deep
extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32)
k(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, const __grid_constant__ CUtensorMap C,
  int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char s[];
    __shared__ u64 full[STAGES], empty[STAGES];
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    unsigned char *a = s, *mine = a + 8192 * group, *b = a + STAGES * GROUPS * 8192, *tile = b + STAGES * 16384 + group * 32768;
    const int across = (N + 127) / 128, tiles = (M + 64 * GROUPS - 1) / (64 * GROUPS) * across, depth = (K + 63) / 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) { INIT(&full[i], 1); INIT(&empty[i], GROUPS); }
        INIT_FENCE;
    }
    __syncthreads();
    if (group < GROUPS) {
        int n = 0;                                      // stages used
        for (int which = blockIdx.x; which < tiles; which += gridDim.x) {
            float d[64] = {};
            for (int k = 0; k < depth; ++k, ++n) {
                const int i = n % STAGES, phase = n / STAGES & 1;
                WAIT_FULL;
                MMA_FENCE;
                for (int j = 0; j < 128; j += 32)
                    multiply(d, descriptor(mine + 8192 * GROUPS * i + j, 16, 1024, 1), descriptor(b + 16384 * i + j, 16, 1024, 1));
                MMA_COMMIT;
                EARLY;
                MMA_WAIT(0);
                RELEASE;
            }
            if (t == 0) WAIT_TILE;
            SYNC;
            float* c = (float*)tile + 128 * (t / 32 * 16 + t % 32 / 4) + t % 4 * 2;
            for (int r = 0; r < 64; ++r) c[128 * 8 * (r / 2 % 2) + r / 4 * 8 + r % 2] = d[r];
            TILE_FENCE;
            SYNC;
            if (t == 0) { STORE_BOX(&C, which % across * 128, 64 * (which / across * GROUPS + group), tile); GROUP; }
        }
        if (t == 0) LAST_WAIT;
    } else if (t == 0) {
        int n = 0;                                      // stages filled
        for (int which = blockIdx.x; which < tiles; which += gridDim.x)
            for (int k = 0; k < depth; ++k, ++n) {
                const int i = n % STAGES, phase = n / STAGES & 1;
                WAIT_EMPTY;
                TELL;
                for (int g = 0; g < GROUPS; ++g)
                    LOAD_BOX(a + 8192 * (GROUPS * i + g), &A, 64 * k, 64 * (which / across * GROUPS + g), &full[i]);
                for (int g = 0; g < 2; ++g) LOAD_BOX(b + 8192 * (2 * i + g), &B, 64 * k, 128 * (which % across) + 64 * g, &full[i]);
            }
    }
}
"""
RIGHT = {"STAGES": "3", "GROUPS": "1", "INIT_FENCE": "FENCE", "WAIT_FULL": "WAIT(&full[i], phase)", "EARLY": "",
         "RELEASE": "{ if (t == 0) ARRIVE(&empty[i]); }", "WAIT_TILE": "WAIT_READ(0)", "TILE_FENCE": "FENCE", "GROUP": "COMMIT",
         "LAST_WAIT": "WAIT_ALL", "SYNC": 'ASM("bar.sync %0, 128;" :: "r"(1 + group) : "memory")',
         "WAIT_EMPTY": "WAIT(&empty[i], phase ^ 1)", "TELL": "EXPECT(&full[i], 8192 * (GROUPS + 2))"}


def rows(values, dtype, to):
    """Return a matrix whose rows begin at multiples of 16 bytes, or of `to` elements."""
    room = np.full((len(values), -(-values.shape[1] // to) * to), 99, dtype)
    room[:, :values.shape[1]] = values
    return room[:, :values.shape[1]]


def run(M=64, N=128, K=4 * 64, swizzle=128, grid=1, **how):
    """Launch the kernel, with other texts for some macros; return (whether C is right, report)."""
    changed = {name: how.pop(name) for name in list(how) if name in RIGHT}
    rng = np.random.default_rng(3)
    A, B = (rng.integers(-8, 9, (n, K)).astype(np.float32) for n in (M, N))
    given = [TensorMap(rows(m.view(np.uint32) >> 16, np.uint16, 8), (64, 64), swizzle=swizzle, element="bf16") for m in (A, B)]
    C = rows(np.zeros((M, N)), np.float32, 4)
    groups = int(changed.get("GROUPS", 1))
    how.setdefault("racecheck", True)
    report = simt.launch(HEAD + "#line 1\n" + KERNEL.lstrip("\n"), "k", grid, 128 * groups + 32,
                         [*given, TensorMap(C, (64, 128)), *map(np.int32, (M, N, K))], arch="sm_90a", defines=RIGHT | changed,
                         dynamic_shared=(3 * (groups + 2) * 8 + 32 * groups) << 10, **how)
    beside = C.base[:, N:]
    return np.array_equal(C, A.astype(float) @ B.astype(float).T) and (beside == 99).all(), report


def line_of(words):
    return next(i for i, line in enumerate(KERNEL.lstrip("\n").splitlines(), 1) if words in line)


WITH_LIBRARY = r"""
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
extern "C" __global__ void k(GRID_CONSTANT CUtensorMap in, const __grid_constant__ CUtensorMap out, int x, int y) {
    __shared__ alignas(128) float s[8][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); ptx::fence_proxy_async(ptx::space_shared); }
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    const int at[2] = {x, y};
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &in, at, cuda::device::barrier_native_handle(bar));
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
    } else token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 256; i += 32) s[0][i] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, at, s);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
"""


@pytest.mark.slow
def test_what_nvidias_library_writes():
    """By libcu++'s own functions; and a map whose parameter lacks __grid_constant__, of which the compiler takes a copy."""
    x, y = np.random.default_rng(0).standard_normal((20, 64)).astype(np.float32), np.ones((20, 64), np.float32)
    wanted = y.copy()
    wanted[15:, 40:] += 2 * x[15:, 40:]
    args = [TensorMap(x, (8, 32)), TensorMap(y, (8, 32)), np.int32(40), np.int32(15)]
    right = {"GRID_CONSTANT": "const __grid_constant__"}
    report = simt.launch(WITH_LIBRARY, "k", 1, 32, args, arch="sm_90a", racecheck=True, defines=right)
    assert (y == wanted).all()
    assert (report.hazards, report.async_findings) == ((), ())
    with pytest.raises(simt.InvalidOperand, match="in a copy, in local or shared memory. Declare the parameter const __grid_constant__"):
        simt.launch(WITH_LIBRARY, "k", 1, 32, args, arch="sm_90a", defines={"GRID_CONSTANT": ""})


SIZES = {"whole tiles": (64, 128, 256), "edges": (90, 150, 100), "one row, one column": (1, 1, 8), "less than a stage": (64, 130, 40)}


@pytest.mark.sampled(test=3, slow=8)
@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("name", SIZES)
def test_any_sizes_are_right_and_quiet(name, order):
    right, report = run(*SIZES[name], warp_order=order)
    assert right
    assert (report.hazards, report.products, report.async_findings) == ((), (), ())


def test_two_warpgroups_and_two_blocks():
    for racecheck in (True, False):
        right, report = run(200, 200, 160, grid=2, GROUPS="2", racecheck=racecheck)
        assert right
        assert (report.hazards, report.products, report.async_findings) == ((), (), ())
    tiles, depth = 2 * 2, 3
    assert report.counters["multiply_adds_wgmma"] == tiles * depth * 4 * 2 * 64 * 128 * 16
    assert report.counters[BULK_ONCE["st"]] == 200 * 200 * 4 // 32
    assert report.counters[BULK_ONCE["ld"]] == 2 * (200 + 200) * 160 * 2 // 32


@pytest.mark.slow
def test_interleaved_warps():
    right, report = run(90, 150, 100, warp_order="interleaved")
    assert right
    assert (report.hazards, report.products, report.async_findings) == ((), (), ())


PRODUCT, LOADS_A, STORES = "multiply(d,", "LOAD_BOX(a", "STORE_BOX(&C"
READS_TOO_EARLY = ("RAW", LOADS_A, PRODUCT)
TWO = {"N": 256, "K": 64}                             # two tiles, one after the other
HAZARDS = {
    "no bytes expected": ({"TELL": "ARRIVE(&full[i])", "K": 128}, READS_TOO_EARLY),
    "the bytes of A alone": ({"TELL": "EXPECT(&full[i], 8192)", "K": 128}, ("RAW", "LOAD_BOX(b", PRODUCT)),
    "the other phase of a full stage": ({"WAIT_FULL": "WAIT(&full[i], phase ^ 1)", "K": 128}, READS_TOO_EARLY),
    "no wait for a full stage": ({"WAIT_FULL": "", "K": 128}, READS_TOO_EARLY),
    "a stage given back before its product has ended": ({"EARLY": "if (t == 0) ARRIVE(&empty[i])", "RELEASE": ""},
                                                        ("WAR", PRODUCT, LOADS_A)),
    "the tile is written before it was read": ({"WAIT_TILE": ";", **TWO}, ("WAR", STORES, "c[128 * 8")),
    "a wait for all but one": ({"WAIT_TILE": "WAIT_READ(1)", **TWO}, ("WAR", STORES, "c[128 * 8")),
    "no barrier before the store": ({"SYNC": "", **TWO}, ("RAW", "c[128 * 8", STORES)),
}


@pytest.mark.sampled(test=3, slow=8)
@pytest.mark.parametrize("name", HAZARDS)
def test_what_nothing_orders_is_reported(name):
    changed, (kind, first, second) = HAZARDS[name]
    report = run(**changed)[1]
    assert (kind, line_of(first), line_of(second)) in {(h.kind, h.first_line, h.second_line) for h in report.hazards}, report.hazards


FINDINGS = {
    "no fence before the store": ({"TILE_FENCE": ""}, True, ("unfenced", "c[128 * 8", STORES)),
    "no commit": ({"GROUP": ""}, False, ("unawaited", STORES, STORES)),
    "no wait at the end": ({"LAST_WAIT": ";"}, False, ("unawaited", STORES, STORES)),
}


@pytest.mark.sampled(test=2, slow=4)
@pytest.mark.parametrize("name", FINDINGS)
def test_a_missing_fence_or_wait_is_reported(name):
    changed, right, (kind, first, second) = FINDINGS[name]
    found, report = run(K=64, **changed)
    assert found == right
    assert (kind, line_of(first), line_of(second)) in {(f.kind, f.first_line, f.second_line) for f in report.async_findings}
    assert {f.kind for f in report.async_findings} == {kind}
    assert report.hazards == ()


ERRORS = {
    "more bytes expected than come": ({"TELL": "EXPECT(&full[i], 8192 * 4)"}, simt.BarrierDeadlock, "8192 bytes are expected that no copy"),
    "fewer bytes than come": ({"TELL": "EXPECT(&full[i], 4096)", "K": 64}, simt.BarrierDeadlock, "bytes more have come than were expected"),
    "the other phase of an empty stage": ({"WAIT_EMPTY": "WAIT(&empty[i], phase)"}, simt.BarrierDeadlock, "1 of 1 arrivals are missing"),
    "no stage is given back": ({"RELEASE": ";"}, simt.BarrierDeadlock, "1 of 1 arrivals are missing"),
    "no wait for an empty stage": ({"WAIT_EMPTY": ""}, simt.MbarrierMisuse, "nobody has waited for that phase"),
}


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize("name", ERRORS)
def test_waits_that_nobody_ends_and_misuses_are_errors(name):
    changed, kind, words = ERRORS[name]
    with pytest.raises(kind) as caught:
        run(racecheck=False, **changed)
    assert words in str(caught.value)


@pytest.mark.parametrize("swizzle", [0, 64])
def test_another_swizzle_is_only_wrong(swizzle):
    """The product reads pieces of 16 bytes in another order than they lie; nothing but the answer shows it."""
    if swizzle:
        with pytest.raises(ValueError, match="more than the 64 of the swizzle"):
            run(swizzle=swizzle)
        return
    right, report = run(K=64, swizzle=0)
    assert not right
    assert (report.hazards, report.products, report.async_findings) == ((), (), ())
