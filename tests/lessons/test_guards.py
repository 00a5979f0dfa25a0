"""What each block of a guarded kernel does, against what sizes and tiles say; the pictures and controls of it."""

from collections import Counter

import pytest

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.lessons.any_size.guards import VERSIONS, guard_facts, guard_picture, guard_sliders, guarded, traced_run
from course_lib.lessons.any_size.pictures import (
    BlockSeen,
    block_map,
    blocks_seen,
    describe_blocks,
    describe_rows_read,
    draw_rows_read,
    path_of,
    rows_read,
    tile_of,
)
from course_lib.run import matches
from course_lib.widgets.compute import inputs

SIZES = ((150, 40, 40), (128, 32, 32), (129, 33, 32), (128, 33, 47), (65, 16, 33))


def expected_case(version, rows_cut, cols_cut, K):
    """Chien's six cases, as far as our version still tells them apart."""
    tail = K % 16 != 0 or version == "method 5, v2"                # our version 2 always keeps the last column apart
    tests_a = rows_cut and (version == "method 5, v1" or (version == "method 5, v2" and tail))
    if cols_cut:
        return "IV" if tests_a else "II"
    return {(False, False): "I", (True, False): "V", (False, True): "III", (True, True): "VI"}[tail, tests_a]


@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize("version", [name for name in VERSIONS if name != "Wang"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_block_takes_the_case_that_its_place_and_k_ask_for(version, size):
    M, N, K = size
    found = guarded(version, M, N, K)
    rows, cols, _ = tile_of(found.result.kernel, found.result.parameters)
    assert len(found.blocks) == -(-M // rows) * -(-N // cols)
    for b in found.blocks:
        assert (b.rows, b.cols) == (min(rows, M - b.first_row), min(cols, N - b.first_col))
        assert b.case == expected_case(version, b.rows < rows, b.cols < cols, K), b


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("size", "fast"), [((128, 128, 32), 4), ((128, 128, 33), 0), ((129, 128, 32), 4), ((129, 129, 16), 4),
                                            ((127, 128, 32), 2), ((64, 64, 47), 0)])
def test_wangs_fast_path_wants_a_whole_block_and_whole_tiles(size, fast):
    found = guarded("Wang", *size)
    ways = Counter(path_of(b) for b in found.blocks)
    assert ways["fast"] == fast
    assert ways["fast"] + ways["guarded"] == len(found.blocks)


@pytest.mark.slow
def test_the_shorter_trace_says_what_the_whole_one_does():
    for version, size in {"method 5, v1": (100, 33, 57), "method 5, v2": (100, 33, 64), "method 6": (130, 33, 80),
                          "Wang": (65, 65, 49)}.items():
        name = VERSIONS[version]
        kernel = kernels.get(name)
        rows, cols, depth = tile_of(kernel, kernel.check())
        whole = traced_run(name, rows, cols, 2 * depth)
        assert blocks_seen(traced_run(name, *size), whole) == guarded(version, *size).blocks


def test_the_numbers_are_of_the_size_that_was_asked_for():
    found = guarded("method 5, v3", 129, 128, 47)
    A, B, _ = inputs(129, 128, 47)
    assert (found.result.M, found.result.N, found.result.K) == (129, 128, 47)
    assert matches(found.result.C, A, B)
    useful = 192 * 128 * 47 / (129 * 128 * 47)                      # three rows of blocks of 64
    assert useful < found.multiply_adds < useful + 2 / 47           # and alpha, beta once an element
    assert found.instructions > found.multiply_adds


def test_a_size_that_version_2_cannot_do_is_refused():
    with pytest.raises(CourseError, match="at least 64 rows; A has 48"):
        guarded("method 5, v2", 48, 32, 32)


def test_kernels_whose_blocks_are_not_known_are_refused():
    for name in ("sgemm_tiled", "sgemm_method7"):
        kernel = kernels.get(name)
        with pytest.raises(CourseError, match="no others"):
            tile_of(kernel, kernel.check())


def test_threads_without_a_row_read_nothing_the_next_column_or_the_last_row():
    reads = {v: rows_read(traced_run(f"sgemm_method5_{v}", 100, 16, 32), (1, 0)) for v in ("v1", "v2", "v3")}
    for version, beyond in {"v1": [None] * 28, "v2": [*range(100, 128)], "v3": [99] * 28}.items():
        assert list(reads[version].values()) == [*range(64, 100), *beyond]
    assert describe_rows_read(reads, 100) == ("Of 64 threads, those beyond row 99 read: v1 nothing (28 threads); "
                                              "v2 rows 100 to 127 (28 threads); v3 row 99 (28 threads).")
    ax = draw_rows_read(reads, 100, 64)
    assert [len(line.get_xdata()) for line in ax.lines] == [36, 64, 64, 2]
    assert ax.lines[1].get_ydata().max() == 127
    with pytest.raises(CourseError, match="one vector"):
        rows_read(traced_run("sgemm_method6", 100, 16, 16), (0, 0))


def test_the_map_has_every_block_in_its_place_and_colour():
    seen = guarded("method 5, v1", 150, 40, 40).blocks
    ax = block_map(seen, 150, 40)
    *blocks, frame = ax.patches
    assert [(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in blocks] == [
        (b.first_col, b.first_row, b.tile_cols, b.tile_rows) for b in seen]
    assert (frame.get_width(), frame.get_height()) == (40, 150)
    assert all(frame.get_zorder() > text.get_zorder() for text in ax.texts), "a word's box would hide a part of the frame"
    assert [t.get_text() for t in ax.texts] == [b.case for b in seen]
    assert len({p.get_facecolor() for p in blocks}) == 4
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["whole: 4", "columns cut: 2", "rows cut: 2", "corner: 1"]
    assert describe_blocks(seen, 150, 40) == ("C of 150 × 40 under 9 blocks of 64 × 16: 4 whole, 2 columns cut, 2 rows cut, 1 corner. "
                                              "Ways: II 2, IV 1, V 4, VI 2.")


def test_a_block_that_stores_everything_is_whole():
    whole, cut = BlockSeen((0, 0), 0, 0, 64, 16, 64, 16, False, False, False), BlockSeen((0, 0), 0, 0, 64, 16, 63, 15, True, True, True)
    assert (whole.category, whole.case, cut.category, cut.case) == ("whole", "I", "corner", "IV")


def test_the_table_counts_the_tiles_outside():
    facts = guard_facts(guarded("Wang", 65, 65, 33))
    assert (facts["blocks fast"], facts["blocks guarded"]) == ("0", "4")
    assert facts["tiles outside C"] == f"{1 - 65**2 / 128**2:.0%}"
    assert float(facts["SASS / multiply-add: untested tiles"]) < float(facts["SASS / multiply-add: tested tiles"])
    cases = guard_facts(guarded("method 5, v1", 150, 40, 40))
    assert [cases[f"blocks {case}"] for case in ("I", "II", "III", "IV", "V", "VI")] == ["0", "2", "0", "1", "4", "2"]


@pytest.mark.slow
def test_the_controls_begin_where_they_are_told_and_can_go_everywhere():
    box = guard_sliders("method 6", 192, 65, 33)
    assert box.position() == ("method 6", 192, 65, 33)
    assert "method 6" in box.static_text()
    assert "blocks" in box.static_text()
    for version in ("method 5, v3", "Wang"):
        for last in (0, -1):
            found = guarded(version, *(control.values[last] for control in box.controls[1:]))
            assert guard_picture(found)[1] == describe_blocks(found.blocks, found.result.M, found.result.N)
