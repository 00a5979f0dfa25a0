"""Matrix instructions and asynchronous copies in uniform code: bits and counts as in reference code, in any mixture with other code."""

import numpy as np
import pytest

from course_lib import simt
from tests.simt.ptx_kernel import HEAD

STAGED = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void staged(const half* a, const half* b, float* c, int steps, int few, int limit) {
    __shared__ __align__(16) half as[2][16 * 24], bs[2][16 * 24];
    const int t = threadIdx.x, lane = t % 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, (float)(t / 32));
    const unsigned to = __cvta_generic_to_shared(&as[0][lane / 2 * 24 + lane % 2 * 8]);
    const unsigned too = __cvta_generic_to_shared(&bs[0][lane / 2 * 24 + lane % 2 * 8]);
    for (int s = 0; s < steps; ++s) {
        const unsigned at = s % 2 * 2 * 16 * 24;
        if (t < 32) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + at), "l"(a + s * 256 + lane * 8),
                         "r"(s == 1 ? few : 16));
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(too + at), "l"(b + s * 256 + lane * 8));
        }
        asm volatile("cp.async.commit_group;\\n\\tcp.async.wait_group 0;");
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
        wmma::load_matrix_sync(x, as[s % 2], 24);
        wmma::load_matrix_sync(y, bs[s % 2], 24);
        wmma::mma_sync(sum, x, y, sum);
        if (lane < limit) sum.x[0] += c[lane];
        __syncthreads();
    }
    wmma::store_matrix_sync(c + 256 * (1 + t / 32), sum, 16, wmma::mem_row_major);
}
"""


def staged(few=16, limit=32, steps=5, **options):
    rng = np.random.default_rng(9)
    a, b = (rng.standard_normal(steps * 256).astype(np.float16) for _ in range(2))
    c = rng.standard_normal(3 * 256).astype(np.float32)
    report = simt.launch(STAGED, "staged", 1, 64, [a, b, c, np.int32(steps), np.int32(few), np.int32(limit)], **options)
    return c, report


@pytest.mark.parametrize("limit", [32, 0, 5])
@pytest.mark.parametrize("few", [16, 6, 0])
def test_a_kernel_with_stages_is_the_same_in_uniform_and_reference_code(few, limit):
    (found, report), (expected, reference) = staged(few, limit), staged(few, limit, warp_order="interleaved")
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))
    assert (report.counters, report.lines) == (reference.counters, reference.lines)
    (searched, report) = staged(few, limit, racecheck=True)
    assert np.array_equal(searched.view(np.uint32), expected.view(np.uint32))
    assert not report.hazards
    assert report.counters == reference.counters


@pytest.mark.parametrize(("few", "error"), [(17, simt.InvalidOperand), (-1, simt.InvalidOperand)])
def test_a_fault_is_reported_as_by_reference_code(few, error):
    said = []
    for order in ("forward", "interleaved"):
        with pytest.raises(error, match="line 13") as caught:
            staged(few, warp_order=order)
        said.append(str(caught.value))
    assert said[0] == said[1]


def doubles(d, a, b, c, registers=8):
    """One mma of m16n8k4 on registers by their numbers, which may be the same ones; return all registers of all lanes."""
    vectors = ", ".join("{" + ", ".join(f"%d{n}" for n in numbers) + "}" for numbers in (d, a, b, c))
    lines = [f"ld.global.f64 %d{i}, [%at+{8 * i}];" for i in range(registers)]
    lines += [f"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {vectors};"]
    lines += [f"st.global.f64 [%at+{8 * i}], %d{i};" for i in range(registers)]
    text = HEAD + "\n".join([".visible .entry k(.param .u64 p) {", f".reg .f64 %d<{registers}>;", ".reg .b32 %t;", ".reg .b64 %p, %at;",
                             "ld.param.u64 %p, [p];", "cvta.to.global.u64 %p, %p;", "mov.u32 %t, %tid.x;",
                             f"mad.wide.u32 %at, %t, {8 * registers}, %p;", *lines, "ret;", "}"])
    numbers = np.random.default_rng(11).standard_normal((32, registers))
    simt.launch(text, "k", 1, 32, [numbers])
    return numbers


@pytest.mark.parametrize("d", [(3, 4, 5, 6), (4, 3, 6, 5), (0, 1, 2, 7), (2, 7, 0, 1), (5, 6, 3, 4), (7, 0, 1, 2)])
@pytest.mark.parametrize("c", [(3, 4, 5, 6), (3, 3, 3, 3), (0, 1, 2, 3)])
def test_results_may_be_stored_where_factors_and_sums_were(d, c):
    before = np.random.default_rng(11).standard_normal((32, 8))
    lane = np.arange(32)
    A, B, C = np.zeros((16, 4)), np.zeros((4, 8)), np.zeros((16, 8))
    for i, n in enumerate((0, 1)):
        A[lane // 4 + 8 * i, lane % 4] = before[:, n]
    B[lane % 4, lane // 4] = before[:, 2]
    for i, n in enumerate(c):
        C[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2] = before[:, n]
    after = doubles(d, (0, 1), (2,), c)
    for i, n in enumerate(d):
        expected = (A @ B + C)[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2]
        assert np.allclose(after[:, n], expected, rtol=1e-13, atol=1e-13)
    for n in set(range(8)) - set(d):
        assert np.array_equal(after[:, n], before[:, n])
