"""The right answers to the twelve questions, computed: by the simulator, by arithmetic or from a recording. So are wrong numbers."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, simt
from course_lib.arch import device
from course_lib.grading.inventory.questions import load
from course_lib.lessons.tiling import times
from course_lib.lessons.unrolling import experiments
from course_lib.model.occupancy import occupancy
from course_lib.widgets.compute import evaluate

ROOT = Path(__file__).parents[2]
QUESTIONS = {question.key: question for question in load(ROOT).questions}
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
EDGE = """
extern "C" __global__ void multiply(const float* A, const float* B, float* C) {
    __shared__ float As[32][32], Bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, row = 32 * blockIdx.y + ty, col = 32 * blockIdx.x + tx;
    float acc = 0;
    for (int k0 = 0; k0 < 100; k0 += 32) {
        if (k0 + tx < 100) As[ty][tx] = A[100 * row + k0 + tx]; ELSE_A
        if (k0 + ty < 100) Bs[ty][tx] = B[96 * (k0 + ty) + col]; ELSE_B
        __syncthreads();
        for (int k = 0; k < 32; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[96 * row + col] = acc;
}"""


def right(key):
    """Return the text of the right option."""
    question = QUESTIONS[key]
    return question.options[question.letters.index(question.right)].text


def wrong(key, misconception):
    """Return the text of the option behind which this misconception stands."""
    return next(option.text for option in QUESTIONS[key].options if misconception in option.misconception)


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def test_where_an_element_lies():
    rows = np.lib.stride_tricks.as_strided(np.arange(240, dtype=np.float32), (20, 10), (48, 4))
    (row, col), = np.argwhere(rows == 108 // 4)
    assert right("stride") == f"row {row}, column {col}"
    assert wrong("stride", "exchanged") == f"row {col}, column {row}"
    assert wrong("stride", "number of columns") == f"row {27 // 10}, column {27 % 10}"
    assert wrong("stride", "counts elements") == f"row {108 // 12}, column {108 % 12}"


def test_what_neighbouring_threads_ask_for():
    text = """extern "C" __global__ void step(const float* a, float* x, int thread, int far, int s) {
        x[threadIdx.x] = a[thread * threadIdx.x + far * s]; }"""
    a = np.zeros(32_000, np.float32)

    def pieces(thread, far):
        x, counts = np.zeros(32, np.float32), set()
        for s in (0, 1, 7, 500, 999):
            counts.add(simt.launch(text, "step", 1, 32, [a, x, np.int32(thread), np.int32(far), np.int32(s)]).counters[SECTORS])
        return counts.pop() if len(counts) == 1 else None

    apart, beside = pieces(1000, 1), pieces(1, 32)
    assert right("together") == f"{apart} in P, {beside} in Q"
    assert wrong("together", "walks along") == f"{beside} in P, {apart} in Q"
    assert wrong("together", "delivery of its own") == "32 in both"
    assert wrong("together", "amount of data") == f"{32 * 4 // 32} in both"


def test_banks():
    text = """extern "C" __global__ void read(float* out, const int* which) {
        __shared__ float s[128];
        for (int w = threadIdx.x; w < 128; w += 32) s[w] = w;
        __syncthreads();
        out[threadIdx.x] = s[which[threadIdx.x]]; }"""

    def ticks(words):
        return simt.launch(text, "read", 1, 32, [np.zeros(32, np.float32), np.array(words, np.int32)]).counters[WAVEFRONTS]

    lanes = [32 * (t // 8) + 2 * (t % 8) for t in range(32)]
    said = [int(number) for number in re.findall(r"\d+", QUESTIONS["banks"].text.partition("Then")[2])]
    assert said == [n for t in (0, 8, 16, 24) for n in (t, t + 7, *lanes[t:t + 2], *lanes[t + 2:t + 3] * (t == 0), lanes[t + 7])]
    assert right("banks") == f"{ticks([5] * 32)} for the first, {ticks(lanes)} for the second"
    assert wrong("banks", "distance") == f"1 for the first, {lanes[1] - lanes[0]} for the second"
    assert wrong("banks", "never wait") == "1 for the first, 1 for the second"
    assert wrong("banks", "same word") == f"32 for the first, {ticks(lanes)} for the second"


def test_use_what_was_brought_again():
    square, long = (evaluate("sgemm_tiled", 128, {"BM": BM, "BN": 16, "BK": 16}, backend="sim").count("sectors") for BM in (16, 64))
    assert right("reuse") == f"{Fraction(long, square)} of them"
    assert wrong("reuse", "area") == f"{Fraction(math.isqrt(16 * 16), math.isqrt(64 * 16))} of them"
    assert wrong("reuse", "number of tiles") == f"{Fraction(16 * 16, 64 * 16)} of them"


def test_several_results_per_thread():
    text = """extern "C" __global__ void product(float* out, int n) {
        __shared__ volatile float a[64], b[64];
        a[threadIdx.x] = b[threadIdx.x] = 1; a[threadIdx.x + 32] = b[threadIdx.x + 32] = 1;
        __syncthreads();
        float acc[6][3] = {};
        for (int k = 0; k < n; ++k) {
            float x[6], y[3];
            for (int i = 0; i < 6; ++i) x[i] = a[(6 * k + i) % 64];
            for (int j = 0; j < 3; ++j) y[j] = b[(3 * k + j) % 64];
            for (int i = 0; i < 6; ++i) for (int j = 0; j < 3; ++j) acc[i][j] += x[i] * y[j];
        }
        float sum = 0;
        for (int i = 0; i < 6; ++i) for (int j = 0; j < 3; ++j) sum += acc[i][j];
        out[threadIdx.x] = sum; }"""
    few, many = (simt.launch(text, "product", 1, 32, [np.zeros(32, np.float32), np.int32(n)]).counters for n in (8, 24))
    loads, fused = (many[name] - few[name] for name in ("smsp__sass_inst_executed_op_shared_ld.sum",
                                                        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"))
    assert right("registers") == str(Fraction(32 * loads, fused))
    assert [wrong("registers", words) for words in ("both of its factors", "serve all", "only one of the two")] == [
        "2", str(Fraction(2, 18)), str(Fraction(6, 18))]


def test_how_much_fits_at_a_time():
    fits = occupancy(device("H200"), 256, 64, 70 * 1024)
    assert right("resident") == str(fits.blocks)
    assert wrong("resident", "shared memory is not divided") == str(min(fits.limits[name] for name in ("warps", "registers", "blocks")))
    assert wrong("resident", "number of threads") == str(fits.limits["warps"])
    assert wrong("resident", "largest number") == str(fits.limits["blocks"])


def test_what_hides_waiting():
    """Recorded: 4 warps of a scheduler with one chain each, one with 4, and one with a single chain, in multiply-adds per cycle."""
    rows = {(row["threads"], row["CHAINS"]): (row["low"] + row["high"]) / 2 for row in data.readings("micro").find(kernel="micro_chains")}
    groups, chains, alone = 4 / rows[512, 1], 4 / rows[128, 4], 1 / rows[128, 1]
    assert right("waiting") == "Both the same, about one in each cycle"
    assert groups == pytest.approx(1, rel=0.1)
    assert chains == pytest.approx(1, rel=0.1)
    assert alone == pytest.approx(1 / 4, rel=0.05)


def test_who_comes_first():
    text = """extern "C" __global__ void turn(const float* a, float* b) {
        __shared__ float s[64]; const int t = threadIdx.x; float x;
        s[t] = a[t]; __syncthreads();
        x = s[63 - t];
        WAIT
        s[t] = 2 * x; __syncthreads();
        b[t] = s[63 - t]; }"""

    def hazards(wait):
        return {hazard.kind for hazard in simt.launch(text.replace("WAIT", wait), "turn", 1, 64,
                                                      [np.ones(64, np.float32), np.zeros(64, np.float32)], racecheck=True).hazards}

    assert hazards("")
    assert not hazards("__syncthreads();")
    assert right("order") == "Another wait() is missing between lines 3 and 4."


def test_which_memory_limits():
    rates = {"a faster main memory": 2000 / 1, "a faster shared memory": 16000 / 64, "faster arithmetic units": 1000}
    text = QUESTIONS["limit"].text
    assert {"64", "8", "1", "16,000", "4000", "2000", "1000"} == set(re.findall(r"\d+(?:,\d+)?", text))
    assert min([*rates.values(), 4000 / 8]) == rates[right("limit")], "results in a nanosecond"
    assert sum(rate == min(rates.values()) for rate in rates.values()) == 1


def test_where_a_tile_leaves_the_matrix():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((96, 100)).astype(np.float32), rng.standard_normal((100, 96)).astype(np.float32)

    def share_right(zeros):
        C, text = np.zeros((96, 96), np.float32), EDGE
        for name in "AB":
            text = text.replace(f"ELSE_{name}", f"else {name}s[ty][tx] = 0;" if zeros else "")
        simt.launch(text, "multiply", (3, 3), (32, 32), [A, B, C])
        return np.isclose(C, A.astype(float) @ B, atol=1e-3, rtol=0).mean()

    assert share_right(zeros=True) == 1
    assert share_right(zeros=False) < 0.001, "all but what chance makes right"
    assert right("edge") == "all of them"


def test_what_a_measurement_says():
    """Recorded: neither count has to move the time. Half as many sectors take as long within 2 %, and so do a third fewer instructions."""
    small, large = ((times.sectors("tiled", T), times.seconds("tiled", T)) for T in (16, 32))
    assert small[0] == pytest.approx(2 * large[0])
    assert small[1] == pytest.approx(large[1], rel=0.02)
    after, before = experiments.additions()[2:4]
    assert after.instructions == pytest.approx(2 / 3 * before.instructions, rel=0.03)
    assert after.ms == pytest.approx(before.ms, rel=0.03)
    assert right("counts").startswith("that cannot be told without a version that changes only one")


def test_rounding():
    text = """extern "C" __global__ void add(float* out, float big, float one) {
        float P = big, Q = 0;
        for (int i = 0; i < 16; ++i) { P += one; Q += one; }
        out[0] = P; out[1] = big + Q; }"""
    out = np.zeros(2, np.float32)
    simt.launch(text, "add", 1, 1, [out, np.float32(2**24), np.float32(1)])
    assert numbers(right("sum")) == out.tolist()
    assert numbers(wrong("sum", "more exact")) == out.tolist()[::-1]
    assert {wrong("sum", "order"), wrong("sum", "whichever")} == {f"Both get {2**24 + 16:,}.", f"Both get {2**24:,}."}


def test_every_question_has_a_test_here():
    text = Path(__file__).read_text(encoding="utf-8")
    assert [key for key in QUESTIONS if f'right("{key}")' not in text] == []


def test_each_question_names_a_section_of_a_lesson_that_exists():
    for question in QUESTIONS.values():
        cells = json.loads((ROOT / f"notebooks/{question.lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        assert f"## {question.section}\n" in f"{text}\n", question.key
