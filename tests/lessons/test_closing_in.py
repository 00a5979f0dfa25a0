"""Lesson 15: what it promises, and every number that its prose says."""

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
from course_lib.kernels import UserKernel, get
from course_lib.lessons import closing_in
from course_lib.lessons.closing_in import feeding
from course_lib.magic import from_cell
from course_lib.model import shared_wavefronts
from course_lib.model.operands import MEASURED, MEASURED_CYCLES, operand_reads
from course_lib.run import matches, run
from course_lib.toolchain import compile_cuda
from course_lib.toolchain.resources import resources
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "15_closing_in.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "15_closing_in.md").read_text(encoding="utf-8").split())
QUESTIONS = tomllib.loads(Path(closing_in.__file__).with_name("questions_15.toml").read_text(encoding="utf-8"))["question"]
LANES = {"wide": 20, "plain": 12, "fed": 8}
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


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize("name", feeding.NAMES)
def test_no_recorded_speed_is_above_what_any_part_allows(name):
    found = feeding.cycles(name)
    assert min(found.issue, found.registers) >= 64
    assert max(found.issue, found.shared, found.registers) < found.recorded


@pytest.mark.slow
# ---- the texts differ in one thing ---------------------------------------------------------------------------------------------------
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", closing.CHANGES)
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


def test_the_lanes_change_wavefronts_and_almost_nothing_else():
    results = {name: feeding.counted(name) for name in LANES}
    for what in ("requests", "sectors"):
        assert len({result.count(what, "load") for result in results.values()}) == 1, what
    assert len({(result.grid, result.block, result.occupancy.warps) for result in results.values()}) == 1
    assert len({result.count("wavefronts", "store") for result in results.values()}) == 1
    for counts in ([result.resources.registers for result in results.values()], [feeding.instructions_per_k(name) for name in LANES]):
        assert max(counts) < 1.05 * min(counts), "nearly the same"
    assert {name: feeding.wavefronts_per_k(name) for name in LANES} == LANES
    sectors = [result.count("sectors", "store") for result in results.values()]
    assert sectors == [2 * sectors[-1], *sectors[1:2] * 2], "each store to C touches twice as many"


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


@pytest.mark.slow
def test_padding_by_one_is_an_error_and_by_four_the_cure(mine):
    assert re.search(r"misaligned: line \d+: .*reads 16 bytes", repr(check(mine.replace("BM + 4", "BM + 1"))))
    assert 129 * 4 == 516
    assert 516 % 16
    tiles = (feeding.COUNTED // 128)**2 * 8 * (feeding.DEPTH // 8)          # of a warp: 8 warps, 8 k
    stores = [feeding.launch(UserKernel.from_source(closing.changed(mine, [("BM + 4", row)]))).count("wavefronts", "store") / tiles - 4
              for row in ("BM + 0", "BM + 4")]
    assert stores == [8, 4], "four more are those of Bs"
    says("with `BM` alone, a warp's four stores to `As` would take 8 wavefronts instead of 4")
    assert "row 1 begins at byte 516" in PROSE


@pytest.mark.slow
def test_lanes_in_rows_are_told_from_squares_by_the_counter(mine):
    rows = closing.changed(mine, closing.PLAIN_LANES)
    assert all(f"`{line}`" in CELLS["half-way"] for line in ("lane / 4", "lane % 4"))
    assert (closing_in.wavefronts_of(rows), closing_in.wavefronts_of(mine)) == (12, 8)
    assert "right on 12 of 12 inputs" in repr(check(rows))
    says("It should say 8: we have counted no such load of a whole warp with fewer than two")
    counted = json.loads((ROOT / "tests" / "data" / "wavefronts.json").read_text(encoding="utf-8"))["rows"]
    assert min(row["ld_wavefronts"] for row in counted if row["width"] == 16 and row["mask"] == "all") == 2
    lane = np.arange(32)
    left, above, low, high = lane % 2, lane // 2 % 2, lane // 4 % 4, lane // 16
    squares = [(above + 2 * low, left + 2 * high), (left + 2 * low, above + 2 * high), (above + lane // 8 * 2, left + lane // 4 % 2 * 2)]
    for waves, places in ((8, squares), (12, [(lane // 4, lane % 4), (lane % 8, lane // 8)])):
        for place in places:
            assert len(set(zip(*place, strict=True))) == 32, "each lane has a place of its own"
            assert sum(2 * shared_wavefronts(16 * words, width=16) for words in place) == waves
    assert shared_wavefronts(0 * lane, width=16) == 2, "no load takes fewer"


# ---- counts in the prose -------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_wavefronts_of_the_placements():
    assert [feeding.wavefronts_per_k(name) for name in ("sgemm_2d_tile", "sgemm_vectorized", "sgemm_warp_tile")] == [16, 20, 8]
    lane = np.arange(32)
    assert shared_wavefronts(4 * 8 * (lane % 16), width=16) == 8
    assert shared_wavefronts(4 * 8 * (lane // 16), width=16) == 2
    banks = [sorted({(8 * lane + word) % 32 for word in range(4)}) for lane in range(4)]
    assert banks == [[0, 1, 2, 3], [8, 9, 10, 11], [16, 17, 18, 19], [24, 25, 26, 27]]
    for distance in (1, 2):
        pairs = 16 * np.minimum(lane, lane ^ distance)
        firsts = np.minimum(lane, lane ^ distance) // (2 * distance) * distance + np.minimum(lane, lane ^ distance) % distance
        assert len(set(pairs)) == 16
        assert shared_wavefronts(16 * firsts, width=16) == 2, "lanes 0 to 15 want 8 neighbouring groups of four words, and so do the others"
    says("phases are joined two by two: lanes 0 to 15, and lanes 16 to 31")
    says("banks 0–3, 8–11, 16–19 and 24–27", "2 · 8 + 2 · 2 = **20**", "2 · 4 + 2 · 2 = **12**")
    assert (2 * 8 + 2 * 2, 2 * 4 + 2 * 2, 5 ^ 1, 5 ^ 2) == (20, 12, 4, 7)


# ---- register banks ------------------------------------------------------------------------------------------------------------------
def test_the_rule_and_how_well_it_holds():
    assert len(MEASURED) + len(MEASURED_CYCLES) == 15
    for order, code in enumerate(CODES.values()):
        least, measured = operand_reads(machine_code(code)[0]).per_multiply_add, MEASURED_CYCLES[8, 8, bool(order)]
        assert 1 < measured / least < 1.09
    assert "1 to 9 % below what was measured" in PROSE


def test_three_odd_registers_take_two_cycles_and_more():
    code = [SimpleNamespace(offset=0, opcode="FFMA", operands=("R0", "R35", "R41", "R0"))]
    assert operand_reads(code, loop=False).cycles == 2
    assert "`R35` and `R41`, both odd, take two cycles" in PROSE


# ---- questions -----------------------------------------------------------------------------------------------------------------------
def test_the_questions_numbers():
    answers = {question["key"]: question.get("answer") for question in QUESTIONS}
    assert answers["phases"] == shared_wavefronts(4 * 16 * np.arange(32), width=16)
    assert answers["cycles"] == 4 * 12 < 64
    shared, issue = round(feeding.cycles("fed").shared), round(feeding.cycles("fed").issue)
    asked = next(question["text"] for question in QUESTIONS if question["key"] == "bound")
    assert f"{shared} cycles of shared memory and {issue} of its scheduler, at least. It took {closing_in.cycles_per_k('fed')}." in asked
    assert 130 * 4 / 16 == 32.5


# ---- recorded numbers in the prose ---------------------------------------------------------------------------------------------------
def percent(name, n=N):
    return f"{100 * row(name, n)['ratio']:.0f} %"


def says(*sentences):
    for sentence in sentences:
        assert sentence in PROSE, sentence


def test_the_opening_says_what_was_recorded():
    says(f"in {milliseconds('sgemm_2d_tile'):.1f} ms on an H200, and reaches {percent('sgemm_2d_tile')} of the speed",
         f"write a kernel that reaches {percent('fed')}.", f"from {percent('sgemm_2d_tile')} to {percent('sgemm_vectorized')}.")
    shares = [100 * row(name)["ratio"] for name in ("sgemm_vectorized", "sgemm_prefetched", "fed")]
    says(f"The next two steps reach {shares[1]:.0f} % and {shares[2]:.0f} %, and the second of them is")
    assert f"{percent('sgemm_vectorized')}. Fewer instructions, and slower." in LECTURE
    assert feeding.instructions_per_k("sgemm_vectorized") < feeding.instructions_per_k("sgemm_2d_tile")


@pytest.mark.slow
def test_wavefronts_are_not_said_to_be_the_cause_alone():
    first, vectorized, prefetched, fed = (feeding.cycles(name) for name in feeding.SCORED)
    assert [feeding.wavefronts_per_k(name) for name in feeding.SCORED[:3]] == [16, 20, 20]
    assert prefetched.issue < vectorized.issue, "more than one thing changes"
    loses = round(vectorized.recorded) - round(first.recorded)
    four = 4 * (feeding.cycles("wide").recorded - feeding.cycles("plain").recorded) / 8
    says(f"needs {vectorized.issue:.0f} instructions for each k instead of {first.issue:.0f}.",
         f"16, and {first.shared:.0f} cycles together with the stores", f"it needs at least {first.issue:.0f} cycles",
         f"need 80 cycles of shared memory, or {vectorized.shared:.0f} with the stores",
         f"less than the {vectorized.issue:.0f} that a scheduler needs", f"and takes {loses} cycles more",
         f"its four more make {four:.0f} of them. Why the other {loses - round(four)}, we do not know",
         f"takes {vectorized.recorded - prefetched.recorded:.0f} cycles less")
    assert max(first.shared, first.issue) == first.issue


def test_cycles_for_each_k_are_what_the_formula_says():
    says(f"{milliseconds('fed'):.3f} ms · {row('fed')['clock_mhz']} MHz · {device('H200').sms} multiprocessors · 4 schedulers "
         f"/ (4096³ / 2048) = {closing_in.cycles_per_k('fed')} cycles")
    assert round(float(f"{milliseconds('fed'):.3f}") * 1e3 * 1980 * 132 * 4 / (4096**3 / 2048)) == closing_in.cycles_per_k("fed")
    assert {row(name)["clock_mhz"] for name in feeding.NAMES} == {1980}


def test_some_multiprocessors_are_idle_at_the_end():
    tiles, sms = (4096 // 128)**2, device("H200").sms
    assert divmod(tiles, sms) == (7, 100), "100 of them get 8"
    idle = feeding.cycles("fed").recorded * (1 - tiles / sms / 8)
    says(f"C has {tiles} tiles, so most of the {sms} get 8, and some 7. If all are equally fast, that makes {idle:.0f} of the 94 cycles")


def test_small_matrices_need_shares():
    first = list(CURVES)[:4]
    most = max(share(name, 512) for name in first)
    says(f"none of the first four reaches more than {most:.0f} %")
    assert (512 // 128)**2 == 16
    assert device("H200").sms == 132


def test_the_lanes_are_worth_what_the_lesson_says():
    wide, plain, fed = (feeding.cycles(name) for name in LANES)
    says(f"it needs 20 wavefronts instead of 8, and takes {wide.recorded:.0f} cycles.",
         f"each wavefront less saves {(wide.recorded - plain.recorded) / 8:.1f} cycles on average",
         f"from 12 to 8 each saves {(plain.recorded - fed.recorded) / 4:.1f}.",
         f"takes {wide.recorded:.0f} cycles where shared memory needs {wide.shared:.0f}, "
         f"and {fed.recorded:.0f} where the scheduler needs {fed.issue:.0f}",
         f"the squares still gain {feeding.gained('wide', 'fed', 8192):.0f} %")
    first = feeding.cycles("sgemm_2d_tile").recorded
    says(f"Lesson 08's kernel takes {first:.0f}. Of the {first - fed.recorded:.0f} cycles between it and yours the lanes are worth "
         f"{wide.recorded - fed.recorded:.0f} ({wide.recorded:.1f} − {fed.recorded:.1f}).")
    assert f"worth {wide.recorded - fed.recorded:.0f} of the {first - fed.recorded:.0f} cycles since lesson 08" in LECTURE
    assert [closing_in.cycles_per_k(name) for name in LANES] == [110, 96, 94]
    assert all(4 * waves < feeding.cycles(name).recorded for name, waves in LANES.items()), "no row reaches its bound"
    assert {feeding.counted(name).resources.registers for name in LANES} == {127}
    assert '"110 cycles with 20 wavefronts, 94 with 8. And with 12?"' in LECTURE
    assert "It is 96: between the two" in LECTURE
    assert f"From 12 wavefronts to 8 the kernel still gains {feeding.gained('plain', 'fed'):.0f} %" in LECTURE
    assert all(0 < feeding.gained("plain", "fed", n) / 4 < feeding.gained("wide", "plain", n) / 8 for n in closing.EXPERIMENTS)
    assert milliseconds("fed") < milliseconds("plain") < milliseconds("fed") + (milliseconds("wide") - milliseconds("fed")) / 3


def test_the_order_is_worth_what_the_lesson_says():
    left, right = (operand_reads(machine_code(name)[0]) for name in CODES.values())
    says(f"the odd bank has {left.odd} reads, so the loop takes at least {left.cycles} cycles.",
         f"There and back the busier bank has {right.cycles}.")
    assert (left.odd, right.even) == (left.cycles, right.cycles)
    assert left.even + left.odd - right.even - right.odd == 7, "a read for each turn"
    says(f"there and back is {100 * (MEASURED_CYCLES[8, 8, False] / MEASURED_CYCLES[8, 8, True] - 1):.0f} % faster")
    rows, back = feeding.cycles("fed"), feeding.cycles("fed_there_and_back")
    says(f"need {rows.registers - back.registers:.0f} cycles less for each k",
         f"the kernel is {feeding.gained('fed', 'fed_there_and_back'):.1f} % faster at N = 4096")
    gains = [feeding.gained("fed", "fed_there_and_back", n) for n in closing.EXPERIMENTS]
    assert (gains[0], gains[-1]) == (min(gains), max(gains)) == (-0.1, 3.2)
    says("Other sizes gain from −0.1 % (N = 1024) to 3.2 % (N = 8192)")


@pytest.mark.slow
def test_the_scoreboard():
    rows = {cells[0]: cells[1:] for cells in closing_in.scoreboard().rows}
    assert [rows[feeding.NAMES[name]][0] for name in feeding.SCORED] == [16, 20, 20, 8]
    tile = row("sgemm_stream_k")["parameters"]
    words, products = tile["TM"] + tile["TN"], tile["TM"] * tile["TN"]
    assert rows["sgemm_stream_k"][0] == 64 / products * words / 4 * 2 == 6, "a load of four words takes two wavefronts"
    says(f"compute {tile['TM']} × {tile['TN']} elements here: they need {words} words for {products} multiply-adds, "
         f"where yours needs {2 * (8 + 8)}")
    says(f"`sgemm_stream_k` reaches {percent('sgemm_stream_k')}")
    library = 64 * milliseconds("cuBLAS") * 1e3 * row("cuBLAS")["clock_mhz"] * 132 * 4 / (N**3 / 32)
    says(f"Your kernel takes {feeding.cycles('fed').recorded:.0f} cycles, and the library {library:.0f}.")
    assert closing_in.cycles_per_k("cuBLAS") == round(library)


def test_wang_and_jins_next_ideas():
    orders, wang = data.load("orders"), data.load("wang")
    said = (("s", "readonly", "gains 2 % in float32"), ("d", "readonly", "and 13 % in float64"),
            ("s", "rank1", "gains 6 %"), ("d", "rank1", "loses 29 %"))
    for letter, idea, words in said:
        before, after = wang.find(f"{letter}gemm_outputs", N)[0].gflops, orders.find(f"{letter}gemm_{idea}", N)[0].gflops
        assert re.search(r"\d+", words)[0] == f"{abs(100 * (after / before - 1)):.0f}"
        assert words in PROSE
    registers = [resources(compile_cuda(get(name).source, name=get(name).path.name, arch="sm_90", defines=get(name).defines(
        **get(name).check(**found.find(name, N)[0].parameters))))[get(name).entry].registers
        for name, found in (("dgemm_readonly", orders), ("dgemm_outputs", wang))]
    says("in float64 the compiler also gives that kernel {} registers instead of {}".format(*registers))


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/15_closing_in.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "mine-waves", "padded"):
        assert "fed is not written yet" in said[cell], cell
    assert "of cuBLAS" in said["scores"]
