"""Lesson 03: what it promises, and every number that its prose says."""

import ast
import dataclasses
import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import cp
from course_lib.arch import DEFAULT_DEVICE
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.lessons import first_kernel
from course_lib.lessons.cpu import recorded
from course_lib.lessons.first_kernel import counts, stores, times
from course_lib.magic import from_cell
from course_lib.run import matches, run
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "03_first_kernel.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = " ".join(" ".join(CELLS.values()).split())


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
    assert first_kernel.beside(one, other).rows[1][-1] == "4.25"
    assert first_kernel.beside(one, other).rows[2] == ("sectors per step, A + B", "4", "17", "4.25")
    assert 256**2 == 65_536
    with pytest.raises(CourseError, match="no counters"):
        first_kernel.beside(one, dataclasses.replace(other, counters=None))


def test_in_the_second_kernel_six_characters_are_exchanged():
    lines = [[line.strip() for line in written(name).replace("swapped", "first").splitlines()] for name in ("first", "swapped")]
    different = [(a, b) for a, b in zip(*lines, strict=True) if a != b]
    assert len(different) == 2
    for a, b in different:
        assert re.sub(r"(?<=\.)[xy]", lambda found: {"x": "y", "y": "x"}[found[0]], a) == b
        assert b in CELLS["predict"], "the question shows these lines"
    assert sum(x != y for a, b in different for x, y in zip(a, b, strict=True)) == 6


def test_the_naive_and_the_swapped_kernel_are_those_of_the_catalog():
    for cell, name in (("first", "naive"), ("swapped", "swapped")):
        assert launched(cell)[1].count("sectors") == counts.counted(name).count("sectors")


def test_the_prose_says_what_was_recorded():
    naive, swapped, library = (times.seconds(name) for name in ("naive", "swapped", "cuBLAS"))
    for said in (f"one of them takes {1e3 * naive:.1f} ms on an H200, and the other {1e3 * swapped:.0f} ms",
                 f"and took {swapped / naive:.1f} times as long at N = 4096", f"and takes {swapped / naive:.1f} times as long",
                 f"It took {1e3 * swapped:.0f} ms before", f"only {100 * library / naive:.1f} % of the speed of cuBLAS"):
        assert said in PROSE, said
    assert "touches 4.25 times as many sectors" in CELLS["explained"]


def test_no_recording_is_faster_than_the_multiply_adds_allow():
    per_second = 1e6 * DEFAULT_DEVICE.clock_mhz * DEFAULT_DEVICE.sms * DEFAULT_DEVICE.cores_per_sm
    for name in (*counts.KERNELS, "cuBLAS"):
        assert all(times.seconds(name, N) > N**3 / per_second for N in (256, 512, 1024, 2048, 4096, 8192)), name
    assert f"the library does just as many in {1e3 * times.seconds('cuBLAS'):.1f} ms" in PROSE


@pytest.mark.parametrize(("kernel", "best"), [("naive", 16), ("swapped", 2)])
def test_the_task_has_one_answer(kernel, best):
    found = {bx: counts.counted(kernel, bx, 16).count("sectors") for bx in (1, 2, 4, 8, 16, 32, 64)}
    assert [bx for bx in found if found[bx] == min(found.values())] == [best]
    assert 'start={"by": 16}' in CELLS["sliders"]
    assert counts.warp_in_c(kernel, best, 16) == (2, 16), "two rows and 16 columns"


def test_the_time_goes_with_the_shape_of_the_warp_whatever_the_kernel():
    taken = []
    for high, (covers, sectors, *found) in zip(times.HEIGHTS, first_kernel.warp_times().rows, strict=True):
        shape = high, 32 // high
        assert tuple(map(int, re.findall(r"\d+", covers))) == shape
        for kernel, bx, ms in zip(counts.KERNELS, (shape[1], high), found, strict=True):
            block = bx, 256 // bx
            assert counts.warp_in_c(kernel, *block) == shape
            assert 2 * counts.counted(kernel, *block).sectors_per_request() == sectors
            assert ms == f"{1e3 * times.seconds_by_block(kernel)[block]:.1f}"
        taken.append([float(ms) for ms in found])
    assert all(abs(swapped / naive - 1) < 0.02 for naive, swapped in taken[1:]), "the prose says: within 2 %"
    assert all(list(column) == sorted(column) for column in zip(*taken[1:], strict=True)), "from line to line"


def test_warps_of_a_single_row_touch_the_sectors_of_four_rows_and_take_another_time():
    single, _, four, *_ = first_kernel.warp_times().rows
    assert single[1] == four[1] == 5
    assert f"take {single[2]} and {single[3]} ms instead of {four[2]}" in CELLS["warp-times-told"]


def test_the_picture_of_memory_has_the_bets_numbers():
    said = repr(first_kernel.in_memory())
    (*_, before), (*_, after), *_ = first_kernel.padded_rows().rows
    assert f"in 16 sectors: {before} ms. With rows 4100 floats apart" in said
    assert f"again in 16 sectors: {after} ms." in said
    for pitch in (4096, 4100):
        assert len({pitch * row // 8 for row in range(16)}) == 16


def test_padded_rows_leave_the_sectors_and_change_the_time():
    (_, _, before, bare), (_, _, after, padded), (*_, naive), (*_, control) = first_kernel.padded_rows().rows
    assert before == after == "17", "counted by the profiler at N = 1024"
    for pitch in (4096, 4100):
        B = [pitch * k + np.array([c, c + 1]) for k in range(64) for c in range(0, 32, 2)]
        assert {len(np.unique(numbers // 8)) for numbers in B} == {1}, "and so it is at N = 4096"
    assert first_kernel.padded_ms() == float(padded)
    assert "*Row from x* still touches 17 sectors per step" in CELLS["explained"]
    assert f"take {float(bare) - float(padded):.0f} of {float(bare):.0f} ms away" in CELLS["padded-explained"]
    assert f"it takes {control} instead of {naive} ms" in CELLS["padded-explained"]
    ratios = [times.padded(padding)["median_s"] / times.padded(padding, "naive")["median_s"] for padding in (times.PADDING, 0)]
    assert f"now takes {ratios[0]:.2f} times as long, and no longer {ratios[1]:.1f} times" in CELLS["padded-explained"]
    assert float(bare) - float(padded) > 0.7 * (float(bare) - 1e3 * times.seconds("naive")), "most of what row from x loses"
    assert "gets four unused floats at its end" in CELLS["explained"]
    assert times.PADDING == 4
    in_sectors = [len({(pitch * k + c) // 8 for c in range(16)}) for pitch in (4096, 4100) for k in (0, 1)]
    assert in_sectors == [2, 2, 2, 3], "every other row of B begins in the middle of a sector: half a sector more per step"


def test_the_speaker_notes_say_what_was_recorded():
    notes = " ".join((ROOT / "docs" / "lecturing" / "03_first_kernel.md").read_text(encoding="utf-8").split())
    row, square = (1e3 * times.seconds_by_block("naive")[block] for block in ((32, 8), (16, 16)))
    assert f"faster: {row:.1f} ms instead of {square:.1f} at N = 4096" in notes
    assert f"It took {1e3 * times.padded(0)['median_s']:.0f} ms" in notes
    assert f"Reveal: {first_kernel.padded_ms()} ms" in notes


def test_the_picture_of_the_sliders_stands_beside_the_table_in_a_narrow_notebook():
    table, gap, narrow = 370, 12, 848            # pixels, seen in JupyterLab at 1280 × 800 with its file browser open
    assert table + gap + 100 * stores.SMALL["width"] <= narrow
    assert 110 + 100 * stores.SMALL["height"] <= 450, "sliders, buttons and the status line above it"


def test_more_than_1024_threads_are_refused():
    A = np.ones((64, 64), np.float32)
    with pytest.raises(CourseError, match="64 × 32 = 2048 threads a block, but at most 1024"):
        run("sgemm_naive", A, A, bx=64, by=32)


def test_the_kernel_for_any_size_is_right_on_every_input():
    said = repr(check(written("sgemm")))
    assert "right on 12 of 12 inputs" in said
    assert "no hazard" in said
    assert "1 counter looks bad" in said
    assert "a block of 16 × 16 outputs loads each number that it needs of A and B 4.5 times on average" in said
    assert (1 + 16 * 16 // 32) / 2 == 4.5
    assert "a number of A is fetched by one warp, and a number of B by all eight: (1 + 8) / 2 = 4.5 times on average" in PROSE


def test_without_its_guard_only_whole_blocks_are_right():
    broken = written("unguarded-kernel")
    guarded, comment = (next(line for line in text.splitlines() if "return;" in line) for text in (written("sgemm"), broken))
    assert comment.replace("// ", "") == guarded, "the same kernel, with its guard behind a comment"
    said = repr(check(broken))
    assert "right on 5 of 12 inputs" in said
    assert "thread (1, 0, 0) of block (1, 0, 0) reads B[17], but B has 17 elements" in said
    assert "M=16 N=17 K=1" in said
    assert first_kernel.right_inputs(check(broken)) == 5


def test_the_slides_unit_is_the_second():
    first = times.CPU[0] * 1e-3
    assert f"{2 * 256**3 / first / 1e9:.0f} GFLOP/s at N = 256" in PROSE
    assert recorded.peak().gflops < 0.5 * 2 * 256**3 / first / 1e9, "cannot do half of that"
    assert times.INITIAL[0] == times.INITIAL[1]
    assert [row[3] for row in first_kernel.slides().rows] == ["0.5", "4.9", "37.7", "347.1", "364.2"]


def test_the_scoreboards_speeds_are_shares_of_the_librarys():
    assert [row[1:] for row in first_kernel.scoreboard().rows] == [
        ("8.5", "141.8", "1.9%"), ("2", "25.4", "10.6%"), ("", "2.7", "100.0%")]


def test_the_plans_thread_is_where_the_prose_says():
    assert "lane 19 of warp 2 and computes the element in row 1 · 16 + 5 = 21 and column 0 · 16 + 3 = 3" in repr(first_kernel.plan())
    assert divmod(5 * 16 + 3, 32) == (2, 19)
    assert "its column is 0 · 16 + 3 = 3" in PROSE
    assert "its row is 1 · 16 + 5 = 21" in PROSE
    assert (-(-70 // 16), -(-70 // 16) * 16 - 70) == (5, 10), "80 threads, ten without a column"
    assert "10 columns to the right and 8 rows below are outside C. These are 1,040 of 3,840 threads" in repr(first_kernel.surplus())


def test_the_second_half_runs_without_the_first():
    cells = [cell for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    order = [cell["id"] for cell in cells]
    half = [cell["id"] for cell in cells[order.index("back"):order.index("quiz") + 1]]
    assert half[0] == "back"
    made = re.findall(r"import (.*)", CELLS["back"])
    known = {name.strip() for line in made for name in line.split(",")}
    for cell in half[1:]:
        if CELLS[cell].startswith("%%cuda "):
            known.add(from_cell(CELLS[cell])[0])
            continue
        tree = ast.parse(CELLS[cell])
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        known |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert used <= known, (cell, used - known)


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    made, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/03_first_kernel.ipynb")
    copy = nbformat.reads(made.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    needs = {"launched": "first", "swapped-launched": "swapped", "check": "sgemm", "reveal-guard": "unguarded"}
    for cell, kernel in needs.items():
        assert f"{kernel} is not written yet" in said[cell], (cell, said[cell])
    for cell in ("beside", "unguarded"):
        assert "is not written yet" in said[cell], (cell, said[cell])
        assert not any(number in said[cell] for number in ("8.5", "it is 17", "it is 5 "))
