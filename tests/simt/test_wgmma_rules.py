"""What a kernel with `wgmma` may forget: each broken kernel is reported for its reason, with its lines."""

import numpy as np
import pytest
import wgmma_kernels

from course_lib import simt

POISON = 0x7FFF7FFF
FORM = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"
HEAD = wgmma_kernels.HELPERS + f"""      // a macro, so that each product has the line on which it stands
#define multiply(d, a, b, accumulate) asm volatile( \\
    "{{ .reg .pred p; setp.ne.b32 p, %6, 0; {FORM} {{%0, %1, %2, %3}}, %4, %5, p, 1, 1, 0, 0; }}" \\
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(accumulate))
"""
BODY = """
extern "C" __global__ void __launch_bounds__(256) k(const uint4* A, const uint4* B, float* D, int twice) {
    __shared__ __align__(128) uint4 a[128], b[16];
    const int t = threadIdx.x;
    a[t] = A[t];
    if (t < 16) b[t] = B[t];
    PROXY;                              // here
    __syncthreads();
    float d[4] = {};
    FENCE;                              // fence
    multiply(d, descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), twice);      // product
    COMMIT;                             // commit
    WAIT(0);                            // wait
    d[0] *= 2;                          // first use
    FENCE;                              // second fence
    multiply(d, descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), 1);          // second product
    COMMIT;
    WAIT(0);                            // second wait
    __syncthreads();                    // behind
    if (t % 128 < 16) b[t % 128] = make_uint4(t, 0, 0, 0); // overwrite
    for (int i = 0; i < 4; ++i) D[4 * t + i] = d[i];
}
"""


def line(text, mark):
    lines = text.splitlines()
    return next(i for i, content in enumerate(lines, 1) if content.endswith(f"// {mark}"))


def launch(text, block=128, **how):
    rng = np.random.default_rng(1)
    A, B = (rng.integers(-3, 4, (rows, 16)).astype(np.float32) for rows in (64, 8))
    raw = [(m.view(np.uint32) >> 16).astype(np.uint16).reshape(len(m), 2, 8).transpose(1, 0, 2).copy() for m in (A, B)]
    D = np.zeros((128, 4), np.float32)
    report = simt.launch(text, "k", 1, block, [*raw, D, np.int32(0)], arch="sm_90a", **how)
    return A @ B.T, D, report


def pairs(report):
    return {(h.kind, h.first_line, h.second_line) for h in report.hazards}


def collected(D):
    thread, i = np.ogrid[:128, :4]
    found = np.zeros((64, 8), np.float32)
    found[thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8, thread % 4 * 2 + i % 2] = D
    return found


def right(D, product):
    """Say whether D is what BODY computes: the first register of a thread is doubled between the two products."""
    wanted = 2 * product
    wanted[:, ::2] += np.where(np.arange(64)[:, None] % 16 < 8, product[:, ::2], 0)
    return (collected(D) == wanted).all()


def test_the_kernel_as_it_should_be():
    text = HEAD + BODY
    product, D, report = launch(text, racecheck=True)
    assert (report.hazards, report.products) == ((), ())
    assert right(D, product)
    for order in ("reverse", "interleaved", 3):
        product, D, report = launch(text, warp_order=order)
        assert right(D, product)


CHANGES = {
    "no fence of the proxy": ([("PROXY;  ", ";  ")], {("proxy", "here-2", "product"), ("proxy", "here-1", "product"),
                                                     ("proxy", "here-2", "second product"), ("proxy", "here-1", "second product")}),
    "a fence of the proxy behind the barrier": (
        [("PROXY;  ", ";  "), ("__syncthreads();\n    float", "__syncthreads(); PROXY;\n    float")], set()),
    "no first fence": ([("FENCE;                              // fence", "// fence")], {("unordered", "product", "product")}),
    "no second fence": ([("FENCE;                              // second fence", "// second fence")],
                        {("unordered", "first use", "second product")}),
    "no commit": ([("COMMIT;                             // commit", "// commit")], {("pending", "product", "first use")}),
    "no wait": ([("WAIT(0);                            // wait", "// wait")], {("pending", "product", "first use")}),
    "a wait for too few": ([("WAIT(0);                            // wait", "WAIT(1);                            // wait")],
                           {("pending", "product", "first use")}),
}


def places(text, found):
    def number(mark):
        name, _, above = mark.partition("-")
        return line(text, name) - int(above or 0)
    return {(kind, number(first), number(second)) for kind, first, second in found}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_missing_is_found(what):
    changes, wanted = CHANGES[what]
    text = HEAD + BODY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    product, D, report = launch(text, racecheck=True)
    assert {(f.kind, f.first_line, f.second_line) for f in report.products} == places(text, wanted)
    assert report.hazards == ()
    assert right(D, product) == (what not in ("no commit", "no wait", "a wait for too few"))
    assert all(str(f.first_line) in str(f) and "wgmma" in str(f) for f in report.products)


def test_the_accumulators_are_poison_until_the_wait():
    text = HEAD + BODY.replace("WAIT(0);                            // wait", "for (int i = 0; i < 4; ++i) D[4 * t + i] = d[i]; return;")
    _, D, _ = launch(text)
    assert set(D.view(np.uint32).ravel()) == {POISON}


def test_operands_are_read_when_the_wait_asks_for_them():
    """An early overwrite shows, and is a hazard."""
    text = HEAD + BODY.replace("WAIT(0);                            // second wait",
                               "if (t < 16) b[t] = make_uint4(0, 0, 0, 0); WAIT(0);  // second wait")
    product, D, report = launch(text, racecheck=True)
    assert not right(D, product)
    assert ("WAR", line(text, "second product"), line(text, "second wait")) in pairs(report)


def test_without_a_barrier_the_write_races_with_the_product():
    text = HEAD + BODY.replace("    __syncthreads();\n    float", "    float")
    _, _, report = launch(text, racecheck=True)
    product = line(text, "product")
    assert pairs(report) & {("RAW", line(text, "here") - 1, product), ("uninitialised", product, product)}


def test_one_warp_that_has_waited_may_let_others_overwrite():
    """A second warpgroup writes behind a barrier to which only one warp of the first has come, as kernels do with a barrier in memory."""
    text = HEAD + BODY.replace("    a[t] = A[t];", """    if (t >= 128) {
        asm volatile("bar.sync 1, 160;" ::: "memory");
        if (t % 128 < 16) b[t % 128] = make_uint4(t, 0, 0, 0);     // producer
        return;
    }
    a[t] = A[t];""").replace("__syncthreads();\n", 'asm volatile("bar.sync 2, 128;" ::: "memory");\n', 1).replace(
        "    __syncthreads();                    // behind\n", """    if (t < 32) asm volatile("bar.ARRIVE 1, 160;" ::: "memory");
    WRITE""").replace("if (t % 128 < 16) b[t % 128] = make_uint4(t, 0, 0, 0); // overwrite", "")
    right_one = text.replace("ARRIVE", "arrive").replace("WRITE", "")
    product, D, report = launch(right_one, block=256, racecheck=True)
    assert right(D, product)
    assert (report.hazards, report.products) == ((), ())
    early = right_one.replace('    if (t < 32) asm volatile("bar.arrive 1, 160;" ::: "memory");\n', "").replace(
        "    WAIT(0);                            // second wait",
        '    if (t < 32) asm volatile("bar.arrive 1, 160;" ::: "memory");\n    WAIT(0);                            // second wait')
    _, _, report = launch(early, block=256, racecheck=True)
    assert ("WAR", line(early, "second product"), line(early, "producer")) in pairs(report)


ONE_WARP_LESS = BODY.replace("    multiply(d, descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), twice);      // product",
                             "    if (t < 96) multiply(d, descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), twice);      // product")


def test_a_warp_that_does_not_come():
    text = HEAD + ONE_WARP_LESS
    with pytest.raises(simt.InvalidOperand, match="not what another warp of its warpgroup executes") as caught:
        launch(text)
    assert caught.value.line in (line(text, "product"), line(text, "second product"))
    ended = HEAD + BODY.replace("    FENCE;                              // fence", "    if (t >= 96) return;\n    FENCE;")
    with pytest.raises(simt.DivergentBarrier, match=r"warp 3 of its warpgroup has not executed: that warp has ended") as caught:
        launch(ended)
    assert caught.value.line == line(ended, "wait")
    unwaited = HEAD + BODY.replace("    FENCE;                              // fence", "    if (t >= 96) return;\n    FENCE;").replace(
        "    COMMIT;                             // commit", "    return;")
    with pytest.raises(simt.DivergentBarrier, match="warp 3 of its warpgroup never does") as caught:
        launch(unwaited)
    assert caught.value.line == line(unwaited, "product")


def test_a_wait_that_nobody_can_end_names_both_lines():
    text = HEAD + BODY.replace("    FENCE;                              // fence",
                               '    if (t >= 96) asm volatile("bar.sync 3, 64;" ::: "memory");  // elsewhere\n    FENCE;')
    with pytest.raises(simt.DivergentBarrier) as caught:
        launch(text)
    assert (caught.value.line, caught.value.other_line) == (line(text, "wait"), line(text, "elsewhere"))


@pytest.mark.parametrize(("old", "new", "error", "message"), [
    ("128, 0), twice)", "128, 0) + (t % 32 == 5), twice)", simt.InvalidOperand, "thread 0 of its warp"),
    ("128, 0), twice)", "128, 0) + (t >= 64), twice)", simt.InvalidOperand, "warp 0 of its warpgroup"),
    ("128, 0), twice)", "128, 0), t % 2)", simt.InvalidOperand, "scale-d"),
    ("    multiply(d, desc", "    if (t % 32) multiply(d, desc", simt.PartialWarp, "is missing"),
    ("descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), twice)", "descriptor(a, 1024, 2048, 0), descriptor(b, 128, 128, 0), twice)",
     simt.OutOfBounds, "descriptor"),
])
def test_operands_that_are_wrong(old, new, error, message):
    text = HEAD + BODY
    assert old in text
    text = text.replace(old, new, 1)
    with pytest.raises(error, match=message) as caught:
        launch(text)
    assert caught.value.line == line(text, "product")


def test_a_block_without_a_warpgroup():
    with pytest.raises(simt.DivergentBarrier, match=r"four whole warps.* has 96"):
        launch(HEAD + BODY, block=96)


def test_products_without_a_wait_come_to_an_end():
    text = HEAD + BODY.replace("    multiply(d, descriptor(a, 1024, 128, 0), descriptor(b, 128, 128, 0), twice);",
                               "#pragma unroll 1\n    for (int i = 0; i < 200; ++i) multiply(d, descriptor(a, 1024, 128, 0), "
                               "descriptor(b, 128, 128, 0), i);")
    with pytest.raises(simt.InvalidOperand, match="keeps 128"):
        launch(text)


def test_another_architecture_has_no_wgmma():
    with pytest.raises((simt.UnsupportedInstruction, simt.CompileError), match="sm_90a|wgmma"):
        simt.launch(HEAD + BODY, "k", 1, 128, [np.zeros(8), np.zeros(8), np.zeros(512, np.float32), np.int32(0)], arch="compute_90")


REGISTERS = """
extern "C" __global__ void __launch_bounds__(384, BLOCKS) k(int* y) {
    __shared__ int order;
    if (threadIdx.x == 0) order = 0;
    __syncthreads();
    if (threadIdx.x < 256) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 UP;");        // inc
        y[threadIdx.x] = atomicAdd(&order, 1);
    } else {
        y[threadIdx.x] = atomicAdd(&order, 1);
        asm volatile("setmaxnreg.dec.sync.aligned.u32 DOWN;");      // dec
    }
}
"""


def run_registers(arch="sm_90a", **defines):
    text = REGISTERS
    for name, value in {**defines, "BLOCKS": 1}.items():
        text = text.replace(name, str(value))
    y = np.zeros(384, np.int32)
    simt.launch(text, "k", 1, 384, [y], arch=arch)
    return y


def test_registers_are_waited_for():
    """Two warpgroups raise their registers when the third has lowered its own: 384 threads begin with 168 each."""
    y = run_registers(UP=232, DOWN=40)
    assert (y[256:] < 128).all()


def test_without_a_limit_the_assembler_ignores_setmaxnreg():
    assert sorted(run_registers(UP=240, DOWN=40, **{", BLOCKS": ""})[:256]) == list(range(256))


def test_registers_that_nobody_gives():
    with pytest.raises(simt.DivergentBarrier, match="more registers per thread that nobody gives back") as caught:
        run_registers(UP=240, DOWN=40)
    assert caught.value.line == line(REGISTERS, "inc")
    with pytest.raises(simt.InvalidOperand, match=r"asks for 160 registers, and the thread has 168"):
        run_registers("compute_90a", UP=160, DOWN=40)       # the assembler would begin with 160, and refuse the next
    with pytest.raises(simt.InvalidOperand, match=r"asks for 200 registers, and the thread has 168"):
        run_registers("compute_90a", UP=168, DOWN=200)
