"""Lesson 03: what it promises, and every number that its prose says."""

import ast
import dataclasses
import itertools
import json
import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import cp, data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.check import check
from course_lib.check.case import gate_case
from course_lib.errors import CourseError
from course_lib.explorables.threads import BLOCKS
from course_lib.lessons import first_kernel
from course_lib.lessons.cpu import recorded
from course_lib.lessons.first_kernel import blocks, counts, guards, padding, stores, times
from course_lib.magic import from_cell
from course_lib.model import l1_wavefronts
from course_lib.run import matches, run
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "03_first_kernel.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = " ".join(" ".join(CELLS.values()).split())


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def by_rows(N):
    """Return (rows of C that a warp covers, clock cycles per step) of both kernels with each shape of block."""
    return [(counts.warp_in_c(kernel, *block)[0], times.cycles_per_step(taken, N))
            for kernel in counts.KERNELS for block, taken in blocks.seconds_by_block(kernel, N).items()]


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
    assert "Only six characters differ" in PROSE


def test_the_experiment_with_another_block_gives_both_kernels_the_same_requests():
    """The reader launches `swapped` in blocks of 2 × 128, with the call that the prose has."""
    call = "kernel((N // 2, N // 128), (2, 128), (np.int32(N), A, B, C))"
    assert f"`{call}`" in CELLS["warp-times-told"]
    N, rng = 256, np.random.default_rng(3)
    A, B = (cp.asarray(rng.standard_normal((N, N), dtype=np.float32)) for _ in "AB")
    C = cp.zeros((N, N), dtype=np.float32)
    eval(call, {"kernel": cp.RawKernel(written("swapped"), "swapped"), "N": N, "np": np, "A": A, "B": B, "C": C})
    again = cp.last_launch()
    assert matches(C.get(), A.get(), B.get())
    assert first_kernel.beside(launched("first")[1], again).rows[3] == ("sectors per load request", "2", "2", "1")
    assert "Both kernels now touch 2 sectors per request" in CELLS["warp-times-told"]


def test_the_naive_and_the_swapped_kernel_are_those_of_the_catalog():
    for cell, name in (("first", "naive"), ("swapped", "swapped")):
        assert launched(cell)[1].count("sectors") == counts.counted(name).count("sectors")


def test_what_a_step_touches():
    assert [counts.sectors_per_step(name) for name in counts.KERNELS] == [4, 17]
    assert [first_kernel.lines_per_step(name) for name in counts.KERNELS] == [3, 17]


def test_the_prose_says_what_was_recorded():
    naive, swapped, library = (times.seconds(name) for name in ("naive", "swapped", "cuBLAS"))
    assert first_kernel.slower() == round(swapped / naive, 1)
    assert f"row from x {1e3 * swapped:.1f} ms, cuBLAS {1e3 * library:.1f} ms" in repr(first_kernel.time_bars())
    for said in (f"the faster one takes {1e3 * naive:.1f} ms on an H200", f"exchanging x and y costs a factor of {swapped / naive:.1f}",
                 f"cuBLAS, needs {1e3 * library:.1f} ms", f"only {100 * library / naive:.1f} % of the library's speed",
                 f"{counts.sectors_per_step('swapped') / counts.sectors_per_step('naive'):g} times as many sectors"):
        assert said in PROSE, said


def test_the_bars_have_the_times_as_the_prose_writes_them(monkeypatch):
    monkeypatch.setattr(times, "render", lambda ax, _: ax)
    written_beside = [text.get_text() for text in first_kernel.time_bars().texts]
    assert written_beside == [f"{1e3 * times.seconds(name):.1f}" for name in ("naive", "swapped", "cuBLAS")]


def test_the_h200_is_as_the_prose_says():
    assert (DEFAULT_DEVICE.clock_mhz, DEFAULT_DEVICE.sms, DEFAULT_DEVICE.cores_per_sm) == (1980, 132, 128)


def test_no_recording_is_faster_than_the_multiply_adds_allow():
    sizes_recorded, least = (256, 512, 1024, 2048, 4096, 8192), 32 / DEFAULT_DEVICE.cores_per_sm
    for name in (*counts.KERNELS, "cuBLAS"):
        assert all(times.cycles_per_step(times.seconds(name, N), N) > least for N in sizes_recorded), name
    assert f"the library does just as many in {1e3 * times.seconds('cuBLAS'):.1f} ms" in PROSE


def test_the_ratio_of_the_times_is_told_for_all_recorded_sizes():
    recorded = {r.N for r in data.load("ladder").find("sgemm_swapped")}
    assert recorded == {256, 512, 1024, 2048, 4096, 8192}
    ratios = {N: round(times.seconds("swapped", N) / times.seconds("naive", N), 1) for N in recorded}
    large = [ratios[N] for N in recorded if N >= 512]
    assert f"it is {ratios[256]} at N = 256, and {min(large)} to {max(large)} at the powers of two from 512 to 8192" in PROSE
    assert f"at N = 4096 it was recorded to take {ratios[4096]} times as long" in PROSE
    assert f"At N = 1024 *row from x* is {ratios[1024]} times as slow" in PROSE, "where the profiler counted"
    assert times.N_PROFILED == 1024


def test_the_matrices_fit_the_l2_where_it_was_profiled_and_not_at_4096():
    mib = DEFAULT_DEVICE.l2_bytes / 2**20
    assert 3 * 4 * 1024**2 < DEFAULT_DEVICE.l2_bytes < 3 * 4 * 4096**2
    assert f"three matrices are {3 * 4 * 4096**2 // 2**20} MiB, which no longer fit into the L2 of {mib:.0f} MiB" in PROSE


def test_at_multiples_of_32_a_step_takes_a_cycle_per_line_within_a_tenth_and_never_less():
    for N in (2048, 4096, 8192):
        for name in counts.KERNELS:
            cycles, lines = times.cycles_per_step(times.seconds(name, N), N), first_kernel.lines_per_step(name)
            assert lines < cycles < 1.1 * lines, (name, N)


def test_the_second_level_cache_is_asked_for_nearly_the_same():
    (_, *naive), (_, *swapped) = first_kernel.traffic().rows
    l1, l2 = (float(b) / float(a) for a, b in zip(naive, swapped, strict=True))
    assert (round(l1, 2), round(l2, 1)) == (4.25, 1.1)


def test_the_table_of_shapes_is_the_formula():
    for (kernel, bx, by), row in zip(counts.SHAPES, first_kernel.shapes().rows, strict=True):
        high, wide = counts.warp_in_c(kernel, bx, by)
        assert counts.sectors_per_step(kernel, bx, by) == high + max(wide // 8, 1) == sum(map(int, row[3].split("+")))
        assert tuple(int(part.split()[0]) for part in row[2].split(",")) == (high, wide)
        assert not any(" " in cell for cell in row), "its cells stay on one line"
    full = {(r, 32 // r): r + max(32 // r / 8, 1) for r in (1, 2, 4, 8, 16, 32)}
    assert min(full, key=full.get) == (2, 16)
    assert counts.warp_in_c("naive", 16, 16) == counts.warp_in_c("swapped", 2, 64) == (2, 16)
    single = counts.counted("naive", 1, 1)
    assert single.count("requests") == 32 * counts.counted("naive").count("requests")
    assert single.count("sectors") == max(counts.counted(*shape).count("sectors") for shape in counts.SHAPES)
    assert single.sectors_per_request() == 1


@pytest.mark.parametrize(("kernel", "best"), [("naive", 16), ("swapped", 2)])
def test_the_task_has_one_answer_if_by_is_16_or_more(kernel, best):
    for by in (16, 32, 64):
        found = {bx: counts.counted(kernel, bx, by).count("sectors") for bx in (1, 2, 4, 8, 16, 32, 64) if bx * by <= 1024}
        assert [bx for bx in found if found[bx] == min(found.values())] == [best]
    assert "if `by` is 16 or more" in CELLS["play"]
    assert counts.counted(kernel, 1, 1).count("sectors") >= counts.counted(kernel, 1, 2).count("sectors")


def test_the_shape_with_the_fewest_sectors_has_not_the_fewest_lines():
    found = {(bx, by): (counts.sectors_per_step("naive", bx, by), counts.lines_per_step("naive", bx, by))
             for bx, by in ((32, 8), (16, 16), (8, 32))}
    assert found == {(32, 8): (5, 2), (16, 16): (4, 3), (8, 32): (5, 5)}, "32 × 8 and 8 × 32: the sectors stay, the lines change"
    assert "which makes 2 lines." in CELLS["lines-explained"]
    assert "which makes 5." in CELLS["lines-explained"]
    assert set(found) == set(BLOCKS.values()), "the picture has these buttons"


def test_the_chart_is_what_was_recorded_and_counted():
    shapes = [(256 >> i, 1 << i) for i in range(9)]
    sectors, lines = (blocks.by_count(unit) for unit in ("sectors", "lines"))
    for kernel in counts.KERNELS:
        assert shapes == list(blocks.seconds_by_block(kernel, 4096))
        for block, (fetched, taken), (touched, same) in zip(shapes, sectors[kernel], lines[kernel], strict=True):
            high, wide = counts.warp_in_c(kernel, *block)
            assert (fetched, touched) == (high + max(wide // 8, 1), high + 1), "sectors; lines, as B's neighbours lie in one"
            assert taken == same == 1e3 * blocks.seconds_by_block(kernel, 4096)[block]
            assert fetched == touched or touched < 5, "from five lines on both are equally many"
    assert all(r.correct for r in data.load("shapes").records)
    assert "from five lines on a step touches as many sectors as lines" in PROSE


def test_equally_many_sectors_did_not_take_equally_long():
    flat, tall = (1e3 * blocks.seconds_by_block("naive", 4096)[block] for block in ((32, 8), (8, 32)))
    assert f"at N = 4096, blocks of 8 × 32 took {tall:.1f} ms, and blocks of 32 × 8 took {flat:.1f} ms" in PROSE
    five = sorted(taken for found in blocks.by_count("sectors").values() for count, taken in found if count == 5)
    two = sorted(taken for found in blocks.by_count("lines").values() for count, taken in found if count == 2)
    assert five[:5] == two
    assert len(five) == 7
    assert f"{two[0]:.1f} to {two[-1]:.1f} ms, and {five[5]:.1f} to {five[6]:.1f} ms" in PROSE
    per_line = blocks.per_line()
    assert len(per_line) == 13
    assert f"at {per_line[0]:.1f} to {per_line[-1]:.1f} ms per line" in PROSE
    assert min(two) / 2 > 1.4 * max(per_line), "visibly above"
    ratio = times.seconds("swapped") / times.seconds("naive")
    charted = [blocks.seconds_by_block(kernel, 4096)[16, 16] for kernel in ("swapped", "naive")]
    assert f"{charted[0] / charted[1]:.2f}" == f"{ratio:.2f}", "the two recordings agree"
    assert f"17 / 3 = {17 / 3:.2f} times as many lines, and its time was {ratio:.2f} times as long" in PROSE
    assert f"{two[0]:.1f} to {two[-1]:.1f} ms, above that" in repr(first_kernel.sectors_and_lines())


def test_the_time_goes_with_the_shape_of_the_warp_whatever_the_kernel_and_its_block():
    table = first_kernel.warp_times()
    assert "H200" in table.caption
    assert "4096 × 4096" in table.caption
    taken = []
    for covers, *found in table.rows:
        high, wide = map(int, re.findall(r"\d+", covers))
        for kernel, (block, ms) in zip(counts.KERNELS, (found[:2], found[2:]), strict=True):
            bx, by = map(int, re.findall(r"\d+", block))
            assert counts.warp_in_c(kernel, bx, by) == (high, wide)
            assert ms == f"{1e3 * blocks.seconds_by_block(kernel, 4096)[bx, by]:.1f}"
        taken.append((high, *(float(ms) for ms in found[1::2])))
    assert [high for high, *_ in taken] == [1, 2, 4, 8, 16, 32]
    assert all(abs(second / first - 1) < 0.02 for _, first, second in taken[1:]), "the prose says: by less than 2 %"
    told, later = CELLS["warp-times-told"], CELLS["lines-explained"]
    naive, swapped = (blocks.seconds_by_block(kernel, 4096) for kernel in counts.KERNELS)
    assert f"it takes {100 * (1 - naive[32, 8] / naive[16, 16]):.0f} % less time" in later
    assert [counts.sectors_per_step("naive", *block) for block in ((32, 8), (16, 16))] == [5, 4], "five sectors per step instead of four"
    assert f"takes {100 * (swapped[1, 256] / naive[32, 8] - 1):.0f} % longer than *col from x* there" in later
    assert f"where they differ by {100 * (swapped[1, 256] / naive[32, 8] - 1):.0f} %" in told
    assert f"It took {1e3 * naive[256, 1]:.1f} ms" in later
    assert f"takes only {100 * (swapped[1, 256] / naive[256, 1] - 1):.0f} % longer" in later
    assert naive[256, 1] - naive[32, 8] > swapped[1, 256] - naive[256, 1], "most of that comes with the block"
    for (few, *before), (many, *after) in itertools.pairwise(taken[1:]):
        assert [round((b - a) / (many - few)) for a, b in zip(before, after, strict=True)] == [8, 8], "about 8 ms for each further row"
    assert "From the second line on, the times differ by less than 2 %" in told
    assert "From two rows on, each further row that a warp covers costs about 8 ms." in told


def test_at_2048_and_4096_from_three_lines_on_the_time_follows_the_lines_and_at_two_it_does_not():
    for N in (2048, 4096):
        for rows, cycles in by_rows(N):
            per_line = cycles / (rows + 1)
            assert 1 < per_line <= 1.05 if rows > 1 else per_line > 1.2, (N, rows)
    assert "At N = 2048, too, the time follows the lines from three per step on." in PROSE, "beside the chart, which has 4096"


def test_at_2047_neither_lines_nor_sectors_are_the_time_and_the_better_rule_is_a_lower_limit():
    taken = {N: blocks.seconds_by_block("swapped", N)[16, 16] for N in (2048, 2047)}
    cycles = times.cycles_per_step(taken[2047], 2047)
    first = {N: 1e3 * blocks.seconds_by_block("naive", N)[16, 16] for N in (2048, 2047)}
    assert f"it took {first[2047]:.2f} instead of {first[2048]:.2f} ms" in PROSE
    assert f"at N = 2047 it touches as many or more, and takes {cycles:.1f} cycles" in PROSE
    assert {f"{times.cycles_per_step(blocks.seconds_by_block('swapped', N)[16, 16], N):.1f}" for N in (2048, 4096)} == {"17.3"}
    assert "*row from x* touches 17 lines and takes 17.3 cycles per step" in PROSE
    for N in (2047, 2048, 4096):
        for rows, cycles in by_rows(N):
            row, col = np.repeat(np.arange(rows), 32 // rows), np.tile(np.arange(32 // rows), rows)
            A, B = 4 * N * row, 4 * col
            assert sum(len(np.unique(x // 128)) for x in (A, B)) >= rows + 1
            assert l1_wavefronts(A) + l1_wavefronts(B) == (2 if N == 2047 else rows + 1) < cycles, (N, rows)
    most = [cycles for rows, cycles in by_rows(2047) if rows == 32]
    assert f"where a warp covers 32 rows, a step takes {min(most):.1f} to {max(most):.1f} cycles" in PROSE
    assert len(blocks.seconds_by_block("swapped", 2047)) == 9, "in each of nine shapes"


def test_the_table_of_distances_is_what_was_counted_and_no_step_is_faster_than_the_rule():
    names = {said: kernel for kernel, said in counts.SAID.items()}
    rows = [(names[kernel.replace("\N{NO-BREAK SPACE}", " ")], N, pitch, float(sectors), float(lines), many, rule, float(cycles))
            for kernel, N, pitch, sectors, lines, many, rule, cycles in first_kernel.rows_apart().rows]
    assert [row[1:3] for row in rows] == 2 * [(2047, 2047), (2048, 2048), (4096, 4096), (4096, 4100)]
    for kernel, _, pitch, sectors, lines, many, rule, cycles in rows:
        high, wide = counts.warp_in_c(kernel, 16, 16)
        row, col = np.repeat(np.arange(high), wide), np.tile(np.arange(wide), high)
        steps = [(pitch * row + k, pitch * k + first + col) for k in range(32) for first in range(0, 64, wide)]
        for floats, told in ((8, sectors), (32, lines)):
            assert np.mean([len(np.unique(A // floats)) + len(np.unique(B // floats)) for A, B in steps]) == pytest.approx(told, abs=6e-4)
        assert {len(np.unique(A % 32)) for A, _ in steps} == {many}
        assert {l1_wavefronts(4 * A) + l1_wavefronts(4 * B) for A, B in steps} == {rule}
        assert rule < cycles, "No step in the table is faster than the rule says"
    assert rows[4][3:5] > rows[5][3:5], "col from x at 2047: more sectors, more lines, and yet faster"
    assert rows[4][4] > rows[5][4]


def test_padded_rows_leave_sectors_and_lines_and_change_the_time():
    bare, padded = (1e3 * padding.padded("swapped", pad)["median_s"] for pad in (0, padding.PADDING))
    assert padding.PADDING == 4, "as the prose says"
    assert first_kernel.padded_ms() == float(f"{padded:.1f}")
    assert f"took {bare:.1f} ms at N = 4096" in CELLS["guess-padded"]
    assert f"it took {bare:.1f} ms this time" in CELLS["warp-times-told"]
    assert f"take {bare - padded:.0f} of {bare:.0f} ms away" in CELLS["padded-explained"]
    assert f"from {bare:.1f} to {padded:.1f} ms" in CELLS["key-points"]
    assert f"So {bare:.1f} ms are {bare:.1f} ms · 1.98 GHz · 132 · 32 / 4096³ = {times.cycles_per_step(bare / 1e3):.1f} cycles" in PROSE
    assert bare - padded > 0.7 * (bare - 1e3 * padding.padded("naive", 0)["median_s"]), "most of what row from x loses"
    for ld, many in ((4096, 1), (4100, 8)):
        assert f"with rows {ld} floats apart they lie at {many} place" in repr(first_kernel.places())
        column = [ld * np.arange(16) + k for k in range(ld)]
        assert {len(np.unique(numbers % 32)) for numbers in column} == {many}, "where in a piece of 32 floats"
        assert {len(np.unique(numbers // 32)) for numbers in column} == {len(np.unique(numbers // 8)) for numbers in column} == {16}
        B = [ld * k + np.array([c, c + 1]) for k in range(64) for c in range(0, 32, 2)]
        assert {len(np.unique(numbers // 8)) for numbers in B} == {1}, "and one of B"


def test_the_more_places_the_less_time():
    rows = first_kernel.padded_rows().rows
    assert [(floats, many, rule) for floats, _, many, rule, *_ in rows] == [(0, 1, 17), (8, 4, 5), (4, 8, 3), (1, 16, 2)]
    assert [row[1] for row in rows] == ["17", "17", "17", "17.125"], "counted by the profiler at N = 1024"
    for floats, sectors, *_ in rows:
        B = [(4096 + floats) * k + np.array([c, c + 1]) for k in range(64) for c in range(0, 32, 2)]
        assert 16 + np.mean([len(np.unique(numbers // 8)) for numbers in B]) == float(sectors), "and so it is at N = 4096"
    taken = [float(ms) for *_, ms in rows]
    assert all(f"floats apart they lie at {many} place" in first_kernel.places().alt for many in (1, 4, 8, 16))
    assert taken == sorted(taken, reverse=True)
    beyond = [round(float(cycles) - rule, 1) for *_, rule, cycles, _ in rows]
    assert beyond[0] < 0.5, "the rule fits the first line"
    assert f"a step takes {min(beyond[1:])} to {max(beyond[1:])} cycles more than the rule says" in CELLS["padded-explained"]


def test_col_from_x_follows_neither_the_places_nor_the_sectors():
    rows = first_kernel.padded_rows("naive").rows
    assert [(floats, sectors, many, rule) for floats, sectors, many, rule, *_ in rows] == [
        (0, "4", 1, 3), (8, "4", 2, 2), (4, "4.5", 2, 2), (1, "4.875", 2, 2)]
    taken = {N: {pad: padding.padded("naive", pad, N)["median_s"] for pad in padding.PADDINGS} for N in (1024, 4096)}
    change = {pad: round(100 * (seconds / taken[4096][0] - 1)) for pad, seconds in taken[4096].items()}
    told = CELLS["col-padded-explained"]
    assert f"stay at 4, and the kernel takes {change[8]} % longer. With four it takes {change[4]} % longer" in told
    assert f"and the kernel takes {-change[1]} % less time" in " ".join(told.split())
    less = [round(100 * (1 - taken[1024][pad] / taken[1024][0])) for pad in (1, 4, 8)]
    assert f"by {min(less)} to {max(less)} %" in told


def test_padded_rows_do_not_change_what_the_l2_is_asked():
    counted = [padding.profiled("swapped", pad) for pad in (0, 4)]
    small = [1e3 * padding.padded("swapped", pad, 1024)["median_s"] for pad in (0, 4)]
    assert counted[0]["load_sectors"] == counted[1]["load_sectors"]
    assert "{:.1f} million sectors without the unused floats, and {:.1f} million".format(
        *(row["l2_sectors_read"] / 1e6 for row in counted)) in PROSE
    assert f"the time of *row from x* from {small[0]:.2f} to {small[1]:.2f} ms" in PROSE


def test_the_speaker_notes_say_what_was_recorded():
    notes = " ".join((ROOT / "docs" / "lecturing" / "03_first_kernel.md").read_text(encoding="utf-8").split())
    row, square = (1e3 * blocks.seconds_by_block("naive", 4096)[block] for block in ((32, 8), (16, 16)))
    assert f"32 × 8: {row:.1f} ms instead of {square:.1f} at N = 4096" in notes
    bare, padded = (1e3 * padding.padded("swapped", pad)["median_s"] for pad in (0, 4))
    assert f"It took {bare:.1f} ms" in notes
    assert f"Reveal: {padded:.1f} ms" in notes
    rules, found = zip(*((rule, cycles) for *_, rule, cycles, _ in first_kernel.padded_rows().rows), strict=True)
    assert "the rule says {}, {}, {} and {} cycles, and it took {}, {}, {} and {}.".format(*rules, *found) in notes
    cycles = times.cycles_per_step(blocks.seconds_by_block("swapped", 2047)[16, 16], 2047)
    assert f"refuted at N = 2047, where 17 lines took {cycles:.1f} cycles" in notes


def test_sectors_are_asked_for_before_it_is_said_that_they_are_not_the_time():
    order = list(CELLS)
    told = [order.index(cell) for cell in ("key-points", "shapes-told", "cost", "sectors-and-lines")]
    assert told == sorted(told), "and all of it is optional"


def test_the_picture_of_the_sliders_stands_beside_the_table_in_a_narrow_notebook():
    table, gap, narrow = 370, 12, 848            # pixels, seen in JupyterLab at 1280 × 800 with its file browser open
    assert table + gap + 100 * stores.SMALL["width"] <= narrow
    assert 110 + 100 * stores.SMALL["height"] <= 450, "sliders, buttons and the status line above it"


def test_more_than_1024_threads_are_refused():
    A = np.ones((64, 64), np.float32)
    with pytest.raises(CourseError, match="64 × 32 = 2048 threads a block, but at most 1024"):
        run("sgemm_naive", A, A, bx=64, by=32)


def test_the_details_of_the_check_count_a_product_of_their_own():
    report = check(written("sgemm"))
    warps = 64 * 64 // 32
    assert f"with M = N = K = 64: C has 64 · 64 / 32 = {warps} warps" in PROSE
    assert f"That makes {2 * 64 * warps:,}." in PROSE
    assert f"{2 * 64 * warps:,}" in report._repr_html_()
    counted = gate_case(guards.TILE)
    assert (counted.M, counted.N, counted.K) == (64, 64, 64)


def test_the_kernel_for_any_size_is_right_on_every_input():
    said = repr(check(written("sgemm")))
    assert "right on 12 of 12 inputs" in said
    assert "no hazard" in said
    numbers, sectors = 8 * (2 + 16) / (16 + 16), 8 * (2 + 2) / (2 * 16 / 8)            # 8 warps; once: 16 numbers of A and 16 of B
    assert f"{numbers:.1f} times on average, and touches {sectors:.1f} times as many sectors" in said
    assert f"4 / 32 = {4 / 32:.4f}" in CELLS["checked"]
    assert f"4 / 256 = {4 / 256:.4f}, which is {sectors:.1f} times less" in CELLS["checked"]
    assert f"{4 / 32:.4f} sectors for each multiply-add instead of {4 / 256:.4f}" in said
    assert f"8 · 18 = {8 * 18} numbers. Only 16 + 16 = 32 of them are different, and 144 / 32 = {numbers}." in PROSE


def test_without_its_guard_only_whole_blocks_are_right():
    text = written("sgemm")
    broken = first_kernel.without_guard(text)
    assert len(broken.splitlines()) == len(text.splitlines())
    said = repr(check(broken))
    assert "right on 5 of 12 inputs" in said
    assert "thread (1, 0, 0) of block (1, 0, 0) reads B[17], but B has 17 elements" in said
    assert "M=16 N=17 K=1" in said
    assert first_kernel.right_inputs(check(broken)) == 5
    with pytest.raises(CourseError, match="no comparison of the row with M was found"):
        first_kernel.without_guard("__global__ void f() {}")


WHOLE = "if (row >= M || col >= N) return;"


@pytest.mark.parametrize("guard", [
    WHOLE, "if (M <= row || N <= col) return;", "if (M <= row) return; if (N <= col) return;", "if (!(row < M && col < N)) return;",
    "if ((row >= M) || (col >= N)) return;", "if (row > M - 1 || N - 1 < col) return;",
    "if (blockIdx.y * blockDim.y + threadIdx.y >= M || col >= N) return;"])
def test_a_right_guard_in_any_form_is_switched_off_wholly_or_by_half(guard):
    text = written("sgemm").replace(WHOLE, guard)
    assert guard in text
    assert first_kernel.right_inputs(check(text)) == 12
    assert first_kernel.right_inputs(check(first_kernel.without_guard(text))) == 5
    assert first_kernel.right_inputs(check(first_kernel.without_column_guard(text))) == 6


def test_a_guard_that_is_not_understood_is_refused():
    for guard in ("if (row * 1 >= M * 1 || col >= N) return;", "if (int(row) >= M) return;"):
        with pytest.raises(CourseError, match="write it as `row >= M`"):
            first_kernel.without_guard(guard)


def test_a_guard_of_the_rows_alone_repairs_input_seven_only():
    text = written("sgemm")
    half = check(first_kernel.without_column_guard(text))
    assert first_kernel.right_inputs(half) == 6
    wrong = {outcome.name for outcome in check(first_kernel.without_guard(text)).inputs if not outcome.passed}
    (repaired,) = wrong - {outcome.name for outcome in half.inputs if not outcome.passed}
    number, _, M, N, *_ = next(row for row in first_kernel.inputs().rows if row[1] == repaired)
    assert (number, M, N) == (7, 17, 16)
    surplus = [row for row in first_kernel.inputs().rows if row[2] % 16 and row[0] != 7]
    assert all(row[3] % 16 for row in surplus), "in every other product with a surplus row there is a surplus column"
    for (_, name, M, N, K, padded), outcome in zip(first_kernel.inputs().rows, half.inputs, strict=True):
        assert name == outcome.name
        assert f"M={M} N={N} K={K}" in outcome.detail, "the table has what the check ran"
        assert (padded == "padded") == ("rows padded" in outcome.detail)
    with pytest.raises(CourseError, match="no comparison"):
        first_kernel.without_column_guard("if (row >= M) return;")


def test_a_guard_that_lets_one_too_many_through_repairs_nothing():
    assert first_kernel.right_inputs(check(written("sgemm").replace(">=", ">"))) == 5


def test_the_sizes_of_the_lesson_have_the_same_step():
    for N in (32, 256, 1024, 4096):
        assert N % 32 == 0, "every row begins where a line begins"
    assert [counts.lines_per_step(name) for name in counts.KERNELS] == [3, 17], "traced at 32"
    assert launched("first", 32)[1].sectors_per_request() == launched("first", 256)[1].sectors_per_request()


def test_a_wrong_leading_dimension_is_found_on_padded_rows():
    said = repr(check(written("sgemm").replace("B[k * ldb + col]", "B[k * N + col]")))
    assert "input: padded rows" in said
    assert "NaN stands between the rows" in said
    assert re.findall(r"not right: (.*)", said)[0].split("; ") == [row[1] for row in first_kernel.inputs().rows if row[5]], "all three"
    number = next(i for i, line in enumerate(written("sgemm").splitlines(), 1) if "C[row * ldc + col] =" in line)
    assert f"wrong: line {number}:" in said, "the line that stores, as the lesson says"
    assert "B[k * ldb + col]" in written("sgemm").splitlines()[number - 2], "the line above it loads B"


def test_the_program_to_take_home_is_long_enough_to_be_timed():
    assert f"a launch was recorded to take {1e6 * times.seconds('naive', 256):.0f} µs" in PROSE
    assert "large = 2048" in CELLS["home"]


def test_the_slides_unit_is_the_second():
    first = times.CPU[0] * 1e-3
    assert f"{2 * 256**3 / first / 1e9:.0f} GFLOP/s at N = 256" in PROSE
    (library,) = data.load("cpu_steps").find("blas", 1024)
    assert f"a library does {library.gflops:.0f} with one thread on the Intel Xeon of our recordings" in PROSE
    assert "Intel(R) Xeon(R)" in data.load("cpu_steps").device
    own, told = (2 * 1024**3 / 1e9 / dict(recorded.ladder())[f"the library, vectors of {floats}"]["median_s"]
                 for floats in ("8 floats (its own choice)", "16 floats (told so)"))
    assert f"On the AMD EPYC of lesson 02 it does {own:.0f}, or {told:.0f} when" in PROSE
    assert times.INITIAL[0] == times.INITIAL[1]
    assert [row[3] for row in first_kernel.slides().rows] == ["0.5", "4.9", "37.7", "347.1", "364.2"]


def test_the_scoreboards_speeds_are_shares_of_the_librarys():
    assert [row[1:] for row in first_kernel.scoreboard().rows] == [
        ("8.5", "141.8", "1.9%"), ("2", "25.4", "10.6%"), ("", "2.7", "100.0%")]


def test_the_plans_thread_is_where_the_prose_says():
    assert "lane 19 of warp 2 and computes the element in row 1 · 16 + 5 = 21 and column 2 · 16 + 3 = 35" in repr(first_kernel.plan())
    assert divmod(5 * 16 + 3, 32) == (2, 19)
    assert "its column is 2 · 16 + 3 = 35" in PROSE
    assert "its row is 1 · 16 + 5 = 21" in PROSE
    assert (-(-70 // 16), -(-70 // 16) * 16 - 70) == (5, 10), "80 threads, ten without a column"
    assert "10 columns to the right and 8 rows below are outside C. These are 1,040 of 3,840 threads" in repr(first_kernel.surplus())


def test_the_second_half_runs_without_the_first():
    cells = [cell for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    order = [cell["id"] for cell in cells]
    half = [cell["id"] for cell in cells[order.index("back"):order.index("quiz") + 1]]
    assert half[0] == "back"
    made = re.findall(r"import (.*)", CELLS["back"])
    known = {name.strip() for line in made for name in line.split(",")} | {"sgemm"}
    for cell in half[1:]:
        if CELLS[cell].startswith("%%"):
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
    needs = {"launched": "first", "swapped-launched": "swapped", "check": "sgemm", "unguarded": "sgemm", "home": "first"}
    for cell, kernel in needs.items():
        assert f"{kernel} is not written yet" in said[cell], (cell, said[cell])
    for cell in ("beside", "reveal-guard", "half"):
        assert "is not written yet" in said[cell], (cell, said[cell])
        assert not any(number in said[cell] for number in ("8.5", "it is 17", "it is 5 ", "it is 6 "))
    assert "2,097,152" in said["shapes"]
