"""Lesson 16: what its picture, its tables and its prose promise, held to the simulator, to recordings and to formulas."""

import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import device
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.explorables.fragments import SHOWN
from course_lib.explorables.matrix_load import states
from course_lib.kernels import UserKernel, get
from course_lib.lessons import tensor_cores
from course_lib.lessons.stages import times as doubles
from course_lib.lessons.tensor_cores import counts, mistake, padding, pictures, times
from course_lib.model.mma_rate import limit_by_wavefronts
from course_lib.plots.lane_shares import lane_share
from course_lib.run import matches, run
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.facts import facts
from tools import my_course

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "16_tensor_cores.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
CELLS = {key: re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) if key != "mine" else text for key, text in CELLS.items()}
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "16_tensor_cores.md").read_text(encoding="utf-8").split())
MINE = CELLS["mine"].split("\n", 1)[1]
PADDED, OWN_A, OWN_B, FLAT = counts.LOADED


# ---- who holds what ------------------------------------------------------------------------------------------------------------------
def test_what_there_was_to_find_in_the_picture():
    tf32, bf16, f64 = SHOWN.values()
    share = lane_share(tf32, 5)
    assert share.sources == tuple(range(4, 16))
    assert "Twelve: lanes 4 to 7 hold the factors of A, and lanes 8 to 15 those of B." in CELLS["watch"]
    few = [lane for lane in range(32) if len(lane_share(tf32, lane).sources) == 8]
    assert {len(lane_share(tf32, lane).sources) for lane in range(32)} == {8, 12}
    assert [lane for lane in few if lane < 10] == [0, 4, 9]
    assert "For lanes 0, 4 and 9 it is eight." in CELLS["watch"]
    where = lane_share(tf32, 0).elements["C"]
    rows, columns = ({place[axis] for place in where} for axis in (0, 1))
    holds = {name: {lane for lane in range(32) for place in lane_share(tf32, lane).elements[name] if place[axis] in wanted}
             for name, axis, wanted in (("A", 0, rows), ("B", 1, columns))}
    assert holds == {"A": set(range(4)), "B": set(range(8))}
    assert "Lanes 0 to 3 hold lane 0's factors of A, and lanes 0 to 7 those of B" in CELLS["watch"]
    for lane in range(32):
        short, wide, double = (lane_share(name, lane) for name in (tf32, bf16, f64))
        assert [len(wide.elements[X]) / len(short.elements[X]) for X in "ABC"] == [2, 2, 1]
        assert wide.registers == short.registers
        assert double.elements == short.elements
        assert double.registers == {name: 2 * many for name, many in short.registers.items()}


def test_the_table_of_the_idea_is_the_simulators():
    for name in "ABC":
        row = next(line for line in CELLS["idea"].splitlines() if line.startswith(f"| {name}, "))
        places = re.findall(r"\(([^,()]+), ([^()]+)\)", row)
        assert places
        for lane in range(32):
            g, t = divmod(lane, 4)
            value = {"g": g, "t": t}
            found = tuple(tuple(eval(text.replace("2t", "2 * t"), {}, value) for text in place) for place in places)
            assert found == lane_share("mma 16×8×8, TF32", lane).elements[name]


# ---- the reader's kernel -------------------------------------------------------------------------------------------------------------
def test_the_readers_kernel_is_right():
    found = check(MINE, like="sgemm_mma")
    assert found.right


def test_an_exchange_of_two_registers_is_found_and_the_unit_matrix_shows_it():
    swapped = tensor_cores.with_a_mistake(MINE)
    assert not check(swapped, like="sgemm_mma").right
    A, C = mistake.seen(swapped)
    expected = A.copy()
    expected[:8, 4:], expected[8:, :4] = A[8:, :4], A[:8, 4:]
    assert np.array_equal(C, expected), "the right half of rows 0 to 7 and the left half of rows 8 to 15"
    assert C[8, 0] == 4 == A[0, 4]
    assert "Registers 1 and 2. In row 8, column 0 of the first C stands 4, which is A(0, 4)." in CELLS["broken-told"]
    assert tensor_cores.exchanged(swapped, 1, 2) == MINE == tensor_cores.exchanged(swapped, 2, 1), "the repair"
    pairs = [(first, second) for first in range(4) for second in range(first) if (first, second) != (2, 1)]
    for first, second in pairs:
        assert not np.array_equal(*mistake.seen(tensor_cores.exchanged(swapped, first, second))), "no other pair repairs it"
    assert np.array_equal(*mistake.seen(MINE))
    in_b = MINE.replace('"r"(b[0]), "r"(b[1])', '"r"(b[1]), "r"(b[0])')
    both = tensor_cores.exchanged(tensor_cores.exchanged(MINE, 0, 2), 1, 3)
    assert np.array_equal(mistake.seen(in_b)[1], mistake.seen(both)[1]), "the unit matrix cannot tell them apart"
    assert not np.array_equal(*mistake.seen(both))
    assert "If b[0] and b[1] were exchanged instead, C would look as if A's registers 0 and 2, and 1 and 3, were." \
        in CELLS["broken-told"].replace("`", "")
    assert "row 8 is 0, 0, 0" in tensor_cores.through_unit(MINE.replace("mma(c, a, b);", "")).alt, "an unfinished kernel is drawn, too"
    assert "row 8 is nan" in tensor_cores.through_unit(MINE.replace("e < 4; ++e", "e < 2; ++e")).alt, "and one that does not store"
    with pytest.raises(CourseError, match="as it was given"):
        tensor_cores.with_a_mistake("int main() {}")
    with pytest.raises(CourseError, match="are both numbers 0 to 3"):
        tensor_cores.exchanged(MINE, 1, 4)
    with pytest.raises(CourseError, match="1 and 1 are one register"):
        tensor_cores.exchanged(MINE, 1, 1)


def test_the_picture_of_the_mistake_has_its_numbers_and_a_colour_for_each_register():
    for lane in range(32):
        for slot, (row, column) in enumerate(lane_share("mma 16×8×8, TF32", lane).elements["A"]):
            assert mistake.register(8 * row + column) == slot
    assert len(set(mistake.HUES)) == 4
    assert not re.search(r"//.*('|\bis\b)", MINE), "JupyterLab colours the cell as Python: a string, a keyword"
    shown = tensor_cores.through_unit(tensor_cores.with_a_mistake(MINE))
    assert "row 0 is 0, 1, 2, 3, 64, 65, 66, 67, and row 8 is 4, 5, 6, 7, 68, 69, 70, 71" in shown.alt
    quarters = {(0, 0): "upper left", (8, 0): "lower left", (0, 4): "upper right", (8, 4): "lower right"}
    assert all(f"register {mistake.register(8 * row + column)}" in shown.alt for row, column in quarters)
    assert [mistake.register(8 * row + column) for row, column in quarters] == [0, 1, 2, 3], "as it is described"


@pytest.mark.slow
def test_a_reader_with_a_blank_copy_reaches_the_end(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/16_tensor_cores.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    mine = next(cell for cell in copy.cells if cell.id == "mine")
    assert "write it here" in mine.source
    assert "mma(c, a, b);" not in mine.source
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "broken", "repaired", "own-reveal"):
        assert "warp_mma is not written yet" in said[cell], cell


# ---- feeding -------------------------------------------------------------------------------------------------------------------------
def test_the_l1s_wavefronts_of_the_readers_kernel():
    assert tensor_cores.wavefronts_from_l1(MINE) == counts.of_six_loads() == 4 * 8 + 2 * 4 == 40
    assert "That makes 4 · 8 + 2 · 4 = 40." in CELLS["own-told"]
    A, B, _ = inputs(128, 128, 128)
    traced = run(UserKernel.from_source(MINE, like="sgemm_mma"), A, B, backend="sim", trace=[((0, 0, 0), warp) for warp in range(4)]).trace
    loads = [record.addresses for record in traced if record.operation.startswith("ld") and record.space == "global"]
    assert [len({address // 128 for address in load}) for load in loads[:6]] == [8, 8, 8, 8, 4, 4], "rows"
    assert {len({address // 4 % 32 for address in load}) for load in loads} == {4, 8}, "banks: of A and of B"
    assert 4096 % 32 == 128 % 32 == 0
    turned = MINE.replace("row0 + g, k + t,", "row0 + t, k + g,")
    assert tensor_cores.wavefronts_from_l1(turned) == 36, "a load of four rows instead of eight"


FOUND = {(0, 0): 40, (4, 0): 12, (8, 0): 16, (16, 0): 24, (32, 0): 40, (0, 8): 34, (0, 32): 40, (4, 8): 6}     # unused floats: wavefronts


def rows_of_six_loads(after_a, after_b):
    """Return how many lines of the L1 the six loads of the lesson's kernel touch at N = 4096."""
    g, t = np.divmod(np.arange(32), 4)
    words = [(g + row) * (4096 + after_a) + t + column for row in (0, 8) for column in (0, 4)]
    words += [(t + row) * (4096 + after_b) + g for row in (0, 4)]
    return sum(len(np.unique(each // 32)) for each in words)


@pytest.mark.parametrize(("after_a", "after_b"), FOUND)
def test_the_l1s_wavefronts_with_unused_floats_after_the_rows(after_a, after_b):
    counted = tensor_cores.wavefronts_from_l1(MINE, after_a, after_b)
    assert counted == counts.of_six_loads(after_a, after_b) == FOUND[after_a, after_b], "simulated at N = 128, computed at 4096"
    assert rows_of_six_loads(after_a, after_b) == 40, "lines, whatever stands after the rows"


def test_padded_rows_decide_between_banks_and_lines():
    found = data.readings("fragments")
    assert {(row["after_A"], row["after_B"]) for row in found.rows} == set(FOUND)
    assert {(row["kernel"], row["N"], row["wrong"]) for row in found.rows} == {("warp_mma", 4096, 0)}
    reached = {}
    for row in found.rows:
        after = row["after_A"], row["after_B"]
        most = limit_by_wavefronts(FOUND[after], depth=8)
        assert padding.allowed(*after) == most
        assert padding.speed_with_padding(*after) == row["tflops"] == pytest.approx(2e-12 * 4096**3 / row["median_s"], rel=0.005)
        assert row["tflops"] < most * row["mhz"] / device("H200").clock_mhz, "below it at its own clock, too"
        reached[after] = row["tflops"] / most
    lines = limit_by_wavefronts(40, depth=8)
    assert sum(row["tflops"] > lines for row in found.rows) == 4, "lines are refuted"
    full = [share for after, share in reached.items() if FOUND[after] >= 24]
    assert (round(100 * min(full)), round(100 * max(full))) == (78, 88)
    assert max(share for after, share in reached.items() if FOUND[after] < 24) < 0.67, "something else"
    told, gained = CELLS["padded-told"], padding.speed_with_padding(4) / padding.speed_with_padding()
    assert "the speed is 78 to 88 % of what they allow" in told
    assert f"= {lines:.1f} TFLOP/s. At 11.8 the L1 is busy for at least {100 * 11.8 / lines:.0f} % of the time." in told
    whole, = [row["counters"] for row in data.readings("cycles").rows if row["kernel"] == "warp_mma"]
    counted = whole["l1tex__data_pipe_lsu_wavefronts.sum"]
    busy = counted / device("H200").sms / whole["sm__cycles_elapsed.max"]
    assert f"it counted {counted / (4096**3 / 1024):.0f} wavefronts per `mma`, and one in {100 * busy:.1f} % of all cycles." in told
    assert f"{lines:.1f} would be the limit in all six cases" in told
    assert "one wavefront serves it: 4 · 1 + 2 · 4 = 12." in told
    assert f"the speed is {gained:.1f} times as high" in told
    assert f"your kernel became {gained:.1f} times as fast" in CELLS["key-points"]
    assert padding.speed_with_padding(32) == pytest.approx(padding.speed_with_padding(), rel=0.01), "32 unused floats bring nothing"
    assert "But 22 is still less than half of cuBLAS's 51." in told
    assert round(padding.speed_with_padding(4)) == 22 < times.scores()[times.IN_FLOAT32] / 2
    assert "The kernel was recorded at 11.8 TFLOP/s." in CELLS["padded"]
    assert "its rows begin 4,100 words apart" in CELLS["padded"]
    assert "leave 6 wavefronts, and 19.0 were recorded, less than with 12" in LECTURE
    assert padding.speed_with_padding(4, 8) == 19.0 < padding.speed_with_padding(4)
    assert f"{FOUND[4, 0]} wavefronts allow {padding.allowed(4):.1f}; {padding.speed_with_padding(4)} were recorded" in LECTURE


def test_the_answer_stands_nowhere_before_it_is_asked():
    before = " ".join(CELLS[name] for name in ("predict", "padded", "sharing", "ask", "scoreboard"))
    for answer in ("40", "13.4", "22.2", "12 wavefronts", "1.5 ", "2.5", "428"):
        assert answer not in before.replace("4096", "").replace("4,096", ""), answer


def test_the_picture_of_the_paddings():
    ax = padding.draw_paddings()
    assert [text.get_text() for text in ax.texts] == [
        "11.8; 40 wavefronts allow 13.4", "11.7; 40 wavefronts allow 13.4", "13.1; 34 wavefronts allow 15.7",
        "17.5; 24 wavefronts allow 22.3", "22.2; 16 wavefronts allow 33.5", "22.2; 12 wavefronts allow 44.6"]
    bars = {bar.get_width(): bool(bar.get_facecolor()[3]) for bar in ax.patches}
    assert sorted(width for width, filled in bars.items() if filled) == [11.7, 11.8, 13.1, 17.5, 22.2]
    assert set(FOUND) - set(padding.SHOWN.values()) == {(0, 32), (4, 8)}
    assert tensor_cores.paddings().alt.endswith("4 after A's rows: 22.2, and 12 wavefronts allow 44.6.")


@pytest.mark.slow
def test_the_prediction_is_a_formula():
    assert tensor_cores.wavefronts_of_an_mma("sbgemm_mma") == 1.5 == (64 * 16 + 16 * 32) * 2 / 128 / (4 * 4)
    assert tensor_cores.wavefronts_of_an_mma("sbgemm_mma", WM=128, WN=32) == 1.25, "the self-check's"
    kernel = get("sbgemm_mma")
    assert tensor_cores.wavefronts_of_an_mma("sbgemm_mma", WM=64, WN=64) == 1 == (4 * 4 + 8 * 2) / 32
    assert "(A tile of 64 × 64 needs 1.)" in CELLS["explain"]
    assert "needs 4 · 4 + 8 · 2 = 32 wavefronts for 32 `mma`, 1 for each" in CELLS["played"]
    assert "each lane has 64 · 64 / 32 = 128 sums" in CELLS["played"]
    assert kernel.block() == (256, 1, 1)
    values = kernel.check()
    assert [values[name] for name in ("BM", "BN", "BK", "WM", "WN")] == [128, 128, 64, 64, 32]
    asked = tensor_cores.work_of_a_warp().alt
    assert "4 fragments of A" in asked
    assert "wavefront" not in asked, "the answer is not told"


def test_the_tile_of_a_warp_is_drawn_with_its_fragments():
    ax = pictures.draw_tile(64, 32, ("4", "2"), "")
    texts = [text.get_text() for text in ax.texts]
    assert [texts.count(words) for words in ("4", "2", "mma")] == [4, 4, 16]
    assert {"4 fragments of A, 4 wavefronts each", "4 fragments of B,\n2 wavefronts each"} < set(texts)
    asked = [text.get_text() for text in pictures.draw_work(64, 32).texts]
    assert {"one fragment of A:\n16 × 16 numbers", "one fragment of B:\n16 × 8 numbers"} < set(asked)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_the_sliders_show():
    names = ("wavefronts / mma", "stored wavefronts / mma", "registers", "spilled")
    tile = {"BM": 128, "BN": 128, "BK": 64}
    results = {(WM, WN): evaluate("sbgemm_mma", 128, tile | {"WM": WM, "WN": WN}) for WM in (32, 64) for WN in (32, 64)}
    found = {warp: tuple(facts(result, names).values()) for warp, result in results.items()}
    assert found == {(32, 32): ("2", "0.5", "94", "0"), (32, 64): ("1.5", "0.5", "166", "0"), (64, 32): ("1.5", "0.5", "166", "0"),
                     (64, 64): ("1", "0.5", "255", "16")}
    small = facts(evaluate("sbgemm_mma", 128, {"BM": 64, "BN": 64, "BK": 64, "WM": 64, "WN": 64}), names)
    assert tuple(small.values()) == ("1", "1", "255", "656")
    assert "a warp's 32 × 32 take 94 registers per thread, and its 64 × 64 take 255, as many as a thread can have." in CELLS["played"]
    assert "Even so 16 bytes per thread spill, and in a block of 64 × 64 it is 656." in CELLS["played"]
    assert f"With 64 × 32 a thread takes {found[64, 32][2]} registers. A block has 256 threads" in CELLS["played"]
    assert (results[64, 32].occupancy.blocks, results[64, 32].occupancy.warps) == (1, 256 // 32)
    assert f"With {found[64, 32][2]} registers per thread only {results[64, 32].occupancy.warps} warps" in LECTURE
    for warp, result in results.items():
        _, alt = tensor_cores.tile_of_a_warp(result)
        assert alt.endswith(f" mma: {found[warp][0]} for each.")
    for WM in (32, 64):
        for (BM, BN), stored in {(64, 64): "1", (128, 64): "0.75", (64, 128): "0.75"}.items():
            result = evaluate("sbgemm_mma", 128, {"BM": BM, "BN": BN, "BK": 64, "WM": WM, "WN": 32})
            assert tuple(facts(result, names).values())[:2] == (found[WM, 32][0], stored)


# ---- optional: ldmatrix --------------------------------------------------------------------------------------------------------------
def test_what_each_way_to_load_takes():
    rows = {row[0]: row[1:] for row in tensor_cores.ways_to_load().rows}
    assert rows == {PADDED: ("0.375", "1.5"), OWN_A: ("1.125", "1.5"), OWN_B: ("1.25", "2"), FLAT: ("0.375", "12")}
    assert "three times as many load instructions, and as many wavefronts" in CELLS["feeding-told"]
    assert 4 * 2 / 16 == 0.5, "B's wavefronts with ldmatrix, which double"
    assert 1.25 > 3 * 0.375


@pytest.mark.parametrize("name", counts.LOADED)
def test_the_changed_kernels_are_right_and_only_one_has_conflicts(name):
    A, B, _ = inputs(128, 128, 64)
    result = run(counts.changed(counts.LOADED[name]), A, B, backend="sim")
    assert matches(result.C, A, B, inputs="bf16")
    assert (result.count("conflicts") > 0) is (name == FLAT)
    assert all(old in get("sbgemm_mma").source for old in counts.LOADED[name])


@pytest.mark.slow
def test_the_pictures_paddings():
    waves = {int(pad): len(load["waves"]) for pad, load in states()["at"].items()}
    assert waves == {0: 32, 8: 4, 16: 8, 24: 4}
    told = CELLS["ldmatrix-told"]
    for words in ("four wavefronts are enough", "a wavefront of its own: 32", "8 wavefronts are needed", "With 24 it is four again"):
        assert words in told


# ---- limits and recordings -----------------------------------------------------------------------------------------------------------
def test_the_numbers_of_the_opening_are_recorded():
    ladder, short = data.load("ladder"), data.readings("short")
    library = next(r.gflops / 1e3 for r in ladder.records if (r.kernel, r.N) == ("cuBLAS", 4096))
    reached = times.recorded("cuBLAS")["tflops"]
    assert f"4096 × 4096 matrices of float32 at {library:.0f} TFLOP/s" in CELLS["title"]
    assert f"of 16-bit numbers at {reached:.0f}: by other units" in CELLS["title"]
    assert ladder.date != short.date, "on different days"
    assert f"{library:.0f} and {reached:.0f}, the same product" in LECTURE
    assert all(row["correct"] for row in data.readings("mma").rows)
    assert {ladder.device, *(data.readings(name).device for name in ("mma", "short"))} == {"NVIDIA H200"}


def test_the_limit_is_computed_from_the_wavefronts():
    h200, found = device("H200"), {name: counts.of_an_mma(name) for name in times.SHARING}
    each = {name: (of["loaded"], of["fetched"], of["stored"]) for name, of in found.items()}
    assert each == {"sgemm_mma": (1.5, 0.5, 0.5), "sbgemm_mma": (1.5, 0.5, 0.5), "sbgemm_stages": (1, 0, 0.375)}
    assert each["sbgemm_stages"] == ((4 * 4 + 8 * 2) / 32, 0, (128 + 256) * 64 / 64 / (128 * 256 * 64 / 2048))
    assert (h200.sms, h200.clock_mhz) == (132, 1980)
    assert f"132 · 1.98 · 10⁹ / 2.5 · 4,096 = {limit_by_wavefronts(2.5):.0f} TFLOP/s" in CELLS["scores-told"]
    assert "needs 0.5 wavefronts per `mma` to fetch its tiles through the L1, and 0.5 to store them" in CELLS["scoreboard"]
    assert "The 1.5 + 0.5 + 0.5 = 2.5 wavefronts of `sbgemm_mma`" in CELLS["scores-told"]
    assert list(times.needed().values()) == [40, 2.5, 2.5, 1.375]
    assert list(times.limits().values()) == [
        limit_by_wavefronts(40, depth=8), limit_by_wavefronts(2.5, depth=8), limit_by_wavefronts(2.5), limit_by_wavefronts(1.375)]
    for name, most in list(times.limits().items())[1:]:
        row = times.recorded(times.BARS[name])
        assert row["tflops"] < most * row["mhz"] / h200.clock_mhz, "below it at its own clock, too"


def test_the_clocks_of_the_recordings():
    short = [times.recorded(kernel)["mhz"] for name, kernel in times.BARS.items() if name != times.IN_FLOAT32 and kernel != "warp_mma"]
    clocks = short + [row["mhz"] for row in data.readings("fragments").rows]
    assert f"the clock was {min(clocks) / 1000:.2f} to {max(clocks) / 1000:.2f} GHz" in CELLS["scores-told"]


def test_the_scoreboard():
    assert {name: round(speed, 1) for name, speed in times.scores().items()} == {
        "your warp_mma (TF32)": 11.8, "cuBLAS (float32)": 51.0, "sgemm_mma (TF32)": 88.6, "sbgemm_mma (bfloat16)": 196.1,
        "sbgemm_stages (bfloat16)": 345.2, "cuBLAS (bfloat16)": 734.9}
    ax = times.draw_scores()
    assert [text.get_text() for text in ax.texts] == [
        "11.8; 40 wavefronts allow 13.4", "51, without tensor cores", "88.6; 2.5 wavefronts allow 214", "196; 2.5 wavefronts allow 428",
        "345; 1.375 wavefronts allow 779", "735"]
    bars = {round(bar.get_y(), 3): bar.get_width() for bar in ax.patches if bar.get_facecolor()[3]}
    outlines = {round(bars[round(bar.get_y(), 3)]): round(bar.get_width()) for bar in ax.patches if not bar.get_facecolor()[3]}
    assert outlines == {12: 13, 89: 214, 196: 428, 345: 779}, "around their bars"
    assert ax.get_xlabel() == "TFLOP/s, N = 4,096; recorded on NVIDIA H200, 2026-11-28\n(cuBLAS without tensor cores: 2026-11-21)"
    assert data.readings("fragments").label == data.readings("short").label
    assert tensor_cores.scoreboard().alt.endswith("sbgemm_mma (bfloat16) 428, sbgemm_stages (bfloat16) 779.")


def test_the_bars_are_of_one_recording_and_of_the_tile_that_is_counted():
    for kernel in times.BARS.values():
        row = times.recorded(kernel)
        assert (row["N"], row["wrong"]) == (4096, 0)
    row = times.recorded("sbgemm_mma")
    assert row["parameters"] == {name: get("sbgemm_mma").check()[name] for name in row["parameters"]}
    assert row["parameters"].items() >= times.TILE.items()
    tiles = {name: times.recorded(name)["parameters"] for name in times.SHARING}
    assert [[tile[side] for side in ("BM", "BN", "WM", "WN")] for tile in tiles.values()] == [
        [128, 128, 64, 32], [128, 128, 64, 32], [128, 256, 64, 64]]
    for name, parameters in tiles.items():
        assert parameters.items() <= get(name).check().items(), "what is counted"
    assert "Its tiles are larger, too, 64 × 64 for a warp." in CELLS["scoreboard"]
    assert "__shared__" not in MINE, "all its wavefronts are of the L1"
    assert "m16n8k8.row.col.f32.tf32" in MINE


def test_what_the_bars_tell_is_recorded():
    told, loop = CELLS["scores-told"], times.alone("tf32")
    mine, ordinary, rounded, reached, ahead, library = times.scores().values()
    own, _, shared, staged = times.limits().values()
    assert f"132 · 1.98 · 10⁹ / 40 · 2,048 = {own:.1f} TFLOP/s. At {mine:.1f} the L1 is busy" in CELLS["padded-told"]
    assert f"40 per `mma` allow your kernel {own:.1f} TFLOP/s, and 2.5 allow `sbgemm_mma` {shared:.0f}." in CELLS["key-points"]
    assert "your kernel reaches less than a quarter of what cuBLAS does without" in told
    assert mine < ordinary / 4
    assert f"`sgemm_mma` needs 2.5 wavefronts per `mma` instead of 40, and reaches {rounded:.1f}." in told
    assert f"the same `mma` was recorded at {loop:.0f}" in CELLS["padded-told"]
    assert mine < own < loop / 20
    assert f"{shared:.0f} TFLOP/s. It reaches {reached:.0f}, so something else" in told
    assert f"`sbgemm_stages` reaches {ahead:.0f}, but its tiles are larger, too." in told
    assert f"The 1.375 of `sbgemm_stages` allow {staged:.0f}, but a loop of nothing but this `mma` was recorded at" in told
    assert f"{times.alone('bf16'):.0f}. Lesson 18" in told
    assert f"cuBLAS's {library:.0f}" in CELLS["sharing"]
    assert f"{mine:.1f}: less than a quarter of the {ordinary:.0f}" in LECTURE
    most = times.limits()["sgemm_mma (TF32)"]
    assert f"{rounded:.1f} of {most:.0f}, {reached:.0f} of {shared:.0f}, and {ahead:.0f} of {staged:.0f}" in LECTURE
    assert f"{own:.1f} TFLOP/s" in LECTURE
    assert f"reached {loop:.0f} TFLOP/s, {loop / mine:.0f} times as much" in LECTURE


def test_doubles():
    speeds = {row[0]: float(row[1]) for row in tensor_cores.in_float64().rows}
    ordinary = device("H200").peak_gflops_double / 1e3
    assert f"{ordinary:.1f} TFLOP/s at the highest clock" in CELLS["doubles-told"]
    assert speeds["mma.m8n8k4"] < ordinary < speeds["mma.m16n8k4"] / 1.9
    assert speeds["mma.m16n8k4"] / speeds["mma.m8n8k4"] == pytest.approx(2, rel=0.02)
    assert speeds["mma.m16n8k16"] / speeds["mma.m16n8k4"] < 1.02
    assert "gain less than 2 %" in CELLS["doubles-told"]
    assert f"cuBLAS multiplies doubles at {doubles.speed(*doubles.CUBLAS):.0f} TFLOP/s at N = 4096" in CELLS["doubles-told"]
    assert "m16n8k8" in get("dgemm_stages").source
