"""Lesson 07: what it promises, and every number that its prose says.

Counts of machine code are of the compiler that made the page; where another one is installed, what the lesson claims in words is held.
"""

import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data, kernels
from course_lib.arch import device
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.lessons import unrolling
from course_lib.lessons.unrolling import ballast, counts, experiments, texts
from course_lib.magic import from_cell
from course_lib.plots import linked_code
from course_lib.run import resolve
from course_lib.toolchain import compile_cuda, loops, nvrtc_version, read_back, sass, whole_step
from course_lib.widgets.compute import evaluate, inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "07_unrolling.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = " ".join(" ".join(CELLS.values()).split())
PAGES_COMPILER = pytest.mark.skipif("nvrtc_version() != (13, 5)", reason="the page's counts are of NVRTC 13.5's code")
RECORD = json.loads((ROOT / "tests" / "data" / "executed.json").read_text())


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


STEPS = ("k", "k + 1", "k + 2", "k + 3")


def says(*sentences):
    for sentence in sentences:
        assert sentence in PROSE, sentence


def test_the_worked_kernel_is_right_on_every_input_and_unrolls_by_four(mine):
    assert "right on 12 of 12 inputs" in repr(check(mine))
    assert sum("acc += As" in line for line in mine.splitlines()) == 4
    assert "#pragma" not in mine


def test_the_compiler_unrolls_the_rest_by_itself(mine):
    assert unrolling.innermost(mine) == 16
    header, rows = unrolling.beside(mine).header, {row[0]: row[1:] for row in unrolling.beside(mine).rows}
    assert len(header) == 4
    assert rows["plain loop"] == rows["plain loop, #pragma unroll 16"] == (*rows["your kernel"][:2], "yes")
    for name, inside in (("plain loop, #pragma unroll 4", "4"), ("plain loop, #pragma unroll 1", "1"), ("16 lines, no loop over k", "32")):
        assert (rows[name][0], rows[name][2]) == (inside, "no")
    per = [float(rows[name][1]) for name in ("plain loop, #pragma unroll 1", "plain loop, #pragma unroll 4", "plain loop")]
    assert per == sorted(per, reverse=True)


def test_whoever_forbids_it_gets_the_four(mine):
    forbidden = mine.replace("        for (int k = 0;", "        #pragma unroll 1\n        for (int k = 0;")
    assert forbidden != mine
    assert unrolling.innermost(forbidden) == 4
    rows = unrolling.beside(forbidden).rows
    assert abs(float(rows[0][2]) - counts.step(4).per_multiply_add) < 0.1, "as with UNROLL = 4 in the table further up"
    if nvrtc_version() == (13, 5):
        says("Our text then needs 5.63 instructions per multiply-add, and `#pragma unroll 4` needs 5.69")
        says("fewest instructions of the table, 3.47")
        mine, course = whole_step(resolve(forbidden), per_tile=16), counts.step(4)
        assert [step.per_multiply_add for step in (mine, course)] == [5.625, 5.6875]
        assert [16 * step.shares()["once per tile"] for step in (mine, course)] == [30, 31]
        assert list(mine.shares().values())[:3] == list(course.shares().values())[:3]
        assert min(float(row[2]) for row in rows) == float(rows[-1][2]) == 3.47


def test_a_kernel_of_another_text_is_right_too_though_its_code_differs(mine):
    other = mine.replace("for (int k0 = 0; k0 < K; k0 += TILE) {",
                         "for (int t = 0; t < (K + TILE - 1) / TILE; t++) { const int k0 = t * TILE;")
    assert other != mine
    rows = unrolling.beside(other).rows
    assert (rows[0][1], [row[3] for row in rows[1:]]) == ("16", ["no"] * 5)


def test_the_course_kernels_variants_need_its_loop(monkeypatch):
    monkeypatch.setattr(counts, "LOOP", "for (;;)")
    with pytest.raises(CourseError, match="no longer has the loop"):
        counts.variants()


def test_the_loop_itself_is_shared_by_unroll_multiply_adds():
    for factor in counts.FACTORS:
        shares = counts.step(factor).shares()
        assert shares["multiply-adds"] == 1
        assert shares["the loop over k itself"] == (5 / factor if factor < 16 else 0)
    inner = counts.step(1).inner.counts
    assert (inner["instructions"], inner["LDS"], inner["FFMA"]) == (8, 2, 1)
    says("an iteration has eight instructions: two loads, one multiply-add, and five", "5 / 4 = 1.25")
    says("spends five of its eight instructions on itself")


@PAGES_COMPILER
def test_with_two_the_assembler_joins_nothing():
    assert [counts.step(u).counts["LDS.64"] for u in (2, 4)] == [0, 8], "with 4: twice in each of four iterations"
    assert 'With UNROLL = 2 it did not happen; we do not know why.' in PROSE


@PAGES_COMPILER
def test_the_sliders_answers_about_other_tiles():
    found = {tile: whole_step("sgemm_unrolled", TILE=tile, UNROLL=16) for tile in (16, 32)}
    says("3.75 becomes only 3.53")
    assert [counts.two_decimals(found[tile].per_multiply_add) for tile in (16, 32)] == ["3.75", "3.53"]
    assert (found[32].turns, found[16].rolled) == (2, False)


def test_neighbours_are_joined_by_the_assembler():
    assert {bits: counts.step(16).counts[f"LDS.{bits}"] for bits in (32, 64, 128)} == {32: 16, 64: 0, 128: 4}
    says("4 + 16 = 20 loads, 1.25 for each")
    ptx, sass = texts.of_line(linked_code("sgemm_unrolled", UNROLL=4))
    assert sum(line.startswith("ld.shared.f32") for line in ptx) == 8
    assert sum(line.startswith("LDS.64") for line in sass) == 2
    assert sum(line.startswith("LDS ") for line in sass) == 4
    assert sum(line.startswith("FFMA") for line in sass) == sum(line.startswith("fma") for line in ptx) == 4
    rows = unrolling.two_texts().rows
    assert [row[0] for row in rows[:8]] == [f"As[ty][{k}]" for k in STEPS] + [f"Bs[{k}][tx]" for k in STEPS]
    assert sorted(row[1] for row in rows) == sorted(ptx)
    assert sorted(row[2] for row in rows if "above" not in row[2]) == sorted(sass)
    assert [rows[n][2].split()[0] for n in (0, 2)] == ["LDS.64"] * 2
    assert all("above" in rows[n][2] for n in (1, 3))


@pytest.mark.parametrize("factor", [1, 8, 16])
def test_each_load_of_ptx_stands_beside_the_sass_that_brings_its_word(factor):
    rows = unrolling.two_texts(factor).rows
    assert len(rows) == 3 * factor
    assert len({row[2] for row in rows if row[2].startswith("LDS")}) == counts.step(factor).counts["LDS"] * factor / 16


def test_who_joined_the_loads():
    assert "PTX still has all eight loads, and in SASS two pairs of them have become an `LDS.64` each" in PROSE


@PAGES_COMPILER
def test_the_counts_on_the_page_are_this_compilers():
    rows = {row[0]: row[1:] for row in unrolling.by_factor().rows}
    assert rows[1] == ("1", "2", "5", "1.94", "9.94")
    assert rows[16] == ("1", "1.25", "0", "1.5", "3.75")
    says("1.5 in place of 1.94", "The machine code grows from 81 to 114 instructions", "the registers rise from 22 to 32")
    found = [evaluate("sgemm_unrolled", 64, {"TILE": 16, "UNROLL": factor}, backend="sim") for factor in (1, 16)]
    assert [r.resources.registers for r in found] == [22, 32]
    assert [len(linked_code("sgemm_unrolled", TILE=16, UNROLL=factor).sass) for factor in (1, 16)] == [81, 114]


def waiting(factor):
    """Return how many words have been loaded from shared memory and not yet been multiplied, at most, in the machine code."""
    words, most = set(), 0
    for text in (item.text for item in linked_code("sgemm_unrolled", TILE=16, UNROLL=factor).sass):
        named = [int(number) for number in re.findall(r"R(\d+)", text)]
        if load := re.match(r"LDS(?:\.(\d+))?\b", text):
            words |= set(range(named[0], named[0] + int(load[1] or 32) // 32))
        elif text.startswith("FFMA"):
            words -= set(named[1:])
        most = max(most, len(words))
    return most


@PAGES_COMPILER
def test_more_words_wait_for_their_use_and_each_needs_a_register():
    says(f"never more than {waiting(1)} such words at a time, and with UNROLL = 16 up to {waiting(16)}")


def test_a_tile_of_32_halves_what_comes_once_per_tile():
    for factor in counts.FACTORS[:-1]:
        small, large = (whole_step("sgemm_unrolled", TILE=tile, UNROLL=factor).shares()["once per tile"] for tile in (16, 32))
        assert large == pytest.approx(small / 2, rel=0.05)


def test_wavefronts_stop_falling_at_four():
    found = [evaluate("sgemm_unrolled", 256, {"TILE": 16, "UNROLL": factor}, backend="sim") for factor in counts.FACTORS]
    assert [32 * result.count("wavefronts") / 256**3 for result in found] == [2, 2, 1.5, 1.5, 1.5]
    says("2 wavefronts per multiply-add become 1.5", "Storing the tiles adds 0.125 to each number")
    assert [experiments.wavefronts("sgemm_unrolled", TILE=16, UNROLL=u) for u in (1, 16)] == [2.125, 1.625]
    with pytest.raises(CourseError, match="UNROLL can be up to 8"):
        kernels.get("sgemm_unrolled").check(TILE=8, UNROLL=16)


def test_what_somebody_unrolled_by_hand_lacks_its_last_terms():
    hasty = from_cell(CELLS["hasty"])[1]
    said = repr(check(hasty))
    assert "right on 2 of 12 inputs" in said
    assert "K=3" in said
    for K, words in ((64, "K = 64: right"), (50, "K = 50: wrong; it is the product of the first 48 columns of A and rows of B")):
        X, Y, _ = inputs(48, 64, K)
        assert unrolling.first_columns(hasty, X, Y) == words
    X, Y, _ = inputs(48, 64, 50)
    assert unrolling.first_columns(hasty.replace("sum += A[row * lda + k + 3]", "sum -= A[row * lda + k + 3]"), X, Y) == "K = 50: wrong"


def test_the_second_loop_repairs_it():
    hasty = from_cell(CELLS["hasty"])[1]
    repaired = hasty.replace("for (int k = 0; k + 3 < K", "int k = 0;\n    for (; k + 3 < K").replace(
        "    C[row", "    for (; k < K; ++k)\n        sum += A[row * lda + k] * B[k * ldb + col];\n    C[row", 1)
    assert "1 counter looks bad" in repr(check(repaired))
    assert "See lesson 04, Tiling" in repr(check(repaired)), "the remark that the lesson announces"


def test_the_compiler_writes_loops_for_the_rest():
    kernel = kernels.get("sgemm_naive")
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch="sm_90", defines=kernel.defines()), kernel.entry)
    inside = [loop.counts["FFMA"] for loop in loops(code)]
    assert inside == sorted(inside, reverse=True)
    assert inside[-1] == 1
    if nvrtc_version() == (13, 5):
        assert inside == [16, 4, 1]


def test_the_prose_says_what_was_recorded():
    seconds = {factor: experiments.recorded_unrolled(factor)["median_s"] for factor in counts.FACTORS}
    library = data.load("ladder").find("cuBLAS", 4096)[0].median_s
    tiled = [data.load("lee").find(name, 4096)[0].median_s for name in ("sgemm_tiled", "sgemm_padded")] + [
        data.load("ladder").find("sgemm_tiled", 4096)[0].median_s]
    assert all(round(1e3 * s) == 18 and round(100 * library / s) == 15 for s in tiled), "about 18 ms, 15 %"
    says(f"UNROLL = 4 is {seconds[1] / seconds[4]:.2f} times faster than UNROLL = 1",
         f"and {100 * (1 - seconds[2] / seconds[1]):.0f} % of the time")
    assert all(seconds[factor] > 0.99 * seconds[4] for factor in (8, 16)), "after that nothing more is gained"
    says(f"With UNROLL = 4 the kernel takes {1e3 * seconds[4]:.1f} ms", f"your kernel was never at {1e3 * seconds[1]:.1f} ms")
    assert unrolling.recorded_ms(16) == round(1e3 * seconds[16], 1)


def test_what_is_said_of_the_spread_of_the_recordings():
    found = [experiments.recorded_unrolled(factor) for factor in counts.FACTORS] + [experiments.tiled()]
    assert {row["repeats"] for row in found} == {7}
    assert all((row["high_s"] - row["low_s"]) / row["median_s"] < 0.004 for row in found)
    four, sixteen = experiments.recorded_ms(4), experiments.recorded_ms(16)
    copy = data.in_turns("ballast", UNROLL=16, EXTRA=0, WAYS=1)
    says(f"Here it took {sixteen} instead of {four} ms")
    says(f"took {1e3 * copy['median_s']:.1f} ms at UNROLL = 16, recorded in turns with it. We do not know why")
    for factor in (1, 2, 4, 16):
        again = data.in_turns("ballast", UNROLL=factor, EXTRA=0, WAYS=1)["median_s"]
        assert 1e3 * again == pytest.approx(experiments.copied(factor).ms, rel=0.003), "recorded twice"
    assert sixteen / four > 1.004
    first, last = (experiments.recorded_unrolled(factor)["median_s"] for factor in (4, 16))
    says(f"in the scoreboard's kernel the same step made it {100 * (last / first - 1):.0f} % *longer*")


def test_which_compiler_made_the_code_that_was_timed():
    row, = (row for row in RECORD["rows"] if row["kernel"] == "sgemm_unrolled")
    older = max(loops(read_back(row["sass"])), key=lambda loop: loop.counts["FFMA"]).counts["instructions"] / 16
    ids = list(CELLS)
    assert ids.index("reveal-time") + 1 == ids.index("scoreboard-words"), "it is said where a count first meets a time"
    assert older == experiments.timed(16)
    says(f"at UNROLL = 16 it has {counts.two_decimals(older)} instructions per multiply-add, and not 3.75")
    assert 0.29 < 1 - older / experiments.timed(4) < 1 / 3, "nearly a third of the instructions goes"
    added, = (row for row in data.readings("ballast").find(UNROLL=16, EXTRA=1, WAYS=1, N=4096))
    assert 16 * (older - experiments.copied(16).instructions) == 3
    more = 16 * (added["instructions"] - experiments.copied(16).instructions)
    says(f"the copy got {more:.0f} more per tile, and took {1e3 * added['median_s']:.1f} ms")
    assert not any("6 %" in text for text in CELLS.values()), "no rule rests on one mismatch"


@pytest.mark.skipif("nvrtc_version() != (13, 0)", reason="the code that was timed is NVRTC 13.0's")
def test_the_counts_beside_the_times_are_those_of_the_compiler_that_was_timed():
    assert {factor: 16 * counts.step(factor).per_multiply_add for factor in counts.FACTORS} == experiments.TIMED_STEP
    assert 16 * whole_step("sgemm_tiled", **experiments.SQUARE).per_multiply_add == experiments.TIMED_TILED
    assert 16 * whole_step("sgemm_padded", TILE=16, PAD=4).per_multiply_add == experiments.TIMED_PADDED


def test_counts_beside_times_are_of_the_code_that_was_timed():
    rows = {row[0]: row for row in unrolling.scoreboard().rows}
    assert rows["UNROLL = 16"][1] == "3.94"
    assert rows["no pragma (lesson 04)"][1] == "4.44"
    others = [steps - 16 - 20 for steps in (experiments.TIMED_TILED, experiments.TIMED_STEP[16])]
    assert others == [35, 27]
    says("27 others. NVRTC 13.5", "and 35 others: 4.44")
    assert "NVRTC 13.0" in unrolling.scoreboard().caption
    issuing = float(next(row for row in unrolling.limits().rows if row[0] == "UNROLL = 16")[2])
    assert issuing == pytest.approx(1e3 * experiments.least(3.9375, 4), abs=0.05)


def test_the_pair_with_more_wavefronts_also_stores_in_two():
    loads, stores = 1, 1 / 16
    before, after = experiments.pairs()["More wavefronts"]
    assert after.wavefronts - before.wavefronts == loads + stores
    says("each load and each store of `Bs` now takes two wavefronts")


def test_the_opening_does_not_answer_the_prediction():
    first = CELLS["title"] + CELLS["watch"] + CELLS["idea"]
    assert not any(time in first for time in ("18 ms", "17.9", "17.4", "17.7"))
    assert "15 %" in first


def test_the_repair_says_what_to_take_out_of_the_for():
    says("take `int k = 0` out of the `for`, which then begins with `for (; k + 3 < K;`")


def test_the_scoreboards_first_row_is_lesson_04s_kernel_which_the_compiler_unrolled():
    assert unrolling.scoreboard().rows[0][0] == "no pragma (lesson 04)"
    assert "#pragma" not in kernels.get("sgemm_tiled").source
    assert whole_step("sgemm_tiled", BM=16, BN=16, BK=16).inner.counts["FFMA"] == 16
    assert experiments.wavefronts("sgemm_tiled", **experiments.SQUARE) == 1.625
    assert experiments.tiled()["median_s"] == pytest.approx(experiments.recorded_unrolled(16)["median_s"], rel=0.02)
    assert whole_step("sgemm_tiled", **experiments.SQUARE).counts["LDS"] == 20
    if nvrtc_version() == (13, 5):
        shares = [step.shares()["once per tile"] for step in (whole_step("sgemm_tiled", **experiments.SQUARE), counts.step(16))]
        assert [16 * share for share in shares] == [35, 24]
        says("The kernel of lesson 04 has the same multiply-adds and loads, and 35 others: 4.44")


def test_what_is_said_of_the_step_from_2_to_4():
    steps = {factor: (counts.step(factor).per_multiply_add, experiments.wavefronts("sgemm_unrolled", TILE=16, UNROLL=factor))
             for factor in (2, 4)}
    assert all(after < before for before, after in zip(steps[2], steps[4], strict=True)), "both counts fall"
    row = next(row for row in unrolling.limits().rows if row[0] == "UNROLL = 2")
    says(f"with 2 only by a little: {row[2]} and {row[3]} ms",
         "From UNROLL = 2 to 4 both counts fall.")


def test_each_pair_of_recordings_differs_in_one_count():
    first, second, fewer_waves, third = experiments.pairs().values()
    for pair, same in ((first, "wavefronts"), (second, "wavefronts"), (third, "instructions")):
        for name in ("wavefronts", "instructions"):
            assert (getattr(pair[0], name) == getattr(pair[1], name)) is (name == same)
    two, four = fewer_waves
    assert 1 - four.wavefronts / two.wavefronts == pytest.approx(0.25, abs=0.02), "a quarter"
    says(f"and {100 * (1 - four.ms / two.ms):.0f} % of the time, although the instructions rise by "
         f"{100 * (four.instructions / two.instructions - 1):.0f} %")
    bare = experiments.copied(4)
    says(f"Without the additions UNROLL = 4 takes {bare.ms:.1f} ms",
         f"of the {two.ms - bare.ms:.1f} ms between UNROLL = 2 and 4 the wavefronts explain at least {two.ms - four.ms:.1f}.")
    assert ballast.per_multiply_add(ballast.compiled({"UNROLL": 4, "EXTRA": 2, "WAYS": 1})) == pytest.approx(four.instructions, abs=0.2)
    fewer = [pair[1].instructions / pair[0].instructions for pair in (first, second)]
    assert fewer == [pytest.approx(0.75, abs=0.01), pytest.approx(0.66, abs=0.02)], "a quarter, a third"
    assert [f"{100 * (after.ms / before.ms - 1):+.0f} %" for before, after in (first, second, third)] == ["-9 %", "-2 %", "+49 %"]
    before, after = third
    says(f"With {after.wavefronts / before.wavefronts:.2f} times the wavefronts and the same instructions",
         f"the kernel takes {after.ms / before.ms:.2f} times as long")
    told = repr(unrolling.one_change())
    pairs = (first, second, fewer_waves, third)
    assert all(f"{item.wavefronts:g} wavefronts, {item.ms:.1f} ms" in told for pair in pairs for item in pair)


def test_lesson_06s_kernel_needs_fewer_instructions_and_as_much_time():
    found = whole_step("sgemm_padded", TILE=16, PAD=4)
    assert found.counts["LDS"] == found.counts["LDS.128"] == 8, "the loads of both tiles are joined"
    ms, waves = 1e3 * experiments.padded(4)["median_s"], experiments.wavefronts("sgemm_padded", TILE=16, PAD=4)
    assert ms > min(experiments.recorded_ms(factor) for factor in (4, 8, 16))
    assert min(experiments.TIMED_STEP.values()) > experiments.TIMED_PADDED, "fewer than any of the scoreboard"
    says("`sgemm_padded`, stores the tile of B as `Bs[col][k]`",
         f"and {waves:.2f} wavefronts. It takes {ms:.1f} ms, no less than the others")
    says(f"PAD = 4 the code that was timed has {counts.two_decimals(experiments.TIMED_PADDED / 16)} instructions per multiply-add")


def test_no_modelled_limit_stands_above_a_recorded_time():
    rows = [tuple(map(float, row[1:])) for row in unrolling.limits().rows]
    assert all(recorded > max(issue, shared) for recorded, issue, shared in rows)
    assert [issue > shared for _, issue, shared in rows] == [True, False, False, False, False]
    assert len({shared for *_, shared in rows[2:]}) == 1, "from 4 on shared memory needs as long in every row"
    gpu = device("H200")
    assert (gpu.sms, gpu.clock_mhz) == (132, 1980)
    says("divide by 132 multiprocessors and by 1.98 · 10⁹ cycles per second, its highest clock")
    says("9.88 / 4 = 2.47 cycles", "and shared memory 2.125")
    assert float(f"{1e3 * 4096**3 / 32 / 132 * 9.875 / 4 / 1.98e9:.1f}") == pytest.approx(rows[0][1], abs=0.05)


def test_the_profiler_counted_what_the_optional_section_says():
    row, = (row for row in RECORD["rows"] if row["kernel"] == "sgemm_unrolled")
    assert RECORD["nvrtc"] == [13, 0]
    says(f"{row['profiled']:,}", f"That is {row['profiled'] / (1024**3 / 32):.2f} for each")
    says("per tile 16 multiply-adds, 20 loads, and 27 others. NVRTC 13.5, which made this page, needs only 24 others")
    assert row["N"] == 1024
    loop = max(loops(read_back(row["sass"])), key=lambda loop: loop.counts["FFMA"])
    assert (loop.counts["FFMA"], loop.counts["LDS"], loop.counts["instructions"]) == (16, 20, 16 + 20 + 27)


def test_the_slides_numbers():
    assert [row[3] for row in unrolling.slides().rows][-1] == "1.50"
    assert [row[4] for row in unrolling.slides().rows][-1] == "1.02"
    says("At N = 4096 he gains a factor of 1.5, and we gain 2 % over `sgemm_padded` with PAD = 1.",
         "(With PAD = 4, 17.9 ms, the gain is below 1 %.)")
    compared = [data.load("lee").find(name, 4096)[0].parameters for name in ("sgemm_padded", "sgemm_unrolled")]
    assert compared == [{"TILE": 16, "PAD": 1}, {"TILE": 16, "UNROLL": 16}]
    assert all(f"{name} = {value}" in unrolling.slides().caption for name, value in (("PAD", 1), ("UNROLL", 16)))
    assert 1 < experiments.padded(4)["median_s"] / experiments.recorded_unrolled(16)["median_s"] < 1.01


def test_the_picture_of_the_three_texts_has_words():
    assert "Three boxes" in repr(unrolling.three_texts())


def test_no_number_of_the_answer_stands_before_the_picture_was_played():
    shown = CELLS["title"] + CELLS["watch"]
    assert not any(word in shown for word in ("eight", " 8 instructions", "five", "9.94", "3.75"))
    assert "details" in CELLS["explain"].partition("What the compiler did")[0]


def test_a_row_of_bs_is_64_bytes():
    _, sass = texts.of_line(linked_code("sgemm_unrolled", UNROLL=4))
    assert any("+0x40]" in line for line in sass)
    assert 16 * 4 == 0x40


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/07_unrolling.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "reveal", "beside"):
        assert "written is not written yet" in said[cell], cell
    assert "9.94" in said["factors"]
    assert "recorded on NVIDIA H200" in said["scores"]
