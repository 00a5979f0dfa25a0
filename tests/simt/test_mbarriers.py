"""mbarriers: every form against a plain statement of the manual, and what NVIDIA's headers make of them."""

import random

import numpy as np
import pytest

from course_lib import simt

PTX = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y) {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
    .shared .align 8 .b8 object[16];
    ld.param.u64 %rd1, [y];
    mov.u64 %rd2, object;
    cvta.shared.u64 %rd3, %rd2;
BODY
    ret;
}
"""


class Plain:
    """An mbarrier in the words of the manual: a phase is complete when no arrival and no byte is pending."""

    def __init__(self, count):
        self.expected = self.pending = count
        self.bytes, self.phase = 0, 0

    def settle(self):
        if self.pending == self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.expected

    def arrive(self, count=1, bytes_=0, drop=False):
        token = self.phase, self.pending
        self.bytes += bytes_
        self.pending -= count
        self.expected -= count * drop
        self.settle()
        return token

    def complete(self, bytes_):
        self.bytes -= bytes_
        self.settle()


def orders(rng, names):
    """Return one of the ways to say in which order accesses are seen, or none."""
    return rng.choice(["", *(f".{name}.{scope}" for name in names for scope in ("cta", "cluster"))])


def sequence(seed, length=100):
    """Return (PTX of a random sequence of operations of one thread, the numbers that it stores)."""
    rng, lines, wanted, tokens = random.Random(seed), [], [], []
    plain = Plain(rng.randint(3, 9))
    lines.append(f"mbarrier.init.b64 [%rd3], {plain.expected};")

    def place(cluster=False):
        space = rng.choice(["", ".shared", ".shared::cta", *[".shared::cluster"] * cluster])
        return space, "[%rd2]" if space else "[%rd3]"

    def store(value, number):
        lines.append(f"st.global.u32 [%rd1+{4 * len(wanted)}], {value};")
        wanted.append(number)

    for _ in range(length):
        what = rng.choice(["arrive", "arrive", "drop", "expect_tx", "bytes", "no", "test", "parity", "pending"])
        space, at = place()
        if what in ("arrive", "drop") and plain.pending:
            count = rng.randint(1, plain.pending)
            drop = what == "drop" and plain.expected > count
            name = "arrive_drop" if drop else "arrive"
            if rng.random() < 0.5:
                lines.append(f"mbarrier.{name}{orders(rng, ['release', 'relaxed'])}{space}.b64 %rd4, {at}, {count};")
                tokens.append(plain.arrive(count, drop=drop))
            elif not drop or plain.expected > 1:
                number = rng.randint(0, 64)
                lines.append(f"mbarrier.{name}.expect_tx{orders(rng, ['release', 'relaxed'])}{space}.b64 %rd4, {at}, {number};")
                tokens.append(plain.arrive(1, number, drop))
            lines.append("mov.b64 %rd5, %rd4;")
        elif what == "no" and plain.pending > 1:
            count = rng.randint(1, plain.pending - 1)
            lines += [f"mbarrier.arrive.noComplete{rng.choice(['', '.release.cta'])}{space}.b64 %rd5, {at}, {count};"]
            tokens.append(plain.arrive(count))
        elif what == "expect_tx":
            space, at = place(True)
            number = rng.randint(0, 99)
            lines += [f"mov.b32 %r1, {number};", f"mbarrier.expect_tx{rng.choice(['', '.relaxed.cta'])}{space}.b64 {at}, %r1;"]
            plain.complete(-number)
        elif what == "bytes":
            space, at = place(True)
            number = plain.bytes if plain.bytes > 0 and rng.random() < 0.7 else rng.randint(0, 30)
            lines.append(f"mbarrier.complete_tx{rng.choice(['', '.relaxed.cluster'])}{space}.b64 {at}, {number};")
            plain.complete(number)
        elif what == "parity":
            parity, wait = rng.randint(0, 1), rng.choice(["test_wait", "try_wait"])
            time = rng.choice(["", ", 20", ", %r2"]) if wait == "try_wait" else ""
            form = f"mbarrier.{wait}.parity{orders(rng, ['acquire', 'relaxed'])}{space}.b64"
            lines += ["mov.b32 %r2, 1000;", f"{form} %p1, {at}, {parity}{time};",
                      "selp.u32 %r3, 1, 0, %p1;"]
            store("%r3", int(plain.phase & 1 != parity))
        elif what == "test" and tokens and tokens[-1][0] >= plain.phase - 1:
            wait = rng.choice(["test_wait", "try_wait"])
            lines += [f"mbarrier.{wait}{orders(rng, ['acquire', 'relaxed'])}{space}.b64 %p1, {at}, %rd5;", "selp.u32 %r3, 1, 0, %p1;"]
            store("%r3", int(plain.phase > tokens[-1][0]))
        elif what == "pending" and tokens:
            lines.append("mbarrier.pending_count.b64 %r3, %rd5;")
            store("%r3", tokens[-1][1])
    lines.append("mbarrier.inval.shared.b64 [%rd2];")
    return "\n".join(lines), wanted


@pytest.mark.parametrize("racecheck", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_sequence_of_operations_does_what_the_manual_says(seed, racecheck):
    body, wanted = sequence(seed)
    y = np.full(len(wanted), 9, np.uint32)
    report = simt.launch(PTX.replace("BODY", body), "k", 1, 1, [y], racecheck=racecheck)
    assert y.tolist() == wanted
    assert len(set(wanted)) > 1
    assert (report.hazards, report.async_findings) == ((), ())


BAD = {
    "mbarrier.test_wait.shared.b64 %p1, [%rd2], %rd5;": "takes a token that no arrival at this mbarrier returned",
    "mbarrier.test_wait.parity.shared.b64 %p1, [%rd2], 2;": "a parity is 0 or 1",
    "mbarrier.arrive.noComplete.shared.b64 %rd4, [%rd2], 2;": "would complete the phase",
    "mbarrier.arrive.shared.b64 %rd4, [%rd2], 0;": "counts 0 arrivals",
    "mbarrier.arrive.shared.b64 %rd4, [%rd2], 3;": "whose phase waits for 2 more of 2 arrivals",
    "mbarrier.arrive.shared.b64 %rd4, [%rd2+8];": "finds no mbarrier at the mbarrier at byte 8 of object",
    "mbarrier.arrive.b64 %rd4, [%rd1];": "needs an address in the block's shared memory",
    "mbarrier.pending_count.b64 %r1, %rd5;": "takes a token that no arrival",
    "mbarrier.inval.shared.b64 [%rd2]; mbarrier.inval.shared.b64 [%rd2];": "finds no mbarrier",
    "mbarrier.expect_tx.shared.b64 [%rd2], 1048576;": "more than 1048575 bytes",
    "mbarrier.arrive.shared.b64 %rd4, [%rd2], 2; mbarrier.arrive.shared.b64 %rd6, [%rd2], 2; "
    "mbarrier.test_wait.shared.b64 %p1, [%rd2], %rd4;": "a token of 2 phases ago",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_not_allowed_is_an_error(text):
    body = f"mov.b64 %rd5, 0;\nmbarrier.init.shared.b64 [%rd2], 2;\n.loc 1 9 0\n{text}"
    with pytest.raises(simt.MbarrierMisuse) as caught:
        simt.launch(PTX.replace("BODY", body), "k", 1, 1, [np.zeros(1, np.uint32)])
    assert BAD[text] in str(caught.value)
    assert (caught.value.line, caught.value.thread) == (9, (0, 0, 0))


@pytest.mark.parametrize(("text", "error"), [
    ("mbarrier.init.shared.b64 [%rd2+4], 1;", simt.Misaligned), ("mbarrier.init.shared.b64 [%rd2+16], 1;", simt.OutOfBounds),
    ("mbarrier.init.shared.b64 [%rd2], %rd1;", simt.PtxSyntaxError), ("mbarrier.arrive.shared.b64 %r1, [%rd2];", simt.PtxSyntaxError),
    ("mbarrier.test_wait.shared.b64 %r1, [%rd2], %rd4;", simt.PtxSyntaxError),
    ("mbarrier.test_wait.shared.b64 %p1, [%rd2], %r4;", simt.PtxSyntaxError), ("mbarrier.inval.shared.b64 %rd2;", simt.PtxSyntaxError)])
def test_operands_are_checked(text, error):
    with pytest.raises(error):
        simt.launch(PTX.replace("BODY", text), "k", 1, 1, [np.zeros(1, np.uint32)])


def test_elect_sync_elects_one_lane_of_its_mask():
    source = r"""
extern "C" __global__ void k(unsigned* y) {
    for (int i = 0; i < 3; ++i) {
        const unsigned mask = i == 0 ? 0xffffffffu : i == 1 ? 0xfffffff0u : 0x00f0u;
        unsigned leader = 99, elected = 0;
        if (mask >> threadIdx.x & 1)
            asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(elected) : "r"(mask));
        y[32 * i + threadIdx.x] = leader << 1 | elected;
    }
    unsigned only;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(only));
    y[96 + threadIdx.x] = only;
}
"""
    y = np.zeros((4, 32), np.uint32)
    simt.launch(source, "k", 1, 32, [y], arch="sm_90")
    for row, mask in zip(y, (0xFFFFFFFF, 0xFFFFFFF0, 0xF0)):
        there = np.array([mask >> lane & 1 for lane in range(32)], bool)
        leaders = set(row[there] >> 1)
        assert len(leaders) == 1
        assert [lane for lane in range(32) if there[lane] and row[lane] & 1] == [*leaders]
        assert (row[~there] == 99 << 1).all()
    assert y[3].sum() == 1


BARRIER = r"""
#include <cuda/barrier>
extern "C" __global__ void k(int rounds, const int* x, int* y) {
    __shared__ int line[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> ready, free;
    if (threadIdx.x == 0) {
        init(&ready, blockDim.x);
        init(&free, blockDim.x);
    }
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        line[threadIdx.x] = x[128 * r + threadIdx.x];
        WAIT_READY;
        y[128 * r + threadIdx.x] = line[127 - threadIdx.x];
        WAIT_FREE;
    }
}
"""
WHOLE = {"WAIT_READY": "ready.arrive_and_wait()", "WAIT_FREE": "free.arrive_and_wait()"}


@pytest.mark.slow
@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("changed", "quiet"), [
    ({}, True), ({"WAIT_READY": "auto token = ready.arrive(); ready.wait(cuda::std::move(token))"}, True),
    ({"WAIT_READY": "(void)ready.arrive(); ready.wait_parity(r & 1)"}, True), ({"WAIT_FREE": "(void)free.arrive()"}, False),
    ({"WAIT_READY": "(void)ready.arrive()"}, False), ({"WAIT_READY": "while (!ready.try_wait(ready.arrive())) {}"}, None)])
def test_cuda_barrier(arch, changed, quiet):
    x, y = np.arange(384, dtype=np.int32), np.zeros(384, np.int32)

    def launch(**how):
        return simt.launch(BARRIER, "k", 1, 128, [np.int32(3), x, y], arch=arch, defines=WHOLE | changed, **how)
    if quiet is None:
        with pytest.raises(simt.SimtError):
            launch(max_steps=100_000)
        return
    report = launch(racecheck=True)
    assert bool(report.hazards) != quiet
    assert report.async_findings == ()
    if quiet:
        launch()
        assert (y.reshape(3, 128) == x.reshape(3, 128)[:, ::-1]).all()


PIPELINE = r"""
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void k(int tiles, const float* x, float* y) {
    __shared__ __align__(16) float buffer[2][128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0, next = 0; i < tiles; ++i) {
        for (; next < tiles && next < i + 2; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[next % 2], x + 128 * next, cuda::aligned_size_t<16>(512), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int j = threadIdx.x; j < 128; j += blockDim.x) y[128 * i + j] = buffer[i % 2][127 - j];
        pipe.consumer_release();
    }
}
"""


ROLES = r"""
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void k(int tiles, const float* x, float* y) {
    __shared__ __align__(16) float buffer[2][128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const int t = threadIdx.x;
    auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
    for (int i = 0; i < tiles; ++i) {
        if (t < 32) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[i % 2][4 * t], x + 128 * i + 4 * t, cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            for (int j = t - 32; j < 128; j += 32) y[128 * i + j] = buffer[i % 2][127 - j];
            pipe.consumer_release();
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("source", [PIPELINE, ROLES], ids=["all alike", "roles"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_cuda_pipeline(arch, source):
    x, y = np.arange(640, dtype=np.float32), np.zeros(640, np.float32)
    for racecheck in (False, True):
        report = simt.launch(source, "k", 1, 64, [np.int32(5), x, y], arch=arch, racecheck=racecheck)
        assert (y.reshape(5, 128) == x.reshape(5, 128)[:, ::-1]).all()
        assert (report.hazards, report.async_findings) == ((), ())
        y[:] = 0
