"""Which part of C a warp computes, and when tiles are on their way: from traces of the kernels, held to their source."""

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.lessons import closing_in
from course_lib.lessons.closing_in.overlap import Overlap, TileSpan
from course_lib.lessons.closing_in.pictures import one_warp, overlap_picture, warp_picture
from course_lib.lessons.closing_in.warp_tile import WarpTile
from course_lib.model import shared_wavefronts
from course_lib.run import run
from course_lib.widgets.compute import inputs

SMALL = {"BM": 64, "BN": 64, "BK": 8}


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("kernel", "tile", "rows", "cols"), [
    ("sgemm_vectorized", {"TM": 8, "TN": 8}, range(32), range(64)),                   # 8 threads a row of the block: 4 × 8 of a warp
    ("sgemm_warp_tile", {"WM": 32, "WN": 64, "TM": 8, "TN": 8}, range(32), range(64)),
    ("sgemm_warp_tile", {"WM": 64, "WN": 32, "TM": 8, "TN": 8}, range(64), range(32)),
    ("sgemm_2d_tile", {"TM": 8, "TN": 8}, [8 * i + j for i in range(8) for j in range(4)], range(64))])
def test_a_warp_reads_the_rows_and_columns_of_its_outputs_and_no_others(kernel, tile, rows, cols):
    found = closing_in.warp_tile(one_warp(kernel, **SMALL, **tile))
    assert (found.rows, found.cols) == (tuple(rows), tuple(cols))
    assert found.outputs == tuple((row, col) for row in rows for col in cols)
    assert found.words == len(found.rows) + len(found.cols)
    assert len(found.one) == 64
    assert set(found.one) < set(found.outputs)


def test_wavefronts_are_those_of_the_addresses_in_the_source():
    lane = np.arange(32)
    a = 4 * (lane // 16 * 8)                                    # As[k][thread_row], 16 threads along a row of the block
    b = 4 * (lane % 16 * 8)
    expected = 2 * (shared_wavefronts(a, width=16) + shared_wavefronts(b, width=16))
    assert closing_in.warp_tile(one_warp("sgemm_vectorized")).wavefronts == expected == 20
    row = (lane >> 1 & 1) + (lane >> 2) % 4 * 2                 # a warp's tile of 64 × 32: 8 lanes by 4
    col = (lane & 1) + (lane >> 2) // 4 * 2
    expected = 2 * (shared_wavefronts(16 * row, width=16) + shared_wavefronts(16 * col, width=16))
    assert closing_in.warp_tile(one_warp("sgemm_warp_tile")).wavefronts == expected == 8


def test_another_warp_has_another_part():
    A, B, _ = inputs(128, 128, 8)
    parts = [closing_in.warp_tile(run("sgemm_warp_tile", A, B, backend="sim", trace=[((0, 0, 0), warp)]), warp) for warp in range(8)]
    assert sorted(cell for part in parts for cell in part.outputs) == [(row, col) for row in range(128) for col in range(128)]


def test_the_picture_draws_outputs_and_strips_where_they_are():
    tile = WarpTile("a kernel", (8, 8), ((0, 0), (0, 1), (4, 0), (4, 1)), ((4, 1),), 4, 2.0)
    ax = closing_in.warp_tiles([tile, tile])
    shade = np.asarray(ax.images[0].get_array())
    assert shade.shape == (8, 8)
    assert {tuple(map(int, cell)): int(shade[tuple(cell)]) for cell in np.argwhere(shade)} == {(0, 0): 1, (0, 1): 1, (4, 0): 1, (4, 1): 2}
    strips = [(round(p.get_y(), 3), round(p.get_height(), 3)) for p in ax.patches if p.get_fill() and p.get_x() < 0]
    assert strips == [(0, 0.125), (0.5, 0.125)]
    assert "4 words for each k, 2 wavefronts" in {text.get_text() for text in ax.texts}
    told = closing_in.describe_warp_tiles([tile])
    assert told.startswith("a kernel: warp 0 computes 4 of the block's 8 × 8 elements of C, from 2 rows of A")


@pytest.mark.slow
def test_who_loads_under_the_work():
    """The simple kernel asks for a tile when it is done with the last; the others before; two buffers need one barrier a tile."""
    tile = SMALL | {"TM": 8, "TN": 8}
    simple = closing_in.overlap(one_warp("sgemm_vectorized", 4, **tile))
    early = closing_in.overlap(one_warp("sgemm_warp_tile", 4, WM=32, WN=64, **tile))
    double = closing_in.overlap(one_warp("sgemm_double_buffered", 4, WM=32, WN=64, **tile))
    assert [(o.ahead, o.barriers_per_tile) for o in (simple, early, double)] == [(0, 2), (3, 2), (3, 1)]
    for o in (simple, early, double):
        assert [span.tile for span in o.spans] == [0, 1, 2, 3]
        for span in o.spans:
            assert span.last > span.first > span.there > span.asked >= 0
            assert span.there in o.barriers


def test_a_tile_is_asked_for_where_its_first_element_is():
    """sgemm_vectorized loads A's part first, sgemm_double_buffered B's: as many requests of each for every tile."""
    for name, first in (("sgemm_vectorized", "A"), ("sgemm_double_buffered", "B")):
        p = SMALL | ({"WM": 32, "WN": 64} if first == "B" else {})
        traced = one_warp(name, 4, **p, TM=8, TN=8)
        loads = plots.requests(traced, array=first)
        expected = [loads[tile * len(loads) // 4].step - traced.trace[0].step for tile in range(4)]
        assert [span.asked for span in closing_in.overlap(traced).spans] == expected


def test_without_its_prefetch_the_kernel_does_not_load_under_the_work(monkeypatch):
    """The picture could show otherwise: the same text, its fetch moved behind the products."""
    from course_lib import kernels
    from course_lib.kernels.user import UserKernel
    kernel = kernels.get("sgemm_warp_tile")
    early = "        if (k0 + BK < K) fetch(k0 + BK);       // these loads are under way during the products\n"
    last = "        __syncthreads();                       // nobody overwrites before all have read\n"
    text = kernel.source.replace(early, "").replace(last, last + "        if (k0 + BK < K) fetch(k0 + BK);\n")
    assert text.count("fetch(k0 + BK)") == 1
    late = UserKernel.from_source(text, like="sgemm_warp_tile")
    A, B, _ = inputs(64, 64, 32)
    p = SMALL | {"WM": 32, "WN": 64}
    assert closing_in.overlap(run(late, A, B, backend="sim", trace=[((0, 0, 0), 0)], **p)).ahead == 0


def test_the_rows_are_drawn_from_asking_to_there_and_from_first_to_last():
    found = Overlap("a kernel", (TileSpan(0, 0, 10, 12, 20), TileSpan(1, 11, 22, 24, 30)), (10, 22))
    ax = closing_in.overlap_rows([found])
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 10), (12, 9), (11, 11), (24, 7)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["tile 0", "tile 1"]
    assert (found.ahead, found.barriers_per_tile) == (1, 1)
    assert closing_in.describe_overlap([found]).startswith("a kernel: 2 tiles, 1 of them asked for before the warp is done")


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said():
    A, B, _ = inputs(64, 64, 16)
    p = SMALL | {"TM": 8, "TN": 8}
    untraced = run("sgemm_vectorized", A, B, backend="sim", **p)
    with pytest.raises(CourseError, match="one block"):
        closing_in.warp_tile(untraced)
    with pytest.raises(CourseError, match=r"trace=\[\(\(0, 0, 0\), warp\)\]"):
        closing_in.overlap(untraced)
    with pytest.raises(CourseError, match="two or more whole tiles"):
        closing_in.overlap(one_warp("sgemm_vectorized", 1, **p))


@pytest.mark.parametrize("picture", [warp_picture, overlap_picture])
def test_the_pictures_beside_the_sliders_have_words(picture):
    A, B, _ = inputs(64, 64, 16)
    ax, alt = picture(run("sgemm_vectorized", A, B, backend="sim", **SMALL, TM=8, TN=8))
    assert ax.figure.get_size_inches()[0] < 7
    assert alt.startswith("sgemm_vectorized: ")
