"""Lesson 17: what its picture, its tables and its prose promise, held to the simulator, to recordings and to formulas."""

import itertools
import json
import math
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import LIMITS, device
from course_lib.bench.pipeline import GRID, READER
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.explorables.stages import LARGE, SMALL, STAGES, TILES, at, idle_cycles, latencies, product_cycles, recorded
from course_lib.kernels import get
from course_lib.lessons import stages
from course_lib.lessons.stages import experiment, flight, tiles, times
from course_lib.model.latency import bytes_in_flight
from course_lib.model.occupancy import occupancy
from course_lib.model.stages import DMMA_RATE, multiply_cycles, stages_needed
from course_lib.plots.lane_shares import FLOAT64, lane_share
from course_lib.widgets.compute import evaluate
from course_lib.widgets.facts import ROWS
from tools import my_course

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "17_stages.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(text for key, text in CELLS.items()))
LECTURE = " ".join((ROOT / "docs" / "lecturing" / "17_stages.md").read_text(encoding="utf-8").split())
CEILING = 66.5            # TFLOP/s in float64, stated for the H200's tensor cores at the highest clock
MINE = CELLS["mine"].split("\n", 1)[1]


def of_reader(old="", new=""):
    """Return the kernel of the lesson, changed."""
    assert not old or MINE.count(old) == 1
    return MINE.replace(old, new) if old else MINE


@pytest.mark.slow
# ---- the picture ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_pictures_order_is_the_kernels(count):
    """Of copies, waits and products; at the cycle in which a product begins, its wait ends, and then the copies behind it are ordered."""
    events = []
    for step, parcel in enumerate(at("small", count, 1)):
        events += [(parcel.begun, 0, "wait", step), (parcel.issued, 1, "copy", step), (parcel.begun, 2, "multiply", step)]
    assert flight.order_of(flight.traced(STAGES=count)) == [(kind, step) for _, _, kind, step in sorted(events)]


@pytest.mark.parametrize("count", STAGES)
def test_copies_are_ordered_when_the_text_says(count):
    parcels = at("small", count, 1)
    for step, parcel in enumerate(parcels):
        if count == 1:
            assert parcel.issued == (parcels[step - 1].done if step else 0)
        else:
            assert parcel.issued == (parcels[step - count + 1].begun if step >= count - 1 else 0)


def test_what_there_was_to_find_in_the_picture():
    assert [idle_cycles(count) for count in (1, 2, 3)] == [7 * 1280, 7 * (1280 - 1047), 0]
    assert f"{1 - 1047 / recorded(1, dram=True):.0%}" == "49%", "about half of the time"
    assert [idle_cycles(count, latency=0) for count in (1, 2)] == [7 * 733, 0]
    for words in ("The 1,280 cycles of a step's copies come before each product of 1,047",
                  "233 cycles of waiting are left for each of seven steps: 1,631",
                  "733 is less than 1,047", "Its product takes 3,142 cycles, and its copies only 1,632 from DRAM",
                  "need 64 · 64 · 16 / 128 = 512 cycles for a product, about half of what it takes"):
        assert words in CELLS["watch"], words
    assert 7 * 233 == 1631
    assert all(idle_cycles(2, "large", n) == 0 for n in range(2))
    assert max(cycles for cycles, _ in latencies("large")) < product_cycles("large") == 3142
    assert product_cycles("ideal") == multiply_cycles(64, 64, 16) == 512
    sums = [latency + product_cycles("small") - round(recorded(1, dram=bool(n))) for n, (latency, _) in enumerate(latencies("small"))]
    assert f"their sum is too large: by {sums[1]} cycles from DRAM, and by {sums[0]} from the L2" in CELLS["watch"]
    assert multiply_cycles(64, 64, 16) == 64 * 64 * 16 / 128


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
    for wait in ("wait<1>()", "wait<STAGES-2>()", "wait< STAGES - 2 > ( )"):
        assert stages.with_wait(of_reader("wait<STAGES - 2>()", wait), "STAGES - 1") == of_reader("wait<STAGES - 2>", "wait<STAGES - 1>")
    with pytest.raises(CourseError, match="no wait"):
        stages.with_wait("int main() {}", "1")
    found = check(stages.with_wait(MINE, "STAGES - 1"))
    assert [finding.kind for finding in found.findings if finding.severity == "error"] == ["hazard", "hazard"]
    lines = [n for n, line in enumerate(MINE.splitlines(), 1) if "cp.async.ca" in line or "a[e] = As" in line or "b[e] = Bs" in line]
    assert [finding.line for finding in found.findings[:2]] == lines[1:]
    assert all(f"copies to {name}[0] in line {lines[0]}" in one.message for name, one in zip(("As", "Bs"), found.findings, strict=False))
    assert "this thread has not waited for that copy" in found.findings[0].message
    assert f"and reads it in line {lines[1]}, but" in found.findings[0].message
    assert "A wait that covers it (cp.async.wait_group or wait_all) must stand between the two" in found.findings[0].message
    assert "32,768 reads that may come before the copy is complete" in found.findings[0].message
    assert found.findings[0].lesson == "lesson 17, Stages", "and no other"
    assert not found.inputs[0].passed


def test_which_of_two_more_mistakes_gives_a_wrong_answer():
    barrier = next(line for line in MINE.splitlines(keepends=True) if "__syncthreads()" in line)
    unmet = check(of_reader(barrier, "")).findings[0]
    assert "The copying thread's wait (cp.async.wait_group or wait_all) and a __syncthreads() behind it" in unmet.message
    assert unmet.lesson == "lesson 17, Stages"
    late = of_reader("        fetch(step + 2);\n        multiply(step);", "        multiply(step);\n        fetch(step + 2);")
    assert check(late).right
    assert stages.during_products(late) == 1 == stages.during_products(STAGES=2), "the third stage hides nothing more"


# ---- who holds what, and the banks ---------------------------------------------------------------------------------------------------
def test_the_lanes_are_those_of_the_kernels_comment():
    for lane in range(32):
        g, t = divmod(lane, 4)
        share = lane_share(FLOAT64, lane)
        assert share.elements == {"A": ((g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)), "B": ((t, g), (t + 4, g)),
                                  "C": ((g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1))}
        assert share.registers == {"A": 8, "B": 4, "C": 8}, "two for each double"


@pytest.mark.slow
def test_four_unused_doubles_and_no_other_number_leave_no_conflict():
    rows = stages.padding().rows
    assert [row[0] for row in rows if row[3] == "0"] == [4]
    assert next(row for row in rows if row[0] == 4)[1:3] == ("2", "2"), "64 words: two wavefronts"
    assert next(row for row in rows if row[0] == 0)[1:3] == ("8", "8")
    banks = [(2 * (20 * g + t) + word) % 32 for g in range(4) for t in range(4) for word in range(2)]
    assert sorted(banks) == list(range(32)), "lanes 0 to 15 fill all banks once: every row begins 8 banks further"
    assert 2 * 20 % 32 == 8


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", ["dgemm_mma", "dgemm_stages"])
@pytest.mark.parametrize("tile", [tiles.SMALL, tiles.LARGE])
def test_the_courses_kernels_have_no_conflicts(name, tile):
    found = evaluate(name, 128, tile, backend="sim")
    assert [found.count("conflicts", kind) for kind in ("load", "store")] == [0, 0]
    assert found.counters["smsp__inst_executed_pipe_tensor_op_dmma.sum"] == 128**3 // (16 * 8 * 8)


def test_the_layouts_in_cutes_notation_are_the_kernels():
    assert " ".join(f"{12 * 3 + j}" for j in range(8)) + "  ·  ·  ·  ·" in CELLS["optional-cute"], "the last of four rows"
    assert get("dgemm_stages").dynamic_bytes() == 3 * 8 * (128 * (16 + 4) + 16 * (128 + 4))
    assert "`(128, 16) : (20, 1)`" in PROSE


# ---- Little's law --------------------------------------------------------------------------------------------------------------------
def test_the_prediction_and_its_explanation():
    assert [row[1:] for row in stages.alone().rows] == [(1, "882"), (1, "1,418"), (2, "733"), (2, "1,280"), (3, "1,047")]
    assert CELLS["reveal"] == "guess.reveal(stages.bytes_on_the_way(64, 64, 16, product=1047, copies=1280))"
    assert [stages_needed(latency, 1047) for latency in (733, 1280)] == [2, 3]
    assert stages.bytes_on_the_way(64, 64, 16, product=1047, copies=1280) == 20_031
    assert tiles.step_bytes(64, 64, 16) == 16_384
    took = [round(experiment.copies_alone(tile, dram)) for tile in (LARGE, SMALL) for dram in (True, False)]
    assert "took {:,} cycles from DRAM and {:,} from the L2, where those of our tile took {:,} and {:,}.".format(*took) in CELLS["explain"]
    apart = [round(recorded(2, LARGE, "none", everywhere=False, dram=dram)) for dram in (True, False)]
    assert "With a single multiprocessor at work the large tile's took {:,} and {:,}.".format(*apart) in CELLS["explain"]
    assert tiles.step_bytes(128, 128, 16) == 2 * tiles.step_bytes(64, 64, 16)
    for words in ("16,384 bytes", "15.6 bytes are used up per cycle", "1,280 cycles before they are there, so 20,031 bytes"):
        assert words in CELLS["explain"], words
    assert f"{16_384 / 1047:.1f}" == "15.6"
    mhz = device("H200").clock_mhz
    assert bytes_in_flight(16_384 / 1047 * mhz * 1e6 / 1e9, 1280, mhz) == pytest.approx(20_031, abs=1)


def test_the_law_holds_from_two_stages_on():
    """Also with other numbers of warps and with the large tile, which the lesson does not show."""
    for tile in (SMALL, LARGE, "64 × 64", "64 × 64, 16 warps"):
        for dram, count in itertools.product((False, True), STAGES[1:]):
            assert recorded(count, tile, dram=dram) == pytest.approx(experiment.promised(count, dram, tile=tile), rel=0.06)
    off = {(dram, count): 100 * (recorded(count, dram=dram) / experiment.promised(count, dram) - 1)
           for dram in (False, True) for count in STAGES[1:]}
    assert f"up to {max(off.values()):.0f} % above their lines, and up to {math.ceil(-min(off.values()))} % below" in CELLS["law-told"]
    assert {count for dram, count in off if off[dram, count] > max(off.values()) - 0.1} == {4}, "highest with four stages"
    decides = [place for place in off if experiment.promised(place[1], place[0]) != experiment.product_alone()]
    assert decides == [(True, 2)], "all others are the product"


def test_what_the_law_leaves_out():
    """The falling lines, held to copies alone; and what four stages lose."""
    alone = {dram: [recorded(count, product="none", dram=dram) for count in (3, 4)] for dram in (False, True)}
    lines = [experiment.copies_alone(SMALL, True) / (count - 1) for count in (3, 4)]
    told = (f"From DRAM copies alone take {alone[True][0]:,.0f} cycles per step with three stages, where the line says {lines[0]:,.0f}, "
            f"and {alone[True][1]:,.0f} with four, where it says {lines[1]:,.0f}.")
    assert told in CELLS["law-told"]
    later = [recorded(count, product="none", dram=dram) * (count - 1) / experiment.copies_alone(SMALL, dram)
             for dram, count in ((True, 5), (True, 6), *((False, count) for count in STAGES[2:]))]
    assert min(later) > 1.2, "far above their lines"
    flat = [recorded(count, product="none", dram=dram) for count in (5, 6) for dram in (False, True)]
    assert all(410 < cycles < 435 for cycles in flat), "about 420"
    apart = {round(recorded(count, product="none", everywhere=False, dram=dram)) for count in (5, 6) for dram in (False, True)}
    assert (apart, f"{16_384 / 420:.0f}") == ({393}, "39")
    assert "per 420 cycles get through, or 39 bytes per cycle. With a single multiprocessor at work it was one per 393" in CELLS["law-told"]
    assert max(flat) < min(recorded(count, copies=copies) for count in STAGES for copies in ("zeros", "none"))
    zeros, none = ([recorded(count, copies=copies) for count in STAGES] for copies in ("zeros", "none"))
    assert (zeros.index(max(zeros)), none.index(min(none))) == (3, 3), "four stages: the slowest, and the fastest"
    assert CELLS["predict"].endswith(f"it is {sorted(zeros)[1]:,.0f} to {max(zeros):,.0f}.")
    assert min(zeros) == recorded(3, copies="zeros")


def test_the_law_of_the_readers_kernel():
    copies, product = (experiment.copies_alone(READER, dram) for dram in (True, False)), experiment.product_alone(READER)
    from_dram, from_l2 = copies
    assert (f"its copies alone take {from_dram:,.0f} cycles from DRAM and {from_l2:,.0f} from the L2, with two stages. "
            f"Its product takes {product:,.0f}, with three stages and copies of zeros.") in CELLS["yours"]
    assert [stages_needed(way, product) for way in (from_dram, from_l2)] == [3, 2]
    assert f"because {from_dram:,.0f} / {product:,.0f} is more than one and less than two" in CELLS["yours-told"]
    two, three = (recorded(count, READER, dram=True) for count in (2, 3))
    assert f"Recorded were {two:,.0f} cycles with two stages from DRAM and {three:,.0f} with three" in CELLS["yours-told"]
    off = [100 * (recorded(count, READER, dram=dram) / experiment.promised(count, dram, READER) - 1)
           for dram in (False, True) for count in experiment.YOURS]
    assert f"between {max(off):.0f} % above the law and {-min(off):.0f} % below" in CELLS["yours-told"]
    for dram, count in itertools.product((False, True), (3, 4, 5)):
        assert recorded(count, READER, dram=dram) < recorded(count, READER, copies="zeros")
    assert [row[0] for row in stages.law_of_yours().rows] == ["2", "3", "4", "5"]
    assert "cp.async.ca.shared.global [%0], [%1], 8" in MINE
    used = flight.traced(MINE).resources
    assert occupancy(device("H200"), 128, used.registers, used.static_shared_bytes).blocks == 7
    assert "As you launch it seven fit" in CELLS["yours-told"]


def test_how_many_tiles_come_from_dram():
    across, down = GRID
    assert across * down == device("H200").sms == 132
    assert f"(the {across * down} blocks share {across + down} tiles per step)" in CELLS["predict"]


def test_what_the_experiment_showed():
    rows = {row[0]: row[1:] for row in stages.law().rows}
    assert rows["1"] == ("–", "1,419", "–", "2,036", "1,107", "829")
    assert rows["2"] == ("1,047", "1,052", "1,280", "1,272", "1,082", "811")
    assert rows["3"] == ("1,047", "1,032", "1,047", "1,032", "1,047", "821")
    assert rows["4"] == ("1,047", "1,107", "1,047", "1,107", "1,152", "799")
    assert "1,272 cycles with two stages, about as long as its copies alone, and 1,032 with three, about as long" in CELLS["law-told"]
    assert "a step takes 1,032 cycles with three stages and 1,107 with four" in CELLS["played"]
    alt = stages.law_drawn().alt
    assert "whole steps from DRAM: 2,036, 1,272, 1,032" in alt
    assert "copies alone, from two stages on, from the L2: 733, 456" in alt
    bare, ordering = (recorded(3, copies=copies) for copies in ("none", "zeros"))
    assert f"Ordering the copies costs {ordering - bare:.0f} of them" in LECTURE


def test_the_rate_is_that_of_the_ceiling():
    h200 = device("H200")
    assert 2e-6 * DMMA_RATE * h200.sms * h200.clock_mhz == pytest.approx(66.9, abs=0.05)


@pytest.mark.slow
def test_what_more_stages_cost():
    sizes = {tile["BM"]: get("dgemm_stages").dynamic_bytes(**tile, STAGES=3) // 3 for tile in (tiles.SMALL, tiles.LARGE)}
    assert f"{sizes[64]:,} bytes with tiles of 64 × 64, and {sizes[128]:,} with tiles of 128 × 128" in PROSE
    most = LIMITS[9, 0].shared_per_block
    assert 6 * sizes[128] <= most < 7 * sizes[128]
    assert f"may have {most:,} bytes, so six stages of the large tile fit and seven do not" in PROSE
    found = [evaluate("dgemm_stages", 128, tiles.SMALL | {"STAGES": count}, backend="sim") for count in (1, 2, 3, 4)]
    assert len({(one.count("sectors"), one.count("conflicts")) for one in found}) == 1
    assert [ROWS["shared bytes"](one)[1] for one in found] == [f"{count * sizes[64]:,}" for count in (1, 2, 3, 4)], "dynamic, too"


@pytest.mark.slow
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
    of = {count: times.speed("dgemm_stages", count) for count in range(1, 6)}
    cublas = times.speed(*times.CUBLAS)
    told = CELLS["scores-told"]
    assert f"at {cublas:.0f} TFLOP/s with them" in PROSE
    assert f"reaches {100 * of[1] / cublas:.0f} % of that" in PROSE
    step = {count: recorded(count, LARGE, dram=True) for count in STAGES}
    assert f"A step takes {step[1]:,.0f} cycles with one stage and {step[2]:,.0f} with two." in told
    off = [100 * (step[count] / step[2] - 1) for count in (3, 4, 5)]
    assert f"it takes from {-min(off):.0f} % less to {max(off):.0f} % more than with two." in told
    least = min(recorded(count, LARGE, dram=dram) for count in STAGES for dram in (False, True))
    assert f"a step never took less than {least:,.0f} cycles." in told
    bare = [recorded(count, LARGE, copies="none") for count in STAGES]
    assert f"Without any copies it took {min(bare):,.0f} to {max(bare):,.0f}, where the tensor cores need 128 · 128 · 16" in told
    copies, product = experiment.copies_alone(LARGE, True), experiment.product_alone(LARGE)
    assert multiply_cycles(128, 128, 16) == 128 * 128 * 16 / 128 == 2048
    assert f"copies alone take {copies:,.0f} cycles from DRAM, and its product {product:,.0f}" in CELLS["scoreboard"]
    assert stages_needed(copies, product) == 2
    assert get("dgemm_stages").block(**tiles.LARGE, STAGES=1) == (256, 1, 1)
    alone = flight.traced(**tiles.LARGE, STAGES=1)
    assert alone.resources.registers > 128, "one block per multiprocessor: while it waits nothing is multiplied"


def test_no_recorded_speed_is_above_the_stated_ceiling_nor_a_step_below_its_product():
    assert max(map(times.tflops, data.readings("stages").rows)) < CEILING
    for row in data.readings("pipeline").rows:
        if row["product"] == "whole":
            assert row["low"] > multiply_cycles(*(row["parameters"][name] for name in ("BM", "BN", "BK")))


def test_the_gain_ends_where_the_law_says_for_the_large_tile():
    line = [times.speed("dgemm_stages", count) for count in (1, 2, 3, 4, 5)]
    assert line[1] / line[0] > 1.2
    assert max(line[2:]) / line[1] < 1.05


@pytest.mark.slow
def test_the_scoreboard_holds_the_recording():
    board = stages.scoreboard()
    assert [row[1] for row in board.rows] == [0, 1, 2, 3, 4, ""]
    assert board.rows[2][2:] == ("3,141", f"{times.speed('dgemm_stages', 3):.1f}", "73%")
    three, two = times.speed("dgemm_stages", 3), times.speed("dgemm_stages", 2)
    assert f"In TFLOP/s three are {100 * (three / two - 1):.1f} % faster" in CELLS["scores-told"]
