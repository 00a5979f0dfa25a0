"""Lesson 17: what its picture, its tables and its prose promise, held to the simulator, to recordings and to formulas."""

import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import device
from course_lib.check import check
from course_lib.explorables.stages import TILES, at, idle_cycles, latencies
from course_lib.kernels import get
from course_lib.lessons import stages
from course_lib.lessons.stages import flight, layouts, tiles, times
from course_lib.model.latency import bytes_in_flight
from course_lib.model.stages import DMMA_RATE, multiply_cycles, period, stages_needed
from course_lib.plots.lane_shares import FLOAT64, lane_share
from course_lib.run import footprint
from course_lib.widgets.compute import evaluate
from course_lib.widgets.facts import ROWS
from tools import my_course

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "17_stages.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(text for key, text in CELLS.items()))
MINE = CELLS["mine"].split("\n", 1)[1]


def of_reader(old="", new=""):
    """Return the kernel of the lesson, changed."""
    assert not old or MINE.count(old) == 1
    return MINE.replace(old, new) if old else MINE


# ---- the picture ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_pictures_order_is_the_kernels(count):
    """Of copies, waits and products; at the cycle in which a product begins, its wait ends, and then the copies behind it are ordered."""
    events = []
    for step, parcel in enumerate(at(64, count, 2)):
        events += [(parcel.begun, 0, "wait", step), (parcel.issued, 1, "copy", step), (parcel.begun, 2, "multiply", step)]
    kernel = {"kernel": "dgemm_mma"} if count == 1 else {"STAGES": count}
    assert flight.order_of(flight.traced(**kernel)) == [(kind, step) for _, _, kind, step in sorted(events)]


def test_what_there_was_to_find_in_the_picture():
    assert [idle_cycles(count) for count in (1, 2, 3)] == [7 * 692, 1260, 0]
    assert 7 * 692 > 8 * 512, "more than half of the time"
    assert 7 * (692 - 512) == 1260
    assert [f"{idle_cycles(count, latency=3):,}" for count in (3, 4, 5)] == ["1,599", "42", "0"]
    for words in ("the latency of 692 cycles", "products of 512", "180 cycles of waiting are left for each of seven steps: 1,260",
                  "1,557 cycles",
                  "three stages still leave 1,599 idle cycles, four leave 42, and five leave none", "takes 2,048 cycles"):
        assert words in CELLS["watch"].replace("before each product of 512", "products of 512"), words
    assert all(idle_cycles(2, 128, n) == 0 for n in range(4))
    assert max(cycles for cycles, _ in latencies()) < multiply_cycles(128, 128, 16) == 2048


# ---- what is counted -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_all_stages_but_one_are_on_their_way_until_the_end_comes(count):
    rows = stages.in_flight(STAGES=count).rows
    assert [row[0] for row in rows] == list(range(TILES))
    left = [TILES - step for step in range(TILES)]
    assert [row[1] for row in rows] == [min(count - 1, n) for n in left], "at the wait"
    assert [row[2] for row in rows] == [min(count - 2, n - 1) for n in left], "behind it"
    assert [row[3] for row in rows] == [min(count - 1, n - 1) for n in left], "during the product"
    assert stages.during_products(STAGES=count) == count - 1


def test_the_readers_kernel_is_right_and_two_steps_ahead():
    found = check(MINE)
    assert found.right
    assert {finding.kind for finding in found.findings} == {"sectors"}, "the note on stores that the text speaks of"
    assert stages.during_products(MINE) == 2
    assert flight.traced(MINE).count("conflicts") == 0
    assert [row[-1] for row in stages.in_flight(MINE).rows] == [2] * 6 + [1, 0], "in the last two steps nothing is left to order"


def test_a_wait_that_allows_one_too_many_is_found_every_time():
    found = check(of_reader("wait<STAGES - 2>", "wait<STAGES - 1>"))
    assert [finding.kind for finding in found.findings if finding.severity == "error"] == ["hazard", "hazard"]
    lines = [n for n, line in enumerate(MINE.splitlines(), 1) if "cp.async.ca" in line or "a[e] = As" in line or "b[e] = Bs" in line]
    assert [finding.line for finding in found.findings[:2]] == lines[1:]
    assert all(f"copies to {name}[0] in line {lines[0]}" in one.message for name, one in zip(("As", "Bs"), found.findings, strict=False))
    assert "this thread has not waited for that copy" in found.findings[0].message
    assert not found.inputs[0].passed


def test_which_of_two_more_mistakes_gives_a_wrong_answer():
    barrier = next(line for line in MINE.splitlines(keepends=True) if "__syncthreads()" in line)
    assert not check(of_reader(barrier, "")).right
    late = of_reader("        fetch(step + 2);\n        multiply(step);", "        multiply(step);\n        fetch(step + 2);")
    assert check(late).right
    assert stages.during_products(late) == 1


# ---- who holds what, and the banks ---------------------------------------------------------------------------------------------------
def test_the_lanes_are_those_of_the_kernels_comment():
    for lane in range(32):
        g, t = divmod(lane, 4)
        share = lane_share(FLOAT64, lane)
        assert share.elements == {"A": ((g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)), "B": ((t, g), (t + 4, g)),
                                  "C": ((g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1))}
        assert share.registers == {"A": 8, "B": 4, "C": 8}, "two for each double"


def test_four_unused_doubles_and_no_other_number_leave_no_conflict():
    rows = stages.padding().rows
    assert [row[0] for row in rows if row[3] == "0"] == [4]
    assert next(row for row in rows if row[0] == 4)[1:3] == ("2", "2"), "64 words: two wavefronts"
    assert next(row for row in rows if row[0] == 0)[1:3] == ("8", "8")
    banks = [(2 * (20 * g + t) + word) % 32 for g in range(4) for t in range(4) for word in range(2)]
    assert sorted(banks) == list(range(32)), "lanes 0 to 15 fill all banks once: every row begins 8 banks further"
    assert 2 * 20 % 32 == 8


@pytest.mark.parametrize("name", ["dgemm_mma", "dgemm_stages"])
@pytest.mark.parametrize("tile", [tiles.SMALL, tiles.LARGE])
def test_the_courses_kernels_have_no_conflicts(name, tile):
    found = evaluate(name, 128, tile, backend="sim")
    assert [found.count("conflicts", kind) for kind in ("load", "store")] == [0, 0]
    assert found.counters["smsp__inst_executed_pipe_tensor_op_dmma.sum"] == 128**3 // (16 * 8 * 8)


def test_the_layouts_in_cutes_notation_are_the_kernels():
    picture = layouts.layout()
    assert "place 12 i + j" in picture.alt
    a, b = 128 * (16 + 4), 16 * (128 + 4)
    assert f"(128, 16, 3) : (20, 1, {a + b})" in PROSE
    assert f"a stage holds {a:,} doubles of A and {b:,} of B" in PROSE
    assert get("dgemm_stages").dynamic_bytes() == 3 * 8 * (a + b)


# ---- Little's law --------------------------------------------------------------------------------------------------------------------
def test_the_prediction_and_its_explanation():
    tile = {"BM": 64, "BN": 64, "BK": 32}
    assert stages.stages_by_littles_law(**tile, latency=1557) == 3
    assert stages.bytes_on_the_way(**tile, latency=1557) == 49_824
    for words in ("131,072 / 128 = 1,024 cycles", "32,768 bytes", "32 · 1,557 = 49,824 bytes", "with 128 × 128 it is 16 bytes per cycle"):
        assert words in CELLS["explain"], words
    assert 64 * 64 * 32 == 131_072
    assert multiply_cycles(**tile) == 1024
    assert tiles.step_bytes(**tile) == 32_768
    assert tiles.step_bytes(128, 128, 16) / multiply_cycles(128, 128, 16) == 16
    mhz = device("H200").clock_mhz
    assert bytes_in_flight(32 * mhz * 1e6 / 1e9, 1557, mhz) == pytest.approx(49_824)


def test_the_rate_is_that_of_the_ceiling():
    h200 = device("H200")
    assert 2e-6 * DMMA_RATE * h200.sms * h200.clock_mhz == pytest.approx(66.9, abs=0.05)
    assert "128 multiply-adds in float64 per cycle" in PROSE


def test_what_more_stages_cost():
    sizes = {tile["BM"]: get("dgemm_stages").dynamic_bytes(**tile, STAGES=3) // 3 for tile in (tiles.SMALL, tiles.LARGE)}
    assert f"64 × 64 tile takes {sizes[64]:,} bytes, and of the 128 × 128 tile {sizes[128]:,}" in PROSE
    taken = {count: footprint("dgemm_stages", **tiles.SMALL, STAGES=count) for count in (2, 3, 4, 5)}
    assert [one.occupancy.blocks for one in taken.values()] == [2, 3, 3, 2]
    assert [one.occupancy.limiter for one in taken.values()] == ["registers"] * 3 + ["shared memory"]
    assert [one.resources.registers for one in taken.values()][:2] == [172, 166]
    assert {footprint("dgemm_stages", **tiles.LARGE, STAGES=count).occupancy.blocks for count in (2, 3, 4, 5, 6)} == {1}
    found = [evaluate("dgemm_stages", 128, tiles.SMALL | {"STAGES": count}, backend="sim") for count in (2, 3, 4)]
    assert len({(one.count("sectors"), one.count("conflicts")) for one in found}) == 1
    assert [ROWS["shared bytes"](one)[1] for one in found] == [f"{count * sizes[64]:,}" for count in (2, 3, 4)], "dynamic, too"


def test_a_reader_with_a_blank_copy_reaches_the_end(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/17_stages.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    mine = next(cell for cell in copy.cells if cell.id == "mine")
    assert "write it here" in mine.source
    assert "fetch(0)" not in mine.source
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "flight", "launched", "broken"):
        assert "pipelined is not written yet" in said[cell], cell


# ---- recordings ----------------------------------------------------------------------------------------------------------------------
def test_the_prose_says_what_was_recorded():
    of = times.speed
    told, chart = CELLS["scores-told"], CELLS["speeds-told"]
    assert f"at {of(4096, 0):.0f} TFLOP/s with them" in PROSE
    assert f"reaches {100 * of(4096, 1) / of(4096, 0):.0f} % of that" in PROSE
    assert f"becomes {of(4096, 2) / of(4096, 1):.1f} times as fast at N = 4096" in told
    assert f"adds {100 * (of(4096, 3) / of(4096, 2) - 1):.0f} %" in told
    assert f"with the fourth it loses {100 * (1 - of(4096, 4) / of(4096, 3)):.0f} %" in told
    assert 1024 // 128 * (1024 // 128) == 64 < 132 == device("H200").sms
    two, three, five = (of(4096, count, 64, True) for count in (2, 3, 5))
    assert f"only {100 * (three / two - 1):.0f} %: {two:.1f} TFLOP/s with two stages and {three:.1f} with three" in chart
    assert f"Five stages add another {100 * (five / three - 1):.0f} %" in chart
    assert "35 % more speed" in chart
    assert period(2, 692, 512) / period(3, 692, 512) == pytest.approx(1.35, abs=0.005)
    step = times.cycles_per_step(5)
    assert f"a step took {step:,.0f} cycles" in chart
    assert f"busy for little more than a third of the time ({100 * 512 / step:.0f} % at that clock" in chart
    assert [stages_needed(latency, step) for latency in (692, 1557)] == [2, 3]
    assert times.row_of(4096, 5, 64, True)["clock_mhz"] == device("H200").clock_mhz, "at the highest clock"
    assert f"reaches {of(4096, 3, 64):.1f} TFLOP/s with three stages. (With four it falls to {of(4096, 4, 64):.1f}." in chart
    assert f"Three stages reach {100 * of(4096, 3) / of(4096, 0):.0f} % of cuBLAS" in PROSE


def test_no_recorded_speed_is_above_the_stated_ceiling_nor_a_step_below_its_product():
    rows = data.readings("stages").rows
    assert max(map(tiles.tflops, rows)) < tiles.CEILING
    for row in rows:
        if row["stages"]:
            assert times.cycles_per_step(row["stages"], row["tile"], row["alone"], row["N"]) > multiply_cycles(row["tile"], row["tile"], 16)


def test_the_gain_ends_where_the_law_says_for_the_large_tile():
    for size in times.SIZES:
        line = [times.speed(size, count) for count in (1, 2, 3, 4)]
        assert line[1] / line[0] > 1.5
        assert max(line[2:]) / line[1] < 1.05


def test_the_tables_and_the_chart_hold_the_recording():
    board = stages.scoreboard()
    assert [row[1] for row in board.rows] == [0, 0, 0, 0, ""]
    assert board.rows[2][4].startswith(f"{times.speed(4096, 3):.1f} (")
    assert "66.5 TFLOP/s" in board.caption
    assert f"{times.speed(4096, 3, 64, True):.1f} with 3" in stages.speeds().alt
