"""mbarriers of other blocks of a cluster, st.async, red.async, and bulk copies between blocks and to many."""

import functools

import numpy as np
import pytest
from cluster_kernels import CLUSTER
from launching import INT

from course_lib import simt
from course_lib.simt.host.counters import BULK_BYTES, BULK_COPIES, BULK_ONCE

HEAD = CLUSTER + """__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
__device__ unsigned map(unsigned a, unsigned rank) {
    unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
__device__ void make(void* bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(bar)), "r"(count) : "memory"); }
__device__ void expect(void* bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(bar)), "r"(bytes) : "memory"); }
__device__ void arrive(unsigned bar) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(bar) : "memory"); }
__device__ void wait(void* bar, int parity) {
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra L; }"
                 :: "r"(at(bar)), "r"(parity) : "memory"); }
extern "C" __global__ void f(INPUT int* out) {
    __shared__ alignas(128) int box[256], from[256];
    __shared__ alignas(8) unsigned long long bar;
    Cluster c;
    const unsigned rank = c.block_rank(), t = threadIdx.x, next = (rank + 1) % c.num_blocks();
    if (t == 0) make(&bar, COUNT);
    for (int i = t; i < 256; i += blockDim.x) { box[i] = 7; from[i] = 1000 * rank + i; }
    asm volatile("fence.mbarrier_init.release.cluster; FENCE" ::: "memory");
    c.sync();
    BODY
    for (int i = t; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = box[i];
    LAST
}"""


def text_of(body, count=1, last="c.sync();", given=(), fence="fence.proxy.async;"):
    words = {"BODY": body, "COUNT": str(count), "LAST": last, "INPUT": "const int* x," if given else "", "FENCE": fence}
    return functools.reduce(lambda text, word: text.replace(*word), words.items(), HEAD)


def run(body, count=1, size=2, last="c.sync();", grid=None, given=(), block=64, **how):
    out = np.zeros((grid or size, 256), INT)
    report = simt.launch(text_of(body, count, last, given), "f", grid or size, block, [*given, out], arch="sm_90a", cluster=size, **how)
    assert not report.async_findings
    return out, report


WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_arrivals_at_the_peers_mbarrier(how):
    out, report = run("""c.map_shared_rank(box, next)[t] = 100 * rank + t;
    arrive(map(at(&bar), next));
    wait(&bar, 0);
    c.sync();                  // so that nobody is a phase ahead
    c.map_shared_rank(box, next)[t + 64] = 5;
    arrive(map(at(&bar), next));
    wait(&bar, 1);""", count=64, size=4, **how)
    rank, t = np.arange(4)[:, None], np.arange(64)
    assert np.array_equal(out[:, :64], 100 * ((rank - 1) % 4) + t)
    assert (out[:, 64:128] == 5).all()
    assert (out[:, 128:] == 7).all()
    assert not report.hazards


ST = """if (t == 0) expect(&bar, 64 * BYTES);
    const unsigned there = map(at(&box[t * BYTES / 4]), next), b = map(at(&bar), next);
    const int v = 100 * rank + t;
    STORE
    wait(&bar, 0);"""


@pytest.mark.sampled(test=8)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize(("kind", "data", "bytes_"), [
    ("b32", '"r"(v)', 4), ("v2.s32", '"r"(v), "r"(v + 1)', 8), ("v4.b32", '"r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3)', 16),
    ("b64", '"l"(v + (1ll << 32) * (v + 1))', 8), ("v2.u64", '"l"(v + (1ll << 32) * (v + 1)), "l"(v + 2 + (1ll << 32) * (v + 3))', 16)])
def test_stores_that_tell_the_peers_mbarrier(kind, data, bytes_, how):
    count = data.count('"') // 2
    names = ", ".join(f"%{i + 1}" for i in range(count))
    names = f"{{{names}}}" if count > 1 else names
    store = (f'asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{kind} [%0], {names}, [%{count + 1}];" '
             f':: "r"(there), {data}, "r"(b) : "memory");')
    out, report = run(ST.replace("BYTES", str(bytes_)).replace("STORE", store), **how)
    for rank in range(2):
        sent = 100 * (1 - rank) + np.arange(64)[:, None] + np.arange(bytes_ // 4)
        assert np.array_equal(out[rank, :64 * bytes_ // 4], sent.ravel())
    assert not report.hazards


@pytest.mark.parametrize(("op", "kind", "wanted"), [
    ("add", "u32", 7 + 64 * 10 + 2016), ("max", "s32", 73), ("min", "u32", 7),
    ("and", "b32", 7 & int(np.bitwise_and.reduce(10 + np.arange(64)))),
    ("or", "b32", int(np.bitwise_or.reduce(10 + np.arange(64))) | 7), ("xor", "b32", int(np.bitwise_xor.reduce(10 + np.arange(64))) ^ 7),
    ("inc", "u32", None), ("dec", "u32", None)])
def test_reductions_that_tell_the_peers_mbarrier(op, kind, wanted):
    out, _ = run(f"""if (t == 0) expect(&bar, 256);
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{kind} [%0], %1, [%2];"
                 :: "r"(map(at(box), next)), "r"(10 + t), "r"(map(at(&bar), next)) : "memory");
    wait(&bar, 0);""")
    if wanted is None:
        wanted = 7
        for v in range(10, 74):
            wanted = (0 if wanted >= v else wanted + 1) if op == "inc" else (v if wanted == 0 or wanted > v else wanted - 1)
    assert (out[:, 0] == wanted).all()
    assert (out[:, 1:] == 7).all()


BETWEEN = """if (t == 0) {
        expect(&bar, 512);
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                     :: "r"(map(at(&box[32]), next)), "r"(at(&from[64])), "r"(map(at(&bar), next)) : "memory");
    }
    wait(&bar, 0);"""


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_copy_from_one_blocks_shared_memory_to_anothers(how):
    out, report = run(BETWEEN, size=4, grid=8, **how)
    for block in range(8):
        rank = (block - 1) % 4
        assert np.array_equal(out[block, 32:160], 1000 * rank + 64 + np.arange(128))
        assert (out[block, :32] == 7).all()
        assert (out[block, 160:] == 7).all()
    assert not report.hazards
    assert report.counters[BULK_COPIES.format("ld")] == 0      # global memory is not read


MULTICAST = """if (t == 0) expect(&bar, rank == 3 ? 1 : 256 + 128 * (rank == 0));
    if (t == 0 && rank < 2)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                     :: "r"(at(&box[64 * rank])), "l"(x + 256 * rank), "r"(256 - 128 * rank), "r"(at(&bar)),
                        "h"((short)(rank ? 1 : 7)) : "memory");
    if (rank < 3) wait(&bar, 0);"""


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_one_copy_for_several_blocks(how):
    x = np.arange(512, dtype=INT)
    out, report = run(MULTICAST, size=4, given=[x], **how)
    assert all(np.array_equal(out[b, :64], x[:64]) for b in range(3))
    assert (out[3] == 7).all()
    assert np.array_equal(out[0, 64:96], x[256:288])
    assert (out[0, 96:] == 7).all()
    assert (out[1:3, 64:] == 7).all()
    assert not report.hazards
    assert report.counters[BULK_COPIES.format("ld")] == 2
    assert report.counters[BULK_BYTES["ld"]] == 3 * 256 + 128
    assert report.counters[BULK_ONCE["ld"]] == (256 + 128) // 32


# -- what is wrong -------------------------------------------------------------------------------------------------------------
def broken(body, kind=simt.MbarrierMisuse, **how):
    with pytest.raises(kind) as caught:
        run(body, **how)
    return str(caught.value)


def test_what_a_wait_for_the_peer_lacks_is_a_deadlock():
    """Block 0 expects bytes that nobody sends; block 1 waits for the cluster."""
    text = broken("if (rank == 0) { if (t == 0) expect(&bar, 16); wait(&bar, 0); }", simt.BarrierDeadlock)
    assert "16 bytes are expected that no copy brings" in text
    assert "block (1, 0, 0) in line" in text


def test_bytes_that_come_without_being_waited_for_are_not_there():
    out, _ = run(BETWEEN.replace("wait(&bar, 0);", "__syncthreads();"), last="wait(&bar, 0); c.sync();")
    assert (out == 7).all()


@pytest.mark.parametrize(("body", "word"), [
    ('if (t == 0) asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(map(at(&box[2]), next)));', "no mbarrier at"),
    ('if (t == 0) asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" '
     ':: "r"(map(at(box), next)), "r"(1), "r"(at(&bar)));', "one block of the cluster about bytes in another"),
    ('if (t == 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.b64 s, [%0]; }" :: "l"(c.map_shared_rank(&bar, next)));',
     "block's shared memory"),
    ('if (t == 0) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%0], 0; }" :: "l"(c.map_shared_rank(&bar, next)));',
     "block's shared memory")])
def test_misuse_is_named(body, word):
    assert word in broken(body)


def test_who_is_a_phase_ahead_is_waited_for_in_vain():
    """Without a barrier between the rounds of a ring, a block may complete two phases of its neighbour, which asks for the first."""
    round_ = "arrive(map(at(&bar), next)); wait(&bar, {});"
    broken(round_.format(0) + round_.format(1), simt.BarrierDeadlock, count=64, size=4)


def test_a_source_whose_block_has_ended_is_poison():
    body = BETWEEN.replace("wait(&bar, 0);", "if (rank == 1) return; for (int i = 0; i < 9; ++i) __syncthreads(); wait(&bar, 0);")
    text = text_of(body, last="")
    out = np.zeros((2, 256), INT)
    report = simt.launch(text, "f", 2, 64, [out], arch="sm_90a", cluster=2)
    assert (out[0, 32:160] != 1064 + np.arange(128)).all()
    assert any(f.kind == "unawaited" for f in report.async_findings)


@pytest.mark.parametrize("early", ["box[t + 32]", "c.map_shared_rank(box, rank)[t + 32]"])
def test_who_reads_before_the_wait_is_told_of_the_other_block(early):
    _, report = run(BETWEEN.replace("wait(&bar, 0);", f"c.sync(); if (x[0]) box[255] = {early}; wait(&bar, 0);"), given=[np.ones(4, INT)],
                    racecheck=True)
    hazard = next(h for h in report.hazards if h.kind == "RAW")
    assert {hazard.first_block, hazard.block} == {(0, 0, 0), (1, 0, 0)}
    assert hazard.owner == hazard.block
    assert "begins to copy to byte" in str(hazard)


def test_bytes_that_nobody_waits_for_are_a_finding_about_the_block_that_sends():
    body = BETWEEN.replace("if (t == 0) {", "if (t == 0 && rank == 1) {").replace("wait(&bar, 0);", "").replace("expect(&bar, 512);", "")
    report = simt.launch(text_of(body), "f", 2, 64, [np.zeros((2, 256), INT)], arch="sm_90a", cluster=2)
    finding = next(f for f in report.async_findings if f.kind == "unawaited")
    assert finding.block == (1, 0, 0)


# -- fences between the proxies, where one block stores and another one copies -----------------------------------------------
FENCE = 'asm volatile("fence.proxy.async;" ::: "memory");'
INTO_GLOBAL = """if (t == 0) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;"
        " cp.async.bulk.wait_group 0;" :: "l"(out + 256 * blockIdx.x), "r"(at(box)) : "memory");"""
PEERS_STORES = "c.map_shared_rank(box, next)[t] = 5; BEFORE c.sync(); AFTER " + INTO_GLOBAL
RELAYED = ("box[t] = 5; BEFORE __syncthreads(); if (t == 0) arrive(map(at(&bar), next)); wait(&bar, 0); AFTER "
           + BETWEEN.replace("bar, 0", "bar, 1"))
UNFENCED = {          # what stores and what copies, and what the head of the kernel fences
    "a copy over the peer's stores": ("BEFORE c.sync(); AFTER " + BETWEEN, "", "from[i] ="),
    "a copy of the peer's stores": (PEERS_STORES, "fence.proxy.async;", "= 5;"),
    "a copy behind an mbarrier": (RELAYED, "fence.proxy.async;", "= 5;"),
}


@pytest.mark.parametrize("name", UNFENCED)
def test_a_fence_between_stores_and_the_copy_of_another_block(name):
    """Who stores may fence, or who copies; a barrier of the cluster or an mbarrier alone does not do it."""
    body, head, first = UNFENCED[name]

    def findings(before="", after=""):
        text = text_of(body.replace("BEFORE", before).replace("AFTER", after), fence=head)
        report = simt.launch(text, "f", 2, 64, [np.zeros((2, 256), INT)], arch="sm_90a", cluster=2, racecheck=True)
        assert not report.hazards
        return text, report.async_findings
    text, found = findings()
    lines = text.splitlines()
    assert {f.kind for f in found} == {"unfenced"}
    assert any(first in lines[f.first_line - 1] and "cp.async.bulk" in "".join(lines[f.second_line - 1:f.second_line + 2]) for f in found)
    assert findings(after=FENCE)[1] == ()
    assert findings(before=FENCE)[1] == ()


def test_a_finding_between_two_blocks_names_both():
    text = text_of(PEERS_STORES.replace("BEFORE", "").replace("AFTER", ""))
    report = simt.launch(text, "f", 2, 64, [np.zeros((2, 256), INT)], arch="sm_90a", cluster=2, racecheck=True)
    found, = report.async_findings
    assert {found.block, found.second_block} == {(0, 0, 0), (1, 0, 0)}
    assert f"of block {found.second_block} at line" in str(found)


def test_what_the_peer_sends_needs_no_fence_behind_ordinary_stores():
    """st.async goes by the generic proxy, as they do."""
    store = ('asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(there), "r"(v), "r"(b));')
    text = text_of(ST.replace("BYTES", "4").replace("STORE", store), fence="")
    report = simt.launch(text, "f", 2, 64, [np.zeros((2, 256), INT)], arch="sm_90a", cluster=2, racecheck=True)
    assert report.all_hazards == ()
