"""Boxes of a tensor for several blocks of a cluster: in a small kernel, and in the two that multiply so."""

import numpy as np
import pytest
from cluster_kernels import CLUSTER
from launching import INT

from course_lib import simt
from course_lib.kernels.complete import complete
from course_lib.kernels.kernel import FOLDER
from course_lib.simt.host.counters import BULK_BYTES, BULK_COPIES, BULK_ONCE
from course_lib.tensor_maps import TensorMap

WAYS = [{"racecheck": True}, {"racecheck": True, "warp_order": "interleaved"}, {"racecheck": True, "warp_order": "reverse"}, {}]
SMALL = complete('#include "tma.cuh"\n') + CLUSTER + """
extern "C" __global__ void f(const __grid_constant__ TensorMap map, int* out) {
    __shared__ __align__(128) int box[32][32];
    __shared__ u64 full, done;
    Cluster c;
    const int rank = c.block_rank(), t = threadIdx.x, first = shared_address(box), filled = shared_address(&full);
    if (t == 0) {
        barrier_init(filled, 1);
        barrier_init(shared_address(&done), 1);
        FENCE
    }
    BEGIN
    if (t == 0) {
        barrier_expect(filled, BYTES);
        FETCH
    }
    if (WAITS) barrier_wait(filled, 0);
    for (int row = 0; row < 32; ++row) out[1024 * blockIdx.x + 32 * row + t] = box[row][t];
    __syncwarp();
    TELL
    LAST
}"""
RIGHT = {"FETCH": "load_box_for_all(first + 1024 * rank, map, COLUMN, 8 * rank, filled, MASK);",
         "TELL": "if (t == 0) barrier_arrive_at(shared_address(&done), (rank + 1) % 4);",
         "BYTES": "4096", "MASK": "15", "WAITS": "true", "LAST": "cluster_sync();", "COLUMN": "4", "BEGIN": "cluster_sync();",
         "FENCE": 'asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");'}


def small(how=None, **changed):
    """Each of four blocks fetches eight rows for all four; return (what every block has seen, what lies there, the report)."""
    x = np.arange(32 * 40, dtype=INT).reshape(32, 40)
    out = np.zeros((8, 32, 32), INT)
    report = simt.launch(SMALL, "f", 8, 32, [TensorMap(x, (8, 32)), out], arch="sm_90a", cluster=4, defines=RIGHT | changed, **(how or {}))
    return out, x, report


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_all_blocks_of_the_mask_get_the_box(how):
    out, x, report = small(how)
    assert (out == x[:, 4:36]).all()
    assert not report.hazards
    assert not report.async_findings


CUTLASS = {
    "FETCH": """asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
                     " [%0], [%1, {%4, %5}], [%2], %3, %6;"
                     :: "r"(first + 1024 * rank), "l"(&map), "r"(filled), "h"((unsigned short)15), "r"(COLUMN), "r"(8 * rank),
                        "l"(0x1000000000000000ull) : "memory");""".replace("\n", " "),
    "TELL": """asm volatile("{ .reg .pred p; .reg .b32 remAddr32; setp.eq.u32 p, %2, 1; @p mapa.shared::cluster.u32 remAddr32, %0, %1;"
        " @p mbarrier.arrive.shared::cluster.b64 _, [remAddr32]; }" :: "r"(shared_address(&done)), "r"((rank + 1) % 4), "r"(int(t == 0)));
        barrier_wait(shared_address(&done), 0);""".replace("\n", " ")}


def test_the_forms_that_cutlass_writes():
    out, x, report = small({"racecheck": True}, **CUTLASS)
    assert (out == x[:, 4:36]).all()
    assert not report.hazards
    assert not report.async_findings


PEER = """unsigned to, bar; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(first), "r"(rank ^ 1));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(filled), "r"(rank ^ 1));
        load_box(to + 1024, map, COLUMN, rank, bar);"""


def test_a_box_for_another_block():
    out, x, report = small({"racecheck": True}, FETCH=PEER.replace("\n", " "), BYTES="1024")
    for block in range(8):
        assert np.array_equal(out[block, 8:16], x[(block ^ 1) % 4:][:8, 4:36])
    assert not report.async_findings


def test_a_box_and_its_mbarrier_lie_in_one_block():
    text = broken(simt.MbarrierMisuse, FETCH=PEER.replace("\n", " ").replace("rank, bar)", "rank, filled)"))
    assert "one block of the cluster about bytes in another" in text


def test_what_lies_outside_of_the_tensor_is_zero_in_all_blocks():
    out, x, _ = small(COLUMN="24")
    assert (out[:, :, :16] == x[:, 24:]).all()
    assert (out[:, :, 16:] == 0).all()


def test_a_box_for_four_blocks_is_read_once():
    counters = small()[2].counters
    assert counters[BULK_COPIES.format("ld")] == 8
    assert counters[BULK_BYTES["ld"]] == 32 * 4 * 8 * 8 * (5 + 6) // 2       # one sector of a line counts as two
    assert counters[BULK_ONCE["ld"]] == 8 * 8 * 5          # rows of 128 bytes that begin in the middle of a sector


def broken(kind, **changed):
    with pytest.raises(kind) as caught:
        small({"racecheck": True}, **changed)
    return str(caught.value)


def test_a_block_that_the_mask_forgets_waits_for_ever():
    assert "4096 bytes are expected that no copy brings" in broken(simt.BarrierDeadlock, MASK="7")


def test_a_rank_that_the_cluster_has_not():
    assert "rank 4" in broken(simt.OutOfBounds, MASK="31")


def test_a_block_that_has_ended_cannot_be_told():
    assert "has ended" in broken(simt.ClusterMisuse, LAST="")


def test_a_block_that_ends_before_its_boxes_come():
    assert "has ended" in broken(simt.ClusterMisuse, LAST="", WAITS="rank != 3")


def test_half_the_bytes_let_a_block_read_too_early():
    out, x, report = small({"racecheck": True}, BYTES="2048")
    assert {h.kind for h in report.hazards} == {"RAW"}
    assert (out != x[:, 4:36]).any()


RELEASED = 'asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");'


def test_mbarriers_that_no_fence_makes_known():
    """A relaxed arrival hands nothing on. One that releases does, to boxes too: they tell an mbarrier by the generic proxy."""
    found = small({"racecheck": True}, FENCE="")[2]
    assert {(h.kind, h.array) for h in found.all_hazards} == {("RAW", "full"), ("RAW", "done")}
    assert small({"racecheck": True}, FENCE="", BEGIN=RELEASED)[2].all_hazards == ()


def test_an_mbarrier_of_another_block_that_is_perhaps_not_made_yet():
    """The blocks do not wait for each other before the first box is sent to all."""
    found = small({"racecheck": True}, BEGIN="__syncthreads();")[2]
    assert {(h.kind, h.array) for h in found.hazards} == {("RAW", "full"), ("RAW", "done")}
    assert all(h.first_block != h.block for h in found.hazards)


# -- the kernels ---------------------------------------------------------------------------------------------------------------
SHARED = {"sbgemm_clusters": 4 * 384 * 128, "bgemm_clusters": 3 * 384 * 128 + 2 * 128 * 256}


def rounded(values):
    """Return the bits of the nearest bfloat16 numbers, as rows that begin at multiples of 16 bytes and end in NaN."""
    bits = values.astype(np.float32).view(np.uint32)
    room = np.full((len(values), -(-values.shape[1] // 8) * 8), 0x7FFF, np.uint16)
    room[:, :values.shape[1]] = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    return room[:, :values.shape[1]]


def numbers(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(float)


def product(name, M, N, K, grid=2, change=None, **how):
    """Return the kernel's product, the right one, and the report."""
    rng = np.random.default_rng(M)
    A, B, C = (rounded(m) for m in (rng.standard_normal((M, K)), rng.standard_normal((K, N)), np.zeros((M, N))))
    maps = [TensorMap(A, (128, 64), swizzle=128, element="bf16"), TensorMap(B, (64, 64), swizzle=128, element="bf16")]
    if name == "bgemm_clusters":
        more = [TensorMap(C, (64, 64), swizzle=128, element="bf16")]
    else:
        C = np.full((M, N + N % 2), np.nan, np.float32)[:, :N]
        more = [np.float32(0), C, np.int32(C.strides[0] // 4)]
    text = complete((FOLDER / f"{name}.cu").read_text(encoding="utf-8"))
    report = simt.launch(change(text) if change else text, name, grid, 384, [*map(np.int32, (M, N, K)), np.float32(1.5), *maps, *more],
                         arch="sm_90a", dynamic_shared=SHARED[name], **how)
    return C if C.dtype == np.float32 else numbers(C), 1.5 * (numbers(A) @ numbers(B)), report


@pytest.mark.parametrize("size", [(130, 300, 200), (257, 513, 72)], ids=str)
@pytest.mark.parametrize("name", SHARED)
def test_the_kernels_are_right_and_in_order(name, size):
    found, wanted, report = product(name, *size, racecheck=True)
    assert np.allclose(found, wanted, rtol=0 if name == "sbgemm_clusters" else 2**-8, atol=1e-4)
    assert not report.hazards
    assert not report.async_findings
    assert not report.products


def with_rank(text):
    """Leave the block's rank in the addresses that go into matrix descriptors."""
    assert "(at & 0x3ffff) >> 4" in text
    return text.replace("(at & 0x3ffff) >> 4", "at >> 4")


@pytest.mark.slow
def test_the_rank_in_a_descriptor_spoils_the_leading_offset():
    """It was wrong on an H200 in the block with rank 1, and right in the one with rank 0."""
    found, wanted, _ = product("sbgemm_clusters", 256, 256, 64, change=with_rank)
    assert np.allclose(found[:128], wanted[:128], atol=1e-4)
    assert not np.allclose(found[128:], wanted[128:], atol=1e-4)
    with pytest.raises(simt.OutOfBounds, match="0x3ffff"):
        product("sbgemm_clusters", 256, 256, 256, change=with_rank)
