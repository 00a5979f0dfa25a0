"""Lesson 07: what it promises, and every number that its prose says.

Counts of machine code are of the compiler that made the page; where another one is installed, what the lesson claims in words is held.
"""

import json
import os
import re
from datetime import date
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data, kernels
from course_lib.arch import LIMITS
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.explorables.unroll import states
from course_lib.lessons import unrolling
from course_lib.lessons.unrolling import ballast, counts, experiments, texts
from course_lib.lessons.unrolling.charts import draw_same
from course_lib.magic import from_cell
from course_lib.plots import linked_code, style
from course_lib.plots.machine_code import two_decimals
from course_lib.run import matches, run
from course_lib.toolchain import compile_cuda, loops, nvrtc_version, resources, sass, whole_step
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


def says(*sentences):
    for sentence in sentences:
        assert sentence in PROSE, sentence


def test_the_worked_kernel_is_right_on_every_input_and_unrolls_by_four(mine):
    assert "right on 12 of 12 inputs" in repr(check(mine))
    assert sum("acc += As" in line for line in mine.splitlines()) == 4
    assert "#pragma" not in mine


def test_the_compiler_unrolls_the_rest_by_itself(mine):
    plain, four = counts.variants().values()
    assert [unrolling.per_multiply_add(text) for text in (plain, four)] == [
        float(two_decimals(counts.step(factor).per_multiply_add)) for factor in (16, 4)]
    assert unrolling.per_multiply_add(mine) == unrolling.per_multiply_add(plain)
    assert [counts.same_code(text, mine) for text in (plain, four)] == [True, False]
    assert [counts.step_of(text).inner.counts["FFMA"] for text in (mine, plain, four)] == [16, 16, 4]
    assert f"All {len(linked_code(mine).sass)} machine instructions are the same." in repr(unrolling.beside(mine))


def test_the_same_machine_code_stands_side_by_side(mine):
    ax = style.axes(width=8, height=3)
    draw_same(ax, mine)
    rows = [text.get_text() for text in ax.texts if text.get_text().startswith(("LDS", "FFMA"))]
    assert rows[:5] == rows[5:]
    assert rows[0].startswith("LDS")


def test_whoever_forbids_it_gets_the_four_and_check_is_content(mine):
    forbidden = mine.replace("        for (int k = 0;", "        #pragma unroll 1\n        for (int k = 0;")
    assert forbidden != mine
    found, course = counts.step_of(forbidden), counts.step(4)
    assert found.inner.counts["FFMA"] == 4
    assert abs(found.per_multiply_add - course.per_multiply_add) < 0.1
    assert "are the same" not in repr(unrolling.beside(forbidden))
    said = repr(check(forbidden))
    assert "right on 12 of 12 inputs" in said
    assert "no counter looks bad" in said
    if nvrtc_version() == (13, 5):
        assert [step.per_multiply_add for step in (found, course)] == [5.625, 5.6875]
        assert list(found.shares().values())[:3] == list(course.shares().values())[:3]
        assert "your kernel: 5.63 (" in repr(unrolling.beside(forbidden))
    assert [resources(compile_cuda(text, name="written"))["written"].registers for text in (forbidden, mine)] == [25, 32]
    says("there are 5.63 instructions per multiply-add in place of 3.75, 50 % more.", "`#pragma unroll 4` has 5.69.",
         "Your kernel needs one instruction less per tile.", "25 registers in place of 32")
    assert round(16 * found.per_multiply_add) == 90, "as many as with the two additions"
    says("Above the *plain* loop, the forgotten line makes UNROLL = 1 of it",
         "(The forgotten line of *Break it* led to the same number by chance: it added other instructions.)")


def test_the_forgotten_line_above_the_plain_loop_is_unroll_1():
    plain = counts.variants()[counts.PLAIN]
    forgotten = plain.replace("        for (int k = 0;", "        #pragma unroll 1\n        for (int k = 0;")
    assert forgotten != plain
    assert counts.same_code(forgotten, kernels.get(counts.KERNEL).source.replace(counts.PRAGMA, "#pragma unroll 1\n"))


def test_a_kernel_of_another_text_is_right_too_though_its_code_differs(mine):
    other = mine.replace("for (int k0 = 0; k0 < K; k0 += TILE) {",
                         "for (int t = 0; t < (K + TILE - 1) / TILE; t++) { const int k0 = t * TILE;")
    assert other != mine
    assert counts.step_of(other).inner.counts["FFMA"] == 16
    assert "are the same" not in repr(unrolling.beside(other))


def test_a_kernel_without_tiles_has_no_step_along_k(monkeypatch, mine):
    monkeypatch.setattr(counts, "whole_step", lambda *_, **__: None)
    with pytest.raises(CourseError, match="no loop along K over whole tiles of 16"):
        unrolling.per_multiply_add(mine)


def test_the_course_kernels_variants_need_its_loop(monkeypatch):
    monkeypatch.setattr(counts, "PRAGMA", "for (;;)")
    with pytest.raises(CourseError, match="no longer has the loop"):
        counts.variants()


def test_the_loop_itself_is_shared_by_unroll_multiply_adds():
    for factor in counts.FACTORS:
        shares = counts.step(factor).shares()
        assert shares["multiply-adds"] == 1
        assert shares["the inner loop itself"] == (5 / factor if factor < 16 else 0)
    inner = counts.step(1).inner.counts
    assert (inner["instructions"], inner["LDS"], inner["FFMA"]) == (8, 2, 1)
    if nvrtc_version() == (13, 5):
        assert [round(16 * counts.step(u).shares()["once per tile"]) for u in (8, 16)] == [31, 24]
    says("Seven of the grey instructions go there, too.")
    says("an iteration has eight instructions: two loads, one multiply-add, and five", "5 / 4 = 1.25")
    says("spends five of its eight instructions on itself")


@PAGES_COMPILER
def test_with_two_the_assembler_joins_nothing():
    assert [counts.step(u).counts["LDS.64"] for u in (2, 4)] == [0, 8], "with 4: twice in each of four iterations"
    says("It does so from UNROLL = 4 on; why not with 2, we do not know.")


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
    told = repr(unrolling.by_factor())
    assert "UNROLL = 1: 9.94 (multiply-adds 1, loads from shared memory 2, the inner loop itself 5, once per tile 1.94)." in told
    assert "UNROLL = 16: 3.75 (multiply-adds 1, loads from shared memory 1.25, once per tile 1.5)." in told
    assert len(states()["1"]["order"]) == 159
    says("The first bar stands for 159 boxes. Sixteen per row, they make 9.94 rows: 9.94 instructions for each multiply-add.")
    says("the machine code of the kernel grows from 81 to 114 instructions, and the registers of a thread from 22 to 32.",
         "another third of the instructions goes: 5.69 become 3.75")
    found = [evaluate("sgemm_unrolled", 64, {"TILE": 16, "UNROLL": factor}, backend="sim") for factor in (1, 16)]
    assert [r.resources.registers for r in found] == [22, 32]
    assert [len(linked_code("sgemm_unrolled", TILE=16, UNROLL=factor).sass) for factor in (1, 16)] == [81, 114]


def test_what_somebody_unrolled_by_hand_lacks_its_last_terms():
    hasty = from_cell(CELLS["hasty"])[1]
    said = repr(check(hasty))
    assert "right on 2 of 12 inputs" in said
    assert "K=3" in said
    for K, whole in ((64, 64), (50, 48)):
        X, Y, _ = inputs(48, 64, K)
        assert matches(run(hasty, X, Y).C, X[:, :whole].copy(), Y[:whole].copy())


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
    before = {factor: data.load("unrolling").find(counts.KERNEL, 4096, parameters={"TILE": 16, "UNROLL": factor})[0].median_s
              for factor in (4, 16)}
    days = [date.fromisoformat(one.date) for one in (data.readings("ballast"), data.load("unrolling"))]
    assert (days[0] - days[1]).days == 6
    says(f"the kernel takes {ms[1]:.1f} ms with UNROLL = 1, which forbids unrolling, and {ms[4]:.1f} ms with UNROLL = 4.",
         f"From UNROLL = 4 to 16 a third of the instructions goes, but only {compared(ms[16], ms[4]).removesuffix(' less')} of the time.",
         f"in a recording of six days before, UNROLL = 16 is {compared(before[16], before[4]).removesuffix(' more')} "
         "*slower* than UNROLL = 4.",
         f"UNROLL = 1 takes {100 * (ms[1] / ms[16] - 1):.0f} % longer than UNROLL = 16.",
         f"It stood at 15 % of cuBLAS and stands at {100 * experiments.library_ms() / ms[16]:.1f} %",
         f"makes it take {100 * (ms[1] / ms[16] - 1):.0f} % longer: {ms[1]:.2f} ms in place of {ms[16]:.2f}.")


def test_each_time_says_how_often_it_was_measured_and_how_far_it_spreads():
    told = "Each time is the median of 9 launches, whose middle half lies within 0.22 %, recorded on NVIDIA H200, 2026-11-27."
    assert experiments.source() == told
    says(told.replace("9 launches", "nine launches").replace("recorded on NVIDIA H200, 2026-11-27", "recorded on an H200 on 2026-11-27"))
    assert all(told in repr(picture) for picture in (unrolling.scoreboard(), unrolling.two_additions(), unrolling.more_instructions()))
    says("hardly more than the 0.2 % by which launches of one kernel differ")
    rows = [experiments.row_of(16, extra) for extra in (0, 2)]
    assert rows[0]["high_s"] < rows[1]["low_s"], "more than the spread, but hardly"
    assert rows[1]["median_s"] / rows[0]["median_s"] - 1 < 2 * experiments.spread() / 100


@PAGES_COMPILER
def test_the_timed_code_is_the_one_that_is_counted_and_the_readers(mine):
    assert [experiments.recorded(factor).instructions for factor in counts.FACTORS] == [
        counts.step(factor).per_multiply_add for factor in counts.FACTORS]
    assert counts.same_code(mine, kernels.get(counts.KERNEL).source.replace(counts.PRAGMA, "#pragma unroll 16\n"))
    says("its plain loop, your four lines and UNROLL = 16 are the same machine code")


def test_the_scoreboard_has_the_recorded_times_and_speeds():
    told = repr(unrolling.scoreboard())
    for factor in counts.FACTORS:
        item = experiments.recorded(factor)
        assert f"{item.ms:.2f} ms, {100 * experiments.library_ms() / item.ms:.1f} %" in told
    assert "in percent of cuBLAS 2.68 ms, 100 %" in told


def test_the_pair_with_more_wavefronts_also_stores_in_two():
    loads, stores = 1, 1 / 16
    before, after = experiments.wavefront_changes()[0]
    assert after.wavefronts - before.wavefronts == loads + stores
    shared = resources(ballast.compiled({"UNROLL": 16, "EXTRA": 0, "WAYS": 2}))[counts.KERNEL]
    assert shared.registers <= 32
    assert 8 * (shared.static_shared_bytes + shared.reserved_shared_bytes) < LIMITS[9, 0].shared, "as many blocks fit"
    says("each load and store of `Bs` takes two wavefronts")


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


def test_the_additions_change_the_instructions_and_the_time_follows_them_at_unroll_1_only():
    rolled, rolled_two, bare, two, six = experiments.additions()
    for group in ((rolled, rolled_two), (bare, two, six)):
        assert len({item.wavefronts for item in group}) == 1
    pairs = ((rolled, rolled_two), (bare, two), (bare, six))
    more, longer = ([round(100 * (getattr(after, name) / getattr(before, name) - 1)) for before, after in pairs]
                    for name in ("instructions", "ms"))
    says(f"At UNROLL = 1, {more[0]} % more instructions make the time {longer[0]} % longer.",
         f"With {more[1]} % more instructions, the kernel takes {two.ms:.2f} ms in place of {bare.ms:.2f}: "
         "less than half a percent longer, hardly more",
         f"with {six.instructions + 1e-9:.2f} instructions the kernel takes {longer[2]} % longer than with {bare.instructions:.2f}",
         f"So there are 90 now: {more[1]} % more.",
         f"At UNROLL = 1 the kernel took {rolled.ms:.2f} ms.",
         f"At UNROLL = 16 even {more[1]} % more of them, in additions that nobody needs, cost less than half a percent of time.")
    assert 0 < two.ms / bare.ms - 1 < 0.005
    codes = [ballast.compiled({"UNROLL": 16, "EXTRA": extra, "WAYS": 1}) for extra in ballast.EXTRA]
    steps = [loops(sass(code, counts.KERNEL))[0].counts for code in codes]
    loads = [{name: n for name, n in step.items() if name.startswith("LD")} for step in steps]
    assert loads[0] == loads[1] == loads[2], "the loads stay the same"
    assert [steps[1]["FADD"], steps[0]["instructions"], steps[1]["instructions"]] == [32, 60, 90]
    says("UNROLL = 16 has 16 × 3.75 = 60 instructions. The additions are 32 more, and the compiler saves two others. So there are 90 now")
    assert [unrolling.recorded_ms(16, extra=extra) for extra in (0, 2)] == [round(bare.ms, 2), round(two.ms, 2)] == [16.94, 17]
    told = repr(unrolling.two_additions())
    assert f"{two.instructions + 1e-9:.2f}, time for N = 4096 {two.ms:.2f} ms" in told
    assert f"{bare.instructions:.2f}, time for N = 4096 {bare.ms:.2f} ms" in told


def test_more_and_fewer_wavefronts_and_what_else_changed():
    (before, more), (two, bare, four) = experiments.wavefront_changes()
    assert before.instructions == more.instructions
    percent = [100 * (getattr(more, name) / getattr(before, name) - 1) for name in ("wavefronts", "ms")]
    says(f"With {percent[0]:.0f} % more wavefronts the kernel takes {percent[1]:.0f} % longer.")
    assert 1 - four.wavefronts / two.wavefronts == pytest.approx(0.25, abs=0.02), "a quarter"
    says(f"With a quarter fewer wavefronts the kernel takes {100 * (1 - four.ms / two.ms):.0f} % less time, "
         f"although the instructions rise by {100 * (four.instructions / two.instructions - 1):.0f} %")
    loads = [counts.step(factor).shares()["loads from shared memory"] for factor in (2, 4)]
    assert 1 - loads[1] / loads[0] == pytest.approx(0.25, abs=0.01)
    assert bare.wavefronts == four.wavefronts
    says("But a quarter of the load instructions went as well.",
         f"at the same {two_decimals(bare.wavefronts)}, in the second and third row, "
         f"the additions cost {100 * (four.ms / bare.ms - 1):.1f} % here")


def test_the_bars_say_every_count_and_leave_the_percentages_to_the_reader():
    for picture, found in ((unrolling.more_instructions(), experiments.additions()),
                           (unrolling.more_wavefronts(), experiments.wavefront_changes()[0]),
                           (unrolling.fewer_wavefronts(), experiments.wavefront_changes()[1])):
        told = repr(picture)
        for item in found:
            assert f"{item.name}: machine instructions per multiply-add of a thread {two_decimals(item.instructions)}" in told
            assert f"{item.ms:.2f} ms" in told
        assert "%" not in told.replace("within 0.22 %", "")


def test_the_slides_numbers():
    assert [row[3] for row in unrolling.slides().rows][-1] == "1.50"
    assert [row[4] for row in unrolling.slides().rows][-1] == "1.02"
    says("At N = 4096 he gains a factor of 1.5, and we gain 2 %.")
    pair = [data.load("lee").find(name, 4096)[0].parameters for name in ("sgemm_padded", "sgemm_unrolled")]
    assert pair == [{"TILE": 16, "PAD": 1}, {"TILE": 16, "UNROLL": 16}]
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
