"""`report.loops`: static machine code of each loop, of the launch's own source, options and architecture."""

import numpy as np
import pytest
from launching import FLT, INT, launch
from ptx_text import entry

from course_lib import kernels, simt, toolchain

SUM = """extern "C" __global__ void f(const TYPE* x, float* out, int n, float a) {
    float sum = 0;
#pragma unroll UNROLL
    for (int i = 0; i < n; ++i) {
        const TYPE v = x[i * 32 + threadIdx.x];
        sum = sum * a + TAKE;
    }
    out[threadIdx.x] = sum;
}"""


def run(kind="float", take="v", unroll=1, n=16, **how):
    size = {"float": 1, "float2": 2, "float4": 4}[kind]
    args = [np.ones(32 * n * size, FLT), np.zeros(32, FLT), INT(n), FLT(0.5)]
    return launch(SUM, args, defines={"TYPE": kind, "TAKE": take, "UNROLL": unroll}, **how)


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("unroll", [1, 2, 4, 8])
def test_an_unrolled_body_has_its_multiply_adds_as_often(unroll):
    loop = max(run(unroll=unroll).loops, key=lambda loop: loop.counts["FFMA"])
    assert (loop.counts["FFMA"], loop.counts["LDG"], loop.counts["LDG.32"], loop.counts["LDS"]) == (unroll, unroll, unroll, 0)
    assert loop.depth == 1
    assert {5, 6} <= set(loop.lines) <= {4, 5, 6}
    assert loop.counts["instructions"] >= 2 * unroll + 2


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("kind", "take", "bits"), [
    ("float", "v", 32), ("float2", "v.x + v.y", 64), ("float4", "v.x + v.y + v.z + v.w", 128),
])
def test_loads_by_width(kind, take, bits):
    counts = run(kind, take).loops[0].counts
    assert {w: counts[f"LDG.{w}"] for w in (32, 64, 128)} == {w: int(w == bits) for w in (32, 64, 128)}


@pytest.mark.slow
def test_a_tile_kernel_against_its_own_arithmetic():
    """The inner loop over k is unrolled: BK · TM · TN multiply-adds a turn, and every element of both tiles is read once a thread."""
    kernel = kernels.get("sgemm_2d_tile")
    values = kernel.check(BM=32, BN=32, BK=8, TM=4, TN=2)
    N = 32
    ones = np.ones((N, N), FLT)
    args = [INT(N), INT(N), INT(N), FLT(1), ones, INT(N), ones, INT(N), FLT(0), np.zeros((N, N), FLT), INT(N)]
    report = launch(kernel.source, args, name=kernel.entry, grid=kernel.grid(N, N, **values), block=kernel.block(**values),
                    defines=kernel.defines(**values))
    loop = max(report.loops, key=lambda loop: loop.counts["FFMA"])
    assert loop.counts["FFMA"] == 8 * 4 * 2
    assert sum(loop.counts[f"LDS.{w}"] * w // 32 for w in (32, 64, 128)) == 8 * (4 + 2)
    assert loop.counts["BAR"] == 2
    assert loop.counts["LDG"] == 4, "256 elements of either tile, 128 threads"


def test_the_launchs_architecture_and_options_are_used():
    plain, other = run(), run(arch="sm_80")
    assert (plain.cubin, other.cubin) == tuple(
        toolchain.compile_cuda(SUM, defines={"TYPE": "float", "TAKE": "v", "UNROLL": 1}, arch=arch).cubin for arch in ("sm_90", "sm_80"))
    fused, apart = run(), run(options=("--fmad=false",))
    assert [r.loops[0].counts["FFMA"] for r in (fused, apart)] == [1, 0]
    assert apart.loops[0].counts["FMUL"] == 1


def test_the_kernel_that_was_launched_not_its_neighbour():
    source = SUM.replace("UNROLL", "1") + SUM.replace("void f(", "void g(").replace("UNROLL", "4")
    args = [np.ones(64, FLT), np.zeros(32, FLT), INT(2), FLT(1)]
    found = [launch(source, args, name=name, defines={"TYPE": "float", "TAKE": "v"}).loops for name in "fg"]
    assert [max(loop.counts["FFMA"] for loop in loops) for loops in found] == [1, 4]


def test_no_loops_no_work_and_nothing_twice(monkeypatch):
    report = launch('extern "C" __global__ void f(float* x) { x[threadIdx.x] *= 2; }', [np.ones(32, FLT)])
    asked = []
    monkeypatch.setattr(toolchain, "sass", lambda *given: asked.append(given) or ())
    assert asked == []
    assert report.loops == report.loops == ()
    assert len(asked) == 1


@pytest.mark.parametrize("how", [{"source": entry("mov.b32 %r1, 1;"), "name": "k"}, {"source": "cuda", "arch": "compute_90"}])
def test_without_machine_code_the_error_says_so(how):
    source = 'extern "C" __global__ void f(float* x) {}' if how["source"] == "cuda" else how["source"]
    report = launch(source, [np.ones(32, FLT)], name=how.get("name", "f"), arch=how.get("arch", "sm_90"))
    assert report.cubin == b""
    with pytest.raises(simt.SimtError, match="no machine code"):
        _ = report.loops
