"""Lesson 02: what it promises, and every number that its prose says."""

import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from cpu_tools import needs_c
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.data.documents import LEE_CPU
from course_lib.explorables.sets import FLOATS, first_cache, reads, still_there
from course_lib.kernels import cpu_kernel
from course_lib.lessons import cpu
from course_lib.lessons.cpu import crowding, here, loops, play, recorded, variants
from course_lib.magic import from_cell
from course_lib.model.cache_lines import CacheShape, blocked_accesses
from course_lib.run import count_lines, matches, run_cpu
from course_lib.widgets.compute import inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "02_cpu.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
ANYWHERE = {("ikj", 1024): 4_202_496, (16, 1024): 528_384}            # lines of crowding.ROWS rows of C, if a line might lie anywhere
ONE_CHANGE = (variants.YOURS, variants.WITH_ENDS, variants.K_OUTSIDE)


@pytest.fixture(scope="module")
def mine():
    """Return the worked loops of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


@pytest.fixture(scope="module")
def careless():
    return from_cell(CELLS["careless"])[1]


def said(*sentences):
    """Assert that the prose has all of these."""
    for sentence in sentences:
        assert sentence in PROSE, sentence


@pytest.mark.slow
def test_the_worked_loops_are_right_on_every_input(mine):
    verdict = cpu.check(mine)
    assert verdict.passed
    assert repr(verdict).startswith("blocked: passed: 4 inputs"), "the name of the cell"


@pytest.mark.slow
def test_the_count_is_that_of_the_instrumented_program_and_of_the_formula(mine):
    lines = cpu.count(mine, N=128, cache=4096)
    assert lines == loops.count_blocks(16)
    assert lines.fetched == {"A": 8192, "B": 8192, "C": 1024}
    assert lines.per_multiply_add == cpu.lines_per_multiply_add(16, 128) == 1 / 128 + 1 / 2048
    assert round(lines.per_multiply_add, 4) == 0.0083
    small = loops.count_blocks(16, N=32, cache=1024).fetched
    assert small["B"] == loops.count_order("ikj", 32, 1024).fetched["B"] == 2048
    assert small["B"] == loops.count_order("ikj", 32, 4096).fetched["B"], "on the left no more lines stay in 4 KiB"
    said("Both sides fetch 2,048 lines of B", "will fetch 2,048 lines of B", "The left side fetches 2,048 lines of B again")
    assert loops.count_blocks(16, N=32, cache=4096).fetched["B"] < 2048
    assert 32 * 32 // 16 == 64
    said("Both sides multiply 32 × 32 matrices", "16 floats of a row, so B has 64")
    said("8 × 8 × 8 = 512 products", "512 × 16 = 8,192", "With b = 16 and N = 128 it is 0.0083")


PLAIN = """// %%c blocked
for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j)
            C(i, j) += A(i, k) * B(k, j);
"""
STRIPS = PLAIN.replace("for (int j = 0; j < N;", "for (int j = j0; j < j0 + 16;").replace(
    "// %%c blocked", "// %%c blocked\nfor (int j0 = 0; j0 < N; j0 += 16)")


@pytest.mark.slow
@pytest.mark.parametrize("text", [PLAIN, STRIPS], ids=["ikj", "blocks of columns alone"])
def test_right_loops_that_are_not_in_blocks_do_not_pass(text):
    verdict, often = cpu.check(text), cpu.count(text, 64).total / loops.count_blocks(16, 64).total
    assert not verdict.passed
    assert [case.passed for case in verdict.cases] == [True] * 4
    assert "not blocked: Right, but not in blocks that fit a cache. On 64 × 64 matrices, with a cache of 4 KiB, " \
        f"these loops fetch {often:.1f} times as many cache lines as loops in blocks of 16 × 16." in repr(verdict)
    said("Loops that are right, but not in blocks, do not pass")


@pytest.mark.slow
@pytest.mark.parametrize("b", [8, 16])
def test_blocks_of_either_size_pass(mine, b):
    verdict = cpu.check(mine.replace("const int b = 16", f"const int b = {b}"))
    assert verdict.passed
    assert ("not the b or the order of blocks that the next section counts" in repr(verdict)) is (b != 16)


@pytest.mark.slow
def test_another_order_of_blocks_passes_and_is_told(mine):
    first, second = "for (int j0 = 0; j0 < N; j0 += b)", "for (int k0 = 0; k0 < K; k0 += b)"
    verdict = cpu.check(mine.replace(first, "…").replace(second, first).replace("…", second))
    assert verdict.passed
    assert "k0 in the third loop" in repr(verdict)


def others_between(matrix, block):
    """Return how many other lines lie between each two uses of a line of a matrix in six loops, by the line's row in its block."""
    small, found, last, order = loops.BLOCK * 2, {}, {}, []
    for which, row, column in blocked_accesses(small, small, small, block, block, block):
        line = (which, row, column // 16)
        if line in last and which == matrix and line != order[-1]:
            others = len(set(order[last[line] + 1:]) - {line})
            if others > 3:                  # not from one multiply-add to the next
                found.setdefault(row % block, set()).add(others)
        last[line] = len(order)
        order.append(line)
    return found


@pytest.mark.slow
def test_what_the_loops_touch_before_a_line_is_needed_again():
    of_b, of_c = others_between(1, 16), others_between(2, 16)
    assert [min(of_b[row]) - 15 for row in range(16)] == [3, *[4] * 14, 3], "at most 2 of A, 2 of C"
    assert [max(of_c[row]) for row in range(16)] == [48, *[63] * 14, 47], "with the line itself, four blocks"
    said("the other 15 lines of this block of B, and at most two lines of A and two of C", "the loops touch the lines of four blocks")


def test_a_line_of_b_is_fetched_for_each_row_of_c_or_for_each_row_of_blocks():
    lines = 32 * 2
    plain, blocks = loops.count_order("ikj", 32, 4096).fetched["B"], loops.count_blocks(16, 32, 4096).fetched["B"]
    assert (plain / lines, blocks / lines) == (32, 2)
    said(f"it was fetched {plain // lines} times on the left, and twice on the right", "the other 63 lines of B",
         "the other 15 lines of this block of B")


@pytest.mark.slow
@needs_c
def test_a_c_compiler_counts_and_computes_the_same(mine):
    A, B, _ = inputs(128, 128, 128)
    counted = count_lines(mine, A, B, cache=CacheShape(4096))
    assert counted.fetched == cpu.count(mine).fetched
    assert matches(run_cpu(mine, A, B, timed=False).C, A, B)


@needs_c
def test_the_readers_loops_are_timed_beside_ikj_when_they_are_right(mine, careless, monkeypatch, capsys):
    for name, value in (("LARGE", 64), ("PADDED", 80), ("ROUNDS", 1)):
        monkeypatch.setattr(here, name, value)
    table = cpu.measured(mine)
    assert [row[0] for row in table.rows] == ["ikj", "your loops, b = 16", "your loops, b = 64"]
    assert table.header == ("", *(f"{ld} floats, {where}" for ld in (64, 80) for where in ("measured", "recorded")))
    assert all(re.fullmatch(r"[\d.e-]+ ms \([\d.e-]+ to [\d.e-]+\)", cell) for row in table.rows for cell in row[1::2])
    without_b = mine.replace("const int b = 16;", "").replace("+ b", "+ 16").replace("+= b", "+= 16")
    assert [row[0] for row in cpu.measured(without_b).rows] == ["ikj", "your loops"]
    assert cpu.measured(careless) is None
    assert "do not compute the product" in capsys.readouterr().out


@needs_c
def test_both_sizes_of_the_readers_loops_are_those_that_are_named(mine):
    assert here.with_sizes(mine.replace("const int b = 16", "const int b = 32")) == {
        16: ("your loops, b = 16", mine), 64: ("your loops, b = 64", mine.replace("const int b = 16", "const int b = 64"))}


def test_the_recorded_times_stand_beside_the_readers():
    for program, (kernel, parameters) in crowding.PROGRAMS.items():
        for ld in (1024, 1040):
            row = recorded.row(kernel, ld=ld, parameters=parameters)
            best, middle, worst = (1e3 * row[f"{name}_s"] for name in ("best", "median", "worst"))
            assert here.recorded(program, ld) == f"{middle:.3g} ms ({best:.3g} to {worst:.3g})"
    assert here.recorded("ikj", 64) == here.recorded("", 1024) == "", "no such recording"
    assert here.recorded_cpu() == "AMD EPYC, family 26, model 2"
    assert set(here.SIZES) < set(crowding.PROGRAMS)


@pytest.mark.slow
def test_ikj_fetches_sixteen_times_as_many_lines_of_b(mine):
    rows = cpu.beside_ikj(cpu.count(mine)).rows
    assert [row[3] for row in rows] == ["0.125", "16", "1", "7.65", ""]
    plain = loops.count_order("ikj")
    assert plain.fetched["B"] == 128 * 1024 == 131_072
    said("131,072 in all", "2b²/(16b³) = 1/(8b) lines", "1/(8b) + 1/(16N)",
         "a block of A comes again for each of the 8 blocks of C beside it")


@pytest.mark.slow
def test_what_the_controls_show():
    counted = {(b, kib): play.counted(b, 1024 * kib)[1].per_multiply_add for b in play.BLOCKS for kib in (4, 8, 16)}
    best = {kib: min(play.BLOCKS, key=lambda b: counted[b, kib]) for kib in (4, 16)}
    assert best == {4: 16, 16: 32}
    assert 7.5 < counted[32, 4] / counted[16, 4] < 8.5, "eight times as many"
    plain = loops.count_order("ikj").per_multiply_add
    assert counted[32, 4] > plain
    assert counted[16, 4] == cpu.lines_per_multiply_add(16, 128)
    assert counted[32, 16] == cpu.lines_per_multiply_add(32, 128)
    assert [loops.count_blocks(16, cache=64 * lines).fetched["C"] for lines in (63, 64)] == [7296, 1024], "four blocks, and no line less"
    assert all(loops.count_blocks(16, cache=64 * lines).fetched["A"] == 8192 for lines in (48, 63, 64)), "of A one block is enough"
    said("fetch eight times as many lines",
         f"Only C: {play.counted(16, 3072)[1].fetched['C']:,} lines instead of {play.counted(16, 4096)[1].fetched['C']:,}")


def test_the_same_loops_are_faster_with_longer_rows():
    mine = {"BI": 16, "BJ": 16, "BK": 16, "order": "ikj", "ends": False}
    rows = [data.readings("cpu_roof").find(kernel="six_loops", N=1024, ld=ld, parameters=mine)[0] for ld in (1024, 1040)]
    assert [round(1e3 * row["median_s"], 1) for row in rows] == [46.2, 31.8]
    said("Rows of 1040 floats in place of 1024 take blocks of 16 × 16 from 46.2 to 31.8 ms")


def test_a_picture_of_the_controls_says_its_numbers():
    ax, alt = play.picture(play.counted(16, 4096))
    assert [round(bar.get_width(), 4) for bar in ax.patches] == [0.0635, 0.0083, 0.0083]
    assert alt.endswith("without blocks 0.0635, 16 × 16 0.0083, by the formula 0.0083.")
    assert max(loops.count_order("ikj", cache=1024 * kib).per_multiply_add for kib in (1, 2)) < ax.get_xlim()[1], "every position fits"
    assert play.facts(play.counted(16, 4096))["lines per multiply-add"] == "0.0083"


def test_the_controls_move():
    box = cpu.block_sliders()
    box.boxes["b"].value = 32
    assert box.engine.settle(30)
    assert "b = 32, cache = 4 KiB" in box.status.value
    assert "0.0664" in box.table.value
    box.close()


@pytest.mark.slow
def test_the_mistake_shows_only_with_more_than_one_block(careless):
    found = repr(cpu.check(careless))
    assert "careless: not passed: 0 of 4 inputs right" in found
    assert "The sums begin at k = 16" in found
    small = loops.spec_of(loops.Case("small", 16, 16, 16), 4096)
    trial = small.operation.trial(small.gate_case({}))
    loops.run_loops(careless, trial, small, loops.Here())
    assert small.operation.judge(trial) is None, "16 × 16 is right"
    assert cpu.check(careless.replace("C(i, j) = sum", "C(i, j) += sum")).passed, "one character repairs it"


def median(kernel, ld=1024, parameters=None):
    return recorded.row(kernel, 1024, ld, parameters)["median_s"]


def test_the_fastest_program_and_the_library_beside_ikj():
    ikj, packed = median("gemm_ikj"), recorded.fastest("gemm_packed", 1024)
    library = {r["parameters"]["kernels"]: r["median_s"] for r in recorded.recording().find(what="program", kernel="blas", N=1024, ld=1024)}
    conditions, = recorded.recording().find(what="conditions")
    assert conditions["kernels"] == "Haswell", "its own choice"
    peak = recorded.peak()
    said(f"in {1e3 * ikj:.0f} ms on one core of an AMD EPYC",
         "The same multiply-adds in another order, and with rows that are a little longer, "
         f"need {1e3 * median('six_loops', 1040, crowding.BEST):.1f} ms",
         f"takes {1e3 * library['Haswell']:.1f} ms as it comes, and {1e3 * library['SkylakeX']:.2f} ms when it is told",
         f"the fastest arithmetic that we measured on this core, {peak.gflops:.0f} GFLOP/s",
         f"`gemm_packed` reaches {recorded.gflops(packed):.0f} of the {peak.gflops:.0f} GFLOP/s",
         f"the time falls by a factor of {ikj / packed['median_s']:.1f}", "all 4 MiB of B", "6 rows of 32 floats")
    assert peak.vector == 64, "the widest instructions: 16 floats"
    assert "#define MR 6\n#define NV 2" in cpu_kernel("gemm_vectors").source
    assert (packed["parameters"]["MR"], "#define KC 256\n" in cpu_kernel("gemm_packed").source) == (8, True)
    said("KC is 256", "8 rows of two vectors")
    notes = (ROOT / "docs" / "lecturing" / "02_cpu.md").read_text(encoding="utf-8")
    assert f"It is {cpu.gain():.2f}." in notes


def test_the_recorded_caches_are_as_the_prose_has_them():
    (first, ways), (second, _), (third, _) = [(r["kib"], r["ways"]) for r in recorded.recording().find(what="cache")]
    said(f"three caches, of {first} KiB, {second // 1024} MiB and {third // 1024} MiB")
    assert 1024 * second < 4 * 1024**2, "the fastest caches hold less than B"
    assert (first > 24, second > 384, 6144 < third < 98304) == (True, True, True), "three fit into one each, the last into none"
    assert first * 1024 == 64 * 64 * ways, "64 sets of 64 bytes"
    assert ways == 12
    said("divided into 64 *sets*, each of which holds 12 lines.")
    rates = recorded.peak().bandwidth
    assert list(rates) == [24, 384, 6144, 98304]
    assert list(rates.values()) == sorted(rates.values(), reverse=True)
    assert [words in cpu.read_rates().alt for words in (
        "24 KiB: first cache 195", "384 KiB: second cache 163", "6 MiB: third cache 100", "96 MiB: main memory 45")] == [True] * 4


@pytest.mark.slow
def test_the_recorded_loops_are_those_of_the_lesson(mine):
    squeezed = ["".join(re.sub(r"//.*", "", text).split()) for text in (mine, variants.six_loops(**variants.YOURS))]
    assert squeezed[0].replace("constintb=16;", "").replace("+b", "+16").replace("+=b", "+=16") == squeezed[1]
    assert cpu.count(variants.six_loops(**variants.YOURS)) == cpu.count(mine)


@pytest.mark.slow
@pytest.mark.sampled(slow=1)
@pytest.mark.parametrize("parameters", ONE_CHANGE)
def test_each_change_leaves_the_lines_and_the_result_alone(parameters, mine):
    changed = variants.six_loops(**parameters)
    assert cpu.check(changed).passed
    assert cpu.count(changed) == cpu.count(mine)


def test_the_time_is_not_the_count_of_lines():
    same = [median("six_loops", ld, p) for p in (variants.YOURS, variants.WITH_ENDS) for ld in (1024, 1040)]
    assert max(same) > 1.3 * min(same), "the same lines, other times"
    assert cpu.gain() < 0.8 * 7.95, "fewer lines than faster"


def test_longer_rows_give_the_blocks_their_time():
    (_, plain, slow), (_, crowded, same), (_, too_many, slower) = crowding.found_at(1024)
    assert crowded > too_many > plain, "no fewer lines"
    assert slower > same > slow, "and slower: the direction of the count"
    said("and more lines than ikj if they have 1024",
         f"The middle time is {1e3 * slow:.1f} ms for ikj and {1e3 * same:.1f} ms for the blocks")
    (_, padded, seconds), (_, blocks, faster), (_, large, fastest) = crowding.found_at(1040)
    assert padded == plain
    assert abs(seconds / slow - 1) < 0.02, "ikj gains nothing by the addresses"
    said(f"On this EPYC, ikj hardly changes: it takes {1e3 * slow:.1f} and {1e3 * seconds:.1f} ms")
    assert blocks == float(cpu.lines_per_multiply_add(16, 1024))
    assert cpu.gain() == round(seconds / faster, 2)
    assert large < blocks < plain, "fewer lines"
    assert fastest < faster < seconds, "and faster"
    said(f"blocks of 16 × 16 fetch {plain / blocks:.2f} times fewer lines than ikj if the rows have 1040 floats",
         f"blocks of 64 × 64 from {1e3 * slower:.1f} to {1e3 * fastest:.1f} ms",
         "Blocks that fetch more lines than ikj take longer, and blocks that fetch fewer are faster",
         f"64 × 64 fetches fewer lines than 16 × 16 ({too_many:.4f} and {crowded:.4f} per multiply-add), and takes longer",
         f"it is {plain / large:.0f} times lower for 64 × 64 than for ikj, "
         f"and the loops are only **{seconds / fastest:.1f} times as fast**",
         "the fastest on our EPYC, 64 × 64, has no room for four")
    assert first_cache().size < 4 * 4 * 64**2
    assert cpu.gain() < 1.5
    said("near 8, as the lines suggest, near 2, or below 1.5?")
    assert large > float(cpu.lines_per_multiply_add(64, 1024)), "four blocks do not fit, and the formula does not hold"
    assert min(variants.TIMED, key=lambda parameters: median("six_loops", 1040, parameters)) == crowding.BEST
    assert recorded.recording().label in cpu.rows_apart().alt
    rounds = recorded.recording().find(what="conditions")[0]["rounds"]
    said(f"We timed loops like yours and ikj on this core, {rounds} times each")


def test_the_first_count_is_that_of_a_model_in_which_a_line_may_lie_anywhere():
    said("For 1024 × 1024 matrices and a cache of 48 KiB, like the first cache of the AMD EPYC, our model says that your blocks fetch "
         f"{ANYWHERE['ikj', 1024] / ANYWHERE[16, 1024]:.2f} times fewer")


def test_every_row_has_several_rounds_and_its_spread():
    rounds = recorded.recording().find(what="conditions")[0]["rounds"]
    assert rounds >= 3
    for row in recorded.recording().find(what="program"):
        assert 0 < row["best_s"] <= row["median_s"] <= row["worst_s"], row


@pytest.mark.slow
@needs_c
def test_with_the_sets_of_the_first_cache_the_lines_of_b_depend_on_the_addresses():
    kib, ways = next((r["kib"], r["ways"]) for r in recorded.recording().find(what="cache", level=1))
    per_line = {}
    for ld in (1024, 1040):
        A, B = (np.zeros((rows, ld), np.float32)[:, :1024] for rows in (32, 1024))
        for name, program in (("yours", variants.six_loops(**variants.YOURS)), ("ikj", "gemm_ikj")):
            counted = count_lines(program, A, B, cache=CacheShape(kib * 1024, ways=ways))
            per_line[name, ld] = 32 * 1024**2 / counted.fetched["B"]
    assert (per_line["yours", 1024], per_line["ikj", 1024], per_line["yours", 1040]) == (16, 16, 256)


@pytest.mark.slow
@pytest.mark.sampled(test=1, slow=3)
@needs_c
@pytest.mark.parametrize(("program", "apart"), crowding.COUNTED)
def test_the_lines_with_sets_are_the_counters(program, apart):
    A, B, C = (np.zeros((rows, apart), np.float32)[:, :1024] for rows in (crowding.ROWS, 1024, crowding.ROWS))
    kernel, parameters = crowding.PROGRAMS[program]
    text = variants.six_loops(**parameters) if parameters else kernel
    counted = count_lines(text, A, B, C, beta=1.0, cache=first_cache())
    assert counted.total == crowding.COUNTED[program, apart]
    if (program, apart) in ANYWHERE:
        anywhere = count_lines(text, A, B, C, beta=1.0, cache=CacheShape(first_cache().size))
        assert anywhere.total == ANYWHERE[program, apart]
    if (program, apart) == (64, 1040):
        roomy = count_lines(text, A, B, C, beta=1.0, cache=CacheShape(64 * 1024))
        assert roomy.per_multiply_add == cpu.lines_per_multiply_add(64, 1024), "in 64 KiB four blocks fit, and the formula holds"
    again = counted.fetched["C"] > 0.9 * counted.fetched["A"]
    assert again is (program == 64 or (program, apart) == (16, 1024) or program == "ikj"), "C for each k0; ikj fetches A and C once"


def test_a_block_of_b_wants_one_set_of_the_first_cache():
    for ways in (8, 12):
        first = CacheShape(64 * 64 * ways, ways=ways)
        assert (first.sets, first.sets * first.line) == (64, 4096)
        assert {row * 4 * 1024 // first.line % first.sets for row in range(16)} == {0}
        assert len({row * 4 * 1040 // first.line % first.sets for row in range(16)}) == 16
    said("after 64 lines, which are 4096 bytes, the first set follows again",
         "All 16 lines belong to the same set, which holds 12, so rows 12 to 15 drive out rows 0 to 3",
         "Read again, row 0 must be fetched, and drives out row 4")
    pushed_out = [gone for _, gone in reads(1024)]
    assert pushed_out == [-1] * 12 + [*range(16), *range(4)], "each of the 16 is gone before it comes again"
    assert variants.PADDED == 1040


def test_larger_blocks_want_other_rows():
    found = {floats: [crowding.read_twice(b, floats) for b in crowding.SQUARES] for floats in (1024, 1040, 1280, 1536, 2048)}
    lines = [16, 64, 144, 256]
    assert found == {
        1024: [(0, n) for n in lines], 2048: [(0, n) for n in lines], 1040: [(n, n) for n in lines],
        1536: [(16, 16), *[(0, n) for n in lines[1:]]], 1280: [*[(n, n) for n in lines[:3]], (0, 256)]}
    assert [crowding.read_twice(16, floats)[0] for floats in FLOATS] == [still_there(floats) for floats in FLOATS]
    assert cpu.found_again(1536).rows[-1] == ("64 × 64", "256", "0")
    for floats in (48, 1030):
        with pytest.raises(ValueError, match="a multiple of 16 that is at least 64"):
            cpu.found_again(floats)
    said("With rows of 1024 floats they do, for all four sizes. Sixteen unused floats per row prevent it")


def test_what_the_slider_of_the_sets_shows():
    of_sets = {floats: len({4 * floats * row // 64 % 64 for row in range(16)}) for floats in FLOATS}
    assert [floats for floats in FLOATS if of_sets[floats] == 1] == [1024, 2048]
    assert [floats for floats in FLOATS if still_there(floats) != 16] == [1024, 2048]
    assert (of_sets[1040], of_sets[1536], still_there(1536)) == (16, 2, 16)
    said("With 1040 floats each row begins one set further, and the 16 lines stand side by side in 16 sets",
         "With 1536 they share two sets, 8 lines in each, and these fit", "On this slider only 1024 and 2048 do that")


def test_vectors_make_ikj_faster_and_ijk_hardly():
    us = {(r["kernel"][-3:], r["vectors"]): r["median_s"] for r in recorded.recording().find(what="vectors", N=48)}
    assert 3 * 4 * 48**2 < 32 * 1024, "the first cache"
    gains = [us[order, False] / us[order, True] for order in ("ikj", "ijk")]
    assert [row[0] for row in cpu.vector_times().rows] == ["ijk", "ikj"]
    said(f"Vectors make ikj {gains[0]:.1f} times as fast, and ijk only {gains[1]:.1f} times. "
         f"Without them, ijk takes {us['ijk', False] / us['ikj', False]:.2f} times as long as ikj")
    assert us["ijk", True] / us["ikj", True] > 3


def test_the_climb_draws_the_steps_below_the_peak():
    rows, roof = recorded.climb_rows(), recorded.peak().gflops
    speeds = [recorded.gflops(r) for _, r in rows]
    assert speeds[1:] == sorted(speeds)[:1] + sorted(speeds)[2:], "all but the blocks with rows of 1024 floats gain"
    assert max(speeds) < roof
    assert [name for name, _ in rows[1:]] == [
        "16 × 16", "16 × 16, longer rows", "64 × 64, longer rows", "gemm_vectors, longer rows", "gemm_packed"]
    assert [r["ld"] for _, r in rows] == [1024, 1024, 1040, 1040, 1040, 1024]
    alt = cpu.climb().alt
    assert f"the fastest arithmetic measured is {roof:.0f} GFLOP/s" in alt
    assert all(f"{name} {recorded.ms(r)[1]} ms" in alt for name, r in rows)


def best_gflops(r):
    """Return the speed of a row's fastest round."""
    return 2 * r["N"] ** 3 / r["best_s"] / 1e9


def test_an_h200_multiplies_the_same_matrices():
    found, = data.load("ladder").find("cuBLAS", 1024)
    assert found.device == "NVIDIA H200"
    said(f"multiplies such matrices in {1e3 * found.median_s:.3f} ms", f"with {DEFAULT_DEVICE.sms} *multiprocessors*")


def test_no_recording_lies_above_a_roof_that_it_is_printed_beside():
    """Every recorded speed of a CPU, of its middle round: below its own machine's roofs, or printed beside none."""
    peak, roofed = recorded.peak(), recorded.recording()
    programs = roofed.find(what="program")
    assert len(programs) > 30
    assert all(recorded.gflops(r) < peak.gflops for r in programs)
    assert max(best_gflops(r) for r in programs) < 1.001 * peak.gflops, "a fastest round may have had a faster core, but hardly"
    for name in data.names():
        found = [r for r in data.load(name).records if r.backend == "cpu"]
        assert not found or {r.device for r in found} != {roofed.device}, f"{name}.json: hold it to the roof of the same CPU"


def test_widths_of_vectors_are_a_factor_of_two_apart():
    """What the peak of a core is made of; a peak that was measured while the core was busy would show here."""
    widths = sorted(recorded.peak().by_vector.items())
    for (narrow, slow), (wide, fast) in zip(widths, widths[1:], strict=False):
        assert fast / slow == pytest.approx(wide / narrow, rel=0.05)


@needs_c
@pytest.mark.slow
def test_the_recorded_lines_are_the_programs():
    A, B, _ = inputs(256, 256, 256)
    kib, ways = next((r["kib"], r["ways"]) for r in recorded.recording().find(what="cache", level=1))
    for row in recorded.recording().find(what="program", N=256):
        if "lines" in row:
            text = variants.six_loops(**row["parameters"]) if row["kernel"] == "six_loops" else row["kernel"]
            assert count_lines(text, A, B, cache=CacheShape(kib * 1024, ways=ways)).total == row["lines"]


def test_the_slides_gains():
    rows = cpu.slides().rows
    assert [row[1] for row in rows] == ["1.5", "3.2", "3.1", "4.3", "3.9"]
    assert [row[2] for row in rows] == ["0.7", "1.3", "2.2", "6.1", "6.4"]
    assert LEE_CPU.column("AVX")[256] > LEE_CPU.column("CPU")[256], "at 256 vectors lose"
    said("Threads gain 3.0 to 3.2 at N = 512 and 1024, and 3.8 to 4.3 from 2048 on",
         "Vectors of 8 floats gain up to 6.4, and at 256 they lose")
    assert [row[3] for row in rows] == ["1.5", "3.0", "3.0", "4.1", "3.8"]


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/02_cpu.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    told = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "reveal", "beside", "measured"):
        assert "blocked is not written yet" in told[cell], cell
    assert "8192" not in told["reveal"]
    assert "The sums begin at k = 16" in told["wrong"]
