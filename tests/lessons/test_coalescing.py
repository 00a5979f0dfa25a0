"""Lesson 05: what it promises, and every number that its prose says."""

import dataclasses
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
from course_lib.errors import CourseError
from course_lib.lessons import coalescing
from course_lib.lessons.coalescing import experiments, products, strides
from course_lib.lessons.coalescing.columns import LEADING
from course_lib.magic import from_cell
from course_lib.plots import requests, style
from course_lib.run import run, run_gather
from course_lib.run.listing import COLUMNS
from course_lib.simt import launch
from course_lib.unwritten import NotWritten
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
    said("the 32 pixels of a warp fill 12 sectors")


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
    assert not any(word in main for word in ("FetchGranularity", "float4", "pieces of 64", "GT200"))
    optional = ("speeds", "chart", "pieces", "rows", "refused-played", "columns", "fetches")
    assert all(ids.index(name) > ids.index("key-points") for name in optional)


# ---- times of copies ---------------------------------------------------------------------------------------------------------------

def test_the_prose_says_what_was_recorded_of_copies():
    us = coalescing.recorded_us
    said(f"copies 2²⁶ floats in {us(1)} µs", f"needs {us(8)} µs", f"The copy with stride 8 took {us(8)} µs")
    wanted = [float(row[2].replace(",", "")) for row in coalescing.stride_speeds(1, 8).rows]
    moved = [float(row[3].replace(",", "")) for row in coalescing.stride_speeds(1, 2, 3, 4, 8).rows]
    most = device("H200").bandwidth_gb_s
    said(f"falls from {wanted[0]:,.0f} to {wanted[1]:,.0f}", f"to {moved[-1]:,.0f} GB/s", f"promises {most:,} at most")
    assert moved == sorted(moved), "the speed in whole sectors rises"
    said(f"At stride 8 that is {32 * 32 // 32 + 4} bytes per float instead of 8")
    assert moved[-1] == pytest.approx(36 * 2**26 / us(8) / 1e3, rel=0.002), "32 read and 4 written"
    assert 0.9 < moved[-1] / most < 1, "nearly as busy as it can be"
    steps = [100 * (us(2 * stride) / us(stride) - 1) for stride in (1, 4)]
    said(f"the time grows by only {steps[0]:.0f} %", f"now the time grows by {steps[1]:.0f} %")
    said("was also recorded as {:.0f} and {:.0f} µs".format(*(experiments.limited_us(1, limit) for limit in (32, 128))))
    wide = experiments.us(what="copy", stride=1, offset=0, VEC=4)
    said(f"one that an optional section shows takes {wide:.0f} µs")
    said(f"load four floats each takes {wide:.0f} µs with stride 1, and against that one stride 8 takes {us(8) / wide:.1f} times as long, "
         f"and not {us(8) / us(1):.1f}")
    assert 4 * device("H200").l2_bytes < 4 * experiments.COPIED == 256 * 2**20 < 5 * device("H200").l2_bytes


def test_gb_s_are_those_that_one_computes_from_the_page():
    times, speeds = coalescing.stride_times(*strides.STRIDES).rows, coalescing.stride_speeds(*strides.STRIDES).rows
    for (stride, sectors, us), (_, same_us, wanted, moved) in zip(times, speeds, strict=True):
        assert us == same_us
        assert float(us.replace(",", "")) == coalescing.recorded_us(stride)
        seconds = experiments.copy_us(stride) * 1e-6
        assert float(wanted.replace(",", "")) == pytest.approx(8 * 2**26 / seconds / 1e9, rel=0.003)
        assert float(moved.replace(",", "")) == pytest.approx(2**26 / 32 * (float(sectors) + 4) * 32 / seconds / 1e9, rel=0.003)
        assert float(sectors) == min(32, 4 * stride)


def test_stride_16_takes_nearly_twice_as_long_with_the_same_sectors_but_other_lines():
    eight, sixteen = coalescing.stride_times(8, 16).rows
    assert eight[1] == sixteen[1] == "32"
    assert 1.8 < coalescing.recorded_us(16) / coalescing.recorded_us(8) < 1.9
    assert 1.1 < coalescing.recorded_us(32) / coalescing.recorded_us(16) < 1.2, "nearly doubles only at the first"
    assert [len(np.unique(4 * stride * np.arange(32) // 128)) for stride in (8, 16, 32)] == [8, 16, 32]


def test_the_time_climbs_past_stride_8_and_64_bytes_per_float_explain_stride_16():
    us = experiments.copy_us
    steps = [us(stride + 1) - us(stride) for stride in range(3, 16)]
    assert max(steps) / min(steps) < 1.35, "nearly evenly from stride 3 on"
    speed = (64 + 4) * experiments.COPIED / us(16) / 1e3
    said(f"stride 16 reaches {speed:,.0f} GB/s")
    assert speed == pytest.approx(strides.moved_gb_s(8), rel=0.01), "just as busy as at stride 8"
    assert experiments.fetched_mb(16) * 1e6 / 2**24 == pytest.approx(64, rel=0.001), "64 bytes per float were counted"


def test_offsets_cost_the_same_with_and_without_a_fifth_sector():
    slower = [experiments.copy_us(offset=offset) / experiments.copy_us() for offset in (1, 2, 4, 8, 16, 32)]
    assert 1.02 < min(slower) < max(slower) < 1.04, "2 to 4 %, whether they add a sector or not"
    assert {round(100 * experiments.copy_us(offset=offset) / experiments.copy_us() - 100) for offset in (1, 8)} == {3}
    said("the copy takes {:.0f} and {:.0f} µs".format(*(experiments.copy_us(offset=offset) for offset in (1, 8))),
         f"Without an offset it takes {experiments.copy_us():.0f} µs",
         "the same copy took {:.0f} and {:.0f} µs".format(*(experiments.limited_us(1, limit) for limit in (32, 128))))
    slowest = max(experiments.limited_us(1, limit) for limit in experiments.LIMITS)
    assert slowest > experiments.copy_us(offset=8), "the offsets stand out less than copies without one differ"
    assert "All recorded offsets cost 2 to 4 %" in LECTURE


# ---- experiments that change one thing ---------------------------------------------------------------------------------------------

def test_what_the_fetch_size_of_the_l2_changes():
    us, mb = experiments.limited_us, experiments.fetched_mb
    said(f"takes {us(16, 32):.0f} instead of {us(16, 64):,.0f} µs", f"rises from {us(32, 64):,.0f} to {us(32, 128):,.0f} µs",
         f"read the same {mb(8, 32):.0f} MB",
         f"take {us(8, 32):.0f}, {us(16, 32):.0f} and {us(32, 32):,.0f} µs")
    assert [mb(16, limit) / mb(8, limit) for limit in experiments.LIMITS] == pytest.approx([1, 2, 2], rel=0.001)
    assert [mb(32, limit) / mb(16, limit) for limit in experiments.LIMITS] == pytest.approx([1, 1, 2], rel=0.001)
    assert {round(us(8, limit) / us(8, 64), 2) for limit in experiments.LIMITS} == {1}, "stride 8: no change"
    assert us(16, 128) == pytest.approx(us(16, 64), rel=0.005)
    assert (us(16, 64) - us(16, 32)) / (us(16, 64) - us(8, 64)) > 0.8, "mostly"
    for stride in (1, 8, 16, 32):
        assert mb(stride) == pytest.approx(mb(stride, 64), rel=0.001), "left alone, as with 64"
        assert experiments.copy_us(stride) == pytest.approx(us(stride, 64), rel=0.005)
    copies = " ".join(LECTURE.split())
    assert f"reads {mb(16, 32):.0f} instead of {mb(16, 64):,.0f} MB with 32 bytes" in copies
    assert f"takes {us(16, 32):.0f} instead of {us(16, 64):,.0f} µs" in copies
    rows = {row[0]: row[1:] for row in coalescing.fetches().rows}
    assert rows[16] == ("537", "1,074", "1,074", "627", "1,038", "1,042")
    words = repr(coalescing.fetch_chart())
    assert all(f"{us(32, limit):,.0f} at 32" in words for limit in experiments.LIMITS)


def test_what_bytes_leave_open_beyond_stride_16_and_how_the_two_copies_differ():
    few, many = ({stride: experiments.us(what="footprint", n=n, stride=stride) for stride in (16, 32)} for n in (2**22, 2**26))
    percent = [round(100 * (found[32] / found[16] - 1)) for found in (many, few)]
    said(f"takes {percent[0]} % longer than stride 16, and a copy of a sixteenth of the floats still takes {percent[1]} % longer")
    said(f"takes {experiments.loads_us():.0f} µs where the one above took {experiments.copy_us():.0f}")


def test_what_a_thread_has_under_way_decides_and_not_how_it_is_cut():
    us = experiments.loads_us
    for size, shapes in {8: ((1, 2), (2, 1)), 16: ((1, 4), (2, 2), (4, 1)), 32: ((1, 8), (2, 4), (4, 2))}.items():
        times = [us(*shape) for shape in shapes]
        assert max(times) / min(times) < 1.02, f"{size} bytes: within 2 %"
        assert times[0] < us(1, size // 4, 0), "together is faster than one after another"
        assert size <= 16 or min(times) > us(1, 4) + 2, "beyond 16 bytes the times grow again"
    said(f"{us(1, 4, 0):.0f} instead of {us(1, 4):.0f} µs", "the same within 2 %")
    said(f"up to {us(4, 4):.0f} µs with 64")
    assert us(4, 4) > max(us(*shape) for shape in ((1, 8), (2, 4), (4, 2)))
    assert f"takes {us(1, 4):.0f} instead of {us():.0f} µs" in LECTURE
    assert [row[0] for row in coalescing.under_way().rows] == list(experiments.UNDER_WAY)
    assert coalescing.under_way().rows[2] == (16, "129", "130", "130", "169")


def test_a_fifth_sector_costs_nothing_past_the_l1():
    us = experiments.past_l1_us
    said(f"offset 1 takes {us(1):.0f} µs", f"with only four sectors, takes {us(8):.0f}. So no cost of the fifth sector is to be seen")
    rows = data.readings("coalescing").find(what="count", kernel="copy_past_l1")
    assert {row["OFFSET"]: row["l2_sectors_read"] / row["load_requests"] for row in rows} == {0: 4, 1: 5, 8: 4}, "the L2 is asked for five"
    through, = data.readings("coalescing").find(what="count", kernel="copy_strided", stride=1, offset=1)
    said(f"the L2 is asked for {through['l2_sectors_read'] / through['load_requests']:.1f} sectors per request")
    assert us(1) / us(8) < 1.005
    assert 0.995 < experiments.copy_us(offset=1) / experiments.copy_us(offset=8) < 1.003, "through the L1"


def test_line_29_alone_is_a_quarter_and_sectors_alone_are_nothing():
    us, counts = experiments.product_us, experiments.product_counts
    for N in (1024, 4096):
        assert us("along", N) / us("down", N) == pytest.approx(0.75, abs=0.01), "a quarter faster at both sizes"
        assert us("along", N) == pytest.approx(us("along, transposed, padded", N), rel=0.005), "transposed: the same"
        assert us("tiled", N, 1) == pytest.approx(us("tiled", N, 8), rel=0.003), "longer rows: the same time"
    said(f"{us('along', 4096) / 1e3:.1f} instead of {us('down', 4096) / 1e3:.1f} ms", f"lesson 04 takes {us('tiled', 4096) / 1e3:.1f} ms")
    assert us("tiled", 4096) / us("along", 4096) == pytest.approx(0.97, abs=0.007), "the last 3 %"
    assert coalescing.line_29_ms() == 18.3
    assert f"the same, line 29 changed: {coalescing.line_29_ms()}" in repr(coalescing.line_29_chart())
    said(f"only {100 * (1 - counts('along')[1] / counts('down')[1]):.0f} % fewer sectors",
         f"it asks for {100 * (counts('tiled', 1)[0] / counts('tiled', 8)[0] - 1):.0f} % more sectors",
         f"It takes {us('tiled', padding=1):.0f} µs with both")
    assert round(us("tiled", padding=8)) == round(us("tiled", padding=1))
    instructions = [data.readings("coalescing").find(what="count", variant=v, TILE=16)[0]["instructions"] for v in ("down", "along")]
    said(f"and {100 * (instructions[1] / instructions[0] - 1):.0f} % more instructions")
    said(f"counted {100 * (counts('along')[2] / counts('down')[2] - 1):.0f} % *more* work of shared memory")
    said("It counted them at N = 1024, where the change also takes a quarter off the time", "but this is no proof")
    down, along = us("down", 4096), us("along", 4096)
    assert f"{down / along:.2f} times as long as with line 29 alone changed: {down / 1e3:.1f} instead of {along / 1e3:.1f} ms" in \
        " ".join(LECTURE.split())
    text = kernels.get("sgemm_uncoalesced").source.splitlines()
    assert (products.DOWN, products.ALONG) == (recorder.DOWN, recorder.ALONG), "what was recorded is what is shown"
    changed = [n for n, (old, new) in enumerate(zip(text, products.line_29_changed().splitlines(), strict=True), 1) if old != new]
    assert changed == [29], "the variant along differs in line 29"


def test_the_l1_wins_the_wasted_sectors_back():
    naive, down, along = (experiments.product_counts(variant) for variant in ("naive", "down", "along"))
    said(f"asked {down[0]:.1f} million sectors with the old line 29, and {along[0]:.1f} million with the new one",
         f"the L1 asked the L2 for {down[1]:.1f} million", f"touched {down[0] / along[0]:.1f} times as many sectors",
         f"the L2 was asked for only {down[1] / along[1]:.1f} times as many", f"asks the L1 for {naive[0] / down[0]:.1f} times as much",
         f"only {100 * (1 - products.product_ms('down') / products.product_ms('naive')):.0f} % are gained at N = 4096",
         f"The new line 29 takes {100 * (1 - along[1] / down[1]):.0f} % off that number")
    assert coalescing.asked_of_l2() == float(f"{along[1]:.1f}")
    assert naive[1] / down[1] == pytest.approx(1, abs=0.01), "behind the L1 nearly equal"
    assert [row[1:3] for row in coalescing.behind_l1().rows] == [(f"{l1:.1f}", f"{l2:.1f}") for l1, l2, _ in (naive, down, along)]
    before = " ".join(list(CELLS.values())[:list(CELLS).index("reveal-l2")])
    assert str(coalescing.asked_of_l2()) not in before, "the reader predicts it"
    warps = [set((2 * warp + np.array([0, 1])) // 8) for warp in range(8)]
    assert [sum(sectors & other != set() for other in warps) for sectors in warps] == [4] * 8, "itself and three other warps of the block"


def test_where_rows_of_b_begin_decides_the_sectors_of_the_first_request():
    tx, ty = np.tile(np.arange(16), 2), np.repeat([0, 1], 16)
    along, down = ([model.sectors(4 * (row * (128 + pad) + col)) for pad in range(9)] for row, col in ((ty, tx), (tx, ty)))
    assert along == [4, *[5] * 7, 4]
    assert down == [16, 18] * 4 + [16], "an odd ldb: two lane pairs lie across a boundary"
    assert model.sectors(4 * ((2 + ty) * 129 + tx)) == 6, "further down, both rows can begin inside a sector"


# ---- products ----------------------------------------------------------------------------------------------------------------------

def test_b_costs_16_sectors_per_request_and_a_4():
    lines = products.counted("sgemm_uncoalesced").lines
    assert {line: COLUMNS["sectors / request"](lines[line]) for line in (26, 29)} == {26: "4", 29: "16"}


def test_the_question_about_line_29_is_not_answered():
    question = repr(coalescing.b_line())
    assert "sectors" not in question, "the question's listing has no counters"
    assert "down a column" not in question, "nor the comment that answers it"
    assert list(coalescing.b_line().marked) == [29 - 18], "line 29 is marked"


def test_the_repaired_kernel_is_right_and_touches_4_sectors(repaired):
    assert "right on 12 of 12 inputs" in repr(check(repaired))
    A, B, _ = inputs(256, 256, 256)
    result = run(repaired, A, B)
    assert result.sectors_per_request() == 4
    table = coalescing.beside_uncoalesced(result)
    assert [row[1:] for row in table.rows] == [("65,536", "65,536"), ("655,360", "262,144"), ("10", "4")]
    with pytest.raises(CourseError, match="no counters"):
        coalescing.beside_uncoalesced(dataclasses.replace(result, counters=None))


def test_the_reader_begins_with_the_uncoalesced_load_and_check_names_it():
    given, solution = my_course.blank_cell(CELLS["repaired"])
    start = from_cell(given)[1]
    assert "B[(k0 + tx) * ldb + b_col]" in start
    assert "B[(k0 + ty) * ldb + col]" in solution
    assert "(k0 + tx)" not in solution
    text, line = repr(check(start)), 1 + start[:start.index("B[(k0 + tx)")].count("\n")
    assert "right on 12 of 12 inputs" in text
    assert f"sectors: line {line}: B: 16.0 sectors a load request" in text
    assert "Neighbouring lanes are 256 bytes apart" in text
    assert line == 15
    said("in the two lines that load B", "What it finds besides is the subject of lesson 06, and the same repair removes it")
    assert "line 15" not in PROSE, "the lesson has one numbering, that of its listing"
    assert "bank conflicts: line" in text
    with pytest.raises(NotWritten, match="repaired is not repaired yet: repair it in its cell"):
        check(coalescing.with_slip(start))


def test_check_names_the_line_of_the_uncoalesced_load():
    text = repr(check(products.counted("sgemm_uncoalesced").kernel.source))
    assert "sectors: line 29: B: 16.0 sectors a load request" in text


def test_each_pair_of_the_slides_kernels_says_what_the_prose_says():
    rows = {row[0]: row[1:] for row in coalescing.between().rows}
    assert list(rows) == ["kernel 1", "kernel 1, line 29 changed", "kernel 2", "kernel 3", "kernel 4"]
    rows = {name.removeprefix("kernel "): row for name, row in rows.items()}
    assert rows["1"][1:3] == rows["1, line 29 changed"][1:3] == ("no", "yes"), "they differ in line 29 alone"
    assert rows["1, line 29 changed"][2] == rows["3"][2] == "yes", "to kernel 3: transposed, padded as before"
    assert rows["3"][1] == rows["4"][1] == "yes", "to kernel 4: only the padding goes"
    assert rows["1, line 29 changed"][-1] == rows["3"][-1], "the time is the same"
    said(f"rises from {rows['3'][-1]} to {rows['4'][-1]} ms, to 2.5 times as much", f"and {rows['4'][-1]} instead of {rows['2'][-1]} ms",
         f"This kernel takes {rows['4'][-1]} ms, longer than all of ours")
    waves = {name.removeprefix("kernel "): experiments.product_counts(variant)[2] for name, variant, *_ in products.RUNGS}
    assert waves["4"] / waves["3"] == pytest.approx(3, abs=0.1), "three times as many passes"
    assert waves["4"] / waves["2"] == pytest.approx(3, abs=0.2)
    assert products.product_ms("along, transposed") / products.product_ms("along, transposed, padded") == pytest.approx(2.5, abs=0.05)
    first, third = (products.counted(kernel) for kernel in ("sgemm_uncoalesced", "sgemm_padded"))
    assert all(first.count("wavefronts", kind) == third.count("wavefronts", kind) for kind in ("load", "store"))


def test_the_lines_that_differ_are_those_of_the_kernels_without_their_guards():
    for row in (line.split("|")[1:4] for line in CELLS["optional-repair"].splitlines() if line.startswith("| ") and "sgemm" in line):
        (load,), (read,) = (re.findall("`([^`]*)`", cell) for cell in row[1:])
        for name in re.findall(r"sgemm_\w+", row[0]):
            left, right = load.split(" = ")
            source = kernels.get(name).source
            if name == "sgemm_tiled":                                        # its loop over i is run once with 16 × 16, with i = 0
                left, right, source = left.replace("ty", "k"), right.replace("ty", "k"), source.replace("const int k = i + ty", "")
            assert re.search(re.escape(f"{left} = ") + r"[^;]*\? " + re.escape(f"{right} :"), source), name
            assert f"* {read};" in source, name


@pytest.mark.parametrize("N", [256, 1024, 4096])
def test_l1_wavefronts_of_b_are_what_its_addresses_give_at_any_of_the_lessons_n(N):
    tx, ty = np.tile(np.arange(16), 2), np.repeat([0, 1], 16)
    assert model.l1_wavefronts(4 * (tx * N + ty)) == 16
    assert model.l1_wavefronts(4 * (ty * N + tx)) == 2


def test_without_its_padding_kernel_2_is_kernel_3():
    padded, bare = (evaluate("sgemm_padded", 64, {"TILE": 16, "PAD": pad}) for pad in (1, 0))
    slides_own = evaluate("sgemm_coalesced", 64, {"TILE": 16})
    assert bare.counters == slides_own.counters != padded.counters
    found = {r.parameters["PAD"]: r.median_s for r in data.load("padding").find("sgemm_padded", 4096) if r.parameters["TILE"] == 16}
    assert found[0] == pytest.approx(products.recorded_product("sgemm_coalesced").median_s, rel=0.01), "recorded twice"
    assert found[1] == pytest.approx(products.recorded_product("sgemm_padded").median_s, rel=0.01)


def test_the_scoreboard_and_what_is_said_of_it():
    naive, down, along, tiled = (products.product_ms(variant) for _, variant in products.LADDER)
    said(f"the naive kernel of lesson 03 needs {naive:.1f} ms", f"as you found it, needs {down:.1f} ms",
         f"The kernel of lesson 04 takes {tiled:.1f} ms")
    assert 0.96 < down / naive < 1, "hardly faster than the naive one"
    sectors = [float(row[1]) for row in coalescing.scoreboard().rows[:-1]]
    assert sectors == [0.125, 0.0391, 0.0156, 0.0156]
    assert sectors[1] / sectors[0] < 1 / 3, "to less than a third"
    assert sectors[2] / sectors[1] == pytest.approx(0.4, abs=0.002), "to two fifths"
    said(f"the time by only {100 * (1 - down / naive):.0f} %")
    assert 1 - along / down == pytest.approx(0.25, abs=0.01), "and the time by a quarter"
    assert [row[3] for row in coalescing.scoreboard().rows] == ["10.6%", "11.0%", "14.7%", "15.3%", "100.0%"]
    for name, variant in (("sgemm_naive", "naive"), ("sgemm_uncoalesced", "down"), ("sgemm_tiled", "tiled")):
        other = 1e3 * products.recorded_product(name).seconds
        assert products.product_ms(variant) == pytest.approx(other, rel=0.005), "as other lessons say"


# ---- mistakes and old hardware -------------------------------------------------------------------------------------------------------

def test_the_slip_is_named_twice_for_what_is_never_loaded_and_for_what_lies_beyond_b(repaired):
    slip = coalescing.with_slip(repaired)
    assert len(slip.splitlines()) == len(repaired.splitlines())
    text, line = repr(check(slip)), 1 + slip[:slip.index("B[(k0 + tx)")].count("\n")
    assert f"wrong: line {line}: C[0][0] is" in text
    assert "1024 of 1024 elements of C are wrong" in text
    assert f"out of bounds: line {line}" in text
    assert f"wrong: line {line}" in text, "both name the load of B"
    assert "C[0][0] needs B[1][0], and its block never loads that" in text
    said("`C[0][0]` needs `B[1][0]`, and its block never loads that")
    both = slip.replace("k0 + ty < K && col", "k0 + tx < K && col")
    assert "out of bounds" not in (text := repr(check(both)))
    assert "1024 of 1024 elements of C are wrong" in text
    A, B, _ = inputs(64, 64, 64)
    assert run(both, A, B).sectors_per_request() == 10, "4 for A and 16 for B"
    assert "right on 1 of 12 inputs" in text


@pytest.mark.parametrize(("load", "slip"), [
    ("B[ldb * (k0 + ty) + col]", "B[ldb * (k0 + tx) + col]"), ("B[col + (ty + k0) * ldb]", "B[col + (tx + k0) * ldb]"),
    ("B[(k0 + threadIdx.y) * ldb + col]", "B[(k0 + threadIdx.x) * ldb + col]"),
    ("B [k0 * ldb + ty * ldb + col]", "B [k0 * ldb + tx * ldb + col]")])
def test_the_slip_goes_into_every_order_of_the_load(repaired, load, slip):
    written = repaired.replace("B[(k0 + ty) * ldb + col]", load)
    assert coalescing.with_slip(written) == written.replace(load, slip)
    assert "out of bounds" in repr(check(coalescing.with_slip(written)))


@pytest.mark.parametrize("text", [
    "__global__ void f() {}", "x = B[ty]; y = B[ty];", "const int k = k0 + ty; Bs[ty][tx] = B[k * ldb + col];"])
def test_without_one_such_load_the_slip_goes_into_the_lessons_own_kernel(text, capsys):
    slip = coalescing.with_slip(text)
    assert slip == coalescing.with_slip(products.line_29_changed())
    assert "the slip is made in the kernel of the listing" in capsys.readouterr().out
    found = repr(check(slip))
    assert "wrong: line 29: C[0][0] is" in found
    assert "C[0][0] needs B[1][0], and its block never loads that" in found
    assert "out of bounds: line 29" in found


def test_the_numbers_to_replace_in_the_program_are_in_it():
    shown = next(str(cell["outputs"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"] if cell["id"] == "home")
    said("write `2**24` for 4000, `3 * 2**24` for 12000 and `2**16` for 16")
    assert all(f"({number}" in shown for number in (4000, 12000, 16))
    assert (16 * 256, 2**16 * 256) == (4096, 2**24), "blocks of 256 threads"
    assert 96 == 16 * 256 - 4000, "threads that have nothing to do"
    host = 3 * 2**24 * (8 + 4) + 2**24 * (4 + 8 + 8)                       # x in double and single precision, and what is compared
    assert host < 1.1e9


def test_chiens_two_numbers_and_todays_column():
    rows = {row[0]: row[1:] for row in coalescing.old_and_new().rows}
    assert (rows[72][0], rows[68][0]) == ("0.8333", "0.7024")
    assert model.effective_bandwidth(72) == Fraction(5, 6)
    assert 1 - float(rows[72][1]) == pytest.approx(1 / 5), "a fifth of its traffic"
    for lda in LEADING:
        count = len(model.column_efficiencies(lda, today=True))
        moved = sum(run_gather("copy_strided", floats(32 * lda + 32), 32, offset=lda * c, backend="sim").count("sectors")
                    for c in range(count))
        assert rows[lda][2] == f"{4 * count / moved:.4f}", "the simulator moves as much"
        assert float(rows[lda][0]) >= float(rows[lda][1]), "an average of shares flatters"


def test_the_slides_repair_gains_nothing_and_ours_only_when_padded():
    rows = coalescing.slides().rows
    assert [round(100 * float(row[2]) / float(row[1]) - 100) for row in rows[-2:]] == [5, 3], "at 2048 and 4096"
    slower = [float(row[4]) / float(row[3]) for row in rows]
    assert 1.55 < min(slower) < max(slower) < 1.95, "1.6 to 1.9 times as long"
    assert all(float(row[5]) < float(row[3]) for row in rows)


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
    assert "655,360" in outputs["beside"]
    assert "repaired is not repaired yet" in outputs["slip"]
    assert "171.8" in outputs["between"]


def test_the_example_of_a_wide_load_is_one_load_of_16_bytes_per_lane():
    lines = re.search(r"```c\+\+\n(.*?)```", CELLS["optional-open"], re.DOTALL)[1]
    source = f'extern "C" __global__ void sums(const float* x, float* y) {{ const int i = threadIdx.x; {lines} }}'.replace("//", "\n//")
    x, y = np.arange(128, dtype=np.float32), np.zeros(32, np.float32)
    source = "\n".join(line.split("//")[0] for line in source.splitlines())
    report = launch(source, "sums", (1, 1, 1), (32, 1, 1), [x, y], trace=[((0, 0, 0), 0)])
    (record,) = requests(report, load=True)
    assert record.width == 16
    assert np.array_equal(y, x.reshape(32, 4).sum(axis=1))
