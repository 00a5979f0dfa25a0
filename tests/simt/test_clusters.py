"""Thread block clusters: ranks, each other's shared memory, the cluster's barrier, and what is wrong with them."""

import numpy as np
import pytest
from cluster_kernels import CLUSTER
from launching import INT

from course_lib import simt
from course_lib.simt.host import build
from course_lib.simt.model import Undefined, clusters
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser

HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}, {"workers": 3}, {"trace": [(0, 0)]}]
RANKS = HEAD + """extern "C" __global__ void f(unsigned* out) {
    unsigned v[16];
    asm volatile("mov.u32 %0, %%clusterid.x; mov.u32 %1, %%clusterid.y; mov.u32 %2, %%clusterid.z;" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]));
    asm volatile("mov.u32 %0, %%nclusterid.x; mov.u32 %1, %%nclusterid.y; mov.u32 %2, %%nclusterid.z;"
                 : "=r"(v[3]), "=r"(v[4]), "=r"(v[5]));
    auto c = cg::this_cluster();
    const dim3 here = c.block_index(), size = c.dim_blocks();
    v[6] = here.x; v[7] = here.y; v[8] = here.z; v[9] = size.x; v[10] = size.y; v[11] = size.z;
    v[12] = c.block_rank(); v[13] = c.num_blocks(); v[14] = c.thread_rank();
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[15]));
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int i = 0; i < 16; ++i) out[(block * blockDim.x + threadIdx.x) * 16 + i] = v[i];
}"""


def launch(source, args, grid=2, block=32, entry="f", **more):
    return simt.launch(source, entry, grid, block, args, arch="sm_90a", **more)


def places(grid, cluster, threads):
    """Return what RANKS writes, in the words of the manual."""
    rows = []
    for z, y, x in np.ndindex(*reversed(grid)):
        at = (x, y, z)
        here = [b % c for b, c in zip(at, cluster, strict=True)]
        rank = here[0] + cluster[0] * (here[1] + cluster[1] * here[2])
        for t in range(threads):
            rows.append([*(b // c for b, c in zip(at, cluster, strict=True)), *(g // c for g, c in zip(grid, cluster, strict=True)),
                         *here, *cluster, rank, np.prod(cluster), rank * threads + t, 1])
    return np.array(rows, np.uint32)


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("grid", "cluster"), [((4, 4, 1), (2, 2, 1)), ((2, 2, 6), (1, 2, 3)), ((8, 1, 1), (8, 1, 1))])
def test_every_block_knows_its_place(grid, cluster, how):
    out = np.zeros((np.prod(grid) * 40, 16), np.uint32)
    launch(RANKS, [out], grid, 40, cluster=cluster, **how)
    assert np.array_equal(out, places(grid, cluster, 40))


def test_the_kernel_itself_says_how_large_its_clusters_are():
    out = np.zeros((8 * 32, 16), np.uint32)
    launch(RANKS.replace("__global__ void", "__global__ void __cluster_dims__(2, 2, 1)"), [out], (4, 2, 1), 32)
    assert np.array_equal(out, places((4, 2, 1), (2, 2, 1), 32))


def test_without_clusters_a_block_is_one_by_itself():
    out = np.zeros((3 * 32, 16), np.uint32)
    launch(RANKS, [out], 3, 32)
    assert np.array_equal(out[:, :15], places((3, 1, 1), (1, 1, 1), 32)[:, :15])
    assert not out[:, 15].any()


RING = HEAD + """extern "C" __global__ void f(int* out, int n) {
    __shared__ int box[64];
    __shared__ int* other;
    auto c = cg::this_cluster();
    const unsigned right = (c.block_rank() + 1) % c.num_blocks();
    box[threadIdx.x] = 1000 * c.block_rank() + threadIdx.x;
    c.sync();
    int* there = c.map_shared_rank(box, right);
    int sum = there[(threadIdx.x + n) % blockDim.x];                 // n is 0: an index that the compiler does not know
    if (threadIdx.x == 0) *c.map_shared_rank(&other, right) = box;   // a pointer to this block's memory, for another one
    c.sync();
    sum += 100000 * c.query_shared_rank(there) + 10000000 * c.query_shared_rank(other);
    sum += 7 * (other[threadIdx.x] != 1000 * c.query_shared_rank(other) + threadIdx.x);
    sum += 3 * (c.map_shared_rank(box, c.block_rank()) != box);
    c.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("size", [2, 4])
def test_blocks_read_and_write_each_others_shared_memory(size, how):
    out = np.zeros((8, 48), INT)
    report = launch(RING, [out, INT(0)], 8, 48, cluster=size, **how)
    rank = np.arange(8)[:, None] % size
    right, left = (rank + 1) % size, (rank - 1) % size
    assert np.array_equal(out, 1000 * right + np.arange(48) + 100000 * right + 10000000 * left)
    assert not report.hazards


KINDS = {"b8": 1, "u16": 2, "s32": 4, "f32": 4, "b64": 8, "v2.u32": 8, "v4.f32": 16, "v2.b64": 16}
FORMS_PTX = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry f(.param .u64 y) .reqnctapercluster 2,1,1 {
    .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %d<20>;
    .shared .align 16 .b8 tile[1024]; .shared .align 16 .b8 back[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;
    mul.lo.u32 %r4, %r1, 16; mov.u32 %r5, tile; add.u32 %r6, %r5, %r4; mad.lo.u32 %r7, %r2, 512, %r1;
    st.shared.v4.u32 [%r6], {%r7, %r4, %r5, %r6};
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    MAPA
    LOAD
    mov.u32 %r8, back; add.u32 %r8, %r8, %r4;
    STORE
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    ld.param.u64 %d1, [y]; mov.u32 %r9, %ctaid.x; shl.b32 %r9, %r9, 9; add.u32 %r9, %r9, %r4;
    cvt.u64.u32 %d2, %r9; add.u64 %d1, %d1, %d2; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];
    st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13};
    ret;
}
"""
REGISTERS = {"b8": ("%h1",), "u16": ("%h1",), "s32": ("%r14",), "f32": ("%r14",), "b64": ("%d5",), "v2.u32": ("%r14", "%r15"),
             "v4.f32": ("%r14", "%r15", "%r16", "%r17"), "v2.b64": ("%d5", "%d6")}
ORDERS = ["", ".weak", ".volatile", ".relaxed.cluster", ".ACQUIRE.cluster"]


@pytest.mark.parametrize("generic", [False, True], ids=["window", "generic"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_width_reaches_the_peer(kind, generic):
    order = ORDERS[list(KINDS).index(kind) % len(ORDERS)]
    data = ", ".join(REGISTERS[kind])
    data = f"{{{data}}}" if "," in data else data
    if generic:
        mapped = "cvt.u64.u32 %d3, %r6; cvta.shared.u64 %d3, %d3; mapa.u64 %d3, %d3, %r3; getctarank.u64 %r18, %d3;"
        load, store, at, back = f"ld.{kind}", f"st.{kind}", "%d3", "%d4"
        again = "cvt.u64.u32 %d4, %r8; cvta.shared.u64 %d4, %d4; mapa.u64 %d4, %d4, %r3;"
    else:
        mapped = "mapa.shared::cluster.u32 %r6, %r6, %r3; getctarank.shared::cluster.u32 %r18, %r6;"
        load = f"ld{order.replace('ACQUIRE', 'acquire')}.shared::cluster.{kind}"
        store = f"st{order.replace('ACQUIRE', 'release')}.shared::cluster.{kind}"
        at, back, again = "%r6", "%r8", "mapa.shared::cluster.u32 %r8, %r8, %r3;"
    text = FORMS_PTX.replace("MAPA", mapped).replace("LOAD", f"{load} {data}, [{at}];")
    text = text.replace("STORE", f"st.shared.v4.u32 [%r8], {{%r18, %r18, %r18, %r18}};\nbarrier.cluster.arrive; barrier.cluster.wait;\n"
                                 f"{again}\n{store} [{back}], {data};\nsub.u32 %r8, %r8, 0;\n"
                                 "mov.u32 %r8, back; add.u32 %r8, %r8, %r4;")
    out = np.zeros((2, 32, 4), np.uint32)
    launch(text, [out], 2, 32)
    begin = 1024 + np.arange(32) * 16
    for block in range(2):
        sent = np.stack([512 * block + np.arange(32), np.arange(32) * 16, np.full(32, 1024) + (block << 24), begin + (block << 24)], 1)
        wanted = np.full((32, 16), 0, np.uint8)
        wanted.view(np.uint32)[:] = 1 - block        # what getctarank said, in the block that is written to
        wanted[:, :KINDS[kind]] = sent.astype(np.uint32).view(np.uint8)[:, :KINDS[kind]]
        assert np.array_equal(out[block].view(np.uint8), wanted), block


def test_in_which_window_a_generic_address_lies():
    """The own block's memory lies in that of the cluster; another block's is not the own."""
    source = CLUSTER + """extern "C" __global__ void f(int* out, int n) {
        __shared__ int box[64];
        Cluster c;
        for (int i = 0; i < 4; ++i) {
            const void* p = i == 3 ? (void*)(out + n) : i == 2 ? (void*)&n : c.map_shared_rank(box + n, c.block_rank() ^ i);
            int own, all, global;
            asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(own) : "l"(p));
            asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(all) : "l"(p));
            asm("{ .reg .pred p; isspacep.global p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(global) : "l"(p));
            out[blockIdx.x * 4 + i] = 100 * own + 10 * all + global;
        }
        n = out[blockIdx.x];
    }"""
    out = np.zeros((4, 4), INT)
    launch(source, [out, INT(0)], 4, 1, cluster=2)
    assert (out == [110, 10, 0, 1]).all()


HISTOGRAM = HEAD + """extern "C" __global__ void f(const int* x, int* counts, int n) {
    extern __shared__ int bins[];                          // of each block: its part of all bins
    auto c = cg::this_cluster();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) bins[i] = 0;
    c.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(c.map_shared_rank(bins, x[i] / 16) + x[i] % 16, 1);
    c.sync();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&counts[c.block_rank() * 16 + i], bins[i]);
}"""


@pytest.mark.parametrize("how", WAYS[:4], ids=str)
def test_atomics_reach_the_peer(how):
    x = np.random.default_rng(1).integers(0, 64, 1000).astype(INT)
    counts = np.zeros(64, INT)
    report = launch(HISTOGRAM, [x, counts, INT(1000)], 8, 64, cluster=4, dynamic_shared=64, **how)
    assert np.array_equal(counts, np.bincount(x, minlength=64))
    assert not report.hazards


@pytest.mark.slow
def test_work_between_arrival_and_wait():
    source = HEAD + """extern "C" __global__ void __cluster_dims__(2) f(int* out) {
        __shared__ int box[32];
        auto c = cg::this_cluster();
        box[threadIdx.x] = threadIdx.x + 50 * c.block_rank();
        if (threadIdx.x % 2) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        int sum = 0;
        for (int i = 0; i < threadIdx.x; ++i) sum += i;
        if (threadIdx.x % 2 == 0) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        asm volatile("barrier.cluster.wait;" ::: "memory");
        sum += c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x];
        asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
        out[blockIdx.x * 32 + threadIdx.x] = sum;
    }"""
    out = np.zeros((2, 32), INT)
    launch(source, [out], 2, 32)
    t = np.arange(32)
    assert np.array_equal(out, [t * (t - 1) // 2 + t + 50, t * (t - 1) // 2 + t])


@pytest.mark.slow
def test_threads_that_have_ended_keep_nobody_waiting():
    source = HEAD + """extern "C" __global__ void __cluster_dims__(4) f(int* out) {
        if (blockIdx.x == 1 || threadIdx.x >= 40) return;
        cg::this_cluster().sync();
        if (blockIdx.x == 2) { asm volatile("barrier.cluster.arrive;"); return; }    // comes, and does not wait
        cg::this_cluster().sync();
        out[blockIdx.x * 64 + threadIdx.x] = 1;
    }"""
    out = np.zeros((4, 64), INT)
    launch(source, [out], 4, 64)
    assert np.array_equal(out.sum(1), [40, 0, 0, 40])


# -- what is wrong -------------------------------------------------------------------------------------------------------------
def broken(body, kind, grid=2, block=64, cluster=2, **more):
    body = body.replace("c.sync()", 'asm volatile("barrier.cluster.arrive;\\n barrier.cluster.wait;" ::: "memory")')
    source = CLUSTER + "extern \"C\" __global__ void f(int* out) {\n    __shared__ int box[64];\n    Cluster c;\n" + body + "\n}"
    with pytest.raises(kind) as caught:
        launch(source, [np.zeros(256, INT)], grid, block, cluster=cluster, **more)
    return caught.value


def test_a_block_that_has_ended_has_no_shared_memory_any_more():
    error = broken("""    box[threadIdx.x] = 1;
    c.sync();
    if (c.block_rank() == 1) return;
    for (int i = 0; i < 3; ++i) { out[threadIdx.x] = i; __syncthreads(); }
    out[threadIdx.x] = c.map_shared_rank(box, 1)[threadIdx.x];""", simt.ClusterMisuse)
    assert (error.block, error.other_block, error.line) == ((0, 0, 0), (1, 0, 0), 15)
    assert "byte 0 of box of block (1, 0, 0), which has ended" in str(error)


def test_a_block_that_never_comes_is_a_deadlock_with_the_lines_of_all():
    error = broken("""    if (c.block_rank() == 0) c.sync();
    else if (threadIdx.x < 32) c.sync();
    else asm volatile("bar.sync 1, 64;");""", simt.BarrierDeadlock)
    assert error.line == 11
    assert "1 warp of block (0, 0, 0) in line 11, 1 warp of block (1, 0, 0) in line 12, 1 warp of block (1, 0, 0) in line 13" in str(error)


def test_a_block_whose_other_warps_wait_for_their_own_barrier():
    error = broken("    if (threadIdx.x < 32) c.sync();\n    else __syncthreads();", simt.BarrierDeadlock)
    assert "1 warp of block (1, 0, 0) in line 12" in str(error)


@pytest.mark.parametrize(("body", "word"), [
    ('asm volatile("barrier.cluster.arrive;"); asm volatile("barrier.cluster.arrive;");', "a second time"),
    ('asm volatile("barrier.cluster.wait;");', "without having come"),
    ('if (threadIdx.x % 2) asm volatile("barrier.cluster.arrive.aligned;");', "a part of its warp"),
    ('asm volatile("barrier.cluster.arrive;"); if (threadIdx.x < 3) asm volatile("barrier.cluster.wait.aligned;");', "a part of its warp")])
def test_misuse_of_the_barrier_is_named(body, word):
    error = broken(body, simt.ClusterMisuse)
    assert word in str(error)
    assert error.line == 11


ALIGNED = """if (threadIdx.x % 32 == 0) while (*(volatile int*)&box[0] != 9) if (threadIdx.x == 32) box[0] = 9;
    asm volatile("barrier.cluster.arrive.aligned;\\n barrier.cluster.wait.aligned;" ::: "memory");
    out[threadIdx.x] = box[0];"""


def test_lanes_that_come_together_wait_for_their_warp():
    """Lane 0 of warp 0 still looks at memory when the others of its warp have come."""
    out = np.zeros(64, INT)
    launch(CLUSTER + "extern \"C\" __global__ void f(int* out) {\n    __shared__ int box[64];\n" + ALIGNED + "\n}", [out], 2, 64, cluster=2)
    assert (out == 9).all()


def test_lanes_that_come_together_come_to_one_instruction():
    error = broken("""    if (threadIdx.x % 2) asm volatile("barrier.cluster.arrive.relaxed.aligned;");
    else asm volatile("barrier.cluster.arrive.release.aligned;");""", simt.DivergentBarrier)
    assert error.line in (11, 12)


@pytest.mark.parametrize("cluster", [2, None])
def test_a_rank_that_the_cluster_has_not(cluster):
    error = broken("    c.sync();\n    *c.map_shared_rank(&box[threadIdx.x], 2 + out[0]) = 1;", simt.OutOfBounds, cluster=cluster)
    assert "rank 2" in str(error)
    assert error.line == 12


def test_the_peers_memory_has_an_end():
    error = broken("    c.sync();\n    c.map_shared_rank(box, 1)[64 + out[0]] = 1;", simt.OutOfBounds)
    assert "byte 256 of the 256 bytes of shared memory of the block with rank 1" in str(error)
    assert error.line == 12
    assert error.bounds == (0, 256)


def test_an_ordinary_access_to_shared_memory_does_not_reach_the_peer():
    error = broken("""    unsigned at = __cvta_generic_to_shared(&box[0]);
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;\\n ld.shared.u32 %0, [%0];" : "+r"(at) : "r"(c.block_rank() ^ 1));
    out[0] = at;""", simt.OutOfBounds)
    assert "rank 1" in str(error)
    assert ".shared::cluster" in str(error)


PLAIN = 'extern "C" __global__ void f(int* out) { out[0] = 1; }'


@pytest.mark.parametrize(("source", "more", "word"), [
    (PLAIN, {"grid": 3, "cluster": 2}, "no multiple"), (PLAIN, {"grid": 16, "cluster": 16}, "nonportable_cluster=True"),
    (PLAIN, {"grid": 32, "cluster": 32, "nonportable_cluster": True}, "more than 16"), (PLAIN, {"cluster": 0}, "cluster is 0"),
    (PLAIN.replace("void f", "void __cluster_dims__(2) f"), {"cluster": (1, 2)}, "compiled for clusters of 2×1×1"),
    (PLAIN.replace("void f", "void __cluster_dims__(2) f"), {"grid": 3}, "no multiple"),
    (PLAIN.replace("void f", "void __cluster_dims__() f"), {}, "must be launched in clusters"),
    (PLAIN, {"cluster": 2, "last_block_first": True}, "one of the two")])
def test_launches_that_no_gpu_takes_are_refused(source, more, word):
    with pytest.raises(simt.LaunchError, match=word):
        launch(source, [np.zeros(4, INT)], **{"grid": 2, **more})


def test_older_architectures_have_no_clusters():
    with pytest.raises(simt.LaunchError, match="sm_80 has no clusters"):
        simt.launch(PLAIN, "f", 2, 32, [np.zeros(4, INT)], arch="sm_80", cluster=2)


def test_sixteen_blocks_with_permission():
    out = np.zeros((16, 48), INT)
    launch(RING, [out, INT(0)], 16, 48, cluster=16, nonportable_cluster=True)
    assert np.array_equal(out[:, 0] % 10000000, 101000 * (np.arange(1, 17) % 16))


def test_a_fault_says_in_which_block_of_a_later_cluster():
    error = broken("    c.sync();\n    if (blockIdx.x == 5) out[1 << 20] = 1;\n    c.sync();", simt.OutOfBounds, grid=8)
    assert error.block == (5, 0, 0)


# -- racecheck -----------------------------------------------------------------------------------------------------------------
RIGHT = """    box[threadIdx.x] = 1;
    SYNC
    int v = *c.map_shared_rank(&box[threadIdx.x], c.block_rank() ^ 1);
    SYNC
    box[threadIdx.x] = v + 1;
    SYNC
    atomicAdd(c.map_shared_rank(&box[threadIdx.x ^ 1], c.block_rank() ^ 1), 5);
    SYNC
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];"""


def searched(missing):
    """Return the hazards of RIGHT, of which one barrier of the cluster has become one of the block."""
    parts = RIGHT.split("SYNC")
    syncs = ["__syncthreads();" if i == missing else 'asm volatile("barrier.cluster.arrive;\\n barrier.cluster.wait;" ::: "memory");'
             for i in range(len(parts) - 1)]
    body = "".join(part + sync for part, sync in zip(parts, [*syncs, ""], strict=True))
    source = CLUSTER + "extern \"C\" __global__ void f(int* out) {\n    __shared__ int box[64];\n    Cluster c;\n" + body + "\n}"
    out = np.zeros(256, INT)
    report = launch(source, [out], 4, 64, cluster=2, racecheck=True)
    return {(h.kind, h.first_line, h.second_line, h.first_block, h.block, h.owner) for h in report.hazards}, report


def test_with_all_barriers_nothing_is_found():
    assert searched(None)[0] == set()


@pytest.mark.parametrize(("missing", "wanted"), [
    (0, {("RAW", 11, 13), ("uninitialised", 13, 13)}), (1, {("WAR", 13, 15)}), (2, {("WAW", 15, 17), ("WAW", 17, 15)}),
    (3, {("RAW", 17, 19)})])
def test_a_missing_barrier_of_the_cluster_is_found_with_both_lines(missing, wanted):
    found, report = searched(missing)
    assert {f[:3] for f in found} <= wanted
    assert bool(found) == bool(wanted)
    if wanted:
        first = report.hazards[0]
        assert {first.first_block, first.block, first.owner} <= {(0, 0, 0), (1, 0, 0)}
        assert "of block" in str(first)
        assert "cluster" in str(first)


def test_a_relaxed_arrival_orders_nothing():
    body = RIGHT.split("SYNC")
    syncs = [f'asm volatile("barrier.cluster.arrive{how};\\n barrier.cluster.wait;" ::: "memory");' for how in (".relaxed", "", "", "")]
    source = CLUSTER + 'extern "C" __global__ void f(int* out) { __shared__ int box[64]; Cluster c;' + "".join(
        part + sync for part, sync in zip(body, [*syncs, ""], strict=True)) + "}"
    report = launch(source, [np.zeros(256, INT)], 4, 64, cluster=2, racecheck=True)
    assert {h.kind for h in report.hazards} == {"RAW"}


# -- the model -----------------------------------------------------------------------------------------------------------------
SEEN = """    box[threadIdx.x] = 1000 * blockIdx.y + 100 * blockIdx.x + threadIdx.x;
    unsigned at = __cvta_generic_to_shared(&box[(threadIdx.x * 5 + 3) % 64]), there, own = c.block_rank(), rank, v, old;
    c.sync();
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"((own + 1 + threadIdx.x % 3) % 4));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(there));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
    c.sync();
    asm volatile("st.shared::cluster.u32 [%1], %0;" :: "r"(v + 7 * rank), "r"(there) : "memory");
    c.sync();
    asm volatile("red.shared::cluster.add.u32 [%1], %0;" :: "r"(3), "r"(there) : "memory");
    asm volatile("atom.shared::cluster.max.u32 %0, [%1], %2;" : "=r"(old) : "r"(at ^ 1 << 24), "r"(1) : "memory");
    c.sync();
    out[(blockIdx.y * 4 + blockIdx.x) * 64 + threadIdx.x] = box[threadIdx.x] + 10000 * rank + 100000 * (at >> 24);"""


@pytest.mark.parametrize("how", ["", ".aligned"])
def test_the_model_and_the_simulator_agree(how):
    helpers = CLUSTER.replace("arrive;", f"arrive{how};").replace("wait;", f"wait{how};")
    source = helpers + "extern \"C\" __global__ void f(int* out) {\n    __shared__ int box[64];\n    Cluster c;\n" + SEEN + "\n}"
    found, wanted = np.zeros(512, INT), np.zeros(512, INT)
    report = launch(source, [found], (4, 2), 64, cluster=(2, 2))
    program = build_program(parser.parse(report.ptx), "f")
    counted = clusters.run(program, (4, 2, 1), (64, 1, 1), [wanted], (2, 2, 1))
    assert np.array_equal(found, wanted)
    assert counted["executed"] == report.counters["smsp__inst_executed.sum"]
    assert counted["wavefronts ld"] == report.counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] > 0


def test_the_model_refuses_a_barrier_that_cannot_open():
    source = CLUSTER + """extern "C" __global__ void f(int* out) {
        Cluster c; if (blockIdx.x) c.sync(); else { __syncthreads(); out[0] = 1; } }"""
    program = build_program(parser.parse(build.build(source, "f", arch="sm_90a").ptx), "f")
    clusters.run(program, (2, 1, 1), (64, 1, 1), [np.zeros(4, INT)], (2, 1, 1))       # block 0 ends
    source = source.replace("c.sync(); else", "{ if (threadIdx.x < 32) c.sync(); else __syncthreads(); } else")
    program = build_program(parser.parse(build.build(source, "f", arch="sm_90a").ptx), "f")
    with pytest.raises(Undefined, match="do not come"):
        clusters.run(program, (2, 1, 1), (64, 1, 1), [np.zeros(4, INT)], (2, 1, 1))
