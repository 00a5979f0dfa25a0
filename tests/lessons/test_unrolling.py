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
from course_lib.arch import LIMITS, device
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.lessons import unrolling
from course_lib.lessons.unrolling import ballast, counts, experiments, texts
from course_lib.magic import from_cell
from course_lib.plots import linked_code
from course_lib.run import resolve
from course_lib.toolchain import compile_cuda, loops, nvrtc_version, read_back, resources, sass, whole_step
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
SQUARE = {"BM": 16, "BN": 16, "BK": 16}
TIMED_STEP, TIMED_TILED, TIMED_PADDED = 63, 71, 53      # instructions per tile in NVRTC 13.0's code: UNROLL = 16, lesson 04, PAD = 4


def recorded_unrolled(factor):
    """Return the recording of the course's kernel, in turns with its copy."""
    return data.in_turns("sgemm_unrolled", TILE=16, UNROLL=factor)


def wavefronts(kernel, **parameters):
    """Return the wavefronts of shared memory per multiply-add of a warp, loads and stores."""
    found = evaluate(kernel, 256, parameters, backend="sim")
    return 32 * sum(found.count("wavefronts", kind) for kind in ("load", "store")) / 256**3


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
    assert [wavefronts("sgemm_unrolled", TILE=16, UNROLL=u) for u in (1, 16)] == [2.125, 1.625]
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
    said = repr(check(repaired))
    assert "1 counter looks bad: no error" in said
    assert "4.5 times on average, and touches 8.0 times as many sectors" in said
    assert "See lesson 04, Tiling" in said
    says("*1 counter looks bad*: a block loads each number 4.5 times on average",
         "and touches 8 times as many [sectors](glossary.md#sector) as with tiles")


def test_the_compiler_writes_loops_for_the_rest():
    kernel = kernels.get("sgemm_naive")
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch="sm_90", defines=kernel.defines()), kernel.entry)
    inside = [loop.counts["FFMA"] for loop in loops(code)]
    assert inside == sorted(inside, reverse=True)
    assert inside[-1] == 1
    if nvrtc_version() == (13, 5):
        assert inside == [16, 4, 1]


def test_the_prose_says_what_was_recorded():
    ms = {factor: experiments.copied(factor).ms for factor in counts.FACTORS}
    library = data.load("ladder").find("cuBLAS", 4096)[0].median_s
    tiled = [data.load("lee").find(name, 4096)[0].median_s for name in ("sgemm_tiled", "sgemm_padded")] + [
        data.load("ladder").find("sgemm_tiled", 4096)[0].median_s]
    assert all(round(1e3 * s) == 18 and round(100 * library / s) == 15 for s in tiled), "about 18 ms, 15 %"
    says(f"UNROLL = 4 is {ms[1] / ms[4]:.2f} times faster than UNROLL = 1", f"and {100 * (1 - ms[2] / ms[1]):.0f} % of the time")
    assert all(0.97 * ms[4] < ms[factor] < ms[4] for factor in (8, 16)), "after that little is gained"
    says(f"With UNROLL = 4 it takes {ms[4]:.1f} ms", f"with one multiply-add needs the {ms[1]:.1f} ms of the first row")
    assert unrolling.recorded_ms(16) == round(ms[16], 1)


def test_the_readers_kernel_has_the_counts_of_the_last_row(mine):
    own = whole_step(resolve(mine), per_tile=16)
    assert (own.per_multiply_add, own.counts["LDS"]) == (counts.step(16).per_multiply_add, counts.step(16).counts["LDS"])
    says("Your own kernel was not timed. The compiler unrolled it completely")


def test_the_copy_was_recorded_twice_and_has_the_counts_of_the_course_kernel():
    plan = [(factor, 1) for factor in counts.FACTORS] + [(16, 2)]
    for factor, ways in plan:
        again = data.in_turns("ballast", UNROLL=factor, EXTRA=0, WAYS=ways)["median_s"]
        assert 1e3 * again == pytest.approx(experiments.copied(factor, ways).ms, rel=0.003), "a second recording"
    assert [row[2] for row in unrolling.scoreboard().rows[:-1]] == [
        f"{wavefronts('sgemm_unrolled', TILE=16, UNROLL=factor):g}" for factor in counts.FACTORS]
    if nvrtc_version() == (13, 5):
        more = {factor: 16 * (counts.step(factor).per_multiply_add - experiments.copied(factor).instructions) for factor in counts.FACTORS}
        assert more == {1: 0, 2: 0, 4: 0, 8: 1, 16: 0}
        says("as the table by UNROLL says above, and one fewer per tile at UNROLL = 8")


def test_what_is_said_of_the_course_kernels_own_times():
    found = [recorded_unrolled(factor) for factor in counts.FACTORS] + [data.in_turns("sgemm_tiled", **SQUARE)]
    assert {row["repeats"] for row in found} == {7}
    assert all((row["high_s"] - row["low_s"]) / row["median_s"] < 0.004 for row in found)
    four, sixteen = (1e3 * recorded_unrolled(factor)["median_s"] for factor in (4, 16))
    copy = data.in_turns("ballast", UNROLL=16, EXTRA=0, WAYS=1)
    says(f"This code took {sixteen:.1f} ms for 4096 × 4096 matrices, and that of UNROLL = 4 took {four:.1f} ms",
         f"the same step made the time {100 * (sixteen / four - 1):.0f} % *longer*",
         f"it took {1e3 * copy['median_s']:.1f} ms at UNROLL = 16",
         f"the same step made it {100 * (sixteen / four - 1):.0f} % *longer*")


def test_which_compiler_made_the_code_that_was_timed():
    row, = (row for row in RECORD["rows"] if row["kernel"] == "sgemm_unrolled")
    assert max(loops(read_back(row["sass"])), key=lambda loop: loop.counts["FFMA"]).counts["instructions"] == TIMED_STEP
    assert 16 * experiments.copied(16).instructions == 60
    says("The copy has 60 instructions per tile, three fewer than the 63 here")
    added, = (row for row in data.readings("ballast").find(UNROLL=16, EXTRA=1, WAYS=1, N=4096))
    more = 16 * (added["instructions"] - experiments.copied(16).instructions)
    says(f"the copy got {more:.0f} more per tile, and took {1e3 * added['median_s']:.1f} ms")
    assert not any("6 %" in text for text in CELLS.values()), "no rule rests on one mismatch"


@pytest.mark.skipif("nvrtc_version() != (13, 0)", reason="the code that was timed is NVRTC 13.0's")
def test_the_counts_beside_the_times_are_those_of_the_compiler_that_was_timed():
    assert 16 * counts.step(16).per_multiply_add == TIMED_STEP
    assert 16 * whole_step("sgemm_tiled", **SQUARE).per_multiply_add == TIMED_TILED
    assert 16 * whole_step("sgemm_padded", TILE=16, PAD=4).per_multiply_add == TIMED_PADDED


def test_the_counts_of_the_optional_section_are_of_the_code_that_was_timed():
    assert [steps - 16 - 20 for steps in (TIMED_TILED, TIMED_STEP)] == [35, 27]
    says("27 others. NVRTC 13.5", "and 35 others: 4.44")
    assert [counts.two_decimals(steps / 16) for steps in (TIMED_TILED, TIMED_STEP)] == ["4.44", "3.94"]


def test_the_pair_with_more_wavefronts_also_stores_in_two():
    loads, stores = 1, 1 / 16
    before, after = experiments.pairs()["More wavefronts"]
    assert after.wavefronts - before.wavefronts == loads + stores
    shared = resources(ballast.compiled({"UNROLL": 16, "EXTRA": 0, "WAYS": 2}))[ballast.ENTRY]
    assert shared.registers <= 32
    assert 8 * (shared.static_shared_bytes + shared.reserved_shared_bytes) < LIMITS[9, 0].shared, "as many blocks fit"
    says("each load and each store of `Bs` now takes two wavefronts")


def test_the_opening_does_not_answer_the_prediction():
    first = CELLS["title"] + CELLS["watch"] + CELLS["idea"]
    assert not any(time in first for time in ("18 ms", "16.9", "17.3", "17.7"))
    assert "15 %" in first


def test_the_repair_says_what_to_take_out_of_the_for():
    says("take `int k = 0` out of the `for`, which then begins with `for (; k + 3 < K;`")


def test_the_compiler_unrolled_lesson_04s_kernel_as_well():
    assert "#pragma" not in kernels.get("sgemm_tiled").source
    found = whole_step("sgemm_tiled", **SQUARE)
    assert (found.inner.counts["FFMA"], found.counts["LDS"]) == (16, 20)
    says(f"4.44. It takes {1e3 * data.in_turns('sgemm_tiled', **SQUARE)['median_s']:.1f} ms")
    if nvrtc_version() == (13, 5):
        assert [16 * step.shares()["once per tile"] for step in (found, counts.step(16))] == [35, 24]
        says("The kernel of lesson 04 has the same multiply-adds and loads as `sgemm_unrolled` with UNROLL = 16, and 35 others: 4.44")


def test_what_is_said_of_the_step_from_2_to_4():
    steps = {factor: (counts.step(factor).per_multiply_add, wavefronts("sgemm_unrolled", TILE=16, UNROLL=factor))
             for factor in (2, 4)}
    assert all(after < before for before, after in zip(steps[2], steps[4], strict=True)), "both counts fall"
    row = next(row for row in unrolling.limits().rows if row[0] == "UNROLL = 2")
    says(f"with 2 only by a little: {row[2]} and {row[3]} ms",
         "From UNROLL = 2 to 4 both counts fall")


def test_each_pair_of_recordings_differs_in_one_count():
    third, more = experiments.pairs().values()
    quarter, fewer_waves = experiments.more_pairs().values()
    for pair, same in ((quarter, "wavefronts"), (third, "wavefronts"), (more, "instructions")):
        for name in ("wavefronts", "instructions"):
            assert (getattr(pair[0], name) == getattr(pair[1], name)) is (name == same)
    fewer = [pair[1].instructions / pair[0].instructions for pair in (quarter, third)]
    assert fewer == [pytest.approx(0.75, abs=0.01), pytest.approx(0.66, abs=0.01)], "a quarter, a third"
    says(f"A third fewer instructions make the time {100 * (1 - third[1].ms / third[0].ms):.0f} % shorter")
    before, after = more
    says(f"With {after.wavefronts / before.wavefronts:.2f} times the wavefronts and the same number of instructions, "
         f"the kernel takes {after.ms / before.ms:.2f} times as long",
         f"with {after.wavefronts / before.wavefronts:.2f} times the wavefronts of shared memory, "
         f"the kernel takes {after.ms / before.ms:.2f} times")


def test_from_2_to_4_more_than_half_of_the_gain_goes_with_the_wavefronts():
    two, four = experiments.more_pairs()["A quarter fewer wavefronts"]
    assert 1 - four.wavefronts / two.wavefronts == pytest.approx(0.25, abs=0.02), "a quarter"
    says(f"and {100 * (1 - four.ms / two.ms):.0f} % of the time, although the instructions rise by "
         f"{100 * (four.instructions / two.instructions - 1):.0f} %")
    bare = experiments.copied(4)
    says(f"Without the additions UNROLL = 4 takes {bare.ms:.1f} ms",
         f"of the about {two.ms - bare.ms:.0f} ms between UNROLL = 2 and 4, more than half go together with the wavefronts")
    assert 0.5 < (two.ms - four.ms) / (two.ms - bare.ms) < 1
    assert ballast.per_multiply_add(ballast.compiled({"UNROLL": 4, "EXTRA": 2, "WAYS": 1})) == pytest.approx(four.instructions, abs=0.2)


def test_the_bars_say_what_changed_and_leave_the_percentages_to_the_reader():
    for picture, found in ((unrolling.one_change(), experiments.pairs()), (unrolling.more_changes(), experiments.more_pairs())):
        told = repr(picture)
        assert all(f"{item.wavefronts:g} wavefronts, {item.ms:.1f} ms" in told for pair in found.values() for item in pair)
        assert "%" not in told


def test_lesson_06s_kernel_needs_fewer_instructions_and_as_much_time():
    found = whole_step("sgemm_padded", TILE=16, PAD=4)
    assert found.counts["LDS"] == found.counts["LDS.128"] == 8, "the loads of both tiles are joined"
    ms, waves = 1e3 * data.in_turns("sgemm_padded", TILE=16, PAD=4)["median_s"], wavefronts("sgemm_padded", TILE=16, PAD=4)
    assert ms > min(experiments.recorded_ms(factor) for factor in (4, 8, 16))
    assert experiments.copied(16).instructions > TIMED_PADDED / 16, "fewer than any of the scoreboard"
    says("`sgemm_padded`, stores the tile of B as `Bs[col][k]`",
         f"and {waves:.2f} wavefronts. It takes {ms:.1f} ms, no less than the others")
    says(f"PAD = 4 the code that was timed has {counts.two_decimals(TIMED_PADDED / 16)} instructions per multiply-add")


def test_no_modelled_limit_stands_above_a_recorded_time():
    rows = [tuple(map(float, row[1:])) for row in unrolling.limits().rows]
    assert all(recorded > max(issue, shared) for recorded, issue, shared in rows)
    assert [issue > shared for _, issue, shared in rows] == [True, False, False, False, False]
    assert len({shared for *_, shared in rows[2:]}) == 1, "from 4 on shared memory needs as long in every row"
    gpu = device("H200")
    assert (gpu.sms, gpu.clock_mhz) == (132, 1980)
    says("divide by 132 multiprocessors and by 1.98 · 10⁹ cycles per second, its highest clock")
    says("9.94 / 4 = 2.48 cycles", "and shared memory 2.125")
    assert float(f"{1e3 * 4096**3 / 32 / 132 * 9.9375 / 4 / 1.98e9:.1f}") == pytest.approx(rows[0][1], abs=0.05)


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
    assert 1 < data.in_turns("sgemm_padded", TILE=16, PAD=4)["median_s"] / recorded_unrolled(16)["median_s"] < 1.01


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
