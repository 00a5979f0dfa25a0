"""Lesson 05: what it promises, and every number that its prose says."""

import json
import os
import re
import sys
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from nbclient import NotebookClient

from course_lib import cp, data, kernels, model
from course_lib.arch import device
from course_lib.check import check
from course_lib.lessons import coalescing
from course_lib.lessons.coalescing import experiments, products, strides
from course_lib.lessons.coalescing.columns import LEADING
from course_lib.magic import from_cell
from course_lib.plots import requests, style
from course_lib.run import run, run_gather
from course_lib.run.listing import COLUMNS
from course_lib.simt import launch
from course_lib.toolchain import compile_cuda, sass
from course_lib.widgets.compute import evaluate, floats, inputs
from tools import my_course
from tools.record import coalescing as recorder

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "05_coalescing.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))

LECTURE = (ROOT / "docs" / "lecturing" / "05_coalescing.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def repaired():
    """Return the worked kernel whose load of B the reader writes."""
    return from_cell(CELLS["repaired"])[1]


def picked(offset, stride, n=4096):
    """Launch the worked kernel of the lesson's first blank cell; return (is the result right, sectors per request)."""
    image = cp.asarray(np.random.default_rng(5).random(stride * n + offset, dtype=np.float32))
    out = cp.zeros(n, dtype=np.float32)
    cp.RawKernel(from_cell(CELLS["pick"])[1], "pick")((n // 256,), (256,), (np.int32(n), image, np.int32(offset), np.int32(stride), out))
    return np.array_equal(out.get(), image.get()[offset::stride][:n]), cp.last_launch().sectors_per_request()


def counted(kernel):
    """Run a kernel with tiles of 16 × 16 on 256 × 256 matrices in the simulator."""
    return evaluate(kernel, 256, {"TILE": 16}, backend="sim")


def said(*sentences):
    for sentence in sentences:
        assert sentence in PROSE, sentence


def axes_of(picture, monkeypatch):
    """Return the Axes that a function of the lesson draws."""
    drawn = []
    monkeypatch.setattr(sys.modules[picture.__module__], "render", lambda ax, alt: drawn.append(ax))
    picture()
    return drawn[0]


def test_the_chart_joins_only_neighbouring_strides(monkeypatch):
    for line in axes_of(coalescing.fetch_chart, monkeypatch).lines:
        assert line.get_linestyle() == "None" or set(np.diff(line.get_xdata())) == {1}


def test_grey_is_unused_and_not_fetched(monkeypatch):
    ax = axes_of(coalescing.pieces, monkeypatch)
    assert not any(patch.get_fill() and patch.get_facecolor() == to_rgba(style.PALE) for patch in ax.patches)
    assert sum(patch.get_hatch() is not None for patch in ax.patches) == 4, "the second half of each piece, at stride 16"
    assert "grey" not in " ".join(text.get_text() for text in ax.texts)
    said("all bytes of these sectors are orange")


# ---- one request --------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 8, 9, 16, 32])
def test_a_request_with_stride_s_touches_the_smaller_of_32_and_4_s_sectors(stride):
    assert picked(0, stride) == (True, min(32, 4 * stride))


def test_with_stride_0_one_sector_serves_all():
    assert model.sectors(np.zeros(32, dtype=int)) == 1
    image, out = cp.zeros(8, dtype=np.float32), cp.zeros(32, dtype=np.float32)
    cp.RawKernel(from_cell(CELLS["pick"])[1], "pick")((1,), (32,), (np.int32(32), image, np.int32(0), np.int32(0), out))
    assert cp.last_launch().sectors_per_request() == 1


@pytest.mark.parametrize("offset", range(17))
def test_every_offset_but_multiples_of_eight_costs_a_fifth_sector(offset):
    assert picked(offset, 1) == (True, 4 if offset % 8 == 0 else 5)


def test_the_green_values_cost_what_the_red_ones_cost():
    assert picked(0, 3) == picked(1, 3) == (True, 12)


def test_the_figure_shows_eight_red_values_in_three_sectors_and_in_one():
    assert len({3 * pixel // 8 for pixel in range(8)}) == 3
    assert "three sectors" in repr(coalescing.layouts())


def test_every_sector_of_the_pixels_has_values_of_all_three_colours():
    assert [{number % 3 for number in range(8 * sector, 8 * sector + 8)} for sector in range(3)] == [{0, 1, 2}] * 3
    assert 32 * 3 * 4 == 12 * 32, "32 pixels fill 12 sectors"
    said("The 32 pixels of a warp fill 12 sectors")


def test_a_piece_of_64_bytes_brings_two_wanted_floats_with_stride_8_and_one_with_16():
    for stride, in_a_piece in ((8, 2), (16, 1)):
        assert {sum(number % stride == 0 for number in range(first, first + 16)) for first in range(0, 64, 16)} == {in_a_piece}
    drawn = repr(coalescing.pieces())
    assert "two in each piece. Below, stride 16" in drawn
    assert "one in each piece" in drawn


def test_words_of_the_first_picture_come_before_it_and_answers_after_their_questions():
    shown = CELLS["title"]
    assert all(re.search(rf"\*\[?{word}\b", shown) for word in ("warp", "lane", "sectors"))
    before = " ".join(CELLS[name] for name in list(CELLS)[:list(CELLS).index("guess-line")])
    assert not any(answer in before for answer in ("17.6", "18.3")), "the reader predicts what the line is worth"
    assert not any(answer in " ".join(list(CELLS.values())[:list(CELLS).index("reveal-time")]) for answer in ("1,038", "64 bytes"))


def test_the_main_path_has_one_topic():
    ids = list(CELLS)
    main = " ".join(CELLS[name] for name in ids[:ids.index("key-points") + 1])
    assert not any(word in main for word in ("L2", "float4", "pieces of 64", "GT200"))
    optional = ("chart", "pieces", "rows", "refused-played", "columns", "slides")
    assert all(ids.index(name) > ids.index("key-points") for name in optional)


# ---- times of copies ---------------------------------------------------------------------------------------------------------------

def test_the_prose_says_what_was_recorded_of_copies():
    us = coalescing.recorded_us
    said(f"copies 2²⁶ floats that lie side by side in {us(1)} µs", f"With stride 1 it takes {us(1)} µs",
         f"the time grows only {us(8) / us(1):.1f} times, from {us(1)} to {us(8)} µs", f"The copy with stride 8 took {us(8)} µs")
    together = {many: experiments.us(what="loads", VEC=1, LOADS=many, TOGETHER=1, kernel="copy_loads") for many in (1, 4)}
    said(f"When each thread copies one float, this program takes {together[1]:.0f} µs",
         f"before it stores the first, it takes {together[4]:.0f} µs")
    delivered = {row["offset"]: row["dram_bytes_read"] / 1e6 for row in data.readings("coalescing").find(
        what="count", kernel="copy_strided", stride=1, VEC=1, limit=0)}
    said(f"a profiler counted {delivered[0]:.1f} million bytes from memory, with offset 0 as with offset 1")
    assert f"{delivered[0]:.1f}" == f"{delivered[1]:.1f}"
    assert f"with four floats per lane the copy takes {experiments.us(what='copy', stride=1, offset=0, VEC=4):.0f} µs" in LECTURE
    assert 4 * device("H200").l2_bytes < 4 * experiments.COPIED == 256 * 2**20 < 5 * device("H200").l2_bytes


def test_the_chart_of_the_strides_has_all_sectors_and_what_memory_needs_for_them_at_least(monkeypatch):
    steps = list(strides.STRIDES)
    sectors = [strides.sectors_per_32(stride) for stride in steps]
    assert sectors == [8, 12, 16, 20, 24, 28, 32, 36]
    said("they grow from 4 + 4 to 32 + 4, because the store always touches 4. That is 4.5 times as many")
    assert sectors[-1] / sectors[0] == 4.5
    at_the_rate, copies = axes_of(coalescing.stride_chart, monkeypatch).lines
    assert list(copies.get_xdata()) == list(at_the_rate.get_xdata()) == steps
    times = list(copies.get_ydata())
    assert list(at_the_rate.get_ydata()) == [strides.least_us(x) for x in sectors]
    assert strides.least_us(36) == pytest.approx(36 * 32 * 2**21 / 4.8e6)
    assert all(strides.least_us(x) < us for x, us in zip(sectors, times, strict=True)), "a bound"
    first, last = (4.8 * strides.least_us(x) / us for x, us in ((8, times[0]), (36, times[-1])))
    said(f"With stride 8 they go by at {last:.1f} TB/s, {last / 4.8:.0%} of the rate".replace("%", " %"),
         f"With stride 1 they go by at only {first:.1f} TB/s", "memory needs for all sectors at 4.8 TB/s")
    assert sectors[1] / sectors[0] == sectors[7] / sectors[4] == 1.5, "by half, and by half again"
    slow, fast = (f"{100 * (times[to] / times[of] - 1):.0f} %" for of, to in ((0, 1), (4, 7)))
    said(f"From stride 1 to 2 they grow by half, and the time by only {slow}",
         f"From stride 5 to 8 they grow by half again, and the time by {fast}")
    assert Fraction(36 - 4 - 4, 36) == Fraction(7, 9)
    said("7 of 9 bytes in them are for nothing")
    for row in data.readings("coalescing").find(what="count", kernel="copy_strided", offset=0, VEC=1, limit=0):
        assert row["stride"] > 8 or row["dram_bytes_read"] == pytest.approx(32 * row["load_sectors"], rel=0.001), "all from memory"


def test_the_notes_name_places_by_headings_that_are_there():
    places = re.findall(r"^\| \d+ \| \*\*([^*]+)\*\*", LECTURE, re.MULTILINE)
    assert len(places) == 8
    headings = " ".join(line for text in CELLS.values() for line in text.splitlines() if line.startswith("#"))
    assert all(place in headings for place in places)


def test_stride_16_takes_nearly_twice_as_long_with_the_same_sectors_but_other_lines():
    assert strides.sectors_per_32(8) == strides.sectors_per_32(16) == 32 + 4
    assert 1.8 < coalescing.recorded_us(16) / coalescing.recorded_us(8) < 1.9
    assert 1.1 < coalescing.recorded_us(32) / coalescing.recorded_us(16) < 1.2, "nearly doubles only at the first"
    assert [len(np.unique(4 * stride * np.arange(32) // 128)) for stride in (8, 16, 32)] == [8, 16, 32]


# ---- experiments that change one thing ---------------------------------------------------------------------------------------------

def test_what_smaller_pieces_of_the_l2_change():
    us, limited = experiments.copy_us, experiments.limited_us
    said(f"takes {limited(16):.0f} instead of {us(16):,.0f} µs, and with the setting at 64 it takes "
         f"{experiments.us(what='limit', stride=16, limit=64):,.0f} again", f"Yet the copy takes {limited(32):,.0f} µs")
    assert (us(16) - limited(16)) / (us(16) - us(8)) > 0.8, "mostly"
    counted = {(row["stride"], row["limit"]): row["dram_bytes_read"] / 2**24
               for row in data.readings("coalescing").find(what="count", kernel="copy_strided", offset=0, VEC=1)}
    assert [counted[16, limit] for limit in (0, 64, 32)] == pytest.approx([64, 64, 32], rel=0.001), "bytes per float; 0: as it is"
    assert [counted[8, 0], counted[32, 32]] == pytest.approx([32, 32], rel=0.001)
    said("32 bytes per float with stride 8, and 64 with stride 16")
    assert f"takes {limited(16):.0f} instead of {us(16):,.0f} µs" in " ".join(LECTURE.split())
    assert f"stride 16: {us(16):,.0f} as it is and {limited(16):,.0f} with pieces of 32 bytes" in repr(coalescing.fetch_chart())


def test_line_29_alone_is_a_quarter_and_sectors_alone_are_nothing():
    us = experiments.product_us
    assert us("along", 4096) / us("down", 4096) == pytest.approx(0.75, abs=0.01), "a quarter faster"
    said(f"{us('along', 4096) / 1e3:.1f} instead of {us('down', 4096) / 1e3:.1f} ms",
         f"The time fell by only {100 * (1 - us('along', 4096) / us('down', 4096)):.0f} %")
    assert coalescing.line_29_ms() == 18.3
    assert f"the same, line 29 changed: {coalescing.line_29_ms()}" in repr(coalescing.line_29_chart())
    down, along = (data.readings("coalescing").find(what="count", variant=v, TILE=16, padding=0)[0] for v in ("down", "along"))
    said(f"A profiler counted sectors at N = {down['N']}, where the line takes a quarter off the time, too")
    assert us("along", 1024) / us("down", 1024) == pytest.approx(0.75, abs=0.01), "a quarter there, too"
    fewer = 100 * (1 - along["load_sectors"] / down["load_sectors"])
    said(f"from 10, the mean of 4 and 16, to 4: {fewer:.0f} % fewer", f"The sectors fell by {fewer:.0f} %")
    said(f"the L1 asked the next cache for only {100 * (1 - along['l2_sectors_read'] / down['l2_sectors_read']):.0f} % fewer")
    again = down["load_sectors"] - along["load_sectors"]
    assert down["l2_sectors_read"] - along["l2_sectors_read"] < 0.1 * again, "the L1 answered most of the repeats"
    first, then = (row["shared_store_wavefronts"] / 1e6 for row in (down, along))
    said(f"At N = {down['N']}, a profiler counted {first:.2f} million passes for the stores of both tiles with the old line, "
         f"and {then:.2f} million with the new one")
    down, along = us("down", 4096), us("along", 4096)
    assert f"{down / along:.2f} times as long as with line 29 alone changed: {down / 1e3:.1f} instead of {along / 1e3:.1f} ms" in \
        " ".join(LECTURE.split())
    text = kernels.get("sgemm_uncoalesced").source.splitlines()
    assert text[28].strip() == recorder.DOWN, "what was recorded differs in line 29"


def test_where_rows_of_b_begin_decides_the_sectors_of_the_first_request():
    tx, ty = np.tile(np.arange(16), 2), np.repeat([0, 1], 16)
    along, down = ([model.sectors(4 * (row * (128 + pad) + col)) for pad in range(9)] for row, col in ((ty, tx), (tx, ty)))
    assert along == [4, *[5] * 7, 4]
    assert model.sectors(4 * (2 * 128 + tx + 1 + 128 * ty)) == 6, "the first row begins inside a sector"
    assert down == [16, 18] * 4 + [16], "an odd ldb: two lane pairs lie across a boundary"
    assert model.sectors(4 * ((2 + ty) * 129 + tx)) == 6, "further down, both rows can begin inside a sector"


# ---- products ----------------------------------------------------------------------------------------------------------------------

def test_four_warps_ask_for_each_sector_of_a_tile_with_line_29_and_one_with_its_repair():
    tx, ty = np.tile(np.arange(16), 16), np.repeat(np.arange(16), 16)
    for at, times in ((128 * tx + ty, 4), (128 * ty + tx, 1)):
        warps = [set(part // 8) for part in np.split(at, 8)]
        assert {sum(sector in warp for warp in warps) for sector in set(at // 8)} == {times}
    said("a warp wants two columns of the tile, and a sector holds eight. "
         "So four warps ask for each sector. With the new line only one does")


def test_b_costs_16_sectors_per_request_and_a_4():
    lines = counted("sgemm_uncoalesced").lines
    assert {line: COLUMNS["sectors / request"](lines[line]) for line in (26, 29)} == {26: "4", 29: "16"}


def test_the_question_about_line_29_is_not_answered():
    question = repr(coalescing.b_line())
    assert "sectors" not in question, "the question's listing has no counters"
    assert "down a column" not in question, "nor the comment that answers it"
    assert sorted(coalescing.b_line().marked) == [26 - 18, 29 - 18], "both loads are marked"


def test_the_repaired_kernel_is_right_and_touches_4_sectors(repaired):
    assert "right on 12 of 12 inputs" in repr(check(repaired))
    A, B, _ = inputs(256, 256, 256)
    assert run(repaired, A, B).sectors_per_request() == 4
    assert counted("sgemm_uncoalesced").sectors_per_request() == 10
    said("counts 4 sectors per load request, for A and for B. Before, it counted 16 for B")


def test_the_readers_kernel_is_the_recorded_one_without_its_unused_float(repaired):
    recorded = kernels.get("sgemm_uncoalesced").source.replace(recorder.DOWN, recorder.ALONG)
    without = recorded.replace("[TILE + 1]", "[TILE]")
    mine, same, other = ([each.text for each in sass(compile_cuda(text))] for text in (repaired, without, recorded))
    assert mine == same != other
    said("Your `Bs` lacks only the unused float that line 19 adds to each row")


def test_the_reader_begins_with_the_uncoalesced_load_and_check_names_it():
    given, solution = my_course.blank_cell(CELLS["repaired"])
    start = from_cell(given)[1]
    assert "B[(k0 + tx) * ldb + b_col]" in start
    assert "B[(k0 + ty) * ldb + col]" in solution
    assert "(k0 + tx)" not in solution
    text, line = repr(check(start)), 1 + start[:start.index("B[(k0 + tx)")].count("\n")
    assert "right on 12 of 12 inputs" in text
    assert f"sectors: line {line}: B: 16.0 sectors a load request" in text
    assert "The addresses of neighbouring lanes differ by 256 bytes" in text
    assert line == 15
    said("in the two lines that load B", "What it says about bank conflicts is for lesson 06")
    assert "line 15" not in PROSE, "the lesson has one numbering, that of its listing"
    assert "bank conflicts: line" in text


def test_a_store_that_was_left_as_it_was_uses_each_tile_transposed(repaired):
    half = repaired.replace("Bs[ty][tx] =", "Bs[tx][ty] =")
    assert half != repaired
    assert "Each 16 × 16 of B is used transposed: it is not read with the indices that it was filled with" in repr(check(half))


def test_check_names_the_line_of_the_uncoalesced_load():
    text = repr(check(kernels.get("sgemm_uncoalesced").source))
    assert "sectors: line 29: B: 16.0 sectors a load request" in text


@pytest.mark.parametrize("N", [256, 1024, 4096])
def test_l1_wavefronts_of_b_are_what_its_addresses_give_at_any_of_the_lessons_n(N):
    tx, ty = np.tile(np.arange(16), 2), np.repeat([0, 1], 16)
    assert [len(np.unique(4 * at // 128)) for at in (tx * N + ty, ty * N + tx)] == [16, 2], "lines"
    said("how many cache lines (16 with the old line, one per row, and 2 with the new one)")
    assert model.l1_wavefronts(4 * (tx * N + ty)) == 16
    assert model.l1_wavefronts(4 * (ty * N + tx)) == 2


def test_without_its_padding_kernel_2_is_kernel_3():
    padded, bare = (evaluate("sgemm_padded", 64, {"TILE": 16, "PAD": pad}) for pad in (1, 0))
    slides_own = evaluate("sgemm_coalesced", 64, {"TILE": 16})
    assert bare.counters == slides_own.counters != padded.counters
    found = {r.parameters["PAD"]: r.median_s for r in data.load("padding").find("sgemm_padded", 4096) if r.parameters["TILE"] == 16}
    assert found[0] == pytest.approx(products.recorded_product("sgemm_coalesced").median_s, rel=0.01), "recorded twice"
    assert found[1] == pytest.approx(products.recorded_product("sgemm_padded").median_s, rel=0.01)


def test_the_chart_of_the_line_and_what_is_said_of_it():
    naive, down, along, _ = (products.product_ms(variant) for _, variant in products.LADDER)
    said(f"the naive kernel of lesson 03 needs {naive:.1f} ms", f"The tiled kernel of the listing needs {down:.1f} ms",
         "The kernel of lesson 04 differs")
    said(f"another kernel loads both tiles along rows, like yours, and takes {products.product_ms('along, transposed'):.1f} ms")
    assert 1 - along / down == pytest.approx(0.25, abs=0.01), "a quarter of the time"
    assert data.tiled() == experiments.product("tiled", 4096), "the time that lessons 06 and 08 say, too"
    for name, variant in (("sgemm_naive", "naive"), ("sgemm_uncoalesced", "down"), ("sgemm_tiled", "tiled")):
        other = 1e3 * products.recorded_product(name).seconds
        assert products.product_ms(variant) == pytest.approx(other, rel=0.005), "as other lessons say"


def test_padded_rows_of_b_keep_sectors_and_lines_and_change_where_rows_begin():
    rows = coalescing.gain_table().rows
    lanes = np.arange(32)
    for padding, at, _, repaired in rows:
        bytes_ = 4 * (lanes % 16 * (4096 + padding) + lanes // 16)
        assert [len(set(bytes_ // size)) for size in (32, 128)] == [16, 16], "sectors and lines"
        assert ", ".join(map(str, sorted(set(bytes_[:16] % 128)))) == at
        assert repaired == "18.3"
    assert [(padding, old) for padding, _, old, _ in rows] == [(0, "24.6"), (8, "20.4"), (32, "24.7"), (72, "20.8")]
    assert all(row["correct"] for row in data.readings("again").find(lesson="05"))
    said("takes 20.4 instead of 24.6 ms, and with 32 it takes 24.7 ms again")
    worth = {several: sorted(float(old) - float(new) for _, at, old, new in rows if ("," in at) is several) for several in (True, False)}
    said("When the rows begin at different bytes, the repair is worth {:.1f} or {:.1f} ms".format(*worth[True]),
         "When they begin at the same byte, it is worth {:.1f} or {:.1f} ms".format(*worth[False]))


# ---- mistakes and old hardware -------------------------------------------------------------------------------------------------------

def test_the_slip_is_named_twice_for_what_is_never_loaded_and_for_what_lies_beyond_b(repaired):
    slip = repaired.replace("B[(k0 + ty) * ldb + col]", "B[(k0 + tx) * ldb + col]")
    assert slip != repaired
    text, line = repr(check(slip)), 1 + slip[:slip.index("B[(k0 + tx)")].count("\n")
    assert f"wrong: line {line}: C[0][0] is" in text
    assert "1024 of 1024 elements of C are wrong" in text
    assert f"out of bounds: line {line}" in text
    assert "C[0][0] needs B[1][0], and its block never loads that" in text
    said("1024 of 1024 elements of C are wrong. `C[0][0]` needs `B[1][0]`, and its block never loads that",
         "16 elements in 16 different rows: 16 sectors")
    both = slip.replace("k0 + ty < K && col", "k0 + tx < K && col")
    assert "out of bounds" not in (text := repr(check(both)))
    assert "1024 of 1024 elements of C are wrong" in text
    A, B, _ = inputs(64, 64, 64)
    assert run(both, A, B).sectors_per_request() == 10, "4 for A and 16 for B"
    assert "right on 1 of 12 inputs" in text


def test_chiens_two_numbers_and_todays_column():
    rows = {row[0]: row[1:] for row in coalescing.old_and_new().rows}
    assert (rows[72][0], rows[68][0]) == ("0.8333", "0.7024")
    assert model.effective_bandwidth(72) == Fraction(5, 6)
    for lda in LEADING:
        for column, share in enumerate(model.column_efficiencies(lda, today=True)):
            moved = run_gather("copy_strided", floats(32 * lda + 32), 32, offset=lda * column, backend="sim").count("sectors")
            assert share == Fraction(4, moved), "the simulator moves as much"
    assert rows[72][1] == "1.0000", "no extra sector today"
    assert float(rows[72][0]) < 1, "with 72 the GT200 moved bytes in vain"


def test_the_slides_repair_gains_nothing_and_ours_only_when_padded():
    rows = coalescing.slides().rows
    assert [round(100 * float(row[2]) / float(row[1]) - 100) for row in rows[-2:]] == [5, 3], "at 2048 and 4096"
    assert [row[0] for row in rows if row[3]] == list(products.PROFILED), "line 29 without its unused float"
    said(f"{float(rows[-1][4]):.1f} instead of {rows[-1][3]} ms")
    assert all(float(row[6]) < float(row[5]) for row in rows)


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    data_, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/05_coalescing.ipynb")
    copy = nbformat.reads(data_.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    outputs = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("pick", "launched", "counted", "reveal"):
        assert "pick is not written yet" in outputs[cell], cell
    assert "16.0 sectors a load request" in outputs["check"], "the reader begins with the wrong line"
    assert "16.0 sectors a load request" in outputs["slip"], "nor has it been repaired there"


def test_the_example_of_a_wide_load_is_one_load_of_16_bytes_per_lane():
    lines = re.search(r"```c\+\+\n(.*?)```", CELLS["optional-open"], re.DOTALL)[1]
    source = f'extern "C" __global__ void sums(const float* x, float* y) {{ const int i = threadIdx.x; {lines} }}'.replace("//", "\n//")
    x, y = np.arange(128, dtype=np.float32), np.zeros(32, np.float32)
    source = "\n".join(line.split("//")[0] for line in source.splitlines())
    report = launch(source, "sums", (1, 1, 1), (32, 1, 1), [x, y], trace=[((0, 0, 0), 0)])
    (record,) = requests(report, load=True)
    assert record.width == 16
    assert np.array_equal(y, x.reshape(32, 4).sum(axis=1))
