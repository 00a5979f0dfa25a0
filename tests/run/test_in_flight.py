"""What is on its way at each wait: counted from the trace, against what the kernels' texts say, and lane by lane."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.run import pipeline_steps, run, stages_in_flight
from course_lib.run.in_flight import copied_bytes
from course_lib.run.traces import every_warp

HEAD = "#include <cuda_pipeline.h>\n"


def launched(body, **how):
    source = HEAD + 'extern "C" __global__ void f(const float* x) {\n__shared__ float s[4][32];\nconst int t = threadIdx.x;\n' + body + "}"
    return simt.launch(source, "f", 1, 32, [np.ones(128, np.float32)], trace=[(0, 0)], **how)


def of(waits):
    return [(w.groups, w.groups_left, w.bytes, w.bytes_left) for w in waits]


def expected(stages, steps, size):
    """What a text of the stream-K kernels says for one tile: S - 1 stages first, then a wait and one more in each step; zeros last."""
    def under_way(first, count):
        return size * sum(first <= step < first + count for step in range(steps))
    one = [(stages - 1, stages - 2, under_way(step, stages - 1), under_way(step + 1, stages - 2)) for step in range(steps + 1)]
    return [*one, (stages - 2, 0, under_way(steps + 1, stages - 2), 0)]


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize(("name", "parameters", "item"), [
    ("sgemm_stream_k", {"BM": 128, "BN": 64, "BK": 8, "WIDE": 4}, 4), ("sgemm_stream_k", {"BM": 128, "BN": 64, "BK": 8, "WIDE": 1}, 4),
    ("dgemm_stream_k", {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WIDE": 2}, 8)])
def test_a_kernel_that_shares_out_steps_has_all_stages_but_one_on_their_way(name, parameters, item, stages, steps):
    p, kind = parameters, np.float32 if item == 4 else np.float64
    A, B = np.ones((p["BM"], steps * p["BK"]), kind), np.ones((steps * p["BK"], p["BN"]), kind)
    warps = 4 if item == 8 else 2
    result = run(name, A, B, backend="sim", trace=every_warp((1, 1), (32, warps)), STAGES=stages, blocks=1, **p)
    assert result.block == (32 * warps, 1, 1)
    for warp in range(warps):
        waits = [w for w in stages_in_flight(result) if w.warp == warp]
        assert of(waits) == expected(stages, steps, item * p["BK"] * (p["BM"] + p["BN"]) // warps)
        assert {"wait" in result.kernel.source.splitlines()[w.line - 1] for w in waits} == {True}


@pytest.mark.sampled(test=1)
def test_two_buffers_have_one_step_on_its_way_and_none_behind_the_wait():
    """B alone is copied asynchronously; its copies are in no group, and `wait_all` ends them."""
    A = np.ones((128, 80), np.float32)
    result = run("sgemm_double_buffered", A, A.T.copy(), backend="sim", trace=[((0, 0, 0), w) for w in range(8)])
    waits = stages_in_flight(result)
    assert of(waits) == [(0, 0, 4 * 16 * 128 // 8, 0)] * (5 * 8)
    assert sorted({w.warp for w in waits}) == list(range(8))


def test_edges_are_not_asked_for():
    """K = 20 of 24: the last step asks for half of its columns; half of the tile's rows are outside. A copy of zeros reads nothing."""
    p = {"BM": 128, "BN": 64, "BK": 8, "WIDE": 1, "STAGES": 3, "blocks": 1}
    A, B = np.ones((64, 20), np.float32), np.ones((20, 64), np.float32)
    result = run("sgemm_stream_k", A, B, backend="sim", trace=every_warp((1, 1), (32, 2)), **p)
    whole, half = 4 * 8 * (64 + 64), 4 * 4 * (64 + 64)
    first, second = ([w.bytes for w in stages_in_flight(result) if w.warp == warp] for warp in (0, 1))
    both = [a + b for a, b in zip(first, second, strict=True)]
    assert both == [2 * whole, whole + half, half, 0, 0]


def test_groups_end_lane_by_lane():
    """Half of the lanes wait for all but two of three groups, the others for all but one; what no group holds, only `wait_all` ends."""
    report = launched("""
    for (int g = 0; g < 3; ++g) {
        __pipeline_memcpy_async(&s[g][t], &x[32 * g + t], 4);
        __pipeline_commit();
    }
    if (t < 16) __pipeline_wait_prior(2); else __pipeline_wait_prior(1);
    __pipeline_memcpy_async(&s[3][t], &x[96 + t], 4);
    __pipeline_wait_prior(0);
    asm volatile("cp.async.wait_all;");
""")
    waits = stages_in_flight(report)
    assert of(waits[2:]) == [(2, 0, 16 * 8 + 16 * 4 + 128, 128), (0, 0, 128, 0)]
    leaves_two = next(r for r in report.trace if "wait" in r.operation).operation == "cp.async.wait_group 2"      # either half may be first
    between = 3 * 128 - 16 * 4 * (1 if leaves_two else 2)
    assert of(waits[:2]) == [(3, 3, 384, between), (3, 2, between, 16 * 8 + 16 * 4)]


def test_what_an_mbarrier_tells_of_is_no_group():
    """A bulk copy, and an arrival behind copies: they are waited for by a phase, and no wait for groups ends them."""
    body = """
    __shared__ __align__(16) float tile[32];
    __shared__ unsigned long long bar;
    const unsigned b = __cvta_generic_to_shared(&bar), to = __cvta_generic_to_shared(tile);
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 33; fence.mbarrier_init.release.cluster;" ::"r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(to), "l"(x), "r"(b));
    }
    __syncwarp();
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (unsigned done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b));
"""
    report = launched(body)
    assert of(stages_in_flight(report)) == [(1, 0, 128, 0)]
    assert copied_bytes(report) == 128
    assert report.pipeline.stages == {0: 1}
    assert launched("").pipeline is None


def test_the_trace_says_how_many_groups_a_wait_leaves():
    report = launched("""
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"l"(__cvta_generic_to_shared(&s[0][t])), "l"(x + t), "r"(t / 8 % 2 * 4));
    __pipeline_commit();
    __pipeline_wait_prior(3);
""")
    reads, writes, commit, wait = report.trace
    assert [r.operation for r in report.trace] == ["cp.async.ca.shared.global"] * 2 + ["cp.async.commit_group", "cp.async.wait_group 3"]
    assert ((reads.addresses >= 0).tolist(), (writes.addresses >= 0).all()) == ([False] * 8 + [True] * 8 + [False] * 8 + [True] * 8, True)
    assert {(r.mask, r.width, r.space) for r in (commit, wait)} == {(0xFFFFFFFF, 0, None)}
    assert of(stages_in_flight(report)) == [(1, 1, 16 * 4, 16 * 4)]


def test_without_a_trace_or_a_wait_it_says_so():
    for body, words in (("__syncthreads();\n", "no traced warp waits"), (None, "has no trace")):
        with pytest.raises(CourseError, match=words):
            stages_in_flight(launched(body) if body else SimpleNamespace(trace=()))


@pytest.mark.parametrize("order", ["forward", "reverse", "interleaved"])
def test_who_waits_for_what_in_a_pipeline_of_three_stages(order):
    """The producer, warp 0, and two consumers of hardware/kernels/bulk_stages.cu: each does its steps in the order of the text."""
    tiles, stages = 7, 3
    x, y = np.arange(2 * 128 * tiles, dtype=np.int32), np.zeros(2 * 128 * tiles, np.int32)
    report = simt.launch(Path(__file__).parents[1] / "hardware/kernels/bulk_stages.cu", "bulk_stages", 2, 96, [np.int32(tiles), x, y],
                         trace=every_warp((2, 1), (96, 1)), warp_order=order)
    steps = [s for s in pipeline_steps(report) if s.what != "init"]
    for block in (0, 0, 0), (1, 0, 0):
        of_warp = [[s for s in steps if s.block == block and s.warp == warp] for warp in range(3)]
        said = [[(s.what, s.place, s.offset) for s in of] for of in of_warp]
        assert said[0] == [step for i in range(tiles) for step in (
            ("wait", "empty", 8 * (i % stages)), ("arrive", "full", 8 * (i % stages)), ("copy", "buffer", 512 * (i % stages)))]
        assert said[1] == said[2] == [step for i in range(tiles) for step in (
            ("wait", "full", 8 * (i % stages)), ("arrive", "empty", 8 * (i % stages)))]
        waits, copies = of_warp[0][::3], of_warp[0][2::3]
        for i in range(tiles):
            for consumer in of_warp[1:]:
                wait, arrival = consumer[2 * i:2 * i + 2]
                assert wait.first <= wait.last < arrival.first == arrival.last
                assert copies[i].first < wait.last, "nobody has a tile before it is copied"
                assert i + stages >= tiles or arrival.first < waits[i + stages].last, "nor is it overwritten before it is read"
        assert max(s.last for of in of_warp for s in of) < sum(r.block == block for r in report.trace)


def test_steps_of_groups_of_one_mbarrier_and_of_no_pipeline():
    """Copies of one line are one step; a wait behind a load is another one."""
    report = launched("""
    for (int i = 0; i < 3; ++i) __pipeline_memcpy_async(&s[i][t], &x[32 * i + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 2; ++i) __pipeline_memcpy_async(&s[2 * i + 1][t], &x[t], 4);
    __pipeline_wait_prior(0);
""")
    assert [(s.what, s.place, s.offset) for s in pipeline_steps(report)] == [
        ("copy", "s", 0), ("wait for copies", "", 0), ("copy", "s", 128), ("wait for copies", "", 0)]
    report = launched("""
    __shared__ unsigned long long bar;
    const unsigned b = __cvta_generic_to_shared(&bar);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b));
    __syncwarp();
    for (int i = 0; i < 2; ++i) {
        for (unsigned done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b));
        (void)((volatile float*)s[0])[t];
    }
""")
    assert [s.what for s in pipeline_steps(report)] == ["init", "arrive", "wait", "wait"]
    with pytest.raises(CourseError, match="no traced warp uses an mbarrier"):
        pipeline_steps(launched("__syncthreads();"))
