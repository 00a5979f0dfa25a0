"""Lesson 02: what it promises, and every number that its prose says."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from cpu_tools import needs_c
from nbclient import NotebookClient

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.kernels import cpu_kernel
from course_lib.lessons import cpu
from course_lib.lessons.cpu import crowding, here, loops, play, recorded, variants
from course_lib.lessons.cpu.thread_scaling import recorded_gains
from course_lib.magic import from_cell
from course_lib.model import serial_share
from course_lib.model.cache_lines import CacheShape
from course_lib.run import CpuPeak, count_lines, matches, run_cpu
from course_lib.widgets.compute import inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "02_cpu.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
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


def test_the_worked_loops_are_right_on_every_input(mine):
    verdict = cpu.check(mine)
    assert verdict.passed
    assert "passed: 4 inputs" in repr(verdict)


def test_the_count_is_that_of_the_instrumented_program_and_of_the_formula(mine):
    lines = cpu.count(mine, N=128, cache=4096)
    assert lines == loops.count_blocks(16)
    assert lines.fetched == {"A": 8192, "B": 8192, "C": 1024}
    assert lines.per_multiply_add == cpu.lines_per_multiply_add(16, 128) == 1 / 128 + 1 / 2048
    assert round(lines.per_multiply_add, 4) == 0.0083
    said("8 × 8 × 8 = 512 products", "512 × 16 = 8,192", "With b = 16 and N = 128 it is 1/128 + 1/2048 = 0.0083")


@needs_c
def test_a_c_compiler_counts_and_computes_the_same(mine):
    A, B, _ = inputs(128, 128, 128)
    counted = count_lines(mine, A, B, cache=CacheShape(4096))
    assert counted.fetched == cpu.count(mine).fetched
    assert matches(run_cpu(mine, A, B, timed=False).C, A, B)


def test_ikj_fetches_sixteen_times_as_many_lines_of_b(mine):
    rows = cpu.beside_ikj(cpu.count(mine)).rows
    assert [row[3] for row in rows] == ["0.125", "16", "1", "7.65", ""]
    plain = loops.count_order("ikj")
    assert plain.fetched["B"] == 128 * 1024 == 131_072
    assert loops.count_blocks(16).fetched["A"] - plain.fetched["A"] == 7168
    assert plain.fetched["B"] - 8192 == 122_880
    said("131,072 in all", "You pay 7,168 lines more for A, and save 122,880 of B", "fetched 7.65 times fewer lines than ikj",
         "2/(16b) = 1/(8b) lines", "1/(8b) + 1/(16N)")


def test_what_the_controls_show():
    counted = {(b, kib): play.counted(b, 1024 * kib)[1].per_multiply_add for b in play.BLOCKS for kib in (4, 8, 16)}
    best = {kib: min(play.BLOCKS, key=lambda b: counted[b, kib]) for kib in (4, 16)}
    assert best == {4: 16, 16: 32}
    assert 7.5 < counted[32, 4] / counted[16, 4] < 8.5, "eight times as many"
    plain = loops.count_order("ikj").per_multiply_add
    assert counted[32, 4] > plain
    assert 10 < plain / counted[32, 8] < 11, "ten times fewer"
    assert 2 * 4 * 32 * 32 == 8 * 1024, "two blocks"
    assert loops.count_blocks(32, cache=8192).fetched["C"] == 4 * 1024, "C anew for each k0"
    assert loops.count_blocks(32, cache=8192).per_multiply_add == 3 / (16 * 32)
    quarter = loops.count_blocks(4).fetched
    said_by_the_formula = 128**3 // (16 * 4)
    assert (quarter["A"], quarter["B"]) == (said_by_the_formula, 4 * said_by_the_formula)
    said("blocks of 4 × 4 fetch four times as many lines of B as it says", "For A they fetch just what it says",
         "fetch eight times as many lines", "still ten times fewer than ikj fetches")


def test_a_and_b_need_one_block_and_some_lines_and_c_needs_four_blocks():
    lines = {many: loops.count_blocks(16, cache=64 * many).fetched for many in (19, 20, 48, 63, 64)}
    assert all((lines[many]["A"], lines[many]["B"]) == (8192, 8192) for many in (20, 48, 63, 64))
    assert (lines[19]["A"], lines[19]["B"]) != (8192, 8192)
    assert [lines[many]["C"] for many in (48, 64)] == [7744, 1024]
    said("20 lines are enough", "the 15 other lines of that block, 16 lines of A, and the 32 lines of *two* blocks of B",
         *(f"| {many} lines{blocks} | 8,192 | 8,192 | {lines[many]['C']:,} |"
           for many, blocks in ((64, ", four blocks"), (63, ""), (48, ", three blocks"), (20, ""))))
    assert {1024 * kib for kib in (3, 8, 12)} <= {size for _, size in play.CACHES}


def test_the_table_of_blocks_is_the_counts_and_the_formula():
    rows = cpu.block_sizes().rows
    assert [row[2] for row in rows] == ["0.0786", "0.0239", "0.0083", "0.0664", "0.0645", "0.0635"]
    assert [row[3] for row in rows] == ["0.0166", "0.0088", "0.0083", "0.0044", "0.0645", "0.0635"], "and in 16 KiB"
    assert [row[4] for row in rows] == ["0.0317", "0.0161", "0.0083", "0.0044", "0.0024", ""]
    assert [row[1] for row in rows] == ["64", "256", "1,024", "4,096", "16,384", "65,536"]


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


def test_the_mistake_shows_only_with_more_than_one_block(careless):
    found = repr(cpu.check(careless))
    assert "0 of 4 inputs right" in found
    assert "The sums begin at k = 16" in found
    small = loops.spec_of(loops.Case("small", 16, 16, 16), 4096)
    trial = small.operation.trial(small.gate_case({}))
    loops.run_loops(careless, trial, small, loops.Here())
    assert small.operation.judge(trial) is None, "16 × 16 is right"
    assert cpu.check(careless.replace("C(i, j) = sum", "C(i, j) += sum")).passed, "one character repairs it"


def median(kernel, ld=1024, parameters=None):
    return recorded.row(kernel, 1024, ld, parameters)["median_s"]


WIDE = {"VB": 64, "MR": 8, "MC": 144}
CHOSEN, TOLD = "the library, vectors of 8 floats (its own choice)", "the library, vectors of 16 floats (told so)"


def ladder_row(name):
    return dict(recorded.ladder())[name]


def test_the_fastest_program_and_the_library_beside_ikj():
    ikj, packed, library = (1e3 * s for s in (median("gemm_ikj"), median("gemm_packed", parameters=WIDE), ladder_row(CHOSEN)["median_s"]))
    told, longer = (1e3 * r["median_s"] for r in (ladder_row(TOLD), recorded.with_longer_rows(ladder_row(TOLD))))
    packed_longer = 1e3 * median("gemm_packed", 1040, WIDE)
    share = 100 * recorded.gflops(recorded.climb_rows()[-1][1]) / recorded.peak().gflops
    said(f"in {ikj:.0f} ms on one core of an AMD EPYC", f"needs {packed:.1f} ms on the same core, for the same multiply-adds. "
         f"That is about {share:.0f} % of the fastest arithmetic that we measured on this core, a figure that we know to about 6 %",
         f"NumPy's library, which many programs use, needs {library:.1f} ms as it comes. "
         f"Told to use vectors of 16 floats, it needs {told:.2f} ms, "
         f"and {longer:.2f} ms with rows of 1040 floats. `gemm_packed` needs {packed:.2f} and {packed_longer:.2f} ms",
         f"So `gemm_packed` is {100 * (told / packed - 1):.0f} % faster with rows of 1024 floats, "
         f"and {100 * (packed_longer / longer - 1):.0f} % slower with rows of 1040",
         "A matrix of 1024 × 1024 floats has 4 MiB")
    fastest = min(recorded.ladder(), key=lambda pair: pair[1]["median_s"])
    assert fastest[0] == "gemm_packed, vectors of 16 floats"
    assert 4 * 1024**2 == 4 * 2**20


def test_the_recorded_caches_are_as_the_prose_has_them():
    (first, ways), (second, _), (third, _) = [(r["kib"], r["ways"]) for r in recorded.recording().find(what="cache")]
    said(f"The first holds {first} KiB, the second {second // 1024} MiB, "
         f"and the third, which it shares with other cores, {third // 1024} MiB")
    assert 1024 * second < 4 * 1024**2, "the fastest caches hold less than B"
    assert (first > 24, second > 384, 6144 < third < 98304) == (True, True, True), "three fit into one each, the last into none"
    assert first * 1024 == 64 * 64 * ways, "64 sets of 64 bytes"
    assert ways == 12
    assert (first, first * 1024 // 64) == (48, 768)
    said("has 48 KiB, or 768 lines, and is divided into 64 *sets*, each of which holds 12 lines.")
    said(f"these are {1024 // 64} lines for each set, which holds {ways}", "the second cache, which has 1,024 sets of 16 lines")
    assert second * 1024 == 1024 * 16 * 64
    sets = {ld: {row * 4 * ld // 64 % 1024 for row in range(1024)} for ld in (1024, 1040)}
    assert {ld: min(1024, 16 * len(found)) for ld, found in sets.items()} == {1024: 256, 1040: 1024}, "of a column fit into the second"
    rates = recorded.peak().bandwidth
    assert list(rates) == [24, 384, 6144, 98304]
    assert list(rates.values()) == sorted(rates.values(), reverse=True)
    ikj = recorded.gflops(recorded.row("gemm_ikj", recorded.SMALL)) / 2
    said(f"carries out {ikj:.0f} billion multiply-adds per second", f"That makes {8 * ikj:.0f} GB/s, more than the first bar")
    assert 8 * ikj > rates[24]


def test_the_recorded_loops_are_those_of_the_lesson(mine):
    squeezed = ["".join(re.sub(r"//.*", "", text).split()) for text in (mine, variants.six_loops(**variants.YOURS))]
    assert squeezed[0].replace("constintb=16;", "").replace("+b", "+16").replace("+=b", "+=16") == squeezed[1]
    assert cpu.count(variants.six_loops(**variants.YOURS)) == cpu.count(mine)


@pytest.mark.parametrize("parameters", ONE_CHANGE)
def test_each_change_leaves_the_lines_and_the_result_alone(parameters, mine):
    changed = variants.six_loops(**parameters)
    assert cpu.check(changed).passed
    assert cpu.count(changed) == cpu.count(mine)


def test_the_time_is_not_the_count_of_lines():
    same = [median("six_loops", ld, p) for p in (variants.YOURS, variants.WITH_ENDS) for ld in (1024, 1040)]
    assert max(same) > 1.3 * min(same), "the same lines, other times"
    assert cpu.gain() < 0.8 * 7.65, "fewer lines than faster"
    ends = median("six_loops", 1024, variants.WITH_ENDS)
    said(f"With rows of 1024 floats that takes {ends / median('six_loops', 1024, variants.YOURS):.1f} times as long")


def test_longer_rows_give_the_blocks_their_time():
    yours, best = ([median("six_loops", ld, p) for ld in (1024, 1040)] for p in (variants.YOURS, crowding.BEST))
    plain = median("gemm_ikj")
    said(f"made blocks of 16 × 16 {yours[0] / yours[1]:.2f} times as fast, blocks of 64 × 64 {best[0] / best[1]:.2f} times, "
         f"and ikj hardly faster ({plain / median('gemm_ikj', 1040):.2f} times)")
    table = cpu.rows_apart()
    assert [(row[0], row[1].split()[-1]) for row in table.rows] == [(ld, name) for ld in (1024, 1040) for name in ("blocks", "16", "64")]
    fewer, faster = ([float(row[column]) for row in table.rows] for column in (2, 4))
    assert faster[1] == cpu.gain()
    assert all(many <= 1 for many in fewer[:3]), "with rows of 1024 no fewer lines"
    assert all(many <= 1 for many in faster[:3]), "and no faster"
    larger = [median("six_loops", 1024, p) for p in recorded.blocks_timed() if p["BI"] * p["BJ"] > 128 * 128]
    assert max(larger) < 0.95 * plain < min(median("six_loops", 1024, p) for p in (variants.YOURS, crowding.BEST))
    said("These blocks fetch no fewer lines than ikj, and are no faster. (Some larger blocks are faster")
    formula = [crowding.COUNTED["ikj", 1024] / (crowding.ROWS * 1024**2 * float(cpu.lines_per_multiply_add(b, 1024))) for b in (16, 64)]
    assert fewer[4] == round(formula[0], 2), "as the formula says"
    ijk = {r["ldb"]: r["best_s"] for r in data.readings("cpu_orders").find(what="program", kernel="gemm_ijk", N=1024)}
    said(f"at the end of each row of B made `ijk` {ijk[1024] / ijk[1040]:.1f} times as fast")
    said(f"Blocks of 16 × 16 fetch {fewer[4]:.1f} times fewer, as the formula says, and are {faster[4]:.1f} times as fast",
         f"For these the formula says {formula[1]:.0f} times fewer", f"Yet {fewer[5]:.0f} times fewer lines did not make",
         f"Blocks of 64 × 64 fetch {fewer[5]:.0f} times fewer and are **{faster[5]:.1f} times as fast** as ikj")
    assert recorded.recording().label in table.caption
    rounds = recorded.recording().find(what="conditions")[0]["rounds"]
    said(f"Each program ran {rounds} times")


def test_every_row_has_several_rounds_and_its_spread():
    rounds = recorded.recording().find(what="conditions")[0]["rounds"]
    assert rounds >= 3
    for row in recorded.recording().find(what="program"):
        assert 0 < row["best_s"] <= row["median_s"] <= row["worst_s"], row


def test_the_conditions_name_everything():
    told = dict(cpu.conditions().rows)
    assert {"CPU", "caches, first to last", "compiler", "its options", "threads", "rounds", "date"} <= set(told)
    assert "-O3" in told["its options"]
    assert "inner loops for" in told["NumPy and its library"]
    assert all(told.values())


def test_longer_rows_help_what_goes_down_a_column():
    assert median("gemm_ijk") > 1.5 * median("gemm_ijk", 1040)
    rows = {row[0]: row for row in cpu.block_times().rows}
    assert len(rows) == 2 + len(variants.SQUARES) + len(variants.ROWS_OF_B) + 2
    assert len(variants.SQUARES) + len(variants.ROWS_OF_B) == 9
    said("from 16 to 1024")
    assert float(rows["ijk"][-1]) == round(median("gemm_ijk") / median("gemm_ijk", 1040), 2)
    by_width = [median("six_loops", 1040, p) for p in variants.ROWS_OF_B]
    assert variants.WIDTHS[by_width.index(min(by_width))] == 64
    exchanged, yours = ([median("six_loops", ld, p) for ld in (1024, 1040)] for p in (variants.K_OUTSIDE, variants.YOURS))
    assert round(exchanged[0] / yours[0]) == 5
    assert exchanged[1] / yours[1] == pytest.approx(1, abs=0.1)
    said("With rows of 1040 floats, 64 columns are the fastest",
         "With rows of 1024 floats it takes 5 times as long as yours, and with rows of 1040 it is about as fast")


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


@needs_c
def test_longer_rows_save_ijk_lines_of_the_second_cache_and_not_of_the_first():
    first, second = (CacheShape(r["kib"] * 1024, ways=r["ways"]) for r in recorded.recording().find(what="cache", level=1)
                     + recorded.recording().find(what="cache", level=2))
    per = {}
    for ld in (1024, 1040):
        A, B, C = (np.zeros((rows, ld), np.float32)[:, :1024] for rows in (2, 1024, 2))
        for level, cache in enumerate((first, second), 1):
            per[level, ld] = f"{count_lines('gemm_ijk', A, B, C, beta=1.0, cache=cache).per_multiply_add:.2f}"
    said(f"ijk fetches {per[1, 1024]} lines per multiply-add with rows of 1024 floats, and {per[1, 1040]} with rows of 1040",
         f"the same loops fetch {per[2, 1024]} lines per multiply-add with rows of 1024 floats, and {per[2, 1040]} with rows of 1040")


@needs_c
@pytest.mark.parametrize("program", crowding.PROGRAMS)
@pytest.mark.parametrize("apart", [1024, 1040])
def test_the_lines_with_sets_are_the_counters(program, apart):
    A, B, C = (np.zeros((rows, apart), np.float32)[:, :1024] for rows in (crowding.ROWS, 1024, crowding.ROWS))
    kernel, parameters = crowding.PROGRAMS[program]
    text = variants.six_loops(**parameters) if parameters else kernel
    counted = count_lines(text, A, B, C, beta=1.0, cache=crowding.first_cache())
    assert counted.total == crowding.COUNTED[program, apart]
    again = counted.fetched["C"] > 0.9 * counted.fetched["A"]
    assert again is (program == 64 or (program, apart) == (16, 1024) or program == "ikj"), "C for each k0; ikj fetches A and C once"


def test_a_block_of_b_wants_one_set_of_the_first_cache():
    for ways in (8, 12):
        first = CacheShape(64 * 64 * ways, ways=ways)
        assert (first.sets, first.sets * first.line) == (64, 4096)
        assert {row * 4 * 1024 // first.line % first.sets for row in range(16)} == {0}
        assert len({row * 4 * 1040 // first.line % first.sets for row in range(16)}) == 16
    held, misses = [], []                               # of one set of 12 lines, with the line used longest ago first
    for use in range(3 * 16):
        misses.append(use % 16 not in held)
        held = [row for row in held if row != use % 16][-11:] + [use % 16]
        if use == 15:
            assert held == [*range(4, 16)], "rows 12 to 15 push out rows 0 to 3"
        if use == 16:
            assert held == [*range(5, 16), 0], "fetching row 0 pushes out row 4"
    assert all(misses)
    said("In our model of a cache, the line used longest ago makes way",
         "Rows 0 to 11 fill the set, and rows 12 to 15 push out rows 0 to 3", "Fetching it pushes out row 4")
    said("after 64 lines, which are 4096 bytes, the first set follows again", "Rows of 1024 floats are 4096 bytes long",
         "all 16 lines belong to the same set, which holds 12")
    assert cpu.sets().kind == "svg+xml", "a large SVG becomes a PNG, whose paper is white, and black where the page is dark"
    assert cpu.sets().alt.endswith("1024 floats apart: 16 lines in 1 set; rows that begin 1040 floats apart: 16 lines in 16 sets.")
    assert 1024 * 4 % (64 * 64) == 0
    said("Rows of 1024 floats begin a multiple of 64 lines apart")
    assert sorted(crowding.wanted(16, 256, crowding.first_cache()).values()) == [4] * 4, "of 12"
    said("rows of 256 floats spread the 16 lines of a block over 4 sets, each of which holds 12")
    assert variants.PADDED == 1040


def test_vectors_make_ikj_faster_and_ijk_hardly():
    us = {(r["kernel"][-3:], r["vectors"]): r["median_s"] for r in recorded.recording().find(what="vectors", N=48)}
    assert 3 * 4 * 48**2 < 32 * 1024, "the first cache"
    gains = [us[order, False] / us[order, True] for order in ("ikj", "ijk")]
    assert [row[0] for row in cpu.vector_times().rows] == ["ijk", "ikj"]
    said(f"Vectors make ikj {gains[0]:.1f} times as fast, and ijk only {gains[1]:.1f} times. "
         f"Without them, ijk takes {us['ijk', False] / us['ikj', False]:.2f} times as long as ikj")
    assert us["ijk", True] / us["ikj", True] > 3


def test_the_scoreboard_is_the_recording_and_nothing_exceeds_its_peak():
    table, peak = cpu.scoreboard(), recorded.peak()
    named = {row[0]: row for row in table.rows}
    assert table.rows[0][0] == "three loops, ijk"
    assert sum("its own choice" in name for name in named) == 1
    assert named["gemm_packed, vectors of 16 floats"][1:3] == ("9.51", "9.62")
    assert named[TOLD][1:3] == ("9.69", "9.35")
    assert all(float(row[3]) < peak.gflops for row in table.rows)
    assert all(float(row[4].rstrip("%")) < 100 for row in table.rows)
    assert f"the fastest arithmetic measured is {peak.gflops:.0f} GFLOP/s, with vectors of {peak.vector // 4} floats" in table.caption
    assert {"gemm_vectors, vectors of 16 floats", "gemm_packed, vectors of 16 floats"} <= set(named), "the ladder uses what the CPU has"
    assert peak.vector == 64
    assert table.rows[-1][0] == "the library, vectors of 16 floats (told so)"


def test_what_the_prose_says_of_the_scoreboard():
    rows, peak = dict(recorded.ladder()), recorded.peak()
    packed, chosen, told = (rows[name] for name in ("gemm_packed, vectors of 16 floats", CHOSEN, TOLD))
    speed = [recorded.gflops(r) for r in (packed, told, chosen)]
    assert packed["parameters"]["MR"] == 8
    assert "#define MR 6 " in cpu_kernel("gemm_packed").source
    conditions, = recorded.recording().find(what="conditions")
    assert chosen["parameters"]["kernels"] == conditions["kernels"] == "Haswell"
    assert conditions["library"].startswith("openblas 0.3.31")
    longer = {name: recorded.with_longer_rows(r) for name, r in rows.items()}
    spread = [100 * (r["worst_s"] / r["best_s"] - 1) for r in (*rows.values(), *longer.values())]
    far = longer["gemm_packed, vectors of 16 floats"]
    own = [r["worst_s"] / r["best_s"] for r in (packed, told, longer[TOLD], far)]
    assert min(own) > far["median_s"] / longer[TOLD]["median_s"], "less than the rounds differ by"
    narrow, vectors = peak.by_vector[32], recorded.recording().find(what="program", kernel="gemm_vectors", parameters={})
    library = max(best_gflops(r) for r in (chosen, longer[CHOSEN]))
    gains = [rows[name]["median_s"] / longer[name]["median_s"] for name in (f"gemm_vectors, vectors of {wide} floats" for wide in (16, 8))]
    said(f"is {min(spread):.0f} to {max(spread):.0f} % above its fastest",
         f"fastest single time with rows of 1040 floats is {best_gflops(longer[TOLD]):.1f} GFLOP/s, "
         f"a little above the peak of {peak.gflops:.1f}",
         f"the fastest of `gemm_packed` is {100 * best_gflops(packed) / peak.gflops:.0f} % of it",
         f"With vectors of 8 floats, arithmetic alone got {narrow:.1f} GFLOP/s. But `gemm_vectors` with rows of 1040 got "
         f"{recorded.gflops(longer['gemm_vectors, vectors of 8 floats']):.1f} in its middle time, "
         f"and the library's fastest time is {100 * (library / narrow - 1):.0f} % above {narrow:.1f}",
         f"is even {100 * (max(map(best_gflops, vectors)) / narrow - 1):.0f} % above. So we know such a peak to about 6 %",
         f"it is {gains[0]:.2f} times as fast with vectors of 16 floats, and {gains[1]:.2f} times with vectors of 8",
         f"the library was {speed[1] / speed[2]:.2f} times as fast", f"`gemm_packed` is {100 * (speed[0] / speed[1] - 1):.0f} % faster",
         f"`gemm_packed` reaches {100 * speed[0] / peak.gflops:.0f} % of the peak", "6 rows of 32 floats", "8 rows of 32 floats",
         f"the fastest arithmetic that we measured on this core, {peak.gflops:.0f} GFLOP/s")
    assert max(vectors, key=best_gflops)["N"] == 256
    assert "#define MR 6\n#define NV 2" in cpu_kernel("gemm_vectors").source
    assert 2 * packed["parameters"]["MR"] == 16, "of 32 registers"
    assert ("KC" in packed["parameters"], "#define KC 256\n" in cpu_kernel("gemm_packed").source) == (False, True)
    said("KC is 256")
    alike = median("gemm_packed", parameters=WIDE) / median("gemm_packed", 1040, WIDE)
    assert 0.98 < alike < 1, "gemm_packed and longer rows"
    said("its time is the same within 2 %")
    assert round(rows["three loops, ijk"]["median_s"] / packed["median_s"], -1) == 450
    ijk = median("gemm_ijk", 1040)
    said(f"a factor of 450. Not all of it is won by better loops: the first bar has rows of 1024 floats, and with rows of 1040 ijk takes "
         f"{1e3 * ijk:.0f} ms, {ijk / packed['median_s']:.0f} times as long as `gemm_packed`")
    notes = (ROOT / "docs" / "lecturing" / "02_cpu.md").read_text(encoding="utf-8")
    assert f"It is {cpu.gain():.2f}." in notes
    assert f"Told to use 16, it was {speed[1] / speed[2]:.2f} times as fast" in notes
    assert f"`gemm_packed` was {speed[0] / speed[2]:.2f} times as fast" in notes


def test_the_climb_draws_the_steps_below_the_peak():
    rows, roof = recorded.climb_rows(), recorded.peak().gflops
    speeds = [recorded.gflops(r) for _, r in rows]
    assert speeds == sorted(speeds)
    assert max(speeds) < roof
    assert [name for name, _ in rows[2:]] == ["16 × 16, longer rows", "64 × 64, longer rows", "gemm_vectors, longer rows", "gemm_packed"]
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
    said(f"multiplies matrices of this size in {1e3 * found.median_s:.3f} ms")


def test_no_recording_lies_above_a_roof_that_it_is_printed_beside():
    """Every recorded speed of a CPU, of its middle round: below its own machine's roofs, or printed beside none."""
    peak, roofed = recorded.peak(), recorded.recording()
    programs = roofed.find(what="program")
    assert len(programs) > 30
    assert all(recorded.gflops(r) < peak.gflops for r in programs)
    assert max(best_gflops(r) for _, r in recorded.ladder()) < peak.gflops, "the scoreboard prints the best times, too"
    assert max(best_gflops(r) for r in programs) < 1.001 * peak.gflops, "a fastest round may have had a faster core, but hardly"
    for name, (intensity, gflops) in recorded.points().items():
        assert gflops < recorded.second_roof().bound(intensity, recorded.SECOND), f"{name} above the roof of the second cache"
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


def test_the_roofline_draws_what_was_recorded_and_says_of_which_bytes():
    alt = cpu.roofline().alt
    assert alt.startswith(f"Roofline: {recorded.peak().gflops:.0f} GFLOP/s at most")
    assert all(name in alt for name in ("ijk", "ikj", "your loops", "gemm_packed", "per byte that comes into the first cache"))
    points, roof = recorded.points(), recorded.second_roof()
    bound = roof.bound(points["ikj"][0], recorded.SECOND)
    ikj, yours = recorded.row("gemm_ikj", recorded.SMALL), recorded.row("six_loops", recorded.SMALL, parameters=variants.YOURS)
    said(f"`gemm_packed` reaches {points['gemm_packed'][1]:.0f} of {roof.gflops:.0f} GFLOP/s, "
         f"and the loops ikj lie at their roof: {points['ikj'][1]:.1f} of {bound:.1f} GFLOP/s",
         f"The fastest time of ikj was even {100 * (best_gflops(ikj) / bound - 1):.0f} % above",
         f"Blocks of 16 × 16 fetch {ikj['lines'] / yours['lines']:.0f} times fewer lines, and are hardly faster")
    assert 1 < points["your loops"][1] / points["ikj"][1] < 1.05
    assert points["your loops"][1] < 0.5 * roof.bound(points["your loops"][0], recorded.SECOND)


def peak_of(gflops):
    return CpuPeak("float32", 1, gflops, 32, {24: 100.0}, "made up")


def results(*speeds):
    return [SimpleNamespace(kernel=SimpleNamespace(name=name), gflops=speed) for name, speed in speeds]


@needs_c
def test_a_program_above_the_peak_has_the_peak_measured_again():
    peaks = iter([58.0, 60.0, 90.0])
    found, _ = here.under_a_roof(64, measure_peak=lambda: peak_of(next(peaks)), measure=lambda *_, **__: results(("blas", 78.9)))
    assert found.gflops == 90


@needs_c
def test_a_peak_that_stays_too_low_is_refused(capsys, monkeypatch):
    with pytest.raises(CourseError, match="blas: 79 GFLOP/s, and the peak was measured as 58. Nothing is faster than a peak"):
        here.under_a_roof(64, measure_peak=lambda: peak_of(58.0), measure=lambda *_, **__: results(("gemm_ikj", 20.0), ("blas", 78.9)))


@pytest.mark.parametrize("show", [cpu.measured, cpu.measured_roofline, cpu.thread_sliders])
def test_without_a_compiler_the_lesson_says_so(show, monkeypatch, capsys):
    for module in (here, cpu.thread_sliders.__globals__):
        target = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(target, "no_compiler", lambda: "there is no C compiler")
    assert show() is None
    assert "there is no C compiler" in capsys.readouterr().out


@needs_c
def test_this_machine_is_measured(monkeypatch):
    monkeypatch.setattr(here, "PROGRAMS", ("gemm_ikj", "blas"))
    table = here.measured(N=64)
    assert table is None or [row[0] for row in table.rows][-1] == "blas"


def test_amdahls_shares():
    gains = recorded_gains(data.load("threads"))
    shares = {count: serial_share(gains["gemm_packed"][count], count) for count in (2, 8)}
    assert [round(share, 3) for share in shares.values()] == [0.017, 0.190]
    said("0.017 with two threads, and 0.190 with eight")
    assert serial_share(gains["gemm_pthreads"][2], 2) < 0
    assert "2.22, s = -0.101" in cpu.serial_shares().rows[0]
    assert "gemm_packed 2.0 with 2" in cpu.gains().alt


def test_a_race_loses_additions_and_one_thread_does_not():
    race = from_cell(CELLS["racing"])[1]
    try:
        assert cpu.lost_additions(race, threads=1, runs=2) == [0, 0]
    except CourseError as error:
        pytest.skip(str(error))


def test_the_slides_gains():
    rows = cpu.slides().rows
    assert [row[1] for row in rows] == ["1.5", "3.2", "3.1", "4.3", "3.9"]
    assert [row[2] for row in rows] == ["0.7", "1.3", "2.2", "6.1", "6.4"]
    assert LEE_CPU.column("AVX")[256] > LEE_CPU.column("CPU")[256], "at 256 vectors lose"
    said("gain about 4 from N = 1024 on", "gain up to 6.4 of 8 possible")
    found = {(r.kernel, r.N): r for r in data.load("lee_cpu").records}
    assert round(1e3 * found["gemm_pthreads", 256].median_s) == 4
    assert round(1e3 * found["gemm_openmp", 256].high_s) == round(1e3 * found["gemm_openmp", 512].high_s) == 8


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/02_cpu.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    told = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "reveal", "beside"):
        assert "blocked is not written yet" in told[cell], cell
    assert "8192" not in told["reveal"]
    assert "The sums begin at k = 16" in told["wrong"]
