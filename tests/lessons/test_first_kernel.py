"""Lesson 03: what it promises, and every number that its prose says."""

import dataclasses
import json
import os
import re
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_hex
from nbclient import NotebookClient

from course_lib import cp, data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.check import check
from course_lib.check.case import all_cases
from course_lib.errors import CourseError
from course_lib.explorables.threads import traced
from course_lib.lessons import first_kernel
from course_lib.lessons.cpu import recorded
from course_lib.lessons.first_kernel import counts, dose, memory, shapes, stores, times, touched
from course_lib.magic import from_cell
from course_lib.run import matches, run
from course_lib.run.traces import owners, requests
from course_lib.widgets.facts import facts
from tools import my_course
from tools.record import padded_rows as recorder

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "03_first_kernel.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = " ".join(" ".join(CELLS.values()).split())
PADDED = data.readings("padded_rows")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def written(cell):
    """Return the worked kernel of one of the lesson's blank cells."""
    return from_cell(CELLS[cell])[1]


def launched(name, N=256, T=16):
    """Launch one of the two square kernels as the lesson does; return (is it right?, the launch)."""
    rng = np.random.default_rng(3)
    A, B = (cp.asarray(rng.standard_normal((N, N), dtype=np.float32)) for _ in "AB")
    C = cp.zeros((N, N), dtype=np.float32)
    cp.RawKernel(written(name), name)((N // T, N // T), (T, T), (np.int32(N), A, B, C))
    return matches(C.get(), A.get(), B.get()), cp.last_launch()


def test_both_square_kernels_are_right_and_differ_in_what_a_request_touches():
    (right, one), (also_right, other) = launched("first"), launched("swapped")
    assert right
    assert also_right
    assert one.count("requests") == other.count("requests")
    assert (one.sectors_per_request(), other.sectors_per_request()) == (2, 8.5)
    assert counts.beside(one, other).rows[1][-1] == "4.25"
    assert counts.beside(one, other).rows[2] == ("sectors per step, A + B", "4", "17", "4.25")
    assert 256**2 == 65_536
    with pytest.raises(CourseError, match="no counters"):
        counts.beside(one, dataclasses.replace(other, counters=None))


@pytest.mark.parametrize(("kernel", "bx", "counted"), [
    ("naive", 32, ("5", "2")), ("naive", 16, ("4", "3")), ("naive", 8, ("5", "5")),
    ("swapped", 2, ("4", "3")), ("swapped", 16, ("17", "17")), ("swapped", 32, ("33", "33"))])
def test_the_table_of_the_sliders_counts_sectors_and_lines(kernel, bx, counted):
    found = facts(counts.counted(kernel, bx, 16), ("sectors a step", "lines a step"))
    assert found == dict(zip(("sectors per step, A + B", "lines per step, A + B"), counted, strict=True))
    assert counted == (str(times.sectors_of(counts.warp_in_c(kernel, bx, 16)[0])), str(times.lines_of(counts.warp_in_c(kernel, bx, 16)[0])))
    assert 'rows = ("sectors a step", "lines a step")' in CELLS["sliders"]


@pytest.mark.parametrize(("kernel", "best"), [("naive", 32), ("swapped", 2)])
def test_the_fewest_lines_are_where_the_prose_says(kernel, best):
    found = {bx: times.lines_of(counts.warp_in_c(kernel, bx, 16)[0]) for bx in (2, 4, 8, 16, 32)}
    assert [bx for bx in found if found[bx] == min(found.values())] == [best]


def test_the_bet_is_on_two_shapes_that_tell_lines_from_sectors():
    for rows, bx in ((2, 16), (4, 8)):
        assert counts.warp_in_c("naive", bx, 256 // bx) == (rows, bx)
    assert "5 / 4 = 1.25 times as many sectors, but 5 / 3 = 1.67 times as many lines" in CELLS["ask-time"]
    assert (times.sectors_of(4) / times.sectors_of(2), round(times.lines_of(4) / times.lines_of(2), 2)) == (1.25, 1.67)
    assert first_kernel.shape_costs() == round(times.padded("naive", bx=8)["median_s"] / times.padded("naive", bx=16)["median_s"], 2)
    assert str(first_kernel.shape_costs()) not in PROSE, "the answer waits for the bet"
    sectors, lines = (abs(first_kernel.shape_costs() - said) for said in (1.25, 5 / 3))
    assert lines < 0.1 * sectors < sectors


def test_the_answer_to_the_second_picture_is_behind_a_click():
    shown = first_kernel.both(launched("first")[1], launched("swapped")[1])
    assert re.fullmatch(r"<details><summary>[^\d]*</summary>.*</details>", shown._repr_html_(), re.DOTALL)
    assert "4.25" in repr(shown)


def test_after_the_exchange_the_right_block_has_another_name():
    for kernel, block, thread in (("naive", (1, 0), (3, 5)), ("swapped", (0, 1), (5, 3))):
        who = owners(traced(kernel))
        assert (who.block_x[5, 19], who.block_y[5, 19]) == block
        assert 32 * who.warp[5, 19] + who.lane[5, 19] == thread[1] * 16 + thread[0]
        assert set(zip(who.block_x[:, 16:].flat, who.block_y[:, 16:].flat, strict=True)) == {block}
    assert "it was thread (3, 5) of block (1, 0), and now it is thread (5, 3) of block (0, 1)" in PROSE


def test_in_the_second_kernel_six_characters_are_exchanged():
    lines = [[line.strip() for line in written(name).replace("swapped", "first").splitlines()] for name in ("first", "swapped")]
    different = [(a, b) for a, b in zip(*lines, strict=True) if a != b]
    assert len(different) == 2
    for a, b in different:
        assert re.sub(r"(?<=\.)[xy]", lambda found: {"x": "y", "y": "x"}[found[0]], a) == b
        assert b not in CELLS["predict"], "the question does not answer itself"
    assert sum(x != y for a, b in different for x, y in zip(a, b, strict=True)) == 6
    assert "Six exchanged letters did that" in PROSE


def test_the_naive_and_the_swapped_kernel_are_those_of_the_catalog():
    for cell, name in (("first", "naive"), ("swapped", "swapped")):
        assert launched(cell)[1].count("sectors") == counts.counted(name).count("sectors")


def test_the_prose_says_what_was_recorded():
    naive, swapped, library = (times.seconds(name) for name in ("naive", "swapped", "cuBLAS"))
    for said in (f"at N = 4096, *row from x* took {swapped / naive:.1f} times as long",
                 f"an H200 needs {1e3 * naive:.0f} ms with one of them, and {1e3 * swapped:.0f} ms with the other",
                 f"only {100 * library / naive:.1f} % of the speed of cuBLAS"):
        assert said in PROSE, said


def test_no_recording_is_faster_than_the_multiply_adds_allow():
    per_second = 1e6 * DEFAULT_DEVICE.clock_mhz * DEFAULT_DEVICE.sms * DEFAULT_DEVICE.cores_per_sm
    for name in (*counts.KERNELS, "cuBLAS"):
        assert all(times.seconds(name, N) > N**3 / per_second for N in (256, 512, 1024, 2048, 4096, 8192)), name
    assert f"the library does just as many in {1e3 * times.seconds('cuBLAS'):.1f} ms" in PROSE


@pytest.mark.parametrize(("kernel", "best"), [("naive", 16), ("swapped", 2)])
def test_the_task_has_one_answer(kernel, best):
    found = {bx: counts.counted(kernel, bx, 16).count("sectors") for bx in (2, 4, 8, 16, 32)}
    assert [bx for bx in found if found[bx] == min(found.values())] == [best]
    assert "sizes = (2, 4, 8, 16, 32)" in CELLS["sliders"], "and so no block has less than a warp"
    assert 'start={"bx": 4, "by": 16}' in CELLS["sliders"]
    assert best != 4, "the sliders do not begin at an answer"
    assert counts.warp_in_c(kernel, best, 16) == (2, 16), "two rows and 16 columns"
    assert facts(counts.counted(kernel, best, 16), ("sectors a step",)) == {"sectors per step, A + B": "4"}


def test_the_other_shapes_of_a_warp_touch_more_sectors():
    assert [times.sectors_of(high) for high in shapes.HEIGHTS] == [5, 4, 5, 9, 17, 33]
    assert "two rows and 16 columns of C. It touches 2 + 2 = 4 sectors in 2 + 1 = 3 lines." in PROSE
    assert "one row and 32 columns touches 1 + 4 = 5 sectors, but in only 1 + 1 = 2 lines" in PROSE
    assert (times.lines_of(1), times.lines_of(2)) == (2, 3)


def test_the_time_goes_with_the_shape_of_the_warp_whatever_the_kernel():
    taken = []
    for high in shapes.HEIGHTS:
        wide = 32 // high
        for kernel, bx in (("naive", wide), ("swapped", high)):
            assert counts.warp_in_c(kernel, bx, 256 // bx) == (high, wide)
            assert 2 * counts.counted(kernel, bx, 256 // bx).sectors_per_request() == times.sectors_of(high)
            assert shapes.recorded(high)[kernel] == f"{1e3 * times.padded(kernel, bx=bx)['median_s']:.1f}"
        taken.append([*map(float, shapes.recorded(high).values())])
    assert all(abs(swapped / naive - 1) < 0.02 for naive, swapped in taken[1:]), "the prose says: within 2 %"
    assert f"*row from x* takes {100 * (taken[0][1] / taken[0][0] - 1):.0f} % longer" in PROSE
    slower = f"It took {times.times_as_long('swapped', 16):.1f} times as long."
    assert "*row from x* touches 17 / 4 = 4.25 times as many sectors as *col from x*" in PROSE
    assert f"17 / 3 = {17 / 3:.1f} times as many lines. {slower}" in PROSE
    assert counts.warp_in_c("naive", 32, 8) == counts.warp_in_c("swapped", 1, 256) == (1, 32)


def test_warps_of_a_single_row_follow_neither_count():
    one, four = ([*shapes.recorded(high).values()] for high in (1, 4))
    assert times.sectors_of(1) == times.sectors_of(4) == 5
    assert f"With {one[0]} or {one[1]} ms it takes less than its five sectors would say, and more than its two lines." in PROSE
    two = float(shapes.recorded(2)["naive"])
    assert two * 2 / 3 < float(one[0]) < float(one[1]) < two * 5 / 4
    assert f"two shapes with five sectors each took {one[0]} and {four[0]} ms" in PROSE


def test_from_two_rows_on_the_times_go_with_the_lines():
    part = {high: [float(ms) / shapes.by_lines(high) for ms in shapes.recorded(high).values()] for high in shapes.HEIGHTS}
    assert all(0.97 < ratio < 1.01 for high in shapes.HEIGHTS[1:] for ratio in part[high]), "the bars end within 3 % of their marks"
    assert "The bars end within 3 % of their marks." in PROSE
    assert min(part[1]) > 1.4, "with one row the mark does not fit"
    assert all(times.lines_of(high) == times.sectors_of(high) for high in shapes.HEIGHTS[2:])
    assert times.lines_of(2) < times.sectors_of(2)
    assert "The mark is 25.4 ms · lines / 3." in CELLS["six-shapes"]
    assert shapes.recorded(2) == {"naive": "25.4", "swapped": "25.4"}
    said = repr(first_kernel.warp_times())
    assert "16 rows, 2 columns, 17 sectors and 17 lines: 140.6 and 141.8 ms, and 143.7 if it went with the lines" in said


@pytest.mark.parametrize(("kernel", "block", "high"), [("naive", (32, 8), 1), ("naive", (16, 16), 2), ("swapped", (16, 16), 16),
                                                     ("swapped", (32, 8), 32)])
def test_a_step_touches_a_line_for_each_row_and_one_of_b(kernel, block, high):
    result = traced(kernel, block, rows=32, columns=32, deep=32)
    asked = [requests(result, array=name, load=True, block=(0, 0, 0), warp=0)[0] for name in "AB"]
    assert sum(np.unique(record.addresses // 128).size for record in asked) == times.lines_of(high)


def by_lines(high):
    """Return the milliseconds of one product if every multiprocessor handled one line per clock cycle at the GPU's highest clock."""
    return times.lines_of(high) * times.N_TIMED**3 / 32 / DEFAULT_DEVICE.sms / (1e3 * DEFAULT_DEVICE.clock_mhz)


def test_from_two_rows_on_the_times_come_close_to_a_line_per_clock_cycle():
    over = []
    for high in shapes.HEIGHTS:
        for kernel, bx in (("naive", 32 // high), ("swapped", high)):
            over.append((high, 1e3 * times.padded(kernel, bx=bx)["median_s"] / by_lines(high) - 1))
    assert min(part for _, part in over) > 0, "no recording is faster than the calculation"
    assert f"at most {100 * max(part for high, part in over if high > 1):.1f} % longer than such a calculation says." in PROSE
    alone = " and ".join(f"{100 * part:.0f}" for high, part in over if high == 1)
    assert f"With one row they are {alone} % longer" in PROSE
    assert "17 · 4096³ / 32 lines. The 132 multiprocessors share them" in PROSE
    assert f"*row from x* would take {by_lines(16):.1f} ms. It took {shapes.recorded(16)['swapped']}." in CELLS["warp-times-told"]
    assert f"a clock of {DEFAULT_DEVICE.clock_mhz:,.0f} MHz at most; we did not record it" in PROSE
    assert all("mhz" not in row and "clock_mhz" not in row for row in PADDED.rows)
    assert DEFAULT_DEVICE.sms == 132
    clocks = [row["mhz"] for row in data.readings("together").find(lesson="03", N=4096, padding=0)]
    assert 0.99 * DEFAULT_DEVICE.clock_mhz < min(clocks) <= max(clocks) <= DEFAULT_DEVICE.clock_mhz


def test_the_picture_of_memory_has_the_bets_numbers():
    said = repr(first_kernel.in_memory())
    before, after = (times.milliseconds("swapped", pad) for pad in (0, 8))
    assert f"in 16 sectors, at 1 position in a line, 16 at each: {before} ms. With rows 4104 floats apart" in said
    assert f"again in 16 sectors, at 4 positions in a line, 4 at each: {after} ms." in said
    for pitch in (4096, 4104):
        assert len({(pitch * row + 3) // 8 for row in range(16)}) == 16
    assert (memory.STEP, touched.STEP, times.LINE * 4) == (3, 3, 128)
    assert {touched.extent(touched.asked(kernel, "C")) for kernel in counts.KERNELS} == {"2 rows and 16 columns", "16 rows and 2 columns"}


@pytest.mark.parametrize("pads", [(0, 0), (8, 0), (0, 8), (8, 8)])
def test_padded_rows_leave_the_sectors(pads):
    """In blocks of 16 × 16 *row from x* touches 17 sectors per step and *col from x* four, whichever rows are padded by one sector."""
    A, B = (np.ones((64, 64 + pad), np.float32)[:, :64] for pad in pads)
    for name, sectors in (("sgemm_swapped", 17), ("sgemm_naive", 4)):
        result = run(name, A, B, bx=16, by=16)
        assert (result.lda, result.ldb) == (64 + pads[0], 64 + pads[1])
        assert 2 * result.sectors_per_request() == sectors


def test_the_recording_of_padded_rows_is_of_its_plan():
    told = [{name: row[name] for name in case} for case, row in zip(recorder.plan(), PADDED.rows, strict=True)]
    assert told == recorder.plan()
    assert all(row["correct"] and row["low_s"] <= row["median_s"] <= row["high_s"] for row in PADDED.rows)
    assert {"N": times.N_TIMED, "after_A": times.PADDING, "after_B": 0, "kernel": "sgemm_swapped", "bx": 16, "by": 16} in recorder.plan()


def test_what_the_unused_floats_show_was_recorded():
    ms = {(kernel, pads): 1e3 * times.padded(kernel, *pads)["median_s"]
          for kernel in counts.KERNELS for pads in ((0, 0), (8, 0), (0, 8), (8, 8))}
    before, after = ms["swapped", (0, 0)], ms["swapped", (8, 0)]
    assert f"Yet it takes {after:.1f} ms instead of {before:.1f}." in CELLS["optional-positions"]
    assert after < before / 2, "less than half the time"
    assert f"touches as many lines, and takes {after:.1f} ms." in CELLS["warp-times-told"]
    assert "the same 17 lines took less than half the time" in CELLS["key-points"]
    assert 0 < before - ms["swapped", (0, 8)] < 1, "after rows of B less than 1 ms"
    assert abs(ms["swapped", (8, 8)] - after) < 0.1


def test_with_as_many_numbers_at_each_position_more_lines_take_more_time():
    few, many = (1e3 * times.padded("swapped", pad, bx=high)["median_s"] for high, pad in ((4, 0), (16, 8)))
    assert set(memory.folded(8).values()) == {0, 4}, "four numbers at each position, as in four rows without unused floats"
    assert f"touches five lines and took {few:.1f} ms" in CELLS["padded-explained"]
    assert f"touches 17 lines and took {many:.1f}" in CELLS["padded-explained"]
    assert (times.lines_of(4), times.lines_of(16)) == (5, 17)


def test_the_more_positions_in_a_line_the_less_time():
    found = sorted((times.positions(pad), times.padded("swapped", pad)["median_s"]) for pad in (0, 1, 4, 8, 16, 32, 64, 1024))
    assert [many for many, _ in found] == [1, 1, 1, 1, 2, 4, 8, 16]
    alone, more = [t for many, t in found if many == 1], [t for many, t in found if many > 1]
    assert alone[0] == times.padded("swapped")["median_s"], "no distance of a whole line is faster than none"
    assert max(alone) < 1.03 * min(alone)
    assert more == sorted(more, reverse=True)
    assert max(more) < min(alone)
    assert [row[1] for row in first_kernel.padded_rows().rows] == [1, 1, 1, 1, 2, 4, 8, 16, 1]


@pytest.mark.parametrize("pads", [(pad, 0) for pad in (0, *times.PADDINGS)] + [(0, times.PADDING)])
def test_unused_floats_leave_the_lines_of_row_from_x(pads):
    for k in (0, 3, 31, 4095):
        of_a = {(row * (times.N_TIMED + pads[0]) + k) // times.LINE for row in range(16)}
        of_b = {(k * (times.N_TIMED + pads[1]) + column) // times.LINE for column in range(2)}
        assert len(of_a) + len(of_b) == times.lines_of(16)


def test_rows_whose_numbers_share_a_position_reach_the_next_line_in_the_same_step():
    for padding in dose.SHOWN:
        steps = {(times.LINE - row * (times.N_TIMED + padding)) % times.LINE for row in range(16)}
        assert len(steps) == times.positions(padding)


def test_the_line_is_what_was_recorded_at_each_number_of_positions():
    assert [times.positions(padding) for padding in dose.SHOWN] == [1, 2, 4, 8, 16]
    drawn = ", ".join(f"{times.positions(pad)} with {pad} unused floats: {times.milliseconds('swapped', pad)} ms" for pad in dose.SHOWN)
    assert drawn in repr(first_kernel.by_positions())


@pytest.mark.parametrize("pad", dose.SHOWN)
def test_sixteen_numbers_share_a_position_and_in_the_faster_kernel_two_do(pad):
    for name, rows in (("sgemm_swapped", 17), ("sgemm_naive", 4)):
        A, B = np.ones((64, 64 + pad), np.float32)[:, :64], np.ones((64, 64), np.float32)
        assert 2 * run(name, A, B, bx=16, by=16).sectors_per_request() == rows, "the sectors stay"
    assert [len(touched.asked(kernel, "A")) for kernel in ("swapped", "naive")] == [16, 2]
    assert sum(memory.folded(pad).values()) == 16


def test_the_speaker_notes_say_what_was_recorded():
    notes = " ".join((ROOT / "docs" / "lecturing" / "03_first_kernel.md").read_text(encoding="utf-8").split())
    row, square = (1e3 * times.padded("naive", bx=bx)["median_s"] for bx in (32, 16))
    assert f"faster: {row:.1f} ms instead of {square:.1f} at N = 4096" in notes
    assert f"Reveal: {first_kernel.shape_costs()}" in notes
    assert f"one line per clock cycle, {by_lines(16):.1f} ms" in notes
    assert f"it takes {times.milliseconds('swapped', times.PADDING)} ms" in notes
    assert f"a whole line, they have another distance, and it takes {times.milliseconds('swapped', times.LINE)} ms" in notes


@pytest.mark.parametrize(("kernel", "bx", "warp"), [("naive", 16, (2, 16)), ("naive", 4, (8, 4)), ("swapped", 32, (32, 1))])
def test_the_picture_of_the_sliders_draws_what_one_warp_touches_and_says_no_count(kernel, bx, warp):
    ax, said = stores.who_stores(counts.counted(kernel, bx, 16))
    high, wide = counts.warp_in_c(kernel, bx, 16)
    assert (high, wide) == warp
    assert touched.extent(touched.asked(kernel, "C", (bx, 16), stores.SIDE)) in said
    many = Counter(to_hex(patch.get_facecolor()).upper() for patch in ax.patches if patch.get_facecolor()[3])
    assert sum(many[stores.LINES[array].upper()] for array in "AB") == times.lines_of(high)
    assert sum(many[stores.SECTORS[array].upper()] for array in "AB") == times.sectors_of(high)
    assert many[stores.HUES["C"].upper()] == 32, "elements of one warp"
    blocks = [patch for patch in ax.patches if patch.get_facecolor()[3] == 0]
    assert len(blocks) == 32 * 32 // (16 * bx)
    assert [text.get_text() for text in ax.texts if re.search(r"\d", text.get_text())] == [stores.CAPTION]


def test_the_picture_of_the_sliders_stands_beside_the_table_or_in_a_narrow_notebook_below_it():
    table, gap, wide, narrow = 370, 12, 1095, 848    # pixels, seen in JupyterLab at 1280 × 800, without and with its file browser
    assert table + gap + 100 * stores.SIZE["width"] <= wide
    assert 100 * stores.SIZE["width"] <= narrow
    assert 110 + 80 + 100 * stores.SIZE["height"] <= 600, "sliders, buttons, the status line and the table above it"


def test_more_than_1024_threads_are_refused():
    A = np.ones((64, 64), np.float32)
    with pytest.raises(CourseError, match="64 × 32 = 2048 threads a block, but at most 1024"):
        run("sgemm_naive", A, A, bx=64, by=32)


def test_the_kernel_for_any_size_is_right_on_every_input():
    said = repr(check(written("sgemm"), counters=False))
    assert "right on 12 of 12 inputs" in said
    assert "no hazard" in said
    assert "no counter was read" in said
    assert "a block of 16 × 16 outputs loads each number that it needs of A and B 4.5 times" in repr(check(written("sgemm")))
    assert (1 + 16 * 16 // 32) / 2 == 4.5
    assert "each number of A is fetched by one warp, and each number of B by all eight: (1 + 8) / 2 = 4.5 times on average" in PROSE


def test_without_its_guard_the_first_kernel_leaves_the_array():
    shown = next(cell for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"] if cell["id"] == "unguarded")["outputs"]
    assert "reads B[1600], but B has 1600 elements" in str(shown)
    assert (-(-40 // 16), -(-40 // 16) * 16 - 40) == (3, 8), "48 threads, eight without a row or a column"


def test_with_its_guard_the_first_kernel_is_right_for_40_rows():
    guard, loop = "if (row >= N || col >= N) return;", "    float sum = 0.0f;"
    assert f"<summary><b>The guard</b></summary>\n\n`{guard}`" in CELLS["write-sgemm"], "behind a click"
    assert PROSE.count(guard) == 1
    A, B = (cp.asarray(np.random.default_rng(3).standard_normal((40, 40), dtype=np.float32)) for _ in "AB")
    C = cp.zeros((40, 40), dtype=np.float32)
    cp.RawKernel(written("first").replace(loop, f"    {guard}\n{loop}"), "first")((3, 3), (16, 16), (np.int32(40), A, B, C))
    assert matches(C.get(), A.get(), B.get())


def test_each_kind_of_size_that_the_prose_names_is_tried():
    sizes = {n for case in all_cases({"BM": 16, "BN": 16, "BK": 1}) for n in (case.M, case.N)}
    assert sizes >= {1, 15, 17, 37, 53}, "one more or one less than a block, primes, 1"
    assert len(all_cases({"BM": 16, "BN": 16, "BK": 1})) == 12


def test_the_slides_unit_is_the_second():
    first = times.CPU[0] * 1e-3
    assert f"{2 * 256**3 / first / 1e9:.0f} GFLOP/s at N = 256" in PROSE
    assert recorded.peak().gflops < 0.5 * 2 * 256**3 / first / 1e9, "cannot do half of that"
    assert times.INITIAL[0] == times.INITIAL[1]
    assert [row[3] for row in first_kernel.slides().rows] == ["0.5", "4.9", "37.7", "347.1", "364.2"]


def test_the_scoreboards_speeds_are_shares_of_the_librarys():
    assert [row[1:] for row in first_kernel.scoreboard().rows] == [
        ("17", "141.8", "1.9%"), ("3", "25.4", "10.6%"), ("", "2.7", "100.0%")]


def test_the_plans_thread_is_where_the_prose_says():
    assert "lane 19 of warp 2 and computes the element in row 0 · 16 + 5 = 5 and column 1 · 16 + 3 = 19" in repr(first_kernel.plan())
    assert divmod(5 * 16 + 3, 32) == (2, 19)
    assert "its column is 1 · 16 + 3 = 19" in PROSE
    assert "its row is 0 · 16 + 5 = 5" in PROSE
    assert "8 columns to the right and 8 rows below are outside C. These are 704 of 2,304 threads" in repr(first_kernel.surplus())


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    made, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/03_first_kernel.ipynb")
    copy = nbformat.reads(made.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    needs = {"launched": "first", "swapped-launched": "swapped", "unguarded": "first", "check": "sgemm"}
    for cell, kernel in needs.items():
        assert f"{kernel} is not written yet" in said[cell], (cell, said[cell])
    assert "is not written yet" in said["beside"]
    assert "4.25" not in said["beside"]
