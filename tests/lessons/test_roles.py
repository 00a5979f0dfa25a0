"""Lesson 18: the reader's kernel with two roles, what breaks it, and every number that the prose says."""

import itertools
import json
import re
from pathlib import Path

import pytest
from matplotlib.container import BarContainer

from course_lib import data, kernels
from course_lib.arch import TENSOR
from course_lib.blank import is_blank
from course_lib.errors import CourseError
from course_lib.explorables.roles import STAGES, STEPS, when
from course_lib.lessons import roles
from course_lib.lessons.roles import stores, times, tries
from course_lib.lessons.roles.tries import MISTAKES, cases, stages_of
from course_lib.magic import from_cell
from course_lib.run import run
from course_lib.unwritten import NOT_WRITTEN, NotWritten, Unwritten
from course_lib.widgets.compute import inputs
from tools import my_course
from tools.record.roles import without_producer
from tools.record.short import ROUNDS

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = json.loads((ROOT / "notebooks" / "18_roles.ipynb").read_text(encoding="utf-8"))
CELLS = {cell["id"]: "".join(cell["source"]) for cell in NOTEBOOK["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
QUESTIONS = (ROOT / "course_lib" / "lessons" / "roles" / "questions_18.toml").read_text(encoding="utf-8")
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "18_roles.md").read_text(encoding="utf-8").split())


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


@pytest.mark.parametrize("stages", [2, 3, 5])
def test_the_worked_kernel_is_right_with_any_number_of_stages(mine, stages):
    assert roles.check_roles(mine.replace("#define STAGES 3", f"#define STAGES {stages}")).right


def test_the_reader_begins_with_two_gaps_and_the_lecture_has_what_belongs_there(mine):
    blanked, _ = my_course.blank_cell(CELLS["mine"])
    assert is_blank(blanked)
    answers = [re.sub(r"\s*//.*", "", line).strip() for gap in re.findall(r"BEGIN SOLUTION\n(.*?)\s*// END", CELLS["mine"], re.S)
               for line in gap.splitlines()]
    assert len(answers) == 7
    assert all(answer not in blanked and f"`{answer}`" in LECTURE for answer in answers)


def line_of(kernel, words):
    line, = (n for n, text in enumerate(kernel.split("\n"), 1) if words in text and "auto" not in text)
    return line


def test_the_plain_parity_stops_all_in_two_lines(mine):
    broken = roles.with_mistake(mine, "the plain parity")
    found, = roles.check_roles(broken).findings
    assert (found.kind, found.line) == ("endless", line_of(broken, "barrier_wait(full(stage)"))
    waiting = re.findall(r"thread \((\d+), 0, 0\)[^,]*? in line (\d+)", found.message)
    other = line_of(broken, "barrier_wait(empty(stage)")
    assert waiting == [(str(32 * warp), str(found.line)) for warp in (1, 2, 3)] + [("128", str(other))]


def test_without_expected_bytes_a_product_reads_what_has_not_come(mine):
    broken = roles.with_mistake(mine, "nothing expected")
    report = roles.check_roles(broken)
    assert not any(case.passed for case in report.inputs)
    found, = (finding for finding in report.findings if "RAW" in finding.message)
    assert found.line == line_of(broken, "multiply_stage(")
    assert f"begins to copy to byte 0 of tiles at line {line_of(broken, 'fetch(')}" in found.message
    assert "The result is wrong" in found.message
    assert [finding.line for finding in report.findings] == [line_of(broken, "fetch("), line_of(broken, "multiply_stage(")]
    assert "is still under way when its block ends" in report.findings[0].message


def test_a_release_that_is_too_early_gives_the_right_result_and_is_found_all_the_same(mine):
    early = re.search(r'early = """(.*?)"""', CELLS["too-early"], re.S)[1]
    assert roles.check_roles(roles.with_consumer(mine, early)).right
    *begin, wait, release, end = early.strip().split("\n")
    broken = roles.with_consumer(mine, "\n".join([*begin, release, wait, end]))
    report = roles.check_roles(broken)
    found, = report.findings
    assert found.line == line_of(broken, "multiply_stage(")
    assert f"begins to copy to it at line {line_of(broken, 'fetch(')}" in found.message
    assert "The result is right here all the same, but a GPU need not give it" in found.message
    assert [case.passed for case in report.inputs] == [True, True, False, False], "as few steps as stages: no stage is used again"
    assert "the result is right on 4 of 4 inputs, on 2 of them without a hazard" in str(report)


@pytest.mark.parametrize(("right", "wrong"), [("(full(stage), parity)", "(full(stage), 0)"), ("parity ^ 1", "1")])
def test_a_parity_that_is_always_the_first_rounds_passes_the_first_two_inputs(mine, right, wrong):
    assert [case.passed for case in roles.check_roles(mine.replace(right, wrong)).inputs] == [True, True, False, None]


def test_a_repaired_loop_that_no_longer_releases_late_is_refused(mine):
    late = re.search(r'late = """(.*?)"""', CELLS["late"], re.S)[1]
    at_once = late.replace("products_wait<1>", "products_wait<0>")
    assert roles.check_roles(roles.with_consumer(mine, at_once)).right
    for loop in (at_once, late.replace("products_wait<1>();", "products_wait<0>();   // products_wait<1>();"),
                 at_once + "products_wait<1>();", at_once.replace("products_wait", "products_wait<1>(); products_wait")):
        found, = roles.check_late(mine, loop).findings
        assert (found.kind, "so no release is late" in found.message) == ("gate", True)


def test_a_consumer_whose_threads_all_arrive_stops_at_the_third_input(mine):
    report = roles.check_roles(mine.replace("if (thread == 0) barrier_arrive", "barrier_arrive"))
    assert [case.passed for case in report.inputs] == [True, True, False, None]


def test_an_even_number_of_arrivals_leaves_the_parity_and_an_odd_one_does_not(mine):
    for few, right in ((2, False), (3, True)):
        assert roles.check_roles(mine.replace("if (thread == 0) barrier_arrive", f"if (thread < {few}) barrier_arrive")).right == right
    assert "With three arrivals it finds nothing." in LECTURE


def test_the_words_of_the_messages_are_explained_where_they_appear(mine):
    """A barrier has eight bytes; a message names the array, and the lesson says which barrier that is."""
    once = mine.replace("barrier_expect(full(stage)", "if (step == 0) barrier_expect(full(stage)")
    assert "the mbarrier at byte 8 of full_barriers" in str(roles.check_roles(once))
    shown = {cell["id"]: "".join("".join(output["data"]["text/plain"]) for output in cell.get("outputs", ()) if "data" in output)
             for cell in NOTEBOOK["cells"]}
    for told, words, where in (("break", ("full_barriers",), "parity"), ("early-told", ("WAR hazard",), "late"),
                               ("repair", ("WAR", "wgmma.wait_group", "wgmma.commit_group"), "late"),
                               ("optional-mistake", ("RAW hazard", "bulk copy"), "nothing-expected")):
        text = CELLS[told].replace("*", "").replace("[hazard](glossary.md#hazard)", "hazard")
        assert [word for word in words if word not in text or word not in shown[where]] == []
    helpers = (ROOT / "course_lib" / "kernels" / "two_roles.cuh").read_text(encoding="utf-8")
    assert "products_commit();" in helpers[helpers.index("void multiply_stage"):helpers.index("void store")]


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("right", "wrong", "kind"), [
    ("if (thread == 0) barrier_arrive", "barrier_arrive", "endless"),
    ("barrier_wait(full(stage), parity);", "", "launch"),
    ("products_wait<0>();", "", "hazard"),
    ("fetch(stage, step, A, B);", "", "endless"),
    ("store(C, ldc, c);", "store(C + 1 - 2 * (thread % 4 == 3), ldc, c);", "wrong")])
def test_other_mistakes_are_named(mine, right, wrong, kind):
    assert mine.count(right) == 1
    assert kind in [finding.kind for finding in roles.check_roles(mine.replace(right, wrong)).findings]


def test_a_mistake_that_has_no_place_is_refused(mine):
    with pytest.raises(CourseError, match="no mistake that is known"):
        roles.with_mistake(mine, "no barrier")
    for which in MISTAKES:
        with pytest.raises(CourseError, match="was not found in your kernel"):
            roles.with_mistake("int x;", which)


def test_stages_that_fit_are_taken_from_the_text():
    assert stages_of("int x;") == 3
    with pytest.raises(CourseError, match="STAGES is 10"):
        stages_of("#define STAGES 10")
    assert [str(case) for case in cases(2)] == ["M=64 N=128 K=64", "M=64 N=128 K=128", "M=64 N=128 K=384", "M=128 N=256 K=168"]


@pytest.mark.slow
def test_the_numbers_of_the_picture():
    assert {stages: len(when(stages, "stall")) for stages in STAGES} == {2: 6, 3: 5, 4: 4}
    assert STEPS == 8
    assert "It waits five times." in PROSE
    assert "finds its stage still in use: 8 − 3 = 5" in PROSE


@pytest.mark.slow
def test_the_producer_orders_five_boxes_per_step():
    """A tile of 128 × 256 goes in steps of 64 along K; what is counted is a step more."""
    fewer, more = (run("sbgemm_tma", *inputs(128, 256, K)[:2], backend="sim", blocks=2).counters for K in (512, 576))
    name = "smsp__sass_inst_executed_op_tma_ld.sum"
    assert more[name] - fewer[name] == 1 + 256 // 64 == 5
    assert "thread 0 needs five such instructions per step, one for A and four for B" in PROSE


def test_bytes_may_be_announced_before_or_after_the_copies_are_ordered(mine):
    expect = re.search(r"\n *barrier_expect\(full\(stage\), BYTES\);[^\n]*", mine)[0]
    later = mine.replace(expect, "").replace("fetch(stage, step, A, B);", f"fetch(stage, step, A, B);{expect}")
    assert later.index("barrier_expect") > later.index("fetch(")
    assert roles.check_roles(later).right
    assert "It may also follow `fetch`, since no phase ends without it" in PROSE


def test_the_bytes_of_the_stages_are_not_in_the_compilers_message():
    needed = 2 * tries.BK * (tries.BM + tries.BN) * tries.STAGES
    assert f"for these the launch adds {needed:,} bytes of *dynamic* shared memory" in PROSE
    assert f"`BK`, `BN`, `TensorMap` | {tries.BK} and {tries.BN}, the length of a step and the width of a tile" in PROSE


def test_the_loop_that_does_both_jobs_is_right(mine):
    loop = re.search(r"```cuda\n(.*?)```", CELLS["both-jobs"], re.S)[1]
    both = roles.with_consumer(mine, loop)
    for old, new in (("if (thread == 128) {", "if (thread == 0) {"), ("} else if (thread < 128) {", "} __syncwarp(); if (thread < 128) {"),
                     ("step < steps", "step < STAGES - 1 && step < steps")):
        assert old in both
        both = both.replace(old, new, 1)
    for stages in (2, 3):
        assert roles.check_roles(both.replace("#define STAGES 3", f"#define STAGES {stages}")).right
    assert roles.check_roles(both.replace("later = step + STAGES - 1;", "later = step + STAGES;")).findings


def overlap(one, other):
    """Say whether the middle halves of the turns of two kernels have a time in common."""
    return one["low_s"] < other["high_s"] and other["low_s"] < one["high_s"]


def test_what_the_chart_tells_is_recorded():
    told = {(stages, producer): times.speed(stages, producer=producer) for stages in times.STAGES for producer in (True, False)}
    assert f"With its producer the kernel reached {told[4, True]:.0f} TFLOP/s" in PROSE
    assert f"{told[4, True]:.0f} and {told[4, False]:.0f} TFLOP/s with four stages" in LECTURE
    apart = {(N, stages): not overlap(*(times.recorded("sbgemm_tma", stages, producer=producer, N=N) for producer in (True, False)))
             for N, stages in ((4096, 2), (4096, 3), (4096, 4), (8192, 4), (2048, 4), (1024, 4))}
    assert [at for at, yes in apart.items() if yes] == [(4096, 2), (2048, 4), (1024, 4)]
    gained = [100 * (times.speed(4, producer=False, N=N) / times.speed(4, producer=True, N=N) - 1) for N in (1024, 2048)]
    assert "by {:.1f} % at N = 1024, and by {:.1f} % at N = 2048".format(*gained) in PROSE
    assert "by {:.0f} and {:.1f} %".format(*gained) in LECTURE
    lost = f"{100 * (1 - told[2, False] / told[2, True]):.0f} %"
    assert f"With two stages the kernel was {lost} slower without it." in PROSE
    for words in (PROSE, LECTURE, QUESTIONS):
        assert f"{lost} with two stages" in words or f"with two stages the producer brought {lost}" in words
    gains = [told[3, producer] / told[2, producer] for producer in (True, False)]
    assert "make the kernel {:.2f} times as fast with its producer, and {:.2f} times without".format(*gains) in PROSE
    for producer in (True, False):
        assert overlap(*(times.recorded("sbgemm_tma", stages, producer=producer) for stages in (3, 4))), "the fourth brings nothing"


def table_of(cell, head):
    """Return the rows of a table in a cell, by their first words."""
    rows = itertools.takewhile(bool, CELLS[cell].split(head, 1)[1].splitlines()[2:])
    return {words[0]: words[1:] for words in ([part.strip() for part in row.strip("|").split("|")] for row in rows)}


def test_the_table_of_the_middle_halves_is_recorded():
    for n, shown in table_of("recorded", "| N | with | without |").items():
        rows = [times.recorded("sbgemm_tma", 4, producer=producer, N=int(n)) for producer in (True, False)]
        digits = 2 if int(n) < 4096 else 1
        median, low, high = ([f"{1e6 * row[name]:,.{digits}f}" for row in rows] for name in ("median_s", "low_s", "high_s"))
        assert shown == [f"{median[i]} ({low[i]} to {high[i]})" for i in range(2)]


CHANGES = {"`sbgemm_tma`": (True, False), "with wide stores": (True, True), "without its producer": (False, False),
           "both: `sbgemm_wide_stores`": (False, True)}


def test_what_the_end_of_a_tile_costs_is_recorded():
    table, library = table_of("recorded", "| | cycles of a step"), data.readings("stores").find(kernel="cuBLAS")
    assert table.pop("cuBLAS") == ["", "", *(str(row["tflops"]) for row in library)]
    assert [row["N"] for row in library] == [4096, 8192]
    rows = {name: [stores.recorded(producer=producer, wide=wide, N=row["N"]) for row in library]
            for name, (producer, wide) in CHANGES.items()}
    assert table == {name: [f"{row['cycles_of_a_step']:,.0f}", f"{row['cycles_of_stores']:,}", str(row["tflops"]), str(other["tflops"])]
                     for name, (row, other) in rows.items()}
    at_4096 = [library[0], *(row for row, _ in rows.values())]
    assert all(overlap(one, other) for one, other in itertools.combinations(at_4096, 2)), "the clock was unsteady"
    ratios = [f"{ours['tflops'] / row['tflops']:.2f}" for ours, row in zip(rows["both: `sbgemm_wide_stores`"], library, strict=True)]
    assert f"it was {' and '.join(ratios)} times" in PROSE


def test_what_wider_stores_save_alone_is_recorded():
    cycles = {(producer, wide): stores.recorded(producer=producer, wide=wide)["cycles_of_stores"] for producer, wide in CHANGES.values()}
    assert {f"{100 * (1 - cycles[producer, True] / cycles[producer, False]):.0f}" for producer in (True, False)} == {"22"}
    assert "storing takes 22 % fewer cycles." in PROSE
    assert f"It is {stores.store_cycles(wide=True):,}, which is 22 % fewer." in LECTURE
    saved = [cycles[producer, False] - cycles[producer, True] for producer in (True, False)]
    assert max(saved) < 1.1 * min(saved), "Wider stores save about as many cycles with a producer as without"


def test_where_the_time_of_a_tile_goes_is_recorded():
    row = stores.recorded(producer=True, wide=False)
    needed = 128 * 256 * 64 // TENSOR[9, 0][1]         # multiply-adds of a step, and those of its tensor cores per cycle
    step, stored = f"{row['cycles_of_a_step']:,.0f}", f"{row['cycles_of_stores']:,}"
    assert f"A step takes {step}, and its products alone keep the tensor cores busy for {needed:,} of them" in PROSE
    assert f"which is {100 * needed / row['cycles_of_a_step']:.0f} %." in PROSE
    assert f"that takes {stored} cycles more, a tenth of what its steps take" in PROSE
    assert round(row["cycles_of_stores"] / (row["cycles_of_a_step"] * 4096 / 64), 1) == 0.1
    assert f"A step takes {step} cycles, and its products alone need {needed:,}. Storing a tile takes {stored}" in LECTURE


def test_where_it_passes_the_library_is_recorded():
    raced = stores.raced("sbgemm_wide_stores")
    assert all(len(row["runs"]) == 3 for row in raced.values())
    for n, words in ((4096, "reached {:.3f} to {:.3f} times cuBLAS's speed in the three runs"),
                     (8192, "and {:.3f} to {:.3f} times at N = 8192")):
        assert words.format(raced[n]["low"], raced[n]["high"]) in PROSE
    assert [n for n, row in sorted(raced.items()) if row["low"] > 1] == [2048, 4096, 8192]
    assert "the kernel passed cuBLAS at N = 4096. At N = 8192 both pass it." in PROSE
    other = stores.raced("sbgemm_tma")
    assert other[8192]["low"] > 1 > other[4096]["high"]
    assert "at N = 4096 it reached {:.3f} to {:.3f} times".format(other[4096]["low"], other[4096]["high"]) in PROSE
    assert "three runs at N = 4096 gave {:.3f} to {:.3f}".format(raced[4096]["low"], raced[4096]["high"]) in LECTURE
    ax = stores.draw_race()
    heights = [bar.get_height() for bars in ax.containers if isinstance(bars, BarContainer) for bar in bars]
    assert heights == [stores.raced(kernel)[n]["ratio"] for kernel in stores.RACED for n in stores.SIZES]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_label() == "cuBLAS"] == [1]
    assert data.readings("warpgroups").label in ax.get_xlabel()


@pytest.mark.slow
def test_two_lanes_together_need_half_as_many_stores():
    A, B, _ = inputs(128, 256, 64)
    counted = [run(kernel, A, B, backend="sim", BN=256, blocks=2).counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
               for kernel in ("sbgemm_tma", "sbgemm_wide_stores")]
    assert counted[0] == 2 * counted[1] > 0
    assert "half as many store instructions, each with twice the bytes" in PROSE


def test_two_variants_change_one_thing_each():
    later, two = (times.recorded("sbgemm_tma", stages, producer=False, variant=variant) for stages, variant in ((3, "later"), (2, "")))
    assert overlap(later, two)
    assert f"no earlier than with two stages, and it is as slow: {later['tflops']:.0f} TFLOP/s and {two['tflops']:.0f}." in PROSE
    late, at_once = (times.recorded("sbgemm_tma", 4, variant=variant) for variant in ("", "at once"))
    assert overlap(late, at_once)
    halves = [[f"{2e-12 * 4096**3 / row[end]:.0f}" for end in ("high_s", "low_s")] for row in (late, at_once)]
    assert f"reached {late['tflops']:.0f} TFLOP/s with its late release (half of the turns: {' to '.join(halves[0])})" in PROSE
    assert f"and {at_once['tflops']:.0f} with a release like that of your own kernel ({' to '.join(halves[1])})" in PROSE


def test_what_is_left_of_the_factor_over_sbgemm_stages():
    other = times.recorded("sbgemm_stages")
    here, = {f"{times.speed(stages, producer=producer) / other['tflops']:.1f}" for stages, producer in ((3, True), (3, False), (4, True))}
    assert f"it is still {here} times as fast as `sbgemm_stages`" in QUESTIONS
    stages = kernels.get("sbgemm_stages")
    assert (other["parameters"]["STAGES"], stages.block(**other["parameters"])) == (3, (256, 1, 1))
    assert without_producer().block(**kernels.get("sbgemm_tma").check()) == (256, 1, 1)
    assert f"With three stages and 256 threads like that kernel, `sbgemm_tma` is {here} times as fast even without its producer." in PROSE
    assert f"but `sbgemm_tma` is {here} times as fast even without its producer." in CELLS["speeds-told"]


def test_the_chart_has_every_recorded_speed_and_its_clocks():
    shown, recording = str(roles.speeds()), data.readings("roles")
    ax = times.draw_speeds()
    rows = [row for row in recording.find(N=4096) if row.get("variant") != "at once"]
    assert all(str(row["tflops"]) in shown for row in rows)
    clocks = [row["mhz"] for row in rows]
    assert f"clocks, read afterwards: {min(clocks):,} to {max(clocks):,} MHz" in ax.get_xlabel()
    assert recording.label in ax.get_xlabel()
    assert (ROUNDS, "nine turns each" in ax.get_xlabel()) == (9, True)
    heights = [bar.get_height() for bars in ax.containers if isinstance(bars, BarContainer) for bar in bars]
    lines = [line.get_ydata()[0] for line in ax.lines if line.get_label().startswith(tuple(times.LINES))]
    assert sorted([*heights, *lines]) == sorted(row["tflops"] for row in rows)
    drawn = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bars in ax.containers if isinstance(bars, BarContainer) for bar in bars)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(drawn))


def test_it_is_about_as_fast_as_the_library():
    assert "With large matrices it is about as fast as NVIDIA's library" in PROSE
    for N in (2048, 4096, 8192):
        assert 0.9 < times.speed(4, producer=True, N=N) / times.recorded("cuBLAS", N=N)["tflops"] < 1.1


@pytest.mark.slow
def test_three_warps_of_twelve_do_nothing_and_eight_multiply():
    A, B, _ = inputs(256, 256, 64)
    pipeline = run("sbgemm_tma", A, B, backend="sim", BN=256, blocks=2).pipeline
    assert {role: warps // 2 for role, warps in pipeline.warps.items()} == {"copies": 1, "products": 8, "neither": 3, "both": 0}
    assert "one warp copies and does nothing else, and eight warps multiply and never load" in PROSE
    assert "the block has twelve warps, and three of them only complete the producer's group" in PROSE


def test_the_real_kernel_has_what_the_lesson_says():
    text = kernels.get("sbgemm_tma").source
    for code in ("barrier_init(used + 8 * s, CONSUMERS)", "products_wait<1>();", "setmaxnreg.dec.sync.aligned.u32 40",
                 "setmaxnreg.inc.sync.aligned.u32 232", "n += gridDim.x"):
        assert code in text
    assert 65536 // 384 // 8 * 8 == 168
    assert 168 * 384 == 128 * 40 + 256 * 232
    assert kernels.get("sbgemm_tma").check()["blocks"] == 132


@pytest.mark.parametrize("use", [roles.check_roles, lambda kernel: roles.with_mistake(kernel, "nothing expected"),
                                 lambda kernel: roles.with_consumer(kernel, "")])
def test_while_the_kernel_is_not_written_the_lesson_says_so(use):
    with pytest.raises(NotWritten):
        use(Unwritten("two_roles", NOT_WRITTEN, ""))


@pytest.mark.slow
def test_the_late_release_lacks_two_things_and_the_repaired_loop_stands_behind_a_click(mine):
    late = re.search(r'late = """(.*?)"""', CELLS["late"], re.S)[1]
    report = roles.check_roles(roles.with_consumer(mine, late))
    copied, used = report.findings
    assert (not report.right, "WAR hazard" in copied.message, "uses registers of the product" in used.message) == (True, True, True)
    repaired = re.search(r"```cuda\n(.*?)```", CELLS["late-told"], re.S)[1]
    assert roles.check_late(mine, repaired).right
    wait = "\nproducts_wait<0>();"
    only, = roles.check_late(mine, late + wait).findings
    assert ("WAR hazard" in only.message, "The result is right here all the same" in only.message) == (True, True)
    once_too_often, = roles.check_late(mine, repaired.replace(" && step > 0", "")).findings
    assert once_too_often.kind == "launch", "the index is negative"
    assert once_too_often.line == line_of(roles.with_consumer(mine, repaired), "barrier_arrive(empty(")
    assert f"the mbarrier at byte {8 * 2} of full_barriers" in once_too_often.message
    assert "`empty(-1)` is `full(2)`, the eight bytes before `empty(0)`" in CELLS["minus-one"]
    for needed in (" && step > 0", "products_wait<0>();"):
        assert repaired.count(needed) == 1
        assert not roles.check_late(mine, repaired.replace(needed, "")).right
    with pytest.raises(CourseError, match="0 loops begin"):
        roles.with_consumer("int x;", late)


def test_the_table_of_parities():
    table = {row.split("|")[1].strip(): [int(n) for n in row.split("|")[2:-1]] for row in CELLS["idea"].splitlines()
             if re.match(r"\| (step|round|stage|parity named)", row)}
    steps = table.pop("step")
    assert steps == list(range(9))
    parities = [s // 3 % 2 for s in steps]
    assert list(table.values()) == [[s // 3 for s in steps], [s % 3 for s in steps], parities, [parity ^ 1 for parity in parities]]
