"""Lesson 15: what it promises, and every number that its prose says."""

import itertools
import json
import os
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import device
from course_lib.bench import closing
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.check import check
from course_lib.explorables.gap import CURVES, share, sizes
from course_lib.explorables.reads import CODES, machine_code
from course_lib.kernels import UserKernel
from course_lib.lessons import closing_in
from course_lib.lessons.closing_in import feeding
from course_lib.lessons.closing_in.overlap import overlap
from course_lib.lessons.closing_in.pictures import one_warp
from course_lib.lessons.closing_in.warp_tile import warp_tile
from course_lib.magic import from_cell
from course_lib.model import shared_wavefronts
from course_lib.model.operands import MEASURED, MEASURED_CYCLES, WITHIN, operand_reads
from course_lib.run import kernel_reads, matches, run
from course_lib.run.traces import array_of, elements, requests
from course_lib.toolchain import compile_cuda, inner_loop, loops
from course_lib.toolchain.sass import sass
from course_lib.widgets.compute import inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "15_closing_in.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "15_closing_in.md").read_text(encoding="utf-8").split())
QUESTIONS = tomllib.loads(Path(closing_in.__file__).with_name("questions_15.toml").read_text(encoding="utf-8"))["question"]
CHANGED = ("wide", "wide_paired", "fed_in_rows", "fed", "wide_there_and_back")
N = feeding.N


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def row(name, n=N):
    return feeding.row(name, n)


def milliseconds(name, n=N):
    return 1e3 * row(name, n)["median_s"]


def number(cell):
    """Return the first number in a table's cell; None where there is none."""
    found = re.findall(r"[\d.,]+", str(cell))
    return float(found[0].replace(",", "")) if found else None


# ---- the recording -------------------------------------------------------------------------------------------------------------------
def test_every_recorded_answer_is_right_and_of_the_text_that_is_here():
    rows = data.readings("closing").rows
    assert [row for row in rows if row.get("wrong")] == []
    sources = data.readings("closing").sources
    assert sources == {name: fingerprint_of(kernel) for name, kernel in closing.steps().items()}
    for name in sources:
        measured = {row["N"] for row in rows if row.get("kernel") == name}
        assert measured == (set(sizes()) if name in (*closing.MEASURED, "sgemm_stream_k") else set(closing.EXPERIMENTS)), name


def test_quartiles_stand_around_their_medians_and_the_clock_is_a_clock():
    for found in data.readings("closing").find(N=N):
        assert found["low_s"] <= found["median_s"] <= found["high_s"]
        assert 1000 < found["clock_mhz"] <= device("H200").clock_mhz


def test_no_recorded_speed_is_above_what_any_part_allows():
    for name in feeding.NAMES:
        found = feeding.cycles(name)
        assert 1 <= max(found.issue, found.shared, found.registers) < found.recorded, name
        assert min(found.issue, found.registers) >= 1


# ---- the texts differ in one thing ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*CHANGED, "warp_tile_there_and_back", "warp_tile_late"])
def test_every_changed_text_is_right_at_any_size(name):
    rng = np.random.default_rng(15)
    for M, K, cols in ((128, 16, 128), (130, 9, 257), (1, 1, 1), (255, 40, 127)):
        A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, cols)))
        result = run(closing.steps()[name], A, B, backend="sim")
        assert matches(result.C, A, B), (name, M, K, cols)
        assert not result.hazards


def test_a_change_that_finds_nothing_to_change_is_refused():
    with pytest.raises(ValueError, match="stands 0 times"):
        closing.changed("a", [("b", "c")])


def test_the_three_texts_differ_in_lanes_or_order_and_in_nothing_else_that_is_counted():
    results = {name: feeding.counted(name) for name in CHANGED}
    for what in ("requests", "sectors"):
        assert len({result.count(what, "load") for result in results.values()}) == 1, what
    executed = [result.counters["smsp__inst_executed.sum"] for result in results.values()]
    assert max(executed) < 1.005 * min(executed), "addresses, once per thread"
    for what in ("grid", "block", "resources"):
        assert len({repr(getattr(result, what)) for result in results.values()}) == 1, what
    loops = {name: inner_loop(closing.steps()[name], arch="sm_90").loop.counts for name in CHANGED}
    assert {(counts["instructions"], counts["FFMA"], counts["LDS.128"]) for counts in loops.values()} == {(75, 64, 4)}
    assert [feeding.wavefronts_per_k(name) for name in CHANGED] == [20, 8, 8, 8, 20]
    reads = {name: kernel_reads(closing.steps()[name]).inner for name in CHANGED}
    assert reads["wide"].cycles == reads["fed_in_rows"].cycles > reads["fed"].cycles
    assert "Registers, blocks and sectors are the same, and so are the instructions of the loop over k." in PROSE


def test_loading_ahead_is_one_line_and_costs_registers_alone():
    early, late = (feeding.counted(name) for name in ("sgemm_warp_tile", "warp_tile_late"))
    for what in ("requests", "sectors", "wavefronts"):
        assert early.count(what) == late.count(what)
    assert early.resources.registers > late.resources.registers
    assert early.occupancy.warps == late.occupancy.warps == 16
    A, B, _ = inputs(128, 128, 32)
    for name, ahead in (("sgemm_warp_tile", 3), ("warp_tile_late", 0)):
        assert overlap(run(closing.steps()[name], A, B, backend="sim", trace=[((0, 0, 0), 0)])).ahead == ahead


# ---- the reader's kernel -------------------------------------------------------------------------------------------------------------
def test_the_cell_holds_the_recorded_kernel(mine):
    assert fingerprint_of(UserKernel.from_source(mine)) == data.readings("closing").sources["fed"]


def test_the_worked_kernel_is_right_on_every_input(mine):
    said = repr(check(mine))
    assert "right on 12 of 12 inputs" in said
    assert "sectors: line" in said, "the lesson explains this remark"
    assert "bank conflicts" not in said


def test_the_written_heart_is_blank_in_the_readers_copy():
    blanked, _ = my_course.blank_cell(CELLS["mine"])
    assert "As[k][row + 32]" not in blanked
    assert "a[0] … a[7]" in blanked


def test_padding_by_one_is_an_error_and_by_four_the_cure(mine):
    assert re.search(r"misaligned: line \d+: .*reads 16 bytes", repr(check(mine.replace("BM + 4", "BM + 1"))))
    for pad, says in (("BM + 8", "As: 2.0 times"), ("BM]", "As: 8.0 times")):
        said = repr(check(mine.replace("BM + 4" if pad != "BM]" else "BM + 4]", pad)))
        assert "right on 12 of 12 inputs" in said
        assert says in said
    assert 129 * 4 == 516
    assert 516 % 16
    assert "row 1 begins at byte 516" in PROSE


def test_mirrored_rows_are_found_in_row_one(mine):
    said = repr(check(mine.replace("sum[i][j] += a[i] * b[j]", "sum[i][n] += a[i] * b[j]")))
    assert "C[1][0] is" in said, "the lecture says so"


def test_the_registers_of_the_readers_kernel_are_counted(mine):
    yours, rows = closing_in.register_cycles(mine).rows
    assert yours[1:] == tuple(f"{many:g}" for many in _reads("fed"))
    assert rows[1:] == tuple(f"{many:g}" for many in _reads("fed_in_rows"))
    assert int(yours[-1]) < int(rows[-1])


def _reads(name):
    found = kernel_reads(closing.steps()[name]).inner
    return found.multiply_adds, found.even, found.odd, found.cycles


def test_plain_lanes_need_twelve_wavefronts(mine):
    old = (("lane / 2 % 2 + lane / 4 % 4 * 2", "lane / 4"), ("lane % 2 + lane / 16 * 2", "lane % 4"))
    assert all(before in mine for before, _ in old)
    lane = np.arange(32)
    plain = 2 * (shared_wavefronts(16 * (lane // 4), width=16) + shared_wavefronts(16 * (lane % 4), width=16))
    row, col = lane // 2 % 2 + lane // 4 % 4 * 2, lane % 2 + lane // 16 * 2
    paired = 2 * (shared_wavefronts(16 * row, width=16) + shared_wavefronts(16 * col, width=16))
    assert (plain, paired) == (12, 8) == (closing_in.wavefronts_of(closing.changed(mine, old)), closing_in.wavefronts_of(mine))
    assert "2 · 2 + 2 · 4 = 12" in PROSE


# ---- counts in the prose -------------------------------------------------------------------------------------------------------------
def test_wavefronts_of_the_two_layouts():
    assert [feeding.wavefronts_per_k(name) for name in ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_warp_tile")] == [16, 20, 8]
    lane = np.arange(32)
    assert shared_wavefronts(4 * 8 * (lane % 16), width=16) == 8
    assert shared_wavefronts(4 * 8 * (lane // 16), width=16) == 2
    banks = [sorted({(8 * lane + word) % 32 for word in range(4)}) for lane in range(4)]
    assert banks == [[0, 1, 2, 3], [8, 9, 10, 11], [16, 17, 18, 19], [24, 25, 26, 27]]
    assert "banks 0–3, 8–11, 16–19 and 24–27" in PROSE


def test_the_warps_tiles():
    for name, rows, cols, squares in (("wide", 16, 128, 1), ("wide_paired", 16, 128, 4), ("fed_in_rows", 64, 32, 4)):
        found = warp_tile(one_warp(closing.steps()[name]))
        assert (len(found.rows), len(found.cols), found.words, len(found.outputs)) == (rows, cols, rows + cols, 2048)
        assert f"{rows} + {cols} = {rows + cols} words" in PROSE.replace("only ", "") or name == "wide"
        corners = {(row, col) for row, col in found.one if not {(row - 1, col), (row, col - 1)} & set(found.one)}
        assert len(corners) == squares, "squares of lane 0"
    told = closing_in.warp_shapes().alt
    assert told.count("144 words") == 2
    assert re.findall(r"(\d+) wavefronts", told) == ["20", "8", "8"]


def test_lanes_in_squares_share_rows_and_columns():
    for name in ("wide_paired", "fed_in_rows"):
        traced = one_warp(closing.steps()[name])
        C = array_of(traced, "C")
        first = {}
        for request in requests(traced, array="C", load=False, space="global", warp=0):
            for lane, element in elements(request, C.address, 4):
                first.setdefault(int(lane), divmod(int(element), traced.ldc))
        assert all(first[lane][0] == first[lane ^ 1][0] and first[lane][1] == first[lane ^ 2][1] for lane in range(32))
        assert (5 ^ 1, 5 ^ 2) == (4, 7)


def test_tiles_on_their_way():
    found = [overlap(one_warp(name, 4, BK=8)) for name in ("sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered")]
    assert [(o.ahead, o.barriers_per_tile) for o in found] == [(0, 2), (3, 2), (3, 1)]
    assert closing_in.on_the_way("sgemm_warp_tile").alt.startswith("sgemm_warp_tile: 4 tiles, 3 of them asked for")


def test_the_sliders_show_what_the_lesson_says():
    for kernel, waves in (("sgemm_2d_tile", 0.25), ("sgemm_vectorized", 0.3125), ("sgemm_warp_tile", 0.125)):
        for BN in (128, 64):
            A, B, _ = inputs(256, 256, 256)
            result = run(kernel, A, B, backend="sim", BN=BN)
            assert 32 * result.count("wavefronts", "load") / 256**3 == waves, (kernel, BN)
            assert warp_tile(one_warp(kernel, BN=BN)).words == (96 if BN == 64 or kernel == "sgemm_warp_tile" else 144)
    assert "stay as they were, 0.25 and 0.3125" in PROSE


def test_a_wait_in_the_wrong_place_is_found_and_its_repair_is_right():
    wrong = from_cell(CELLS["waits"])[1]
    assert "hazard: line" in repr(check(wrong))
    barrier, wait = '        __syncthreads();\n', '        asm volatile("cp.async.wait_all;" ::: "memory");\n'
    assert barrier + wait in wrong
    assert "right on 12 of 12 inputs" in repr(check(wrong.replace(barrier + wait, wait + barrier)))


# ---- register banks ------------------------------------------------------------------------------------------------------------------
def test_the_rule_and_how_well_it_holds():
    assert f"within {100 * WITHIN:.0f} % of all fifteen" in PROSE
    assert len(MEASURED) + len(MEASURED_CYCLES) == 15
    for order, code in enumerate(CODES["outer"]):
        least, measured = operand_reads(machine_code(code)[0]).per_multiply_add, MEASURED_CYCLES[8, 8, bool(order)]
        assert 1 < measured / least < 1.09
    assert "1 to 9 % below what was measured" in PROSE


def test_the_table_of_loops_is_the_recorded_machine_code_and_what_was_measured():
    for order, cells in enumerate(closing_in.registers_alone().rows):
        reads = operand_reads(machine_code(CODES["outer"][order])[0])
        assert cells[1:] == (64, reads.cycles, f"{reads.per_multiply_add:.2f}", f"{MEASURED_CYCLES[8, 8, bool(order)]:.2f}")


def test_three_odd_registers_take_two_cycles_and_more():
    code = [SimpleNamespace(offset=0, opcode="FFMA", operands=("R0", "R35", "R41", "R0"))]
    assert operand_reads(code, loop=False).cycles == 2
    assert "`R35` and `R41`, both odd, take two cycles" in PROSE


# ---- questions -----------------------------------------------------------------------------------------------------------------------
def test_the_questions_numbers():
    answers = {question["key"]: question.get("answer") for question in QUESTIONS}
    assert answers["phases"] == shared_wavefronts(4 * 16 * np.arange(32), width=16)
    assert answers["cycles"] == 4 * 12 / 64
    assert 130 * 4 / 16 == 32.5


# ---- recorded numbers in the prose ---------------------------------------------------------------------------------------------------
def percent(name, n=N):
    return f"{100 * row(name, n)['ratio']:.0f} %"


def says(*sentences):
    for sentence in sentences:
        assert sentence in PROSE, sentence


def test_the_opening_says_what_was_recorded():
    says(f"in {milliseconds('sgemm_2d_tile'):.1f} ms on an H200, and reaches {percent('sgemm_2d_tile')} of the speed",
         f"The kernel takes {feeding.cycles('sgemm_2d_tile').recorded:.1f} cycles per multiply-add.",
         f"as {row('sgemm_2d_tile')['clock_mhz']:,} MHz during", f"from {percent('sgemm_2d_tile')} to {percent('sgemm_vectorized')}.",
         f"comes next with {percent('fed')}", f"The largest step comes after it, to {percent('sgemm_warp_tile')}.")
    assert f"{percent('sgemm_vectorized')}. Fewer instructions, and slower." in LECTURE
    assert row("sgemm_vectorized")["ratio"] < row("fed")["ratio"] < row("sgemm_2d_tile")["ratio"]
    assert min(feeding.cycles("sgemm_2d_tile")[:3]) > 1
    curve = [row(name)["ratio"] for name in CURVES]
    assert max(b - a for a, b in itertools.pairwise(curve)) == curve[3] - curve[2], "the largest step"


def test_small_matrices_need_shares():
    first = list(CURVES)[:4]
    most = max(share(name, 512) for name in first)
    says(f"none of the first four kernels reaches more than {most:.0f} %", f"it reaches {share('sgemm_stream_k', 512):.0f} %")
    assert (512 // 128)**2 == 16
    assert device("H200").sms == 132
    library = row("cuBLAS", 1536)
    assert 0.3 < library["high_s"] / library["low_s"] - 1 < 0.4, "by a third"


def test_the_lanes_are_worth_what_the_lesson_says():
    says(f"and the kernel is {feeding.gained('wide', 'wide_paired'):.0f} % faster",
         f"the speed changes by {feeding.gained('wide_paired', 'fed_in_rows'):.1f} %")
    flat, compact = row("wide_paired"), row("fed_in_rows")
    assert flat["ratio_low"] < compact["ratio"] < flat["ratio_high"], "less than the spread"
    assert all(0 < feeding.gained("wide_paired", "fed_in_rows", n) < 1 for n in closing.EXPERIMENTS)


def test_the_order_is_worth_what_the_lesson_says():
    rows, back = (operand_reads(machine_code(name)[0]) for name in CODES["fed"])
    says(f"For each k your kernel needs at least {back.cycles} cycles to read registers",
         f"and the one that is written row by row needs {rows.cycles}",
         f"That is {100 * (1 - back.cycles / rows.cycles):.0f} % fewer",
         f"{rows.cycles - back.cycles} cycles of {rows.cycles} are saved for each k",
         f"and {feeding.gained('fed_in_rows', 'fed'):.1f} % of the time")
    assert _reads("fed")[-1] == back.cycles, "this compiler's count is the recorded one's"
    assert _reads("fed_in_rows")[-1] == rows.cycles
    left, right = (operand_reads(machine_code(name)[0]) for name in CODES["outer"])
    said = (f"deliver {left.even} even and {left.odd} odd registers, {left.even + left.odd} in all, which takes at least {left.cycles} "
            f"cycles. There and back they deliver {right.even} and {right.odd}, {right.even + right.odd} in all: {right.cycles} cycles")
    says(said, f"{left.even + left.odd} reads, evenly shared, would have been {(left.even + left.odd) // 2} cycles")
    assert left.even + left.odd - right.even - right.odd == 7, "a read for each turn"
    says(f"there and back is {100 * (MEASURED_CYCLES[8, 8, False] / MEASURED_CYCLES[8, 8, True] - 1):.0f} % faster")


def test_nothing_that_is_counted_has_become_worse_and_the_kernel_waits_twice():
    before, after = feeding.cycles("sgemm_2d_tile"), feeding.cycles("fed")
    assert abs(after.issue - before.issue) < 0.01
    assert after.shared < 0.55 * before.shared
    assert after.registers < before.registers
    says(f"{after.recorded:.1f} cycles per multiply-add instead of {before.recorded:.1f}")
    orders = {}
    for name in ("sgemm_2d_tile", "fed"):
        kernel = closing.steps()[name]
        code = compile_cuda(kernel.source, name=kernel.file_name, arch="sm_90", defines=kernel.defines(**kernel.check()))
        orders[name] = [re.findall(r"L+S+", "".join(i.opcode[0] for i in loop.instructions if i.opcode.startswith(("LDG", "STS"))))
                        for loop in loops(sass(code, kernel.entry))]
    assert orders["sgemm_2d_tile"][0] == ["LLLLLLLLSSSSSSSS"], "asks for eight words, waits, stores them"
    assert [found for found in orders["fed"][1:] if found] == [["LLLLSSSS"], ["LLLLSSSS"]]


def test_the_next_tile_on_its_way_is_worth_what_the_lesson_says():
    ahead = feeding.gained("warp_tile_late", "sgemm_warp_tile")
    says(f"The next tile on its way is worth {ahead:.0f} %", f"Here the next tile on its way was worth {ahead:.0f} %")
    early, late = (feeding.counted(name).resources.registers for name in ("sgemm_warp_tile", "warp_tile_late"))
    says(f"from {late} to {early} per thread", f"it is {-feeding.gained('sgemm_warp_tile', 'sgemm_double_buffered'):.0f} % slower")


def test_the_scoreboards_table_of_changes():
    gains = (("wide", "wide_paired", ".0f"), ("wide_paired", "fed_in_rows", ".1f"), ("fed_in_rows", "fed", ".1f"),
             ("sgemm_warp_tile", "warp_tile_there_and_back", ".1f"), ("warp_tile_late", "sgemm_warp_tile", ".0f"))
    told = re.findall(r"([+−]\d[\d.]*) % \|", PROSE)
    assert told == [format(feeding.gained(before, after), "+" + form) for before, after, form in gains]
    reads = [kernel_reads(closing.steps()[name]).inner for name in ("sgemm_warp_tile", "warp_tile_there_and_back")]
    says(" → ".join(f"{64 * found.per_multiply_add:.1f}" for found in reads))
    says(f"reaches {percent(feeding.STREAM)} at N = {N} with one tile for all sizes, and {percent('sgemm_stream_k')} with a tile chosen")
    library = milliseconds("cuBLAS") * 1e3 * row("cuBLAS")["clock_mhz"] * 132 * 4 / (N**3 / 32)
    says(f"It needs {library:.2f} cycles per multiply-add")
    assert f"it needs {library:.2f} cycles per multiply-add" in LECTURE
    assert 0.7 < 1 / library < 0.78, "they wait in a quarter of the cycles"


def test_wang_and_jins_next_ideas():
    orders, wang = data.load("orders"), data.load("wang")
    said = (("s", "readonly", "(+2 %)"), ("d", "readonly", "(+13 %)"), ("s", "rank1", "gains 6 %"), ("d", "rank1", "loses 29 %"))
    for letter, idea, words in said:
        before, after = wang.find(f"{letter}gemm_outputs", N)[0].gflops, orders.find(f"{letter}gemm_{idea}", N)[0].gflops
        assert re.search(r"\d+", words)[0] == f"{abs(100 * (after / before - 1)):.0f}"
        assert words in PROSE


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/15_closing_in.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "mine-reads", "padded", "plain-lanes"):
        assert "fed is not written yet" in said[cell], cell
    assert "of cuBLAS" in said["scores"]
