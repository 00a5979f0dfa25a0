"""Lesson 04: what it promises, and every number that its prose says."""

import dataclasses
import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.explorables import overtaking
from course_lib.lessons import tiling
from course_lib.lessons.tiling import counts, times
from course_lib.magic import from_cell
from course_lib.model.banks import shared_wavefronts
from course_lib.run import run
from course_lib.run.listing import COLUMNS
from course_lib.run.traces import every_warp, requests
from course_lib.unwritten import DOES_NOT_COMPILE, NOT_WRITTEN, Unwritten
from course_lib.widgets.compute import evaluate, inputs
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "04_tiling.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
NOTES = (ROOT / "docs" / "lecturing" / "04_tiling.md").read_text(encoding="utf-8")
PROSE = " ".join(" ".join(CELLS.values()).split())


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def test_the_picture_of_the_race_is_of_the_readers_own_kernel(mine):
    shown = tiling.overtaking(mine.replace("#define T 16", "#define T 8"))
    first, *others = [step for step in shown.states["out"]["steps"] if step["kind"] == "multiply" and step["tile"] == 0]
    assert (first["warp"], first["spoilt"]) == (0, []), "the first warp to multiply finds its tiles whole"
    assert all(len(step["spoilt"]) == 32 for step in others), "and only that"
    assert len(shown.states["out"]["wrong"]) == 224
    assert "the other 224 are wrong" in PROSE
    stored = [set(step["writes"]["As"]) for step in shown.states["out"]["steps"][:8]]
    for step in (first, *others):
        assert set(step["reads"]["As"]) == stored[step["warp"]], "a warp reads only the rows of As that it stored itself"
        assert not step["early"]["As"]
    order = [(step["kind"], step["warp"], step["tile"]) for step in shown.states["out"]["steps"][9:12]]
    assert order == [("multiply", 0, 0), ("fill", 0, 1), ("multiply", 1, 0)], "warp 0 multiplies, then overwrites; only then warp 1 reads"
    assert shown.states["there"]["wrong"] == []
    with pytest.raises(CourseError, match="no __syncthreads"):
        tiling.overtaking("#define T 16")


def test_while_the_kernel_is_not_written_the_race_is_played_with_the_courses_own():
    for why in (NOT_WRITTEN, DOES_NOT_COMPILE):
        shown = tiling.overtaking(Unwritten("tiled", why))
        assert len(shown.states["out"]["wrong"]) == 224
        assert shown.states["instead"] == f"tiled {why}, so this is the course's sgemm_tiled."
        assert shown.static_text().startswith(shown.states["instead"])
    assert "instead" not in overtaking().states


def test_the_sliders_begin_at_another_tile_than_the_one_to_compare():
    begins = dict(re.findall(r'"(\w+)": (\d+)', re.search(r"start=({.*?})", CELLS["sliders"])[1]))
    assert begins == {"BM": "8", "BN": "8", "BK": "16"}
    ax, _ = tiling.tile_and_loads(evaluate("sgemm_tiled", 256, {"BM": 8, "BN": 8, "BK": 16}, backend="sim"))
    assert [tile.get_height() for tile in ax.patches] == [1, 0.5]


def test_a_tiles_area_and_edges_are_its_work_and_its_loads():
    for BM, BN, words in ((32, 8, "Now 32 × 8: area 256 multiply-adds for each k, edges 32 + 8 = 40 loads."),
                          (64, 16, "Now 64 × 16: area 1,024 multiply-adds for each k, edges 64 + 16 = 80 loads.")):
        ax, alt = tiling.tile_and_loads(evaluate("sgemm_tiled", 256, {"BM": BM, "BN": BN, "BK": 16}, backend="sim"))
        assert words in alt
        assert "16 × 16: area 256 multiply-adds for each k, edges 16 + 16 = 32 loads." in alt
        assert alt.endswith(f"tiles of 16 × 16 {1 / 64:.4f}, tiles of {BM} × {BN} {(1 / BM + 1 / BN) / 8:.4f}.")
        drawn = [(tile.get_height() / tile.get_width(), tile.get_height()) for tile in ax.patches]
        assert drawn == [(1, 16 / BM), (BM / BN, 1)], "to one scale, and the larger one fills its place"
    assert "edges of the one are 32 + 8 = 40 long, and those of the other 16 + 16 = 32" in PROSE
    assert "Work grows with the area" in PROSE


def test_the_lecturers_lines_make_a_right_kernel():
    frame, dictated = re.findall(r"```cuda\n(.*?)```", NOTES, re.DOTALL)
    hole = "    // the room dictates what stands here\n"
    assert hole in frame
    head, _, _ = from_cell(CELLS["mine"])[1].partition("    // BEGIN SOLUTION")
    head = head or from_cell(CELLS["mine"])[1].partition("    __shared__")[0]
    assert check(head + frame.replace(hole, dictated) + "}\n").right
    assert len(dictated.splitlines()) == 7


def test_a_kernel_without_conditions_is_out_of_bounds_first_and_the_notes_name_them_all(mine):
    store = re.search(r"write the store as\n`(.*?)`", NOTES)[1]
    conditions = re.findall(r"`(row < M && k0 \+ tx < K|k0 \+ ty < K && col < N)`", NOTES)
    bare = mine.replace(f"    if (row < M && col < N)\n        {store}", f"    {store}")
    assert "(`row < M && col < N`)" in NOTES
    assert len(conditions) == 2
    for condition in conditions:
        bare = re.sub(re.escape(condition) + r" \? (.*?) : 0\.0f", r"\1", bare)
    assert not re.search(r"[MNK] \?|if \(", bare)
    assert check(bare).findings[0].kind == "out of bounds"
    unasked = check(bare.replace("(beta == 0.0f ? 0.0f : beta * C[row * ldc + col])", "beta * C[row * ldc + col]"))
    assert "nan" in unasked.findings[0].message.lower()


def test_check_finds_what_the_notes_say_of_the_rooms_mistakes(mine):
    for old, new, line, says in (
            ("B[(k0 + ty) * ldb + col]", "B[k0 + ty * ldb + col]", "Bs[ty][tx] =", "needs B[16][0], and its block never loads that"),
            ("As[ty][k] * Bs", "As[ty][tx] * Bs", "sum +=", "reads As[0][0] here for every k"),
            ("row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f", "A[row * lda + k0 + tx]", "As[ty][tx] =", "Guard the access")):
        assert old in mine
        finding = check(mine.replace(old, new)).findings[0]
        assert line in finding.source_line
        assert says in finding.message


def test_the_notes_name_places_by_headings_that_are_there():
    plan = NOTES[NOTES.index("## The plan"):NOTES.index("## The order of typing")]
    places = re.findall(r"^\| \d+ \| \*\*([^*]+)\*\*", plan, re.MULTILINE)
    assert len(places) == 8
    headings = " ".join(line for text in CELLS.values() for line in text.splitlines() if line.startswith("#"))
    assert all(place in headings for place in places)


def test_the_worked_kernel_is_right_on_every_input(mine):
    assert "right on 12 of 12 inputs" in repr(check(mine))


def test_tiles_of_16_load_eight_times_fewer_sectors_in_sixteen_times_fewer_requests(mine):
    A, B, _ = inputs(256, 256, 256)
    naive, tiled = counts.counted("naive", 16), run(mine, A, B)
    assert naive.count("requests") == 16 * tiled.count("requests")
    assert naive.count("sectors") == 8 * tiled.count("sectors") == 8 * 262_144
    assert (naive.sectors_per_request(), tiled.sectors_per_request()) == (2, 4)
    table = tiling.beside_naive(tiled)
    assert [row[-1] for row in table.rows] == ["16 times", "8 times", ""]
    assert "16 × 16 blocks load 262,144" in PROSE


def test_sixteen_requests_for_each_matrix_become_one_that_brings_twice_as_many_sectors(mine):
    """One warp, 16 values of k: what the fold on eight and not sixteen says of A and of B."""
    A, B, _ = inputs(16, 16, 16)
    first = [((0, 0, 0), 0)]
    for name in "AB":
        naive, tiled = (
            [len({address // 32 for address in record.addresses if address >= 0}) for record in requests(result, array=name, load=True)]
            for result in (run("sgemm_naive", A, B, bx=16, by=16, trace=first), run(mine, A, B, trace=first)))
        assert (naive, tiled) == ([2] * 16, [4]), name
    assert "The naive warp makes 32 requests" in PROSE
    assert "The tiled warp makes 2 requests" in PROSE
    assert "which are 4 sectors. That is 8 sectors." in PROSE


def test_what_the_readers_own_mistakes_are_told(mine):
    broken = check(tiling.without_last_barrier(mine))
    race = broken.findings[0]
    assert race.kind == "hazard"
    assert "thread (0, 0) writes Bs[0][0]" in race.message
    assert "thread (0, 2) reads it" in race.message, "of another warp"
    assert "On this input the result is wrong" in race.message
    assert "the result is right on 9 of 12 inputs, on 8 of them without a hazard" in repr(broken)
    assert "The result is right on nine of the twelve. Eight of the nine have a K of at most 16" in PROSE
    passed, lucky = ([case for case in broken.inputs if (case.passed, case.result) == how] for how in ((True, False), (False, True)))
    depths = {case.name: int(re.search(r"K=(\d+)", case.detail)[1]) for case in broken.inputs}
    assert (len(passed), len(lucky), len(broken.inputs)) == (8, 1, 12)
    assert {name for name, K in depths.items() if K <= 16} == {case.name for case in passed}
    assert lucky[0].detail.startswith("M=1 N=17 K=37")
    assert f"The ninth is *{lucky[0].name}*. Its K is 37" in PROSE
    assert "result right, but a hazard" in broken._repr_html_()
    start = "    float sum = 0.0f;"
    left = check(mine.replace(start, f"    if (row >= M || col >= N) return;\n{start}")).findings[0]
    assert "sum +=" in left.source_line
    assert "Did threads return before the load?" in left.message
    full = "row < M && k0 + tx < K ? A[row * lda + k0 + tx] : 0.0f;"
    assert full in mine
    filled = "if (row < M && k0 + tx < K) { As[ty][tx] = A[row * lda + k0 + tx]; }"
    unfilled = check(mine.replace(f"As[ty][tx] = {full}", filled)).findings[0]
    assert unfilled.message.partition(". See")[0].endswith("fill the whole tile, with 0 beyond the matrix")


def tiled(N, BM, BN, BK):
    """Return the sectors that the tiled kernel loads for N × N matrices."""
    return evaluate("sgemm_tiled", N, {"BM": BM, "BN": BN, "BK": BK}, backend="sim").count("sectors")


@pytest.mark.slow
def test_the_formula_is_what_is_counted_where_rows_of_the_tiles_are_whole_sectors():
    for BM, BN, BK in ((8, 8, 8), (16, 16, 64), (32, 8, 16), (32, 32, 32)):
        assert tiled(256, BM, BN, BK) == 256**3 * counts.sectors_per_multiply_add(BM, BN)
    for BM, BN, BK, more in ((16, 24, 24, 1), (16, 8, 24, 1), (12, 16, 16, 1), (16, 12, 16, 1.5), (16, 16, 12, 7 / 6)):
        expected = more * 96**3 * counts.sectors_per_multiply_add(BM, BN)
        assert tiled(96, BM, BN, BK) == pytest.approx(expected), "multiples of 8, and not only 8 or more"
    for N in (100, 104):
        assert tiled(N, 16, 16, 16) > N**3 / 64, "16 does not divide N, and rows of 100 floats are no whole sectors"
    assert "when the tiles divide the matrices, and every row of a tile consists of whole sectors" in PROSE
    assert "when tiles divide the matrices and consist of whole sectors" in CELLS["key-points"]
    assert counts.sectors_per_multiply_add(32, 8) / counts.sectors_per_multiply_add(16, 16) == 1.25, "a quarter more"


def test_the_threads_of_other_tiles_share_the_loads():
    """Elements of a tile that each thread loads, for one value of k0."""
    A, B, _ = inputs(64, 64, 16)
    for BM, BN, expected in ((16, 16, {"A": [256], "B": [256]}), (8, 8, {"A": [64, 64], "B": [64, 64]}),
                             (64, 16, {"A": [1024], "B": [256]})):
        result = run("sgemm_tiled", A, B, BM=BM, BN=BN, BK=16, trace=every_warp((1, 1), (BN, BM)))
        for name, loading in expected.items():
            by_thread = np.zeros((BM * BN // 32, 32), int)
            for record in requests(result, array=name, load=True):
                by_thread[record.warp] += record.addresses >= 0
            assert [int((by_thread > often).sum()) for often in range(len(loading))] == loading, (BM, BN, name)


def test_what_cannot_be_shown_is_said(mine):
    A, B, _ = inputs(64, 64, 64)
    with pytest.raises(CourseError, match="no __syncthreads"):
        tiling.without_last_barrier("__global__ void f() {}")
    with pytest.raises(CourseError, match="no counters"):
        tiling.beside_naive(dataclasses.replace(run(mine, A, B), counters=None))


def test_the_prose_says_what_was_recorded():
    naive, tile16 = (times.seconds(variant, 16) for variant in ("naive", "tiled"))
    library = data.load("ladder").find("cuBLAS", 4096)[0].seconds
    for said in (f"in {1e3 * naive:.1f} ms on an H200", f"cuBLAS, needs {1e3 * library:.1f} ms, so we reach about a tenth of its speed",
                 f"Tiling makes the kernel only {naive / tile16:.2f} times faster, although it loads 8 times fewer sectors",
                 f"the kernel was {naive / tile16:.2f} times faster at N = 4096", f"we gain {100 * (float(times.gain(4096)) - 1):.0f} %",
                 f"tiling gains {100 * (times.INITIAL[-1] / times.TILING[-1] - 1):.0f} %"):
        assert said in PROSE, said
    assert 0.09 < library / naive < 0.11


def test_the_bars_are_what_was_asked_of_either_cache():
    assert "naive: asked of L1, 134.2; tiled: asked of L1, 16.8; naive: asked of L2, 14.6; tiled: asked of L2, 12.9" in repr(tiling.asked())
    assert "The tiled kernel's L1 asks L2 for 12.9 million sectors instead of 14.6 million, only 12 % fewer" in CELLS["asked-told"]
    before = " ".join(list(CELLS.values())[:list(CELLS).index("gains")])
    assert not any(answer in before for answer in ("12.9", "12 % fewer", "answered by L1")), "the reader guesses first"
    assert list(CELLS).index("gains") > list(CELLS).index("key-points"), "behind the main path"


def test_the_line_of_the_products_has_fewer_wavefronts_than_reads(mine):
    line = 1 + mine[:mine.index("sum += As[ty][k]")].count("\n")
    A, B, _ = inputs(64, 64, 64)
    result = run(mine, A, B)
    assert COLUMNS["shared wavefronts"](result.lines[line]) == 12_288
    assert 128 * 64 * 2 == 16_384
    assert "execute the line of the products 64 times each, with two reads of shared memory" in PROSE
    assert "this line would have 16,384. Our kernel has 12,288: 8,192 for `Bs`, and 4,096 for `As`" in PROSE
    assert COLUMNS["shared accesses"](result.lines[line]) == 128 * 64 + 128 * 64 // 4, "each read of Bs, and one of four elements of As"
    two_rows = 64 * (np.arange(32) // 16)                # of 16 floats: what a warp reads of As at once, four floats per lane
    assert shared_wavefronts(two_rows, 16) == 2, "instead of four"
    assert 128 * 64 + 2 * 128 * 64 // 4 == 12_288
    apart = run(mine.replace("__shared__ float", "__shared__ volatile float"), A, B)
    assert COLUMNS["shared wavefronts"](apart.lines[line]) == 16_384, "where the compiler must not join reads"


def test_no_modelled_limit_stands_above_a_recorded_time():
    rows = [tuple(map(float, row[1:])) for row in tiling.limits().rows]
    assert all(recorded > on_chip > multiply for recorded, on_chip, multiply in rows)
    on_chip, multiply = [round(100 * row[1] / row[0]) for row in rows], [round(100 * row[2] / row[0]) for row in rows]
    assert f"L1 and shared memory need {min(on_chip)} to {max(on_chip)} % of the recorded time" in CELLS["limits-told"]
    assert f"the multiply-adds {max(multiply)} % at most" in CELLS["limits-told"]
    assert f"alone need {on_chip[0]} % of the naive kernel's recorded time at N = 1024, and {on_chip[1]} % of the tiled one's" in PROSE
    assert "the share is modelled, not measured" in CELLS["scoreboard-told"]


def test_no_closed_answer_is_told_by_its_title_or_by_the_cell_above_it():
    visible = {name: re.sub(r"</summary>.*?</details>", "", text, flags=re.DOTALL) for name, text in CELLS.items()}
    for name in ("title", "watch", "break", "repair"):
        assert not re.search(r"right answer|by luck|224|does the answer not show|came first|first warp to multiply", visible[name]), name


def test_tiling_spares_the_second_cache_little_and_the_large_memory_nothing():
    rows = [tuple(map(float, row[1:])) for row in tiling.traffic().rows]
    for (naive, tiled), fewer, percent, faster in zip((rows[:2], rows[2:]), (8, 20), (12, 15), (1.5, 1.3), strict=True):
        l1, l2, _, time = (a / b for a, b in zip(naive, tiled, strict=True))
        assert (round(l1), round(100 * (1 - 1 / l2)), round(time, 1)) == (fewer, percent, faster)
        assert naive[1] - tiled[1] < 0.02 * (naive[0] - tiled[0]), "nearly all that tiling saves had been answered by L1"
    assert f"the naive kernel takes {rows[0][3]:.0f} µs and the tiled one {rows[1][3]:.0f} µs, so tiling makes it 1.5 times faster" in PROSE
    assert "The tiled kernel asks L1 for 8 times fewer sectors" in PROSE
    assert "tiling asks L1 for 20 times fewer sectors, and L1 asks L2 for 15 % fewer. The kernel becomes 1.3 times faster" in PROSE
    (asked16, read16, _, time16), _, (asked32, read32, _, time32), _ = rows
    assert {row[2] for row in rows} == {8.4}
    assert (round(asked32 / asked16, 2), round(read32 / read16, 1)) == (1.25, 0.5)
    assert time32 < time16, "the naive kernel with more sectors is faster"
    delivered = {times.product(*kernel, 1024, "count")["dram_bytes_read"] for kernel in times.PAIRS}
    assert {round(each / 1e6, 1) for each in delivered} == {round(2 * 4 * 1024**2 / 1e6, 1)} == {8.4}, "both matrices, once"


@pytest.mark.parametrize(("T", "A", "B"), [(16, 2, 2), (32, 1, 4)])
def test_a_naive_warp_asks_for_one_sector_per_row_and_for_its_columns(T, A, B):
    X, Y, _ = inputs(32, 32, 32)
    result = run("sgemm_naive", X, Y, bx=T, by=T, trace=[((0, 0, 0), 0)])
    for name, expected in (("A", A), ("B", B)):
        asked = [len({address // 32 for address in record.addresses if address >= 0}) for record in requests(result, array=name, load=True)]
        assert set(asked) == {expected}, name


def test_the_scoreboard_has_sectors_times_and_shares_of_the_librarys_speed(monkeypatch):
    drawn = []
    monkeypatch.setattr(times, "render", lambda figure, alt: drawn.append(figure) or alt)
    alt = tiling.scoreboard()
    assert "naive kernel, 0.1250 sectors, 25.4 ms (10.6%); tiled kernel, 0.0156 sectors, 17.6 ms (15.3%); " in alt
    assert "NVIDIA's cuBLAS, 2.7 ms (100.0%)" in alt
    assert "Sectors: 8 times fewer. Time: 1.44 times faster." in alt
    assert "2026-11-24, that of cuBLAS on another day, 2026-11-21" in alt
    left, right = drawn[0].axes
    assert [bar.get_width() for bar in left.patches] == [0.125, 0.015625]
    assert [round(bar.get_width(), 1) for bar in right.patches] == [25.4, 17.6, 2.7]
    assert [label.get_text() for label in left.texts] == ["0.1250", "0.0156", " not counted"]
    assert [label.get_text() for label in right.texts] == ["25.4 ms (10.6%)", "17.6 ms (15.3%)", "2.7 ms (100.0%)"]


def test_the_slides_table_is_tilings_gain_over_the_kernel_before():
    rows = tiling.slides().rows
    assert [row[3] for row in rows] == ["", "", "1.27", "1.10", "1.03"]
    assert float(rows[0][4]) < 1, "at N = 256 tiling loses"


def test_the_prose_tells_true_sizes():
    assert (16 * 4096 + 4096 * 16) * 4 == 512 * 1024
    assert "With K = 4096 that is 512 KiB" in PROSE


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    made, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/04_tiling.ipynb")
    copy = nbformat.reads(made.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "reveal", "beside", "home"):
        assert "tiled is not written yet" in said[cell], cell
    assert "262144" not in said["reveal"].replace(",", "")
    assert "image" in said["scores"]
    assert "tiled is not written yet, so this is the course's sgemm_tiled. The eight warps" in said["overtaking"]
