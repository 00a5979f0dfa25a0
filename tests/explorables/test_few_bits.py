"""Lesson 20's explorable: every number that it shows is what a GPU's instructions make of it, and nothing is told before it is played."""

import json

import numpy as np
import pytest
from javascript import evaluate

from course_lib import simt
from course_lib.explorables import few_bits
from course_lib.explorables.few_bits import BITS, LEAST, NUMBERS, PARTS, bound, matrices, product, split, states
from course_lib.model.number_formats import round_to
from course_lib.run import max_error, run
from course_lib.run.accuracy import magnitude

PICTURE = few_bits
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
ROUND = r"""
// x to m bits behind the point: the addition of a large double rounds, to the nearest and to even.
__device__ float rounded(float x, int m) {
    const double large = x == 0 ? 0 : ldexp(1.5, ilogbf(x) + 52 - m);
    return __dadd_rn(__dadd_rn(x, large), -large);
}
extern "C" __global__ void parts(int n, int m, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = x[i];
    for (int part = 0; part < 3; ++part) { y[part * n + i] = rounded(left, m); left -= y[part * n + i]; }
}
extern "C" __global__ void product(int K, int count, const float* A, const float* B, double* C) {
    const int row = blockIdx.x, col = threadIdx.x, N = blockDim.x;
    double sum = 0;
    for (int i = 0; i < count; ++i)
        for (int j = 0; i + j < count; ++j)
            for (int k = 0; k < K; ++k) sum += (double)A[(i * N + row) * K + k] * B[(j * K + k) * N + col];
    C[row * N + col] = sum;
}
"""


def simulated(x, m):
    """Return the three parts of numbers, as the simulator's additions round them."""
    x = np.asarray(x, np.float32)
    y = np.zeros((3, *x.shape), np.float32)
    simt.launch(ROUND, "parts", -(-x.size // 256), 256, [np.int32(x.size), np.int32(m), x.ravel().copy(), y])
    return y


@pytest.mark.parametrize("m", BITS)
def test_every_position_is_what_the_simulator_makes_of_it(m):
    A, B = matrices()
    a, b, own = simulated(A, m), simulated(B, m), simulated(list(NUMBERS.values()), m)
    for found, x in ((a, A), (b, B)):
        assert np.array_equal(found, np.stack(split(x, m, 3)))
    shown = states()
    for n, number in enumerate(shown["numbers"]):
        assert [row["value"] for row in number["own"][m - 2]] == [f"{x:.9g}" for x in own[:, n]]
        left = abs(np.float32(list(NUMBERS.values())[n]) - own.astype(float).cumsum(axis=0)[:, n]) / np.float32(list(NUMBERS.values())[n])
        assert number["left"][m - 2] == [round(np.log2(x), 2) if x else LEAST for x in left]
    for count in PARTS:
        C = np.zeros((32, 32))
        simt.launch(ROUND, "product", 32, 32, [np.int32(A.shape[1]), np.int32(count), a, b, C])
        error = max_error(C, A, B)
        assert shown["errors"][count - 1][m - 2] == pytest.approx(max(np.log2(error), LEAST) if error else LEAST, abs=0.006)
        assert error <= bound(m, count) + 2.0**-50          # what float64 itself loses


@pytest.mark.parametrize(("m", "count"), [(7, 1), (7, 2), (5, 3)])
def test_what_parts_leave_is_at_most_what_the_bound_is_made_of(m, count):
    x = (np.uint32(0x3F800000) + np.arange(2**23, dtype=np.uint32)).view(np.float32)
    left = float(np.max(np.abs(x - np.sum(split(x, m, count), axis=0, dtype=np.float64)) / x))
    allowed = 2.0 ** -((m + 2) * count - 1)
    assert 0.9 * allowed < left <= allowed


@pytest.mark.slow
def test_kernels_of_the_course_have_these_errors_but_for_their_sums():
    A, B = matrices()
    tile = {"BM": 16, "BN": 16, "BK": 16, "WM": 16, "WN": 16}
    tf32 = round_to(A, "tf32").astype(float) @ round_to(B, "tf32").astype(float)       # where two are equally near, TF32 takes the larger
    for name, sum_exact in (("sgemm_mma", tf32), ("sgemm_bf16", product(7, 1)), ("sgemm_split", product(7, 3))):
        C = run(name, A, B, backend="sim", **tile).C
        assert np.max(np.abs(C - sum_exact) / magnitude(A, B)) < 1e-6, name
    assert np.log2(max_error(tf32, A, B)) == pytest.approx(states()["errors"][0][BITS.index(10)], abs=0.006)
    assert states()["float32"] == pytest.approx(np.log2(max_error(run("sgemm_naive", A, B, backend="sim").C, A, B)), abs=0.006)


SAYS = """(m, states) => { const scene = m.sceneOf({ number: 0, bits: 7 }, states);
    return [0, 1, 2].map(at => m.says({ scene }, at)).concat(m.picture.describes({ scene }, 0)); }"""


def test_the_words_ask_first_and_answer_last(page):
    first, middle, last, described = evaluate(page, SAYS, states())
    assert first.endswith("Predict, then play.")
    assert "10.4" not in first + middle + described
    assert middle == "1/3 with 7 fraction bits is off by 2 to the minus 9.0 of it."
    assert last.startswith("With 7 fraction bits the largest error of the product is 2 to the minus 10.4; the bound is 2 to the minus 7.0. "
                           "It is more than sgemm_naive's, 2 to the minus 22.4.")


def test_every_position_says_its_error(page):
    function = """(m, states) => states.errors.map((_, p) => states.bits.map(bits => {
        const scene = m.sceneOf({ number: 2, bits }, states); return [scene.answer, m.says({ scene }, 2 + p)]; }))"""
    for count, row in enumerate(evaluate(page, function, states())):
        for column, (answer, said) in enumerate(row):
            error = states()["errors"][count][column]
            assert answer == -states()["errors"][0][column]
            exact = BITS[column] == 23
            assert error == LEAST or not exact
            assert ("the product is exact" in said) is exact
            assert ("less than sgemm_naive's" in said) is (error < states()["float32"] and not exact)


MOVING = """(m, states) => { const scene = m.sceneOf({ number: 0, bits: 7 }, states);
    return [1, 2, 2.5, 3, 4].map(at => { const { ends, bounds } = m.barsAt(scene, at); return [m.partsAt(at), ends[5], bounds[5]]; }); }"""


def test_each_step_after_the_bars_adds_a_part(page):
    grown, one, between, two, three = evaluate(page, MOVING, states())
    assert grown[1] == LEAST
    for count, shown in enumerate((one, two, three)):
        assert shown == [count + 1, states()["errors"][count][5], states()["bounds"][count][5]]
    assert between[0] == 2
    assert one[1] > between[1] > two[1]


def test_a_move_of_the_fraction_keeps_the_parts(page):
    """And before the bars stand it begins anew."""
    assert evaluate(page, "(m, states) => [0, 1, 2, 2.6, 4].map(at => m.sceneOf({ number: 0, bits: 8 }, states, null, at).begin)",
                    states()) == [0, 0, 2, 2, 4]


INSIDE = """(m, {states, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf({ number: 0, bits: 7 }, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { table, plot, high, cell } = m.layout({ width, height, text, narrow, scene });
    return { width, cell, h: plot.h, ok: plot.x + plot.w <= width && plot.y + plot.h < height && high < height && table.w > 0 };
})"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["cell"] for p in found) > 4
    assert min(p["h"] for p in found) > 140


def test_without_a_widget_the_answer_is_not_told():
    assert "Run this cell" in few_bits().static_text()
    assert "10" not in few_bits().static_text()
    assert len(json.dumps(few_bits().states)) < 45_000
