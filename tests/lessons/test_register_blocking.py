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
from course_lib.check import check
from course_lib.data import documents
from course_lib.errors import CourseError
from course_lib.explorables.warps import START
from course_lib.kernels import UserKernel, get
from course_lib.lessons import register_blocking
from course_lib.lessons.register_blocking import charts, experiments, spills, times
from course_lib.lessons.register_blocking.counts import SHAPES, tile_of, wavefronts
from course_lib.lessons.register_blocking.joined import joined
from course_lib.lessons.register_blocking.share import column_share
from course_lib.magic import from_cell
from course_lib.model.rounds import rounds
from course_lib.run import bound_of, footprint, matches, run
from course_lib.run.bound import work_of
from course_lib.toolchain import compile_cuda, loops
from course_lib.toolchain.sass import sass
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.pictures import one_thread
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "08_register_blocking.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
ADDED = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


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


def test_its_sums_are_registers_and_half_of_the_warps_fit(mine):
    taken = footprint(UserKernel.from_source(mine))
    assert (taken.threads, taken.resources.local_bytes, taken.occupancy.warps) == (512, 0, 32)


def test_without_unrolling_its_sums_are_not_in_registers(mine):
    rolled = mine.replace("#pragma unroll", "#pragma unroll 1")
    assert footprint(UserKernel.from_source(rolled)).resources.local_bytes >= 32


def test_every_shape_reads_the_words_of_the_formula():
    for row, values in zip(register_blocking.shapes().rows, numbers(register_blocking.shapes()), strict=True):
        outputs, formula, counted, registers, warps = values
        TM, TN = map(int, re.findall(r"\d+", row[0]))
        assert outputs == TM * TN
        assert formula == counted == round((TM + TN) / (TM * TN), 4)
        assert warps * 32 * registers <= 65_536
    names = [row[0].replace("\N{NO-BREAK SPACE}", " ") for row in register_blocking.shapes().rows]
    by_shape = dict(zip(names, numbers(register_blocking.shapes()), strict=True))
    assert by_shape["4 × 4"][2] * 16 == 8
    assert by_shape["16 × 1"][2] * 16 == 17
    assert [by_shape[shape][4] for shape in ("1 × 1", "8 × 8")] == [64, 16]
    assert "the fewer warps fit: 64 with 1 × 1 outputs, and 16 with 8 × 8" in PROSE
    assert by_shape["8 × 8"][3] > by_shape["4 × 4"][3] > by_shape["2 × 2"][3], "more sums, more registers"


def test_a_word_of_the_tile_of_a_costs_half_a_wavefront_where_the_compiler_joins_four():
    for TM, TN in SHAPES:
        counted = 32 * evaluate("sgemm_2d_tile", 256, tile_of(TM, TN), backend="sim").count("wavefronts") / 256**3
        assert counted == ((TM + TN) if (TM, TN) == (8, 8) else (TM / 2 + TN)) / (TM * TN) <= (TM + TN) / (TM * TN)
    assert "(8 + 8) / 64 = 0.25" in PROSE
    assert "½ + 1 = 1.5 wavefronts with 1 × 1 outputs, and (4 · ½ + 4) / 16 = 0.375 with 4 × 4" in PROSE


def test_a_row_of_blocks_that_have_no_work_multiplies_zeros(mine):
    A, B, _ = inputs(256, 256, 256)
    kernel = UserKernel.from_source(mine)
    good = run(kernel, A, B)
    bad = run(dataclasses.replace(kernel, grid_of=lambda M, N, p: (N // 64, M // 8, 1)), A, B)
    assert matches(bad.C, A, B)
    times_as_much = numbers(register_blocking.wasted_work(good, bad))
    assert [row[2] for row in times_as_much] == [8.0, 7.97, 8.0, 4.5]
    assert bad.count("sectors") / good.count("sectors") == (1 + 8) / 2, "A once, B eight times"
    assert (good.counters[ADDED], bad.counters[ADDED]) == (256**3 + 256**2, 8 * 256**3 + 256**2), "one more where an element is stored"
    early = UserKernel.from_source(re.sub(r"(const int row0 = .*)", r"\1 if (row0 >= M) return;", mine))
    spared = run(dataclasses.replace(early, grid_of=lambda M, N, p: (N // 64, M // 8, 1)), A, B)
    assert matches(spared.C, A, B)
    assert spared.counters[ADDED] == good.counters[ADDED]
    assert "no counter looks bad" in repr(check(early.text))


def test_the_sliders_show_what_the_text_says():
    def at(TM, TN):
        tile = {"BM": 64, "BN": 64, "BK": 8, "TM": TM, "TN": TN}
        return evaluate("sgemm_2d_tile", 256, tile, backend="sim"), footprint("sgemm_2d_tile", **tile)

    waves = {shape: 32 * at(*shape)[0].count("wavefronts") / 256**3 for shape in ((2, 8), (4, 4), (8, 2))}
    assert waves == {(2, 8): 0.625, (4, 4): 0.375, (8, 2): 0.375}
    assert [f"{TM} × {TN} | 0.625 | {real}" in PROSE for TM, TN, real in ((8, 2, 0.375), (2, 8, 0.625))] == [True, True]
    four, eight = at(4, 4), at(8, 8)
    assert four[0].count("sectors") == eight[0].count("sectors")
    assert [taken.resources.registers for _, taken in (four, eight)] == [64, 128]
    assert [taken.occupancy.fraction for _, taken in (four, eight)] == [0.5, 0.25]
    assert all(at(*shape)[0].count("conflicts") == 0 for shape in ((2, 8), (8, 8), (1, 8))), "nothing but the words changes the wavefronts"


def test_the_counter_is_the_machine_codes_but_where_the_text_says():
    rows = re.findall(r"\| (\d) × (\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", PROSE)
    said = {(int(TM), int(TN)): tuple(map(float, values)) for TM, TN, *values in rows}
    assert len(said) == 6
    differ = set()
    for TM, TN in ((1, 4), (1, 8), (2, 2), (2, 4), (2, 8), (4, 1), (4, 2), (4, 4), (4, 8), (8, 1), (8, 2), (8, 4), (8, 8)):
        tile = {"BM": 64, "BN": 64, "BK": 8, "TM": TM, "TN": TN}
        counted = 32 * evaluate("sgemm_2d_tile", 256, tile, backend="sim").count("wavefronts") / 256**3
        words, real = joined(**tile)
        assert words == ((1, 1) if (TM, TN) == (8, 8) else (4, 1))
        assert real == ((TN + TM) if (TM, TN) == (8, 8) else (TN + TM / 2)) / (TM * TN)
        if counted != real:
            differ.add((TM, TN))
        if (TM, TN) in said:
            assert said[TM, TN] == ((TM + TN) / (TM * TN), counted, real)
    assert differ == {(2, 8), (4, 8), (8, 4)}


def test_the_tables_of_the_kernel_have_the_machine_codes_wavefronts():
    tiles = [tile_of(*shape) for shape in SHAPES] + [tile for *_, kernel, tile in times.RUNGS if kernel == "sgemm_2d_tile"]
    for tile in tiles:
        assert 32 * evaluate("sgemm_2d_tile", 256, tile, backend="sim").count("wavefronts") / 256**3 == joined(**tile)[1]


def test_what_has_no_counters_is_said(mine):
    A, B, _ = inputs(64, 64, 64)
    result = run(mine, A, B)
    with pytest.raises(CourseError, match="no counters"):
        register_blocking.wasted_work(result, dataclasses.replace(result, counters=None))


# ---- the picture ---------------------------------------------------------------------------------------------------------------------
def test_the_picture_starts_what_the_text_says():
    at = {(side, warps): rounds(warps, 2 * side, side * side, start=START, cycles=160).multiply_adds
          for side, warps in ((1, 16), (1, 8), (1, 4), (1, 3), (1, 2), (2, 12), (4, 8), (8, 4))}
    assert at[1, 16] == at[1, 8] == at[1, 4] == 20
    idle = [rounds(warps, 2, 1, start=START, cycles=160).shared.count(".") for warps in (4, 3, 2)]
    assert idle == [0, 6, 54], "cycles in which nobody asks for a word"
    assert f"only {at[1, 3]} multiply-adds are started. With 2 it is idle in many, and there are {at[1, 2]}." in PROSE
    assert [at[1, 16], at[2, 12], at[4, 8], at[8, 4]] == [20, 40, 80, 128]
    assert "20 in 160 cycles" in PROSE
    assert "double: 20, 40, 80. With 8 × 8 they reach 128" in PROSE
    right = {warps: rounds(warps, 16, 64, start=START, cycles=160) for warps in (4, 3, 2)}
    assert "busy in only {} of the 160 cycles".format(160 - right[4].shared.count(".")) in PROSE
    assert [not set("LM") & set(line) for line in right[4].warps] == [False, True, False, False], "warp 1 does nothing"
    assert all(set("LM") & set(line) for line in rounds(4, 16, 64, start=START, cycles=320).warps), "in 320 cycles all do"
    assert {seen.multiply_adds for seen in right.values()} == {128}, "with 3 and with 2 there are still 128"
    assert f"65,536 / (32 · 128) = {65_536 // (32 * 128)} warps, or {65_536 // (32 * 128) // 4} per scheduler" in PROSE
    assert footprint("sgemm_2d_tile", **tile_of(8, 8)).resources.registers == 128
    long = rounds(4, 16, 64, start=START, cycles=16_000)
    assert sum(cycle != "." for cycle in long.shared) / long.cycles == pytest.approx(64 / 80, abs=0.002)
    assert 160 * 64 / 80 == 128, "of a round's 80 instructions 64 are multiply-adds"
    assert f"with 16 warps, a round of one warp takes {160 * 16 // at[1, 16]} cycles" in PROSE
    assert "A thread then needs 40 and 64 registers, so that at most 12 and 8 warps fit" in PROSE
    assert [footprint("sgemm_2d_tile", **tile_of(n, n)).occupancy.warps // 4 for n in (2, 4, 8)] == [12, 8, 4]
    assert [footprint("sgemm_2d_tile", **tile_of(n, n)).resources.registers for n in (2, 4)] == [40, 64]
    assert "A round has 80 instructions, and the scheduler issues one per cycle. So one round of each of the four warps takes 320" in PROSE
    assert sum(line.count(letter) for line in long.warps for letter in "LM") == long.cycles, "an instruction in every cycle"


def test_the_picture_is_near_a_recorded_microbenchmark():
    rows = numbers(register_blocking.picture_beside_recording())
    (modelled, recorded), *more = rows
    assert modelled < recorded, "with one warp the GPU does better"
    assert all(1 <= picture / gpu < 1.085 for picture, gpu in more), "at most 8 % above"
    assert 1 < rows[-1][1] / rows[1][1] < 1.04
    assert "changed by less than 4 % from 8 to 32 warps" in PROSE


# ---- the experiments -----------------------------------------------------------------------------------------------------------------
def test_only_the_wavefronts_change_between_two_paddings():
    for before, after in experiments.PADS:
        first, second = (evaluate(*experiments.at_counted(experiments.padded(pad)), backend="sim") for pad in (before, after))
        assert first.count("sectors") == second.count("sectors")
        assert first.count("requests") == second.count("requests")
        assert work_of(first).instructions == pytest.approx(work_of(second).instructions, rel=0.002), "of machine code"
        shared = "smsp__sass_inst_executed_op_shared_ld.sum"
        assert first.counters[shared] == second.counters[shared]
        assert first.occupancy.warps == second.occupancy.warps == 64


def test_the_time_follows_the_wavefronts():
    first, second, third = numbers(register_blocking.fewer_wavefronts())
    for _, sectors, instructions, waves, time, alone, recorded in (first, second):
        assert (sectors, instructions) == (1.0, 1.0)
        assert 0.85 < time / waves < 1
        assert abs(alone - recorded) <= 1.0
    assert (first[5:], second[5:]) == ([9.2, 8.2], [55.5, 55.3])
    assert round(100 * (first[5] / first[6] - 1)) == 12
    assert abs(second[5] / second[6] - 1) < 0.01
    assert "8.2 ms more, so the two differ by 12 %" in PROSE
    assert "55.3, which differs by less than 1 %" in PROSE
    assert third[1:] == [1.0, 0.94, 0.52, 0.50, -6.2, -8.3]
    for said in ("would take 9.2 ms more, and the kernel took 8.2 ms more", "take 55.5 ms more, and it took 55.3",
                 "only 0.52 of the wavefronts, and only 0.50 of the time", "explain 6.2 ms of the 8.3"):
        assert said in PROSE, said
    assert all(re.fullmatch(r"64 → 64", row[1]) for row in register_blocking.fewer_wavefronts().rows)


def test_the_pair_in_place_is_the_third_row_of_the_optional_table():
    pair = numbers(register_blocking.one_or_four())
    warps, sectors, waves, time = pair[2]
    assert (warps, sectors, waves, time) == (1.0, 1.0, 0.52, 0.5)
    assert numbers(register_blocking.fewer_wavefronts())[2][3:5] == [waves, time]


GAPS = re.compile(r"/\* (\d) \*/")


def test_the_kernel_with_gaps_of_the_notes_is_the_worked_one(mine):
    notes = (ROOT / "docs" / "lecturing" / "08_register_blocking.md").read_text(encoding="utf-8")
    gapped, = re.findall(r"```cuda\n%%cuda column\n(.*?)```", notes, flags=re.DOTALL)
    answers = dict(re.findall(r"^\| (\d) \| `(.*?)`", notes, flags=re.MULTILINE))
    assert GAPS.findall(gapped) == sorted(answers) == list("1234")
    bare = [" ".join(re.sub(r"//.*", "", text).split()) for text in (GAPS.sub(lambda gap: answers[gap[1]], gapped), mine)]
    assert bare[0] in bare[1]


def test_the_profiler_and_the_simulator_agree_on_the_pairs_sectors():
    for kernel in experiments.PAIR:
        counted = data.readings("traffic").find(kernel=kernel, N=1024)[0]["l1_sectors_read"] / 1024**3
        assert evaluate(kernel, 256, {}, backend="sim").count("sectors") / 256**3 == counted


def test_of_the_pair_only_the_outputs_and_the_threads_differ():
    threads = [footprint(kernel).threads for kernel in experiments.PAIR]
    assert threads == [1024, 256]
    assert [footprint(kernel).occupancy.blocks for kernel in experiments.PAIR] == [2, 8]
    assert "256 threads instead of 1,024, so that eight blocks share a multiprocessor instead of two" in PROSE


def test_no_kernel_of_the_pairs_is_faster_than_its_wavefronts():
    found = {}
    for kernel in (*map(experiments.padded, (4, 8, 0)), *((name, {}) for name in experiments.PAIR)):
        waves = wavefronts(evaluate(*experiments.at_counted(kernel), backend="sim"))
        found[kernel[0], *kernel[1].values()] = experiments.milliseconds(waves), 1e3 * experiments.recorded_seconds(*kernel)
    assert all(alone < recorded for alone, recorded in found.values())
    alone, recorded = found[experiments.PAIR[0],]
    assert f"of the {recorded:.1f} ms of `sgemm_block`" in PROSE
    assert f"shared memory alone needs {alone:.1f} ms, which is {100 * alone / recorded:.0f} %" in PROSE
    assert footprint(experiments.PAIR[0]).threads == 32 * 32, "one output per thread"


def test_along_a_line_only_the_warps_change():
    found = data.load("outputs").find("sgemm_2d_tile")
    assert len(found) == 64
    assert all(record.correct and record.dynamic_shared for record in found)
    assert {record.source for record in found} == {data.load("tuned").find("sgemm_2d_tile", 4096)[0].source}, "one text"
    for record in found:
        p = record.parameters
        assert p == tile_of(p["TM"], p["TM"])
        assert experiments.crowd(record)[0] % charts.WARPS_OF_BLOCK == 0
        assert footprint("sgemm_2d_tile", **p).threads == 32 * charts.WARPS_OF_BLOCK
    drawn, spread = [], []
    for n in (2048, 4096):
        for outputs, taken in experiments.times_by_warps(n).items():
            of = [record for record in data.load("outputs").find("sgemm_2d_tile", n) if record.parameters["TM"] ** 2 == outputs]
            drawn += [experiments.crowd(r)[1] / 1024 for r in of if 1e3 * r.seconds in taken.values()]
            spread += [(abs(1e3 * r.seconds / taken[experiments.crowd(r)[0]] - 1), experiments.crowd(r)[1] / 1024) for r in of]
    assert f"together take {min(drawn):.0f} to {max(drawn):.0f} KiB of shared memory" in PROSE
    assert f"of at most {DEFAULT_DEVICE.limits.shared // 1024} KiB, so it" in PROSE
    assert f"within about {100 * max(difference for difference, _ in spread):.0f} %" in PROSE
    assert f"With as little as {min(shared for _, shared in spread):.0f} KiB" in PROSE


def test_more_outputs_need_fewer_warps():
    lines = {n: experiments.times_by_warps(n) for n in (4096, 2048)}
    for taken in lines[4096].values():
        assert list(taken) == sorted(taken)
        assert list(taken.values()) == sorted(taken.values(), reverse=True), "fewer warps of the same code are slower"
    kept = [[taken[16] / taken[8] for taken in of.values()] for of in lines.values()]          # all lines have points with 8 and 16
    said = "from 16 warps to 8, 1 × 1 keeps {:.0%} of its speed, 2 × 2 keeps {:.0%}, 4 × 4 keeps {:.0%}, and 8 × 8 keeps {:.0%}"
    assert said.format(*kept[0]).replace("%", " %") in PROSE
    same = [f"{taken[16]:.1f}" for taken in lines[4096].values()]
    assert "1 × 1 outputs take {} ms, 2 × 2 take {}, 4 × 4 take {}, and 8 × 8 take {}".format(*same) in PROSE
    columns = zip(*([of[8], of[16]] for of in lines[4096].values()), strict=True)
    assert all(list(column) == sorted(column, reverse=True) for column in columns)
    assert all(max(some[:2]) < some[2] < some[3] for some in kept), "at N = 2048, too"
    one, _, sixteen, most = lines[4096].values()
    assert max(most) == 16, "the shortest line"
    assert min(min(taken.values()) for taken in lines[4096].values()) == most[16], "and the shortest time"
    assert f"With only 8 warps, 8 × 8 is {one[64] / most[8]:.1f} times as fast as 1 × 1 with 64" in PROSE
    assert f"it takes {register_blocking.time_with(outputs=1, warps=64)} ms" in PROSE
    assert register_blocking.time_with(outputs=1, warps=16) == 42.7
    assert f"from 24 to 32 of them it gained {100 * (sixteen[24] / sixteen[32] - 1):.0f} %" in PROSE
    assert "8 × 8: 6.6 with 8, 4.7 with 16." in register_blocking.warps_and_outputs().alt


def test_the_main_path_has_one_topic():
    main, order = PROSE.split("## Key points")[0], list(CELLS)
    for second in ("LDS", "PTX", "ILP", "Volkov", "microbenchmark", "Wang", "joins"):
        assert second not in main, second
    for cell in ("sliders", "pair", "wavefronts", "sums", "model", "limits", "wang"):
        assert order.index(cell) > order.index("key-points"), cell
    assert "wavefronts" not in " ".join(register_blocking.shapes().header), "they come with the experiment, where they are explained"


def test_the_model_is_explained_before_the_question_and_the_bars_before_the_tasks():
    title, watch = CELLS["title"], CELLS["watch"]
    said = [title.index(words) for words in ("**Four *schedulers* share", "one load of one warp", "*issues*", "(blue in the picture)",
                                             "*round*", "1 *output*", "of nothing else", "**Which side starts more multiply-adds")]
    assert said == sorted(said)
    said = [watch.index(words) for words in ("**Play it once more", "a tall bar", "*queues*", "23 cycles after",
                                             "1. What does the left scheduler lose", "After this lesson you can")]
    assert said == sorted(said)
    assert [PROSE.count(words) for words in ("at most 255", "255 registers")] == [1, 1], "said once"


def test_where_8_by_1_differs_between_the_tables_is_said_before_the_scoreboard():
    shapes = {row[0].replace("\N{NO-BREAK SPACE}", " "): row for row in register_blocking.shapes().rows}
    scores = next(row for row in register_blocking.scoreboard().rows if row[0].startswith("as yours"))
    assert (shapes["8 × 1"][5], scores[4]) == (24, "32 (50%)")
    assert "8 × 1, for example, has 32 warps per multiprocessor here" in CELLS["scoreboard"]
    assert "In the table of outputs it had 24." in CELLS["scoreboard"]
    assert "512 threads in all" in PROSE, "its blocks"
    assert footprint("sgemm_1d_tile", BM=64, BN=64, BK=8, TM=8).threads == 512


def test_the_picture_was_wrong_about_few_warps():
    assert len({rounds(warps, 2, 1, start=START, cycles=160).multiply_adds for warps in (4, 16)}) == 1
    large, small = (experiments.times_by_warps(n)[1] for n in (4096, 2048))
    assert f"keeps only {100 * large[64] / large[16]:.0f} % of its speed" in PROSE
    said = f"the same code does a multiply-add {large[16] / small[16] / 8:.1f} times as fast at N = 2048 as at 4096"
    assert f"16 warps per multiprocessor {said}" in PROSE
    assert large[64] / small[64] / 8 == pytest.approx(1, abs=0.02), "about equally fast"
    notes = (ROOT / "docs" / "lecturing" / "08_register_blocking.md").read_text(encoding="utf-8")
    assert "from 16 warps to 8, 1 × 1 keeps 52 % of its speed and 8 × 8 keeps 72 %" in notes
    assert f"the real 1 × 1 keeps {100 * large[64] / large[16]:.0f} % of its speed" in notes


def test_from_line_to_line_there_is_less_to_load_as_well():
    found = [evaluate("sgemm_2d_tile", 256, tile_of(side, side), backend="sim") for side in (1, 2, 4, 8)]
    for counts in ([result.count("sectors") for result in found], [wavefronts(result) for result in found]):
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


def test_with_64_sums_the_loop_over_k_stays_and_nothing_is_joined():
    kernel = get("sgemm_2d_tile")
    at = kernel.source.index("for (int k = 0")
    unrolled = f"{kernel.source[:at]}#pragma unroll 4\n{kernel.source[at:]}"
    wide = []
    for text in (kernel.source, unrolled):
        code = sass(compile_cuda(text, name=kernel.file_name, defines=tile_of(8, 8)))
        wide.append(max(i.bits for i in code if i.base == "LDS"))
        if text == kernel.source:
            assert {loop.counts["FFMA"] for loop in loops(code)} == {64}, "one k per iteration"
    assert wide == [32, 128]


def test_what_the_optional_sliders_show():
    def extra(bx, by, TW):
        return evaluate("sgemm_outputs", 256, {"TA": 64, "TB": 64, "TW": TW, "bx": bx, "by": by}, backend="sim").count("conflicts")

    assert [extra(8, 8, TW) for TW in (8, 16, 32)] == [0, 65_536, 196_608]
    assert "adds 65,536 wavefronts, and with TW = 32 all four do, which adds 196,608" in PROSE


# ---- registers and times -------------------------------------------------------------------------------------------------------------
def test_up_to_128_sums_are_registers_and_256_spill():
    rows = register_blocking.too_many_sums().rows
    assert [(row[1], row[3] > 0) for row in rows] == [(4, False), (16, False), (64, False), (128, False), (256, True)]
    used = footprint(spills.unguarded(16, 16)).resources
    assert used.registers == 255
    assert used.spill_store_bytes > 0
    assert used.spill_load_bytes > 0
    warps = [row[4] for row in rows]
    assert warps == sorted(warps, reverse=True)


def test_the_prose_says_what_was_recorded():
    library = times.library()
    found = {(TM, TN): times.recorded_rung(kernel, tile)["median_s"] for TM, TN, kernel, tile in times.RUNGS}
    for said in (f"matrices in {1e3 * found[1, 1]:.1f} ms on an H200", f"is {100 * library / found[1, 1]:.1f} % of the speed",
                 f"the kernel takes {1e3 * found[8, 8]:.1f} ms", f"We reach {100 * library / found[8, 8]:.1f} % of the library's speed"):
        assert said in PROSE, said
    warps = [footprint(kernel, **tile).occupancy.warps for _, _, kernel, tile in times.RUNGS]
    assert warps == [64, 64, 32, 48, 32, 16], "down, up and down again; a quarter at the end"


def test_fewer_words_are_faster_from_row_to_row():
    words = [register_blocking.words_per_multiply_add(TM, TN) for TM, TN, *_ in times.RUNGS]
    seconds = [times.recorded_rung(kernel, tile)["median_s"] for *_, kernel, tile in times.RUNGS]
    assert words == sorted(words, reverse=True)
    assert words[1:3] == [1.25, 1.125]
    assert seconds[1] < seconds[2] < 1.05 * seconds[1], "4 × 1 is a little faster than 8 × 1"
    assert seconds[:1] + seconds[2:] == sorted(seconds[:1] + seconds[2:], reverse=True)
    assert times.library() < seconds[-1]


def test_from_eight_rows_to_a_square_all_but_the_words_rise():
    (kernel, tile), (other, square) = ((kernel, tile) for TM, TN, kernel, tile in times.RUNGS if (TM, TN) in ((8, 1), (2, 2)))
    before, after = evaluate(kernel, 256, tile, backend="sim"), evaluate(other, 256, square, backend="sim")
    assert after.count("sectors") == 2 * before.count("sectors")
    first, second = times.least(kernel, tile), times.least(other, square)
    assert second["shared"] > first["shared"]
    assert second["issue"] > first["issue"]
    assert (tile["BK"], square["BK"]) == (8, 32)
    held = experiments.times_by_warps()[4]
    most, few = (held[warps] for warps in (48, 32))
    eight = 1e3 * times.recorded_rung(kernel, tile)["median_s"]
    table = [[float(cell or 0) for cell in row[1:]] for row in register_blocking.by_depth().rows]
    (few_16, more_16), (few_32, more_32), (column, _) = table
    assert few_32 < column < few_16, "the deeper tile alone reverses the comparison"
    assert [few_16, more_16] == [pytest.approx(ms, rel=0.004) for ms in (few, most)], "two recordings agree"
    assert column == pytest.approx(eight, rel=0.004)
    assert f"it saves {few_16 - few_32:.2f} ms at 32 warps, and {more_16 - more_32:.2f} at 48" in PROSE
    assert f"save {few_16 - more_16:.2f} ms with BK = 16, and only {few_32 - more_32:.2f} with BK = 32" in PROSE
    assert footprint(kernel, **tile).occupancy.warps == 32
    assert most < 1e3 * times.recorded_rung(kernel, tile)["median_s"] < few
    registers = [footprint(*times.RUNGS[n][2:3], **times.RUNGS[n][3]).resources.registers for n in (2, -1)]
    registers += [footprint("sgemm_2d_tile", **tile_of(*shape)).resources.registers for shape in ((8, 1), (8, 8))]
    assert registers == [50, 118, 71, 128]
    assert "with 8 × 8 outputs BK is 8, with which a thread needs 118 registers instead of 128" in PROSE
    assert "Lesson 04's has tiles of 16 × 16" in PROSE
    assert times.TILED[1]["BM"] == 16
    waves = [wavefronts(result) for result in (before, after)]
    assert "From 8 × 1 to 2 × 2 the wavefronts *rise* from {:.3f} to {:.3f}, and yet the time falls".format(*waves) in PROSE


def test_what_the_picture_promises_and_what_the_kernels_do():
    found = charts.started()
    assert [modelled for modelled, _ in found.values()] == [20, 40, 80, 128]
    assert [round(real, 1) for _, real in found.values()] == [18.6, 41.6, 63.4, 74.1]
    assert (128 / 20, round(found[64][1] / found[1][1], 1)) == (6.4, 4.0)
    assert "6.4 times as fast as 1 × 1. On the GPU it is 4.0 times as fast" in PROSE
    assert "it says that 8 × 8 starts 128 multiply-adds in 160 cycles." in PROSE
    assert "The real kernel, the 8 × 8 of this lesson's first lines (4.4 ms), started 74." in PROSE
    waves = [32 * evaluate("sgemm_2d_tile", 256, tile_of(n, n), backend="sim").count("wavefronts") / 256**3 for n in (1, 2)]
    waves.append(32 * evaluate(*times.TILED[:1], 256, times.TILED[1], backend="sim").count("wavefronts") / 256**3)
    assert waves == [1.5, 0.75, 1.5]
    assert "1.5 instead of 2 per multiply-add with 1 × 1, and 0.75 instead of 1 with 2 × 2" in PROSE
    assert "64: 128 and 74.1" in register_blocking.picture_beside_kernels().alt
    work = work_of(evaluate(*times.RUNGS[-1][2:3], 256, times.RUNGS[-1][3], backend="sim"))
    each = work.instructions / work.fmas
    assert f"the machine code has {each:.2f} for each, which makes {64 * each:.0f}" in PROSE
    assert f"So a scheduler can start at most {160 / each:.0f} in 160 cycles" in PROSE
    issue, taken = 1e3 * times.least(*times.RUNGS[-1][2:])["issue"], 1e3 * times.recorded_rung(*times.RUNGS[-1][2:])["median_s"]
    assert f"its machine code has {each:.2f} instructions per multiply-add of a warp" in PROSE
    assert f"issuing them takes {issue:.1f} of the {taken:.1f} ms" in PROSE
    assert "(The recorded clock was lower by 0.3 % at most.)" in PROSE
    clocks = [times.recorded_rung(kernel, tile)["mhz"] for *_, kernel, tile in times.RUNGS]
    assert (round(100 * (1 - min(clocks) / 1980), 1), max(clocks) <= 1980) == (0.3, True)


def test_registers_that_deliver_slowly_are_a_suspect():
    rows = [row for row in data.readings("micro").find(kernel="micro_fma") if "REGISTERS" not in row]
    assert min(row["per_warp"] for row in rows) == pytest.approx(0.5, abs=0.01), "cycles per warp: half of what four schedulers can issue"
    _, _, kernel, tile = times.RUNGS[-1]
    least, taken = 2e3 * times.least(kernel, tile)["fma"], 1e3 * times.recorded_rung(kernel, tile)["median_s"]
    assert f"alone would need {least:.1f} ms, and 8 × 8 takes {taken:.1f}" in PROSE
    assert least < taken
    assert f"{1e3 * data.load('ladder').find('sgemm_warp_tile', 4096)[0].median_s:.1f} ms: the hardware" in PROSE


def test_no_modelled_limit_stands_above_a_recorded_time():
    shares = {}
    for TM, TN, kernel, tile in times.RUNGS:
        recorded = times.recorded_rung(kernel, tile)["median_s"]
        shares[TM, TN] = {what: seconds / recorded for what, seconds in times.least(kernel, tile).items()}
        assert max(shares[TM, TN].values()) < 1
    assert 0.75 < shares[1, 1]["shared"] < shares[4, 1]["shared"] < shares[2, 2]["shared"] < 0.86, "about 75 to 85 %"
    assert shares[8, 1]["shared"] < 2 / 3
    for shape in ((4, 4), (8, 8)):
        assert shares[shape]["shared"] < shares[shape]["issue"] < 0.75
    for shape in ((1, 1), (4, 1), (8, 1), (2, 2)):
        assert shares[shape]["shared"] == max(shares[shape].values())


def test_the_modelled_limits_are_those_of_the_course():
    kernel, tile = times.TILED
    terms, needed = bound_of(evaluate(kernel, 1024, tile, backend="sim")).terms, times.least(kernel, tile)
    for what, seconds in needed.items():
        assert seconds / 64 == pytest.approx(terms[what], rel=0.04), "at N = 1024 the last blocks leave some multiprocessors idle"


# ---- optional sections ---------------------------------------------------------------------------------------------------------------
def test_wang_and_jins_kernels_need_fewer_wavefronts_from_step_to_step():
    rows = numbers(register_blocking.their_kernels())
    assert [row[0] for row in rows] == [1, 4, 16]
    waves, taken = [row[1] for row in rows], [row[-1] for row in rows]
    theirs, ours = footprint("sgemm_outputs"), footprint(*times.RUNGS[4][2:3], **times.RUNGS[4][3])
    assert (theirs.threads, theirs.resources.registers, theirs.occupancy.warps) == (
        ours.threads, ours.resources.registers, ours.occupancy.warps)
    assert waves[-1] == float(next(row for row in register_blocking.scoreboard().rows if "4\u00a0×\u00a04" in row[0])[3])
    four, same_day = times.RUNGS[4][3], data.load("tuned")
    assert same_day.date == data.load("wang").date
    for seconds in (times.recorded_rung("sgemm_2d_tile", four)["median_s"],
                    same_day.find("sgemm_2d_tile", 4096, parameters=four)[0].seconds):
        assert f"takes {rows[-1][-1]:.2f} ms, and the 4 × 4 of the scoreboard {1e3 * seconds:.2f} ms" in PROSE
    assert waves == sorted(waves, reverse=True)
    assert taken == sorted(taken, reverse=True)


def test_neither_many_outputs_nor_a_high_occupancy_is_a_goal():
    found = []
    for r in data.load("blocks").find("dgemm_outputs", 2048, state="done"):
        p = r.parameters
        found.append((1e3 * r.seconds, p["TA"] * p["TB"] // (p["bx"] * p["by"]), footprint(r.kernel, **p).occupancy.fraction))
    fastest, slowest = min(found), max(found)
    assert f"Of {len(found)} choices" in PROSE
    said = f"{fastest[0]:.3f} ms with {fastest[1]} outputs per thread and an occupancy of {100 * fastest[2]:.0f} %"
    assert f"the fastest takes {said}" in PROSE
    assert f"with {slowest[1]} outputs, takes {slowest[0]:.3f} ms at {100 * slowest[2]:.0f} %" in PROSE
    assert f"with 64 outputs the best choice takes {min(ms for ms, outputs, _ in found if outputs == 64):.3f} ms" in PROSE


def test_their_threads_on_two_gpus():
    sweep = data.load("wang").find("dgemm_outputs")
    ours = [{r.N: r.gflops for r in sweep if r.parameters["by"] == by and r.N <= 2049} for by in (16, 8)]
    for (wide, less), faster in (([documents.WANG_4.column(name) for name in ("16 x 16", "16 x 8")], 18), (ours, 0)):
        assert len(wide) == 20
        assert sum(less[n] > wide[n] for n in wide) == faster
    assert "at 18 of 20 sizes; on the H200 they are at none" in PROSE


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
    assert "registers per thread" in said["sums"]
