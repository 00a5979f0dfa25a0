"""Lesson 07: what it promises, and every number that its prose says.

Counts of machine code are of the compiler that made the page; where another one is installed, what the lesson claims in words is held.
"""

import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import data, kernels
from course_lib.arch import LIMITS
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.lessons import unrolling
from course_lib.lessons.unrolling import ballast, counts, experiments, texts
from course_lib.magic import from_cell
from course_lib.model import shared_wavefronts
from course_lib.plots import linked_code
from course_lib.run import resolve
from course_lib.toolchain import nvrtc_version, resources, whole_step
from course_lib.widgets.compute import evaluate, inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "07_unrolling.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
PAGES_COMPILER = pytest.mark.skipif("nvrtc_version() != (13, 5)", reason="the page's counts are of NVRTC 13.5's code")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


SQUARE = {"BM": 16, "BN": 16, "BK": 16}


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
    for name, inside in (("plain loop, #pragma unroll 4", "4"), ("plain loop, #pragma unroll 1", "1")):
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
        mine, course = whole_step(resolve(forbidden), per_tile=16), counts.step(4)
        assert [step.per_multiply_add for step in (mine, course)] == [5.625, 5.6875]
        assert list(mine.shares().values())[:3] == list(course.shares().values())[:3]


def test_a_kernel_of_another_text_is_right_too_though_its_code_differs(mine):
    other = mine.replace("for (int k0 = 0; k0 < K; k0 += TILE) {",
                         "for (int t = 0; t < (K + TILE - 1) / TILE; t++) { const int k0 = t * TILE;")
    assert other != mine
    rows = unrolling.beside(other).rows
    assert (rows[0][1], [row[3] for row in rows[1:]]) == ("16", ["no"] * 4)


def test_the_course_kernels_variants_need_its_loop(monkeypatch):
    monkeypatch.setattr(counts, "PRAGMA", "for (;;)")
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
    assert 'With UNROLL = 2 it did not; we do not know why.' in PROSE


def test_neighbours_are_joined_by_the_assembler():
    assert {bits: counts.step(16).counts[f"LDS.{bits}"] for bits in (32, 64, 128)} == {32: 16, 64: 0, 128: 4}
    says("4 + 16 = 20 loads, 1.25 for each")
    ptx, sass = texts.of_line(linked_code("sgemm_unrolled", UNROLL=4))
    assert sum(line.startswith("ld.shared.f32") for line in ptx) == 8
    assert sum(line.startswith("LDS.64") for line in sass) == 2
    assert sum(line.startswith("LDS ") for line in sass) == 4
    assert sum(line.startswith("FFMA") for line in sass) == sum(line.startswith("fma") for line in ptx) == 4


@PAGES_COMPILER
def test_the_counts_on_the_page_are_this_compilers():
    rows = {row[0]: row[1:] for row in unrolling.by_factor().rows}
    assert rows[1] == ("1", "2", "5", "1.94", "9.94")
    assert rows[16] == ("1", "1.25", "0", "1.5", "3.75")
    says("The machine code grows from 81 to 114 instructions", "the registers rise from 22 to 32")
    found = [evaluate("sgemm_unrolled", 64, {"TILE": 16, "UNROLL": factor}, backend="sim") for factor in (1, 16)]
    assert [r.resources.registers for r in found] == [22, 32]
    assert [len(linked_code("sgemm_unrolled", TILE=16, UNROLL=factor).sass) for factor in (1, 16)] == [81, 114]


@pytest.mark.slow
def test_a_tile_of_32_halves_what_comes_once_per_tile():
    for factor in counts.FACTORS[:-1]:
        small, large = (whole_step("sgemm_unrolled", TILE=tile, UNROLL=factor).shares()["once per tile"] for tile in (16, 32))
        assert large == pytest.approx(small / 2, rel=0.05)


def test_wavefronts_stop_falling_at_four():
    found = [evaluate("sgemm_unrolled", 256, {"TILE": 16, "UNROLL": factor}, backend="sim") for factor in counts.FACTORS]
    assert [32 * result.count("wavefronts") / 256**3 for result in found] == [2, 2, 1.5, 1.5, 1.5]
    says("the sliders counted loads only")
    assert [wavefronts("sgemm_unrolled", TILE=16, UNROLL=u) for u in (1, 16)] == [2.125, 1.625]
    with pytest.raises(CourseError, match="UNROLL can be up to 8"):
        kernels.get("sgemm_unrolled").check(TILE=8, UNROLL=16)


def test_the_wavefronts_of_joined_loads_are_those_that_nsight_compute_counted():
    row, alternating = np.arange(32) // 16, np.arange(32) % 2
    told = json.loads((ROOT / "tests/data/wavefronts.json").read_text(encoding="utf-8"))["rows"]
    for name, width, lanes, waves in (("LDS", 4, row, 1), ("LDS.64", 8, alternating, 1), ("LDS.128", 16, row, 2)):
        counted, = {found["ld_wavefronts"] for found in told if found["width"] == width and found["index"] == lanes.tolist()}
        assert counted == waves == shared_wavefronts(width * row, width)
        says(f"| `{name}` | {width // 4} | {waves} |")
    says("For `LDS.64` the lanes alternated between the two words.")
    of_products = json.loads((ROOT / "tests/data/h200_products.json").read_text(encoding="utf-8"))["rows"]
    counted = next(found for found in of_products if (found["kernel"], found["padding"]) == ("sgemm_unrolled", 0))
    assert 32 * counted["measured"][6] / np.prod(counted["shape"]) == 1.5
    says("For our kernel with UNROLL = 16, Nsight Compute counted 1.5 wavefronts per multiply-add, as the simulator does.")


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
    says("*1 counter looks bad* is no error")


def compared(ms, base):
    """Say by how many percent a time is longer or shorter."""
    return f"{abs(100 * (ms / base - 1)):.1f} % {'more' if ms > base else 'less'}"


def test_the_prose_says_what_was_recorded():
    ms = {factor: experiments.recorded(factor).ms for factor in counts.FACTORS}
    library = data.load("ladder").find("cuBLAS", 4096)[0].median_s
    tiled = [data.load("lee").find(name, 4096)[0].median_s for name in ("sgemm_tiled", "sgemm_padded")] + [
        data.load("ladder").find("sgemm_tiled", 4096)[0].median_s]
    assert all(round(1e3 * s) == 18 and round(100 * library / s) == 15 for s in tiled), "about 18 ms, 15 %"
    says(f"UNROLL = 4 makes the kernel {ms[1] / ms[4]:.2f} times as fast as UNROLL = 1",
         f"UNROLL = 8 takes {compared(ms[8], ms[4])} time than UNROLL = 4, and UNROLL = 16 takes {compared(ms[16], ms[4])}.",
         f"With UNROLL = 4 our kernel takes {ms[4]:.1f} ms",
         f"Up to UNROLL = 4, yes: from {ms[1]:.1f} to {ms[4]:.1f} ms.",
         f"a third of the instructions, but only {compared(ms[16], ms[4]).removesuffix(' less')} of the time")
    assert unrolling.recorded_ms(16) == round(ms[16], 1)


@PAGES_COMPILER
def test_the_timed_code_is_the_one_that_is_counted_and_the_readers(mine):
    assert [row[3] for row in unrolling.scoreboard().rows[:-1]] == [row[-1] for row in unrolling.by_factor().rows]
    assert [row[4] for row in unrolling.scoreboard().rows[:-1]] == [
        f"{wavefronts('sgemm_unrolled', TILE=16, UNROLL=factor):g}" for factor in experiments.SCORED]
    assert unrolling.beside(mine).rows[2][3] == "yes"
    says("your own kernel was compiled to the code of UNROLL = 16")


def test_no_time_is_below_its_limit_and_the_limit_changes_after_unroll_1():
    for factor in experiments.SCORED:
        item = experiments.recorded(factor)
        assert experiments.least_ms(item) < item.ms
        assert (item.instructions / 4 > item.wavefronts) is (factor == 1)
    says("At UNROLL = 1 the instructions set the limit, and from UNROLL = 2 on the wavefronts.")
    assert [row[-1] for row in unrolling.scoreboard().rows] == ["20.41", "17.46", "13.35", "13.35", "13.35", ""]


def test_the_pair_with_more_wavefronts_also_stores_in_two():
    loads, stores = 1, 1 / 16
    before, after = experiments.pairs()["3. More wavefronts"]
    assert after.wavefronts - before.wavefronts == loads + stores
    shared = resources(ballast.compiled({"UNROLL": 16, "EXTRA": 0, "WAYS": 2}))[counts.KERNEL]
    assert shared.registers <= 32
    assert 8 * (shared.static_shared_bytes + shared.reserved_shared_bytes) < LIMITS[9, 0].shared, "as many blocks fit"
    says("Each load and store of `Bs` takes two wavefronts")


def test_the_opening_does_not_answer_the_prediction():
    first = CELLS["title"] + CELLS["watch"] + CELLS["idea"]
    assert not any(time in first for time in ("18 ms", *(f"{experiments.recorded(factor).ms:.1f}" for factor in (4, 16))))
    assert "15 %" in first


def test_the_repair_says_what_to_take_out_of_the_for():
    says("Move `int k = 0;` above the first loop, which then begins with `for (; k + 3 < K;`")


def test_the_compiler_unrolled_lesson_04s_kernel_as_well():
    assert "#pragma" not in kernels.get("sgemm_tiled").source
    found = whole_step("sgemm_tiled", **SQUARE)
    assert (found.inner.counts["FFMA"], found.counts["LDS"]) == (16, 20)


def test_each_pair_of_recordings_differs_in_one_count_and_the_time_follows_the_limit():
    once, many, more = experiments.pairs().values()
    for pair, same in ((once, "wavefronts"), (many, "wavefronts"), (more, "instructions")):
        for name in ("wavefronts", "instructions"):
            assert (getattr(pair[0], name) == getattr(pair[1], name)) is (name == same)
        assert experiments.changed(pair) == (same == "wavefronts", same == "instructions")
    assert [after.instructions - before.instructions for before, after in (once, many)] == pytest.approx([2, 2], abs=0.2)
    percent = [[round(100 * (getattr(after, name) / getattr(before, name) - 1)) for before, after in (once, many, more)]
               for name in ("instructions", "wavefronts", "ms")]
    (first, second, _), (_, _, third), longer = percent
    says(f"{first} % more instructions", f"{second} % more instructions", f"two wavefronts: {third} % more",
         f"At UNROLL = 1 the additions make the time {longer[0]} % longer", "the same additions make it less than half a percent longer",
         f"{third} % more wavefronts make it {longer[2]} % longer")
    assert all(item.instructions / 4 > item.wavefronts for item in once), "the instructions set the limit"
    assert all(item.instructions / 4 < item.wavefronts for item in (*many, *more)), "the wavefronts set it"
    assert 0 < many[1].ms / many[0].ms - 1 < 0.005
    assert unrolling.recorded_ms(16, extra=2) == round(many[1].ms, 1)
    says(f"UNROLL = 16 took {many[0].ms:.2f} ms without the additions")
    six = experiments.recorded(16, extra=6)
    assert six.instructions / 4 > six.wavefronts
    says(f"the limit here as well, {experiments.least_ms(six):.2f} ms, and the kernel takes {six.ms:.2f} ms")


def test_with_a_quarter_fewer_wavefronts_the_time_falls_although_the_instructions_rise():
    (two, four), = experiments.fewer().values()
    assert 1 - four.wavefronts / two.wavefronts == pytest.approx(0.25, abs=0.02), "a quarter"
    says(f"and {100 * (1 - four.ms / two.ms):.0f} % of the time, although the instructions rise by "
         f"{100 * (four.instructions / two.instructions - 1):.0f} %")
    bare = experiments.recorded(4)
    assert bare.wavefronts < two.wavefronts
    assert bare.instructions < two.instructions, "without the additions both fall"
    says(f"Without the two additions UNROLL = 4 takes {bare.ms:.2f} ms",
         f"the instructions set the limit, {experiments.least_ms(four):.2f} ms, "
         f"and no longer the wavefronts, {experiments.least_ms(bare):.2f} ms")
    loads = [counts.step(factor).shares()["loads from shared memory"] for factor in (2, 4)]
    assert 1 - loads[1] / loads[0] == pytest.approx(0.25, abs=0.01)
    says("a quarter of the load instructions went as well")


def test_the_bars_say_what_changed_and_leave_the_percentages_to_the_reader():
    for picture, found in ((unrolling.one_change(), experiments.pairs()), (unrolling.fewer_wavefronts(), experiments.fewer())):
        told = repr(picture)
        said = [f"{item.wavefronts:g} wavefronts, at least {experiments.least_ms(item):.2f} ms, {item.ms:.2f} ms"
                for pair in found.values() for item in pair]
        assert all(words in told for words in said)
        assert "%" not in told


def test_the_slides_numbers():
    assert [row[3] for row in unrolling.slides().rows][-1] == "1.50"
    assert [row[4] for row in unrolling.slides().rows][-1] == "1.02"
    says("At N = 4096 he gains a factor of 1.5, and we gain 2 %.")
    compared = [data.load("lee").find(name, 4096)[0].parameters for name in ("sgemm_padded", "sgemm_unrolled")]
    assert compared == [{"TILE": 16, "PAD": 1}, {"TILE": 16, "UNROLL": 16}]
    assert all(f"{name} = {value}" in unrolling.slides().caption for name, value in (("PAD", 1), ("UNROLL", 16)))


def test_the_picture_of_the_three_texts_has_words():
    assert "Three boxes" in repr(unrolling.three_texts())


def test_no_number_of_the_answer_stands_before_the_picture_was_played():
    shown = CELLS["title"] + CELLS["watch"]
    assert not any(word in shown for word in ("eight", " 8 instructions", "five", "9.94", "3.75"))
    assert "details" in CELLS["explain"].partition("What the compiler did")[0]


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


def test_with_the_pragma_the_readers_four_lines_are_left():
    text = from_cell(CELLS["mine"])[1].replace("for (int k = 0;", "#pragma unroll 1\n        for (int k = 0;")
    row = counts.beside(text).rows[0]
    assert row[1:3] == ("4", "5.63")
    says("They take 5.63 instructions each, and those that the compiler unrolls by four take 5.69.")
