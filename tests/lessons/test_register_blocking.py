"""Lesson 08: what it promises, and every number that its prose says."""

import dataclasses
import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE, device
from course_lib.blank import is_blank
from course_lib.check import check
from course_lib.data import documents
from course_lib.errors import CourseError
from course_lib.explorables.warps import SIDES, START, at, tile_of
from course_lib.kernels import UserKernel
from course_lib.lessons import register_blocking
from course_lib.lessons.register_blocking import again, charts, experiments, times
from course_lib.lessons.register_blocking.share import column_share
from course_lib.magic import from_cell
from course_lib.model.rounds import LATENCY, rounds
from course_lib.run import footprint, matches, run
from course_lib.toolchain import resources, sass
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.pictures import one_thread
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "08_register_blocking.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
SELF_CHECK = (ROOT / "course_lib" / "lessons" / "register_blocking" / "questions_08.toml").read_text(encoding="utf-8")
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))


LINES = [tile_of(side) for side in SIDES]            # of the chart, all with BK = 16


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def number(cell):
    """Return the first number in a table's cell, such as 0.52 for "× 0.52"; None where there is none."""
    found = re.findall(r"−?[\d.,]+", str(cell))
    return float(found[0].replace(",", "").replace("−", "-")) if found else None


def numbers(table):
    """Return the numbers of a table's cells, row by row without the first column."""
    return [[number(cell) for cell in row[1:]] for row in table.rows]


# ---- the reader's kernel -------------------------------------------------------------------------------------------------------------
def test_the_worked_kernel_is_right_on_every_input(mine):
    assert "no counter looks bad" in repr(check(mine))


def test_a_thread_of_it_reads_nine_words_for_eight_multiply_adds(mine):
    assert register_blocking.words_read_by(mine) == 9 / 8 == register_blocking.words_per_multiply_add(8, 1)
    assert "9 / 8 = 1.125" in PROSE
    A, B, _ = inputs(64, 64, 64)
    result = run(UserKernel.from_source(mine), A, B, backend="sim")
    assert 8 * 32 * result.count("shared instructions", "load") / 64**3 == 3, "one load brings four words of As"
    served = 64**3 // 8 // 32                                                    # words per lane of `Bs`; `As` has 8 times as many
    assert f"`As` has only four times as many wavefronts as `Bs`: {4 * served:,} and {served:,}" in PROSE
    details = check(mine)._repr_html_()
    assert [f"{many:,}" in details for many in (4 * served, served)] == [True, True]
    assert "One load brings four words of `As` that lie side by side" in PROSE


def test_any_division_of_the_rows_is_right_where_the_gaps_agree(mine):
    spread = mine.replace("As[TM * ty + i]", "As[ty + BM / TM * i]").replace("row0 + TM * ty + i", "row0 + ty + BM / TM * i")
    assert "no counter looks bad" in repr(check(spread))
    mixed = mine.replace("As[TM * ty + i]", "As[ty + BM / TM * i]")
    assert "no counter looks bad" not in repr(check(mixed))
    assert "launched like sgemm_1d_tile" in repr(check(mine)), "as the text before it says"


def test_its_sums_are_registers_and_half_of_the_warps_fit(mine):
    taken = footprint(UserKernel.from_source(mine))
    assert (taken.threads, taken.resources.local_bytes, taken.occupancy.warps) == (512, 0, 32)
    assert "have 512 elements each: one for each of the 512 threads to load" in PROSE


def test_without_unrolling_its_sums_are_not_in_registers(mine):
    rolled = mine.replace("#pragma unroll", "#pragma unroll 1")
    assert footprint(UserKernel.from_source(rolled)).resources.local_bytes >= 32


@pytest.mark.slow
@pytest.mark.parametrize(("TM", "TN"), [(1, 1), (8, 1), (16, 1), (8, 2), (4, 4), (8, 8)])
def test_every_shape_reads_the_words_of_the_formula(TM, TN):
    counted = register_blocking.words_read_by("sgemm_2d_tile", BM=16 * TM, BN=16 * TN, BK=16, TM=TM, TN=TN)
    assert counted == register_blocking.words_per_multiply_add(TM, TN)


def test_of_sixteen_outputs_a_square_reads_the_fewest_words():
    words = [16 * register_blocking.words_per_multiply_add(TM, TN) for TM, TN in ((16, 1), (8, 2), (4, 4))]
    assert "16 × 1 reads {} words, 8 × 2 reads {}, and 4 × 4 reads {}.".format(*words) in PROSE
    for (TM, TN), many in zip(((16, 1), (8, 2), (4, 4)), words, strict=True):
        tile = {"BM": 64, "BN": 64, "BK": 8, "TM": TM, "TN": TN}
        assert f"{many} words" in register_blocking.share_picture(evaluate("sgemm_2d_tile", 64, tile, backend="sim"))[1]


def test_a_row_of_blocks_that_have_no_work_multiplies_zeros(mine):
    A, B, _ = inputs(256, 256, 256)
    kernel = UserKernel.from_source(mine)
    good = run(kernel, A, B)
    bad = run(dataclasses.replace(kernel, grid_of=lambda M, N, p: (N // 64, M // 8, 1)), A, B)
    assert matches(bad.C, A, B)
    times_as_much = numbers(register_blocking.wasted_work(good, bad))
    assert [row[2] for row in times_as_much] == [8.0, 8.0, 4.5]
    assert bad.count("sectors") / good.count("sectors") == (1 + 8) / 2, "A once, B eight times"


def test_the_sliders_show_what_the_text_says():
    def at(TM, TN):
        return footprint("sgemm_2d_tile", BM=64, BN=64, BK=8, TM=TM, TN=TN)

    four, eight = at(4, 4), at(8, 8)
    assert [taken.resources.registers for taken in (four, eight)] == [64, 128]
    assert [taken.occupancy.fraction for taken in (four, eight)] == [0.5, 0.25]
    assert [at(2, 2).occupancy.warps, footprint("sgemm_2d_tile", **tile_of(2)).occupancy.warps] == [64, 48]
    assert "With 2 × 2 outputs, 64 warps fit here, but 48 in the picture and in the chart below" in PROSE


def test_at_the_sliders_fewer_than_four_outputs_need_too_many_threads():
    for TM, TN in ((1, 1), (1, 2), (2, 1)):
        with pytest.raises(CourseError, match="at most 1024"):
            footprint("sgemm_2d_tile", BM=64, BN=64, BK=8, TM=TM, TN=TN)
    assert "With fewer than 4 outputs a block would need more than 1,024 threads" in PROSE


def test_what_has_no_counters_is_said(mine):
    A, B, _ = inputs(64, 64, 64)
    result = run(mine, A, B)
    with pytest.raises(CourseError, match="no counters"):
        register_blocking.wasted_work(result, dataclasses.replace(result, counters=None))


def share_of_waiting(seen, letter):
    """Return which share of the waiting of all warps is of one kind."""
    waiting = "".join(seen.warps).replace("L", "").replace("M", "")
    return waiting.count(letter) / len(waiting)


# ---- the picture ---------------------------------------------------------------------------------------------------------------------
def test_the_picture_starts_what_the_text_says():
    found = {side: at(side) for side in SIDES}
    assert [seen.multiply_adds for seen in found.values()] == [20, 40, 80, 128]
    assert "." not in found[1].shared, "busy in every cycle"
    assert [len(seen.warps) for seen in found.values()][:3] == [16, 12, 8]
    assert "from 16 to 12 and 8" in PROSE
    assert round(data.readings("micro").find(kernel="micro_shared", threads=32)[0]["per_warp"]) == LATENCY
    assert f"which come {LATENCY} cycles after the last of its own loads was served" in PROSE
    assert f"Only the {LATENCY} cycles are recorded on an H200" in PROSE
    assert "In 160 cycles that makes 20 multiply-adds per scheduler" in PROSE
    assert "double: 20, 40, 80." in PROSE
    assert "So of the 160 instructions, 128 are multiply-adds" in PROSE
    early = [rounds(warps, 2 * side, side * side, cycles=160).multiply_adds for side, warps in ((1, 16), (8, 4))]
    assert f"The picture begins in cycle {START} of the model, when the warps have long been at work. In its first 160 cycles" in PROSE
    title = CELLS["title"]
    assert "a quarter of a multiprocessor" in title
    assert len(title.split()) < 190, "the picture is on the first screen"
    assert "the two sides start {} and {} multiply-adds.".format(*early) in PROSE
    assert [share_of_waiting(found[side], letter) > 0.7 for side, letter in ((1, "q"), (8, "r"))] == [True, True]
    assert sum(line.count(letter) for line in found[8].warps for letter in "LM") == 160, "an instruction in every cycle"
    assert [not set("LM") & set(line) for line in found[8].warps] == [False, True, False, False], "warp 1 does nothing"
    assert {len(turn) for line in found[8].warps for turn in re.findall(r"(?<=r)[LM]+(?=q)", line)} == {80}, "a turn"
    long = rounds(4, 16, 64, start=START, cycles=320)
    assert all(set("LM") & set(line) for line in long.warps), "in 320 cycles all do"
    assert sum(line.count(letter) for line in long.warps for letter in "LM") == long.cycles, "an instruction in every cycle"
    assert f"65,536 / (32 · 128) = {65_536 // (32 * 128)} warps, or {65_536 // (32 * 128) // 4} for each of its four" in PROSE
    assert footprint("sgemm_2d_tile", **tile_of(8)).resources.registers == 128


# ---- the experiments -----------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_loading_again_changes_the_words_and_as_many_multiply_adds_do_not():
    loads, work = ([v for v in again.variants() if v["LOADS"] == kind] for kind in (1, 0))
    assert [again.words(**v) for v in loads] == [0.25, 0.375, 0.625, 1.125]
    assert "from 0.25 to 0.375, 0.625 and 1.125" in PROSE
    assert [again.words(**v) for v in work] == [0.25] * 3
    assert [again.instructions(**v) for v in loads[1:]] == [again.instructions(**v) for v in work], "as many instructions"
    others = set()
    for variant in again.variants():
        code = again.compiled(**variant)
        taken, machine = resources(code)[again.ENTRY], sass(code, again.ENTRY)
        assert (65_536 // (256 * taken.registers), taken.local_bytes) == (2, 0), "two blocks of 8 warps, and no spills"
        assert {i.bits for i in machine if i.base == "LDS"} == {32}, "each load brings one word"
        others.add(tuple(sum(i.base == base for i in machine) for base in ("BAR", "LDG", "STS", "STG")))
    assert len(others) == 1, "as many barriers, loads and stores of global memory, and stores to the tiles"



@pytest.mark.slow
def test_words_cost_the_time_and_as_many_instructions_do_not():
    for warps, shared in ((8, 122_880), (16, 0)):
        once, most, work = (register_blocking.time_again(rows, loads, shared) for rows, loads in ((8, 1), (1, 1), (1, 0)))
        assert f"| {warps} | {once} ms | {most} ms | {work} ms |" in PROSE
        assert 3 <= (most - once) / (work - once) < 3.3, "the loads add three times as much"
    assert f"in registers, the copy takes {once} ms" in PROSE
    loads, stores = again.words(ROWS=1, LOADS=1), 2 / 128                    # wavefronts per multiply-add of a warp
    busy = 1e3 * (loads + stores) * 4096**3 / 32 / DEFAULT_DEVICE.sms / (1e6 * DEFAULT_DEVICE.clock_mhz)
    assert f"for at least {busy:.1f} of the {most} ms" in PROSE
    assert f"5.3, {busy:.1f} ms" in register_blocking.words_or_work().alt
    times_of = [register_blocking.time_again(rows) for rows in again.ROWS]
    assert times_of == sorted(times_of)
    assert f"{most:.1f} with 56 and 1.125 words" in register_blocking.words_or_work().alt
    rows = [experiments.recorded(again.ENTRY, v) for v in again.variants()]
    assert all(row["correct"] for row in rows)


def test_the_reader_begins_with_four_gaps_and_the_notes_have_what_belongs_there():
    notes = (ROOT / "docs" / "lecturing" / "08_register_blocking.md").read_text(encoding="utf-8")
    blanked, _ = my_course.blank_cell(CELLS["mine"])
    assert is_blank(blanked)
    answers = [line.strip() for line in re.findall(r"// BEGIN SOLUTION\n(.*)\n\s*// END", CELLS["mine"])]
    assert re.findall(r"^\| \d \| `(.*?)`", notes, flags=re.MULTILINE) == answers
    assert len(answers) == 4
    assert all(answer not in blanked for answer in answers)


def test_along_a_line_only_the_blocks_change():
    found = [row for row in data.readings("again").find(kernel="sgemm_2d_tile") if row["shared"] and row["parameters"] in LINES]
    assert all(row["correct"] for row in found)
    assert [len(line) for line in experiments.times_by_warps().values()] == [8, 6, 4, 2]
    assert len(found) == 8 + 6 + 4 + 2, "one row for each point"
    for row in found:
        assert experiments.warps(row) % charts.WARPS_OF_BLOCK == 0
        assert footprint("sgemm_2d_tile", **row["parameters"]).threads == 32 * charts.WARPS_OF_BLOCK


def test_the_same_code_is_slower_with_fewer_warps_and_more_outputs_are_faster_with_equally_many():
    lines = experiments.times_by_warps()
    for taken in lines.values():
        assert list(taken) == sorted(taken)
        assert list(taken.values()) == sorted(taken.values(), reverse=True)
    same = [f"{taken[16]:.1f}" for taken in lines.values()]
    assert f"1 × 1 outputs take {same[0]} ms and 8 × 8 take {same[-1]}." in PROSE
    for column in zip(*([of[8], of[16]] for of in lines.values()), strict=True):
        assert list(column) == sorted(column, reverse=True)
    asked = [(row["shared"] + 4 * 2 * row["parameters"]["BM"] * row["parameters"]["BK"]) * row["blocks"]
             for row in data.readings("again").find(kernel="sgemm_2d_tile") if row["shared"] and row["parameters"] in LINES]
    assert (min(asked) // 1000, max(asked) // 1000) == (221, 232), "more than 196 KiB, the largest share of shared memory below 228"
    assert lines[1][64] / lines[1][16] < 0.5, "a real GPU loses more than half"
    one, *_, most = lines.values()
    assert max(most) == 16, "the shortest line"
    assert min(min(taken.values()) for taken in lines.values()) == most[16], "and the shortest time"
    assert f"and all 64 warps per multiprocessor, `sgemm_2d_tile` takes {one[64]:.1f} ms" in PROSE
    assert f"With 32 warps it takes {one[32]:.1f} ms." in PROSE
    assert f"With 16 warps per multiprocessor, 1 × 1 outputs take {one[16]:.1f} ms and 8 × 8 take {most[16]:.1f}." in SELF_CHECK
    assert register_blocking.time_with(outputs=1, warps=16) == 42.7
    assert "8 × 8: 6.6 with 8, 4.7 with 16." in register_blocking.warps_and_outputs().alt
    kept = f"keeps only {100 * one[64] / one[16]:.0f} % of its speed"
    notes = (ROOT / "docs" / "lecturing" / "08_register_blocking.md").read_text(encoding="utf-8")
    assert kept.replace("only ", "") in notes
    assert "from 16 warps per multiprocessor to 8, 1 × 1 keeps {:.0%} of its speed and 8 × 8 keeps {:.0%}".format(
        *(of[16] / of[8] for of in (one, most))).replace("%", " %") in notes


def test_the_main_path_has_one_topic():
    main, order = PROSE.split("## Key points")[0], list(CELLS)
    for second in ("LDS", "PTX", "ILP", "Volkov", "microbenchmark", "Wang", "joins"):
        assert second not in main, second
    for cell in ("again", "other-recordings", "wang", "wang-sliders"):
        assert order.index(cell) > order.index("key-points"), cell
    assert order.index("launched") < order.index("wrong") < order.index("sliders"), "the mistake is made with the kernel just launched"


def test_the_times_of_the_main_path_are_of_one_recording():
    recorded = {f"{ms:.1f}" for taken in experiments.times_by_warps().values() for ms in taken.values()}
    modelled = {f"{1e3 * times.modelled(side, side, 16):.1f}" for side in SIDES}
    main = PROSE.split("## Key points")[0]
    assert set(re.findall(r"(\d+\.\d) ms", main)) <= recorded
    rows = re.findall(r"^\| \d × \d \| ([\d.]+) \| ([\d.]+) \|$", CELLS["warps-told"], flags=re.MULTILINE)
    assert [len(rows), {ms for ms, _ in rows} <= recorded, {ms for _, ms in rows} == modelled] == [4, True, True]


def test_the_model_is_explained_before_the_question_and_the_bars_before_the_tasks():
    title, watch = CELLS["title"], CELLS["watch"]
    said = [title.index(words) for words in ("one *output*", "a **model**", "*scheduler*", "*issues*", "(blue)", "(orange)",
                                             "Which side starts more")]
    assert said == sorted(said)
    said = [watch.index(words) for words in ("play it once more", "(stripes)", "(a thin line)", "(a hollow bar)", "**Which of the three",
                                             "Now give the left side", "After this lesson you can")]
    assert said == sorted(said)
    assert PROSE.count("255 registers") == 1, "said once"


def test_a_multiply_add_with_one_output_needs_fewer_wavefronts_than_the_model_charges():
    found = []
    for tile in LINES:
        counters = evaluate("sgemm_2d_tile", 256, tile, backend="sim").counters
        served = sum(counters[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{kind}.sum"] for kind in ("ld", "st"))
        found.append(32 * served / 256**3)
    assert found == [1.625, 0.8125, 0.40625, 0.265625]
    assert f"it charges 2 cycles of shared memory per multiply-add of a warp, where the simulator counts {found[0]} wavefronts" in PROSE


def test_from_line_to_line_there_are_fewer_sectors_and_barriers():
    found = [evaluate("sgemm_2d_tile", 256, tile, backend="sim") for tile in LINES]
    met = [tile["BM"] * tile["BN"] * tile["BK"] for tile in LINES]               # multiply-adds of a block between two barriers
    for counts in ([result.count("sectors") for result in found], [256**3 / each for each in met]):
        assert counts == sorted(counts, reverse=True)
        assert len(set(counts)) == 4


def test_what_the_reader_is_to_write_is_what_the_worked_kernel_does(mine):
    share = one_thread(UserKernel.from_source(mine))
    asked = column_share(3, 0)
    assert (share.outputs, share.a_rows, share.b_cols, share.words) == (asked.outputs, asked.a_rows, asked.b_cols, asked.words)
    assert column_share().a_rows == tuple(range(16, 24))
    assert "words" not in register_blocking.thread_share().alt.split("A square")[0], "the prediction comes later"
    rows = [row for row, _ in one_thread("sgemm_1d_tile", BM=64, BN=64, BK=8, TM=8).outputs]
    assert rows == list(range(0, 64, 8)), "8 apart"


@pytest.mark.slow
def test_what_the_optional_sliders_show():
    def extra(bx, by, TW):
        return evaluate("sgemm_outputs", 256, {"TA": 64, "TB": 64, "TW": TW, "bx": bx, "by": by}, backend="sim").count("conflicts")

    assert [extra(8, 8, TW) for TW in (8, 16, 32)] == [0, 65_536, 196_608]


# ---- registers and times -------------------------------------------------------------------------------------------------------------
def test_the_prose_says_what_was_recorded():
    library, rungs = times.library(), times.rungs()
    one, eight = rungs[1, 1][1], rungs[8, 8][1]
    assert f"two 4096 × 4096 matrices in {eight:.1f} ms." in PROSE
    assert f"With one output per thread and an occupancy of 100 %, it needs {one:.1f} ms." in PROSE
    assert f"({library / eight:.1%})" in repr(register_blocking.scoreboard())
    assert f"only {rungs[8, 8][0]} warps. It could hold {rungs[1, 1][0]}" in PROSE
    tiled = experiments.recorded("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16})
    flat = experiments.recorded("sgemm_2d_tile", tile_of(8) | {"BK": 8})
    assert f"takes {1e3 * tiled['median_s']:.1f} ms." in PROSE
    assert f"with BK = 8, 8 × 8 outputs take {1e3 * flat['median_s']:.1f} ms" in PROSE
    column, square = (1e3 * experiments.recorded(*case)["median_s"] for case in (
        ("sgemm_1d_tile", {"BM": 64, "BN": 64, "BK": 8, "TM": 8}), ("sgemm_2d_tile", tile_of(2) | {"BK": 8})))
    mine, = data.readings("short").find(kernel="column")
    assert f"Your `column` takes {1e3 * mine['median_s']:.1f} ms, recorded a day later" in PROSE
    assert (mine["N"], mine["wrong"], data.readings("short").device) == (4096, 0, "NVIDIA H200")
    assert f"8 × 1 outputs (`sgemm_1d_tile`, 1.125 words) take {column:.1f} ms" in PROSE
    assert f"2 × 2 outputs (`sgemm_2d_tile`, 1 word) take {square:.1f} ms" in PROSE
    assert [register_blocking.words_per_multiply_add(*outputs) for outputs in ((8, 1), (2, 2))] == [1.125, 1]


def test_each_kernel_of_the_scoreboard_takes_as_long_without_the_shared_memory_that_nobody_uses():
    for side, tile in zip(SIDES, LINES, strict=True):
        plain = experiments.recorded("sgemm_2d_tile", tile)
        held, ms = times.rungs()[side, side]
        assert experiments.warps(plain) == held
        assert f"{1e3 * plain['median_s']:.1f}" == f"{ms:.1f}"


def test_the_model_has_the_right_order_at_equal_warps_and_a_wrong_one_elsewhere():
    rows = {side: {warps: (ms, 1e3 * times.modelled(side, side, warps)) for warps, ms in taken.items()}
            for side, taken in zip(SIDES, experiments.times_by_warps().values(), strict=True)}
    for side, taken in rows.items():
        assert "| {0} × {0} | {1:.1f} | {2:.1f} |".format(side, *taken[16]) in PROSE
    for warps in {held for taken in rows.values() for held in taken}:            # whichever lines have this many
        for of in zip(*(taken[warps] for taken in rows.values() if warps in taken), strict=True):
            assert list(of) == sorted(of, reverse=True)
    assert "With equally many warps it puts these four kernels in the right order" in PROSE
    for taken in rows.values():
        missed = [ms / model for ms, model in taken.values()]
        assert missed == sorted(missed, reverse=True), "the fewer warps, the more it expects"
        assert min(missed) > 1
    assert {f"{model:.1f}" for warps, (_, model) in rows[1].items() if warps >= 16} == {"16.4"}
    assert "With 64 warps and 1 × 1 outputs the model expects 16.4 ms, and with 16 warps the same" in PROSE
    four, two = rows[4][8], rows[2][48]
    assert four[1] < two[1]
    assert four[0] > two[0]
    assert f"4 × 4 outputs with 8 warps ({four[1]:.1f} ms) before 2 × 2 with 48 ({two[1]:.1f} ms)" in PROSE
    assert f"On the H200 they take {four[0]:.1f} and {two[0]:.1f} ms" in PROSE


def test_fewer_words_are_faster_from_row_to_row():
    words = [register_blocking.words_per_multiply_add(TM, TN) for TM, TN in times.rungs()]
    taken = [ms for _, ms in times.rungs().values()]
    assert words == sorted(words, reverse=True)
    assert taken == sorted(taken, reverse=True)
    assert times.library() < taken[-1]
    assert len(register_blocking.scoreboard().header) == 4


# ---- optional sections ---------------------------------------------------------------------------------------------------------------
def test_wang_and_jins_kernels_read_fewer_words_from_step_to_step_and_take_less_time():
    rows = numbers(register_blocking.their_kernels())
    words, taken = [row[1] for row in rows], [row[-1] for row in rows]
    assert words == [2, 1.25, 0.5]
    assert taken == sorted(taken, reverse=True)


@pytest.mark.slow
def test_neither_many_outputs_nor_a_high_occupancy_is_a_goal():
    found = []
    for r in data.load("blocks").find("dgemm_outputs", 2048, state="done"):
        p = r.parameters
        found.append((1e3 * r.seconds, p["TA"] * p["TB"] // (p["bx"] * p["by"]), footprint(r.kernel, **p).occupancy.fraction))
    fastest = min(found)
    assert f"Of {len(found)} tiles and threads" in PROSE
    said = f"{fastest[1]} outputs per thread and an occupancy of {100 * fastest[2]:.0f} %. It takes {fastest[0]:.3f} ms"
    assert f"the fastest has {said}" in PROSE
    assert {r.dtype for r in data.load("blocks").find("dgemm_outputs", 2048, state="done")} == {"float64"}


def test_their_threads_on_two_gpus():
    sweep = data.load("wang").find("dgemm_outputs")
    ours = [{r.N: r.gflops for r in sweep if r.parameters["by"] == by and r.N <= 2049} for by in (16, 8)]
    for (wide, less), faster in (([documents.WANG_4.column(name) for name in ("16 x 16", "16 x 8")], 18), (ours, 0)):
        assert len(wide) == 20
        assert sum(less[n] > wide[n] for n in wide) == faster
    assert "at 18 of 20 sizes. On the H200 they are at none" in PROSE


def test_the_machine_is_as_the_text_says():
    limits = DEFAULT_DEVICE.limits
    assert (limits.warps, limits.registers, limits.registers_per_thread, limits.threads_per_block) == (64, 65_536, 255, 1024)
    assert device("H200").sms == DEFAULT_DEVICE.sms


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/08_register_blocking.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "reveal", "wrong", "home"):
        assert "column is not written yet" in said[cell], cell
    assert "1.125" not in said["reveal"]
    assert "registers a thread" in said["sliders"]
