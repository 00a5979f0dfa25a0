"""Warps with roles: one fills stages by bulk copies behind mbarriers, a warpgroup multiplies them by wgmma and gives them back."""

from collections import Counter

import numpy as np
import pytest
import wgmma_kernels
import wgmma_model as model
from bulk_kernels import HEAD as MBARRIERS

from course_lib import simt

ORDERS = ("forward", "reverse", "interleaved")
FORM = "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16"
HELPERS = wgmma_kernels.HELPERS.replace("typedef unsigned long long u64;", "")
for name in ("FENCE", "COMMIT", "WAIT"):            # those of wgmma beside those of bulk copies
    HELPERS = HELPERS.replace(f"#define {name}", f"#define MMA_{name}")
D = ", ".join(f"%{i}" for i in range(16))
HEAD = MBARRIERS + HELPERS + f"""       // a macro, so that a product has the line on which it stands
#define multiply(d, a, b) asm volatile("{FORM} {{{D}}}, %16, %17, 1, 1, 1, 0, 0;" \\
    : {", ".join(f'"+f"(d[{i}])' for i in range(16))} : "l"(a), "l"(b))
#define LOAD16(to, from) LOAD(to, from, 16, &full[s])
#define COPY16(to, from) ASM("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(to)), "l"(from) : "memory")
"""
KERNEL = """
// C[64, 32] = A[64, K] B[32, K]^T, 32 columns a stage. A comes as the tensor cores read it, B by pieces of 16 bytes
extern "C" __global__ void LIMIT k(const unsigned short* A, const unsigned short* B, float* C, int tiles) {
    __shared__ __align__(128) unsigned char a[STAGES][4096], b[STAGES][2048];
    __shared__ u64 full[STAGES], empty[STAGES];
    const int t = threadIdx.x, lane = t % 32;
    if (t == 0) {
        for (int s = 0; s < STAGES; ++s) { INIT(&full[s], FULL); INIT(&empty[s], ARRIVALS); }
        FENCE;
    }
    BEFORE;
    __syncthreads();
    if (t < 128) {
        LESS;
        if (t < 32)
            for (int i = 0; i < tiles; ++i) {
                const int s = i % STAGES, phase = i / STAGES & 1;
                WAIT_EMPTY;
                if (lane == 0) {
                    EXPECT(&full[s], BYTES);
                    LOAD(a[s], A + 2048 * i, 4096, &full[s]);
                }
                __syncwarp();
                for (int p = 0; p < 4; ++p) PIECE(b[s] + 512 * p + 16 * lane, B + 32 * (tiles * lane + i) + 8 * p);
                TELL;
            }
    } else {
        float d[16] = {};
        MORE;
        for (int i = 0; i < tiles; ++i) {
            const int s = i % STAGES, phase = i / STAGES & 1;
            WAIT_FULL;
            TOUCH;
            MMA_FENCE;
            for (int k = 0; k < 2; ++k) multiply(d, descriptor(a[s] + 2048 * k, 1024, 128, 0), descriptor(b[s] + 1024 * k, 512, 128, 0));
            MMA_COMMIT;
            WAIT_PRODUCTS;
            if (i >= LATE) RELEASE;
        }
        MMA_WAIT(0);
        for (int i = 0; i < 16; ++i) C[16 * (t - 128) + i] = d[i];
    }
}
"""
RIGHT = {"STAGES": "3", "FULL": "1", "BYTES": "6144", "PIECE": "LOAD16", "TELL": "",
         "ARRIVALS": "1", "LIMIT": "__launch_bounds__(256)", "BEFORE": "", "LESS": "", "MORE": "", "TOUCH": "",
         "WAIT_FULL": "WAIT(&full[s], phase)", "WAIT_EMPTY": "WAIT(&empty[s], phase ^ 1)", "WAIT_PRODUCTS": "MMA_WAIT(1)",
         "LATE": "1", "RELEASE": "{ if (t == 128) ARRIVE(&empty[(i - LATE) % STAGES]); }"}
CLEAR = "for (int i = t; i < STAGES * 256; i += 256) ((uint4*)a)[i] = make_uint4(0, 0, 0, 0)"
# each thread writes pieces of the stage as they are; then the fence, and a barrier of the warpgroup
REWRITE = 'for (int j = t - 128; j < 256; j += 128) { volatile u64* p = (u64*)a[s] + j; *p = *p; } %s ASM("bar.sync 1, 128;" ::: "memory")'
ASYNC = {"FULL": "33", "BYTES": "4096", "PIECE": "COPY16", "TELL": "ARRIVE_BEHIND(&full[s])"}
OTHERS = {
    "as it is": {},
    "four stages, no product under way between rounds": {"STAGES": "4", "WAIT_PRODUCTS": "MMA_WAIT(0)", "LATE": "0"},
    "two stages": {"STAGES": "2"},
    "any lane arrives": {"RELEASE": "{ if (t == 128 + 37) ARRIVE(&empty[(i - LATE) % STAGES]); }"},
    "all threads arrive": {"ARRIVALS": "128", "RELEASE": "ARRIVE(&empty[(i - LATE) % STAGES])"},
    "one lane of each warp waits": {"WAIT_FULL": "if (lane == 7) WAIT(&full[s], phase); __syncwarp()"},
    "one warp waits": {"WAIT_FULL": 'if (t < 160) WAIT(&full[s], phase); ASM("bar.sync 1, 128;" ::: "memory")'},
    "stages that ordinary stores cleared": {"BEFORE": f"{CLEAR}; FENCE"},
    "a stage that ordinary stores changed": {"TOUCH": REWRITE % "FENCE;"},
    "B comes by cp.async, of the generic proxy": ASYNC | {"TOUCH": "FENCE"},
    "registers change hands": {"LIMIT": "__maxnreg__(128)", "LESS": 'ASM("setmaxnreg.dec.sync.aligned.u32 40;")',
                               "MORE": 'ASM("setmaxnreg.inc.sync.aligned.u32 200;")'},
}


def run(tiles=7, racecheck=True, **how):
    """Launch the kernel, with other texts for some macros; return (whether C is right, report)."""
    changed = {name: how.pop(name) for name in list(how) if name in RIGHT}
    rng = np.random.default_rng(4)
    A, B = (rng.integers(-8, 9, (rows, 32 * tiles)).astype(np.float32) for rows in (64, 32))
    raw = [(m.view(np.uint32) >> 16).astype(np.uint16) for m in (A, B)]
    packed = np.concatenate([model.along_k(np.ascontiguousarray(part).view(np.uint8), 16)[0] for part in np.split(raw[0], tiles, axis=1)])
    found = np.zeros((128, 16), np.float32)
    source = HEAD + "#line 1\n" + KERNEL.lstrip("\n")
    report = simt.launch(source, "k", 1, 256, [packed.view(np.uint16), raw[1], found, np.int32(tiles)], arch="sm_90a", racecheck=racecheck,
                         defines=RIGHT | changed, **how)
    C = np.zeros((64, 32), np.float32)
    C[model.held(32)] = found
    return np.array_equal(C, A @ B.T), report


def line_of(words):
    return next(i for i, line in enumerate(KERNEL.lstrip("\n").splitlines(), 1) if words in line)


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("name", OTHERS)
def test_a_right_pipeline_is_right_and_quiet(name):
    right, report = run(**OTHERS[name])
    assert right
    assert (report.hazards, report.products, report.async_findings) == ((), (), ())
    for order in ORDERS[1:]:
        right, report = run(**OTHERS[name], warp_order=order, racecheck=order == "interleaved")
        assert right
        assert (report.hazards, report.products, report.async_findings) == ((), (), ())


@pytest.mark.parametrize(("order", "racecheck"), [("forward", True), ("reverse", False), (5, False)])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages_in_flight_and_the_roles_of_warps(stages, order, racecheck):
    """A stage is given back a round after its product, when 4 warps wait for the next: the copies are then as far ahead as stages allow."""
    tiles, behind = 7, 1
    report = run(tiles, racecheck, warp_order=order, STAGES=str(stages))[1]
    found, counted = report.pipeline, report.counters
    assert (found.waits, found.least, found.most) == (4 * tiles, 0, stages - 1)
    assert found.mean == sum(found.stages[n] * n for n in found.stages) / (4 * tiles)
    if order == "forward":
        assert found.stages == {n: 4 * times for n, times in Counter(
            min(tiles, max(0, i - behind) + stages) - i - 1 for i in range(tiles)).items()}
    assert found.warps == {"neither": 3, "copies": 1, "products": 4, "both": 0}
    assert sum(found.instructions.values()) == counted["smsp__inst_executed.sum"]
    assert found.instructions["products"] > 4 * tiles * 10
    assert counted["multiply_adds_wgmma"] == counted["multiply_adds_wgmma_bf16"] == 64 * 32 * 32 * tiles
    assert counted["operand_bytes_wgmma_a"] + counted["operand_bytes_wgmma_b"] == 6144 * tiles, "each stage once"
    assert counted["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == (4096 + 128 * 32) * tiles, "32 for 16"
    assert counted["smsp__sass_inst_executed_op_tma_ld.sum"] == (1 + 4 * 32) * tiles, "A by one lane, B by all"


def test_stages_of_cp_async_and_of_warps_that_take_turns():
    assert run(**ASYNC | {"TOUCH": "FENCE"})[1].pipeline.most == 2
    hint = "if (t == 128) ASM(\"cp.async.bulk.prefetch.L2.global [%0], 16;\" :: \"l\"(A) : \"memory\")"
    assert run(TOUCH=hint)[1].pipeline.warps["both"] == 0, "a hint is no copy"
    assert run(warp_order="interleaved", racecheck=False)[1].pipeline.most == 0, "no warp runs ahead"


WIDE, COPY = "multiply(d,", "LOAD(a[s]"
READS_TOO_EARLY, WRITES_TOO_EARLY = ("RAW", COPY, WIDE), ("WAR", WIDE, COPY)
RELAXED = """for (u32 done = 0; !done;) ASM("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], %2;
    selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&full[s])), "r"(phase) : "memory");""".replace("\n    ", " ")
HAZARDS = {
    "no wait for the data": (ORDERS[:1], {"WAIT_FULL": "", "tiles": 3}, READS_TOO_EARLY),
    "the parity of the other phase": (ORDERS[:1], {"WAIT_FULL": "WAIT(&full[s], phase ^ 1)", "tiles": 3}, READS_TOO_EARLY),
    "one warp does not wait for the data": (ORDERS, {"WAIT_FULL": "if (t >= 160) WAIT(&full[s], phase)"}, READS_TOO_EARLY),
    "one warp sees the data, and nothing more": (ORDERS, {"WAIT_FULL": f"{{ if (t >= 160) WAIT(&full[s], phase); else {RELAXED} }}"},
                                                 READS_TOO_EARLY),
    "no wait for the products": (ORDERS, {"WAIT_PRODUCTS": ""}, WRITES_TOO_EARLY),
    "a wait for one product too few": (ORDERS, {"LATE": "0"}, WRITES_TOO_EARLY),
    "a stage given back before its product": (ORDERS, {"TOUCH": "if (t == 128) ARRIVE(&empty[s])", "RELEASE": ";"}, WRITES_TOO_EARLY),
}


@pytest.mark.parametrize("name", HAZARDS)
def test_what_nothing_orders_is_reported(name):
    orders, changed, (kind, first, second) = HAZARDS[name]
    for order in orders:
        report = run(**changed, warp_order=order)[1]
        found = {(h.kind, h.first_line, h.second_line): h for h in report.hazards}
        assert ("wgmma.wait_group" in found[kind, line_of(first), line_of(second)].advice) == (kind == "WAR")


def test_a_stage_that_is_filled_without_a_wait():
    """Where the copying warp runs first, its second copy finds the first one under way; else the hazard is seen."""
    with pytest.raises(simt.MbarrierMisuse, match="copies are still under way"):
        run(WAIT_EMPTY="")
    report = run(WAIT_EMPTY="", warp_order="interleaved")[1]
    assert ("WAR", line_of(WIDE), line_of(COPY)) in {(h.kind, h.first_line, h.second_line) for h in report.hazards}


def test_one_fence_serves_bulk_copies_and_products():
    """Ordinary stores to a stage: before the loop, of what the next product reads, and by cp.async."""
    for changed, first, kinds in (({"BEFORE": CLEAR}, "BEFORE", {"unfenced"}), (ASYNC, "PIECE", {"proxy"}),
                                  ({"TOUCH": REWRITE % ""}, "TOUCH", {"unfenced", "proxy"})):
        right, report = run(**changed)
        assert right
        second = {"unfenced": COPY, "proxy": WIDE}
        found = {(f.kind, f.first_line, f.second_line) for f in (*report.async_findings, *report.products)}
        assert found == {(kind, line_of(first), line_of(second[kind])) for kind in kinds}
        assert report.hazards == ()


WAITS = {
    "no registers are given back": (OTHERS["registers change hands"] | {"LESS": ""}, ("WAIT_EMPTY", "MORE")),
    "one warp waits for another phase": ({"WAIT_FULL": "WAIT(&full[s], t < 160 ? phase ^ (i > 2) : phase)", "WAIT_PRODUCTS": "MMA_WAIT(0)",
                                          "LATE": "0", "RELEASE": "{ if (t == 255) ARRIVE(&empty[(i - LATE) % STAGES]); }"},
                                         ("WAIT_FULL", "WAIT_PRODUCTS")),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", WAITS)
def test_waits_of_both_kinds_that_nobody_ends_are_an_error(name, order):
    changed, words = WAITS[name]
    with pytest.raises(simt.BarrierDeadlock) as caught:
        run(**changed, warp_order=order, racecheck=False)
    assert all(f"line {line_of(w)}" in str(caught.value) for w in words), str(caught.value)
