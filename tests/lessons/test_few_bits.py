"""Lesson 20: what it promises, and every number that its prose says."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib import arch, cp, kernels
from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.explorables.few_bits import bound, matrices, states
from course_lib.lessons import few_bits
from course_lib.lessons.few_bits import eight, pictures, sums
from course_lib.lessons.few_bits.errors import COLOURS, as_power
from course_lib.lessons.few_bits.parts import SIZES, in_e4m3, peaks
from course_lib.lessons.few_bits.sums import DEPTHS, LONGEST, TERMS
from course_lib.magic import from_cell
from course_lib.model.number_formats import UNSPLIT, parts, round_to, scaled_parts
from course_lib.run import max_error, run
from course_lib.run.accuracy import magnitude, reference, roundings, tolerance
from course_lib.toolchain import CompileError, compile_cuda
from tools.record import tensor_probe

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "20_few_bits.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
RAISED = str.maketrans("−.+()f0123456789", "⁻·⁺⁽⁾ᶠ⁰¹²³⁴⁵⁶⁷⁸⁹")
PROSE = re.sub(r"<sup>(.*?)</sup>", lambda found: found[1].translate(RAISED),
               re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split())))
U = 2.0**-24
SEEDS = range(20, 32)                   # of twelve pairs of random matrices; the lesson's own are the first


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def says(text):
    assert text in PROSE, text


def halves(kernel, X):
    """Return both parts of a matrix as the reader's kernel finds them."""
    found = [cp.empty(X.shape, np.float32) for _ in range(2)]
    cp.RawKernel(kernel, "split")((-(-X.size // 256),), (256,), (np.int32(X.size), cp.asarray(X), *found))
    return [part.get() for part in found]


def errors_so_far(a, b, A, B):
    """Return the largest error after each of the four products of two parts, as the lesson adds them up."""
    C, found = np.zeros((len(A), B.shape[1]), np.float32), []
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        C = run("sgemm_bf16", a[i], b[j], C, beta=1).C
        found.append(max_error(C, A, B))
    return found


def test_the_main_path_can_be_read_at_one_sitting():
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    last = next(n for n, cell in enumerate(cells) if cell["id"] == "key-points")
    prose = " ".join("".join(cell["source"]) for cell in cells[:last] if cell["cell_type"] == "markdown")
    assert len(re.findall(r"\w[^\s]*", re.sub(r"\]\([^)]*\)|<[^>]+>|[|*_`#>-]", " ", re.sub("</?sup>", "", prose)))) <= 1460


def test_the_readers_split_is_right_and_mistakes_are_named(mine):
    assert few_bits.check_parts(mine).startswith("right: 1,000 numbers")
    assert few_bits.check_parts(mine.replace("bfloat16(x[i] - part0[i])", "x[i] - part0[i]")).startswith("wrong: part1[0]")
    assert few_bits.check_parts(mine.replace("part0[i] = bfloat16(x[i])", "part0[i] = x[i]")).startswith("wrong: part0[0]")
    with pytest.raises(CourseError, match="Guard the access"):
        few_bits.check_parts(mine.replace("if (i < n) {", "{"))


def test_the_prediction(mine):
    A, B = few_bits.numbers(256)
    first, second, *last = errors_so_far(halves(mine, A), halves(mine, B), A, B)
    assert (as_power(first), round(first / second, 1), list(map(as_power, last))) == ("2⁻¹⁰·⁴", 1.4, ["2⁻¹⁹·⁴", "2⁻¹⁹·⁷"])
    says("A0 · B1 brings the error down to 2⁻¹⁹·⁴")
    says("A1 · B1 brings it only to 2⁻¹⁹·⁷")


class Asked:
    """Stands for `predict`: keeps what is revealed."""

    def __init__(self, *_, **__):
        self.revealed = []

    def reveal(self, number):
        self.revealed.append(number)


def test_every_cell_of_the_main_path_can_be_run_twice_and_again_in_any_order(mine, capsys):
    """Once more each, then all of them backwards: `reveal` asks for a second run of its cell, and the numbers stay the same."""
    steps = ("matrices", "launched", "first", "three-products", "last-two", "short-sums")
    names = {"np": np, "cp": cp, "run": run, "max_error": max_error, "few_bits": few_bits, "split": mine,
             "smaller": Asked(), "short": Asked()}
    printed = {}
    for step in (*(step for step in steps for _ in range(2)), *steps[::-1]):
        exec(CELLS[step], names)
        out = capsys.readouterr().out
        assert printed.setdefault(step, out) == out, step
    assert (printed["first"], printed["last-two"]) == ("2 to the minus 10.4\n", "2 to the minus 19.4\n2 to the minus 19.7\n")
    assert (names["smaller"].revealed, names["short"].revealed) == ([1.4] * 3, [5.5] * 3)


def test_the_picture_and_the_cells_have_the_same_matrices():
    assert all(np.array_equal(shown, used) for shown, used in zip(matrices(), few_bits.numbers(256), strict=True))
    assert as_power(2.0 ** states()["float32"]) == as_power(sums.error_of("sgemm_naive", 256)) == "2⁻²²·⁴"
    says("The *orange line*, at 2⁻²²·⁴")


def test_the_bound_of_two_parts():
    assert bound(7, 1) / bound(7, 2) == pytest.approx(256, abs=1)
    says("at most 2⁻⁸ · 2⁻⁸ = 2⁻¹⁶, is missing: 2⁻¹⁷ + 2⁻¹⁷ + 2⁻¹⁶ = 2⁻¹⁵. That is 256 times smaller than 2⁻⁷")


@pytest.mark.slow
def test_what_part_1_of_a_alone_gains_with_other_numbers():
    gains = []
    for seed in SEEDS:
        A, B = sums.numbers(256, seed=seed)
        first, second, *_ = errors_so_far(parts(A, 2), parts(B, 2), A, B)
        gains.append(round(first / second, 1))
    assert (len(gains), min(gains), max(gains)) == (12, 1.2, 1.8)
    says("With twelve pairs of random matrices the error became 1.2 to 1.8 times smaller")


def test_down_to_which_number_three_parts_are_exact():
    digits = np.random.default_rng(20).integers(0, 2**23, 10_000, np.uint32)

    def exact(exponent):
        x = (np.uint32(exponent + 127 << 23) | digits).view(np.float32)
        return np.sum(parts(x), axis=0, dtype=np.float64) == x
    assert all(exact(exponent).all() for exponent in (-110, -109, 0, 126))
    assert not exact(-111).all()
    says("unless it is tiny (below 2⁻¹¹⁰) or larger than any bfloat16")


def test_the_example_of_the_yardstick():
    A, B = np.float32([[3, 2]]), np.float32([[2], [-2.99]])
    exact, size = reference(A, B).item(), magnitude(A, B).item()
    assert (round(exact, 2), round(size, 2), round(exact / 0.001)) == (0.02, 11.98, 20)
    says("3 · 2 − 2 · 2.99 = 0.02. An error of 0.001 is a twentieth of that, yet tiny beside the two products, 6 and 5.98")
    says("Σ |a| |b|, here 6 + 5.98 = 11.98")


def test_what_there_was_to_find_in_the_picture():
    shown = states()
    one, two, three = ([-x for x in row] for row in shown["errors"])
    assert [round(x, 1) for x in (one[5], two[5])] == [10.4, 19.4]
    assert round(three[5], 1) == 29.1
    assert all(0.3 < after - before < 1.5 for before, after in zip(one[:-2], one[1:-1], strict=True))
    assert next(bits for bits, error in zip(shown["bits"], one, strict=True) if error > -shown["float32"]) == 20
    says("2⁻¹⁰·⁴, well below the bound")
    says("It takes 20")
    says("reach 2⁻¹⁹·⁴, not quite the orange line. Three reach 2⁻²⁹·¹, far below it")
    assert two[5] < -shown["float32"] < two[5] + 3.1 < three[5] - 5


def test_the_rates_of_the_data_sheet():
    h200 = arch.device("H200")

    def per_cycle(gflops):
        return round(gflops * 1e9 / 2 / h200.sms / (h200.clock_mhz * 1e6))
    assert [per_cycle(x) for x in (h200.peak_gflops, h200.peak_gflops_tensor("bf16"))] == [128, 2048]
    says("128 multiply-adds per cycle in float32 (by the instruction FFMA), and 2,048 in bfloat16, on its tensor cores")
    says("Six products leave 2,048 / 6 = 341 per cycle, 2.7 times as many as FFMA")
    assert (round(2048 / 6), round(2048 / 6 / 128, 1)) == (341, 2.7)


def test_in_bfloat16_the_numbers_cost_more_than_the_sums():
    shown = states()
    assert shown["errors"][0][shown["bits"].index(7)] > shown["float32"] + 10
    says("In bfloat16 the numbers cost most")


def test_how_many_products_of_each_instruction_an_h200_was_asked_for():
    """Of `mma` docs/simulator.md tells; `tests/hardware/test_warpgroups.py` compares `wgmma`, with and without a sum so far."""
    tests = LESSON.parents[1] / "tests"
    assert any(form[:3] == ("m16n8k16", "bf16", "f32") for form in tensor_probe.FLOATS)
    assert "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in kernels.get("sbgemm_mma").source
    digests = json.loads((tests / "data/h200_warpgroups.json").read_text())["digests"]
    cases = int(re.search(r"^CASES = (\d+)", (tests / "hardware/test_warpgroups.py").read_text(), re.MULTILINE)[1])
    assert (tensor_probe.CASES, cases * sum(name.startswith("sums.f32.bf16.bf16.") for name in digests)) == (96, 128)
    says("the same bits for 96 products of `mma`, the instruction of this picture, and for 128 of `wgmma`, that of `sgemm_parts`")


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_tensor_cores_end_on_the_side_of_zero_and_those_of_float32_on_both(sign):
    tensor, plain = sums.summed(sign)
    assert (sums.sides(tensor)[::sign], sums.sides(plain)[::sign]) == ((1024, 0, 0), (526, 0, 498))
    axes = pictures.draw_sides().figure.axes[0 if sign > 0 else 1]
    counted = [sum(bar.get_height() for bar in group if (bar.get_x() + bar.get_width() / 2) * sign < 0) for group in axes.containers]
    assert counted == [1024, 526]
    assert f"{'positive' if sign > 0 else 'negative'}, tensor cores: {1024 if sign > 0 else 0} too low" in pictures.describe_sides()
    says("1,024 elements, each a sum of 4,096 terms")
    says("With positive terms 526 of float32's elements are too low and 498 too high; of the tensor cores' all 1,024 are too low")


def test_three_of_nine_products_do_not_matter():
    sizes, plain = sums.sizes_of_products(), sums.error_of("sgemm_naive", 256)
    assert [[bool(size < plain / 100) for size in row] for row in sizes] == [[i + j > 2 for j in range(3)] for i in range(3)]
    assert [[size > plain for size in row] for row in sizes] == [[i + j < 3 for j in range(3)] for i in range(3)]
    says("at least a hundred times smaller than float32's own error")
    says("promise about six times")
    assert few_bits.small_products() == 3
    assert as_power(plain) == "2⁻²²·⁴"
    says("the orange line, 2⁻²²·⁴")
    assert bound(7, 3) == pytest.approx(2 * 2.0**-8 * 2.0**-17, rel=1e-3)


def test_the_picture_of_the_products_has_six_above_the_waterline():
    ax = pictures.draw_products()
    line = ax.lines[0].get_ydata()[0]
    boxes = [text for text in ax.texts if text.get_text().startswith("A")]
    assert len(boxes) == 9
    assert [text.get_text() for text in boxes if text.get_position()[1] < line] == ["A1 · B2", "A2 · B1", "A2 · B2"]
    assert "Below it: A1 B2 2⁻²⁹·⁶, A2 B1 2⁻²⁹·⁴, A2 B2 2⁻³⁸·⁸." in pictures.describe_products()


def test_short_sums_make_the_error_small_and_parts_do_not():
    naive, short, long_sum, both = found = list(sums.ways().values())
    assert list(map(as_power, found)) == ["2⁻²²·⁵", "2⁻²⁴·⁹", "2⁻¹⁸·⁶", "2⁻²⁵·⁴"]
    assert round(long_sum / naive) == 14
    assert short / both < 1.4
    squares = pictures.draw_ways().collections
    assert [square.get_sizes()[0] / pictures.POINTS for square in squares] == pytest.approx([1e8 * error for error in found])
    assert [tuple(square.get_offsets()[0]) for square in squares] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert "float32, sums of 64 terms 2⁻²⁴·⁹; three parts, tensor cores, one long sum 2⁻¹⁸·⁶" in pictures.describe_ways()
    says("`sgemm_naive` is 2⁻²²·⁵, that of `sgemm_parts` 2⁻²⁵·⁴")
    says("Short sums alone bring float32 from 2⁻²²·⁵ to 2⁻²⁴·⁹")
    says("Parts on tensor cores alone, with one long sum, have 2⁻¹⁸·⁶, 14 times as much as `sgemm_naive`")
    assert (LONGEST, TERMS) == (4096, 64)
    assert (LONGEST / (TERMS + LONGEST / TERMS), round(naive / short, 1)) == (32, 5.5)
    assert as_power(sums.exact_sums()) == "2⁻³¹·⁰"
    assert "three parts with exact sums 2⁻³¹·⁰" in pictures.describe_ways()
    says("with exact sums they have 2⁻³¹·⁰")
    says("from about 4,096 · 2⁻²⁴ to 128 · 2⁻²⁴, and becomes 32 times smaller")


def test_the_lines_that_end_a_sum_are_those_of_the_kernel():
    source = kernels.get("sgemm_parts").source
    for line in ("for (int k = 0; k < steps; ++k) {", "float d[BN / 2] = {};", "for (int i = 0; i < BN / 2; ++i) c[i] += d[i];"):
        assert line in source
        says(line)
    assert "#define BK 64 " in source


@pytest.mark.exhaustive
@pytest.mark.slow
def test_short_sums_make_the_error_small_with_other_numbers_too():
    naive, short, long_sum, _ = np.array([list(sums.ways(seed).values()) for seed in SEEDS]).T
    gains, losses = naive / short, long_sum / naive
    assert (len(gains), round(gains.min(), 1), round(gains.max(), 1)) == (12, 5.0, 9.6)
    assert (round(losses.min()), round(losses.max())) == (12, 20)
    says("With twelve pairs of random matrices, short sums made the error of float32 5.0 to 9.6 times smaller")
    says("Parts with one long sum had 12 to 20 times the error of `sgemm_naive`")


def test_a_format_has_one_colour_in_all_pictures():
    speeds, _ = pictures.draw_beside_the_library().figure.axes
    assert [to_hex(group[0].get_facecolor()).upper() for group in speeds.containers] == [COLOURS["float32"], COLOURS["three parts"]]
    script = (LESSON.parents[1] / "course_lib/explorables/few_bits.js").read_text(encoding="utf-8")
    assert f'light: {{ 23: "{COLOURS["float32"].lower()}"' in script
    assert f'7: "{COLOURS["bfloat16"].lower()}"' in script


def test_a_text_that_the_kernel_no_longer_has_is_refused():
    with pytest.raises(ValueError, match="0 times 'no such text'"):
        sums.changed("sgemm_split", ("no such text", ""))


def test_when_two_parts_are_enough():
    errors = {K: sums.error_with_parts(2, K) for K in DEPTHS}
    assert [errors[K] < tolerance(K) for K in DEPTHS] == [False, True, True]
    assert all(errors[K] > sums.error_of("sgemm_naive", K) > sums.error_with_parts(3, K) for K in DEPTHS)
    enough = next(K for K in range(16, 5000, 16) if bound(7, 2) + roundings(K, "bf16x3") * U < tolerance(K))
    assert abs(enough - 580) < 20, enough
    assert bound(7, 2) / U == pytest.approx(512, abs=0.1)
    assert roundings(1024, "bf16x3") == 1024 / 16 + 30
    says("from about K = 580 on. The bound of two parts is 2⁻¹⁵ = 512 · 2⁻²⁴ for the numbers, and (K/16 + 30) · 2⁻²⁴ for the sums: a "
         "float32 addition for every 16 terms, 24 for the 16 terms that a tensor core adds up, and 6 for what is left. Float32's (K + 2) ·")


def test_an_infinity_and_a_number_beyond_bfloat16(mine):
    X = np.full((1, 256), 3.4e38, np.float32)
    X[0, 0] = np.inf
    first, second = halves(mine, X)
    assert np.isinf(first).all()
    assert np.isnan(second[0, 0])
    assert (second[0, 1:] == -np.inf).all()
    repaired = mine.replace("bfloat16(x[i] - part0[i])", "isinf(part0[i]) ? 0.0f : bfloat16(x[i] - part0[i])")
    assert not halves(repaired, X)[1].any()
    assert few_bits.check_parts(repaired).startswith("right")
    says("part1[i] = isinf(part0[i]) ? 0.0f : bfloat16(x[i] - part0[i]);")
    shifts = scaled_parts([[np.inf, 1], [3.4e38, 1], [3.4e38, 2.0**30]], axis=1)[1]
    assert list(shifts[:2]) == [UNSPLIT, UNSPLIT]
    assert shifts[2] < 0
    assert "(beyond: NaN)" in kernels.get("sgemm_split").source


def test_without_a_scale_e4m3_saturates_and_loses_small_numbers():
    rows = few_bits.rows_in_e4m3().rows
    assert [row[1] for row in rows] == ["64 / 0", "47 / 0", "0 / 0", "0 / 40", "0 / 64"]
    assert ({row[3] for row in rows}, rows[2][2]) == ({"2⁻⁶·¹"}, "2⁻⁶·⁴")
    says("its error is 2⁻⁶·¹ instead of 2⁻⁶·⁴")
    rng = np.random.default_rng(20)
    A, B = rng.standard_normal((32, 64), np.float32)[:1], rng.standard_normal((64, 32), np.float32)
    found = [max_error(in_e4m3(row, B), row, B) for row in ((A * 10.0**power).astype(np.float32) for power in SIZES)]
    assert [row[2] for row in rows] == list(map(as_power, found))
    assert [round(error / found[2]) for error in found] == [29, 23, 1, 19, 29]
    says("the error is 19 to 29 times as large as in the row of numbers about 1")
    with pytest.raises(CompileError, match="'.satfinite' modifier required"):
        compile_cuda('__global__ void f(float a, short* b) { asm("cvt.rn.e4m3x2.f32 %0, %1, %1;" : "=h"(*b) : "f"(a)); }',
                     name="f", arch="sm_90a")


def test_a_scale_for_each_row_costs_little():
    rng = np.random.default_rng(20)
    A, B = rng.standard_normal((32, 64), np.float32), rng.standard_normal((64, 32), np.float32)
    assert max_error(in_e4m3(A, B, scaled=True), A, B) < 1.2 * max_error(in_e4m3(A, B), A, B)


def test_the_scoreboard_agrees_with_itself():
    rows = {row["N"]: row for row in readings("warpgroups").find(kernel="sgemm_parts")}
    assert all(rows[N]["ratio"] > 2 for N in (4096, 8192))
    assert rows[1024]["ratio"] < 1 < rows[2048]["ratio"] < 2
    says("At N = 1,024 `sgemm_parts` is slower")
    for row in rows.values():
        assert row["library_error"] > row["error"]
        assert 2e-9 * row["N"] ** 3 / row["ours"] < arch.device("H100 SXM").peak_gflops_tensor("bf16") / 6
        shares = [2e-12 * row["N"] ** 3 / row[who] / peak for who, peak in zip(("library", "ours"), peaks(), strict=True)]
        assert shares[1] / shares[0] * peaks()[1] / peaks()[0] == pytest.approx(row["ratio"], rel=0.05)
        assert all(share < 1 for share in shares)
    assert peaks()[1] / peaks()[0] == pytest.approx(16 / 6)
    assert [row[0] for row in few_bits.beside_the_library().rows] == ["1,024", "2,048", "4,096", "8,192"]


def test_the_bars_of_the_scoreboard_are_the_recorded_speeds_and_errors():
    speeds, errors = pictures.draw_beside_the_library().figure.axes
    rows = readings("warpgroups").find(kernel="sgemm_parts")
    for axes, names in ((speeds, ("library", "ours")), (errors, ("library_error", "error"))):
        bars = [bar.get_width() for group in axes.containers for bar in group]
        shown = [2e-12 * row["N"] ** 3 / row[name] if axes is speeds else row[name] for name in names for row in rows]
        assert bars == pytest.approx(shown)
    assert pictures.describe_beside_the_library().count("cuBLAS") == len(rows)


def test_the_memory_that_the_lesson_names():
    A, _ = scaled_parts(np.ones((2, 8), np.float32), axis=1)
    assert A.nbytes / 16 == 6
    says("6 bytes for the parts of a number, besides its own 4")


def test_which_formats_hold_257():
    number, = (number for number in states()["numbers"] if number["label"] == "257")
    assert {row["name"]: row["value"] for row in number["rows"]} == {
        "float32": "257", "TF32": "257", "bfloat16": "256"}
    assert number["rows"][0]["fraction"].startswith("000000010")
    says("257 is halfway between 256 and 258, and becomes 256")
    assert [float(round_to(x, "bf16")) for x in (256, 257, 258)] == [256, 256, 258]


def test_the_sums_of_fp8():
    """With positive numbers one sum for all of K loses more than rounding does; fresh sums do not."""
    rounding, _, all_of_k = eight.errors(4096)
    assert as_power(all_of_k) == "2⁻³·⁸"
    assert 14.5 < all_of_k / rounding < 15
    assert as_power(eight.errors(16384)[-1]) == "2⁻²·²"
    assert eight.errors(16384)[-1] > 0.2
    for K in eight.DEPTHS:
        assert eight.errors(K)[1] < 2**-9
    says("loses up to 2⁻³·⁸ of an element, nearly fifteen times as much")
    says("At K = 16,384 it is 2⁻²·², more than a fifth. A fresh sum every 128 terms loses less than 2⁻⁹")
