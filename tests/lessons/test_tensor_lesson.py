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
from course_lib.lessons.tensor_cores import counts, times
from course_lib.plots.lane_shares import lane_share
from course_lib.run import matches, run
from course_lib.widgets.compute import evaluate, inputs
from tools import my_course

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "16_tensor_cores.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
CELLS = {key: re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) if key != "mine" else text for key, text in CELLS.items()}
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "16_tensor_cores.md").read_text(encoding="utf-8").split())
MINE = CELLS["mine"].split("\n", 1)[1]
ROWS = {row[0]: row[1:] for row in counts.feeding().rows}
PADDED, PLAIN, FLAT, SMALL, LARGE = counts.FED


# ---- who holds what ------------------------------------------------------------------------------------------------------------------
def test_what_there_was_to_find_in_the_picture():
    tf32, bf16, f64 = SHOWN.values()
    share = lane_share(tf32, 5)
    assert share.sources == tuple(range(4, 16))
    assert "lanes 4 to 7 hold those of A, and lanes 8 to 15 those of B" in CELLS["watch"]
    few = [lane for lane in range(32) if len(lane_share(tf32, lane).sources) == 8]
    assert {len(lane_share(tf32, lane).sources) for lane in range(32)} == {8, 12}
    assert f"It is so for eight lanes: {', '.join(map(str, few[:-1]))} and {few[-1]}." in CELLS["watch"]
    assert len(few) == 8
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
    assert {finding.kind for finding in found.findings} <= {"sectors", "loads"}


def test_an_exchange_of_two_registers_is_found_and_the_unit_matrix_shows_it():
    swapped = tensor_cores.with_exchanged(MINE)
    assert not check(swapped, like="sgemm_mma").right
    A, unit = np.arange(128, dtype=np.float32).reshape(16, 8), np.eye(8, dtype=np.float32)
    C = run(UserKernel.from_source(swapped, like="sgemm_mma"), A, unit, backend="sim").C
    expected = A.copy()
    expected[:8, 4:], expected[8:, :4] = A[8:, :4], A[:8, 4:]
    assert np.array_equal(C, expected), "the right half of rows 0 to 7 and the left half of rows 8 to 15"
    assert C[8, 0] == 4 == A[0, 4]
    assert np.array_equal(run(UserKernel.from_source(MINE, like="sgemm_mma"), A, unit, backend="sim").C, A)
    with pytest.raises(CourseError, match="as it was given"):
        tensor_cores.with_exchanged("int main() {}")


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
    for cell in ("mine", "check", "launched", "broken"):
        assert "warp_mma is not written yet" in said[cell], cell


# ---- feeding -------------------------------------------------------------------------------------------------------------------------
def test_the_prediction_is_a_formula():
    assert tensor_cores.wavefronts_of_a_product("sbgemm_mma") == 1.5 == (64 * 16 + 16 * 32) * 2 / 128 / (4 * 4)
    assert tensor_cores.wavefronts_of_a_product("sbgemm_mma", WM=128, WN=32) == 1.25, "the self-check's"
    kernel = get("sbgemm_mma")
    assert kernel.block() == (256, 1, 1)
    values = kernel.check()
    assert [values[name] for name in ("BM", "BN", "BK", "WM", "WN")] == [128, 128, 64, 64, 32]


def test_what_each_change_does():
    assert ROWS == {PADDED: ("0.375", "1.5", "0.5", "2"), PLAIN: ("2", "2", "0.5", "2.5"), FLAT: ("0.375", "12", "0.5", "12.5"),
                    SMALL: ("0.5", "2", "0.5", "2.5"), LARGE: ("0.25", "1", "0.5", "1.5")}
    limit = times.cycles_of_a_product("bf16")
    assert f"{limit:.2f}" == "1.69"
    assert [name for name, row in ROWS.items() if float(row[-1]) < limit] == [LARGE]
    assert f"at most {limit / 2:.0%} of what".replace("%", " %") in CELLS["feeding-told"]
    assert 2 / 0.375 > 5


@pytest.mark.slow
def test_plain_loads_cost_wavefronts_for_b_alone():
    a, b = counts.LOADS
    only_a, only_b = (counts.of_a_product(counts.changed({line: counts.LOADS[line]})) for line in (a, b))
    assert (only_a["loaded"], only_b["loaded"]) == (1.5, 2.0)
    assert (only_a["loads"], only_b["loads"]) == (1.125, 1.25)


@pytest.mark.parametrize("name", [PADDED, PLAIN, FLAT])
def test_the_changed_kernels_are_right_and_only_one_has_conflicts(name):
    A, B, _ = inputs(128, 128, 64)
    changes, parameters = counts.FED[name]
    result = run(counts.changed(changes), A, B, backend="sim", **parameters)
    assert matches(result.C, A, B, inputs="bf16")
    assert (result.count("conflicts") > 0) is (name == FLAT)
    assert all(old in get("sbgemm_mma").source for old in changes)


@pytest.mark.slow
def test_what_the_sliders_show():
    tile = {"BM": 128, "BN": 128, "BK": 64}
    found = {(WM, WN): evaluate("sbgemm_mma", 128, tile | {"WM": WM, "WN": WN}) for WM in (32, 64) for WN in (32, 64)}
    each = {warp: 64 * 32 * result.count("wavefronts") / 128**3 for warp, result in found.items()}
    assert each == {(32, 32): 2, (32, 64): 1.5, (64, 32): 1.5, (64, 64): 1}
    registers = {warp: result.resources.registers for warp, result in found.items()}
    assert f"{registers[64, 64]} per thread, as many as there can be, where 32 × 32 takes {registers[32, 32]}" in CELLS["played"]
    assert f"With {registers[64, 32]} registers per thread only {found[64, 32].occupancy.warps} warps" in LECTURE
    small = evaluate("sbgemm_mma", 128, tile | {"BM": 64, "BN": 64, "WM": 64, "WN": 64})
    assert (small.count("wavefronts"), small.resources.registers) == (found[64, 64].count("wavefronts"), registers[64, 64])
    stored = [result.count("wavefronts", "store") for result in (small, found[64, 64])]
    assert stored[0] > stored[1], "the block's tile decides it"


@pytest.mark.slow
def test_the_pictures_paddings():
    waves = {int(pad): len(load["waves"]) for pad, load in states()["at"].items()}
    assert waves == {0: 32, 8: 4, 16: 8, 24: 4}
    told = CELLS["ldmatrix-told"]
    for words in ("four wavefronts are enough", "a wavefront of its own: 32", "8 wavefronts are needed", "With 24 it is four again"):
        assert words in told


# ---- stages --------------------------------------------------------------------------------------------------------------------------
def test_the_steps_that_waited():
    took, wavefronts = times.step_cycles(), counts.of_a_product("sgemm_bf16")
    products = 128 * 128 * 32 // 2048
    multiplied, fed = products * times.cycles_of_a_product("bf16"), products * (wavefronts["loaded"] + wavefronts["stored"])
    told = CELLS["waiting"]
    assert f"took {took:,.0f} cycles on average for a step" in told
    assert f"Its {products} products take {multiplied:.0f} cycles at the rate of the loop, and their wavefronts {fed:.0f}" in told
    assert f"that would be {multiplied + fed:.0f}" in told
    assert 0.45 < 1 - (multiplied + fed) / took < 0.55, "about half of the time"
    assert f"it accounts for {fed:.0f} of {took:,.0f} cycles" in LECTURE
    assert [get("sgemm_bf16").check()[name] for name in ("BM", "BN", "BK")] == [128, 128, 32]


@pytest.mark.slow
def test_how_the_next_tiles_come():
    one, same, own = counts.next_tiles().rows
    assert [row[1:3] for row in (one, same, own)] == [(2, 1), (1, 2), (1, 2)]
    assert one[4] == same[4] == "2"
    assert own[4] == "1.375"
    assert [row[-1] for row in (one, same)] == [8, 16], "one block of eight warps, and two"
    assert float(own[4]) < times.cycles_of_a_product("bf16")
    values = get("sbgemm_stages").check()
    assert [values[name] for name in ("BM", "BN", "WM", "WN", "STAGES")] == [128, 256, 64, 64, 3]
    roles = (ROOT / "notebooks" / "18_roles.ipynb").read_text(encoding="utf-8")
    assert "an experiment on an H200 on 27 November 2026, an earlier text of it reached 293 to 338 TFLOP/s" in roles
    assert all(0.45 < tflops / times.alone("bf16") < 0.55 for tflops in (293, 338)), "about half"


# ---- recordings ----------------------------------------------------------------------------------------------------------------------
def test_the_numbers_of_the_opening_are_recorded():
    told = CELLS["title"]
    library, loop, ours = times.speed("cuBLAS"), times.alone("bf16"), times.speed("sgemm_bf16")
    assert f"{library:.0f} TFLOP/s on an H200, in float32" in told
    assert f"16-bit numbers at {loop:.0f} TFLOP/s" in told
    assert f"reached {ours:.0f} TFLOP/s" in told
    assert 12 <= loop / library < 12.5
    assert all(row["correct"] for row in data.readings("mma").rows)


def test_the_scoreboard():
    rows = {(row[0], row[1]): row[2:] for row in tensor_cores.scoreboard().rows}
    assert rows["sgemm_mma", "TF32"] == ("2", "H200", "100.0", "317", "32%")
    assert rows["sgemm_bf16", "bfloat16"] == ("2", "H200", "149.1", "635", "23%")
    assert [(row[0], row[3]) for row in tensor_cores.scoreboard().rows if row[-1].endswith("%") and int(row[-1][:-1]) > 100] == [
        ("cuBLAS", "H200"), ("sbgemm_tma, lesson 18", "H200")]
    assert f"`sgemm_mma` reaches {times.speed('sgemm_mma') / 364:.0%} of the library".replace("%", " %") in CELLS["scores-told"]
    assert all(0.18 < times.speed("sgemm_bf16") / tflops < 0.23 for tflops in (673, 800)), "about a fifth"


def test_kernels_by_mma_stay_below_the_loop():
    for name, kind in times.KINDS.items():
        assert times.speed(name) < times.alone(kind)


def test_doubles():
    speeds = {row[0]: float(row[1]) for row in tensor_cores.in_float64().rows}
    ordinary = device("H200").peak_gflops_double / 1e3
    assert f"{ordinary:.1f} TFLOP/s at the highest clock" in CELLS["doubles-told"]
    assert speeds["mma.m8n8k4"] < ordinary < speeds["mma.m16n8k4"] / 1.9
    assert speeds["mma.m16n8k4"] / speeds["mma.m8n8k4"] == pytest.approx(2, rel=0.02)
    assert speeds["mma.m16n8k16"] / speeds["mma.m16n8k4"] < 1.03
    assert f"cuBLAS multiplies doubles with {doubles.speed(*doubles.CUBLAS):.0f} TFLOP/s at N = 4096" in CELLS["doubles-told"]
    assert "m16n8k8" in get("dgemm_stages").source
