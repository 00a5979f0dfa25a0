"""Register blocking: words read and outputs of a thread from the kernel's trace, and the pictures of speed and latency."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.lessons.register_blocking.share import share_picture
from course_lib.run import run
from course_lib.widgets.compute import inputs
from course_lib.widgets.pictures import one_thread


@pytest.mark.parametrize(("kernel", "tile", "per_multiply_add"), [
    ("sgemm_tiled", {"BM": 8, "BN": 8, "BK": 8}, 2),
    ("sgemm_1d_tile", {"BM": 16, "BN": 8, "BK": 4, "TM": 4}, 5 / 4),
    ("sgemm_2d_tile", {"BM": 16, "BN": 32, "BK": 8, "TM": 2, "TN": 4}, 6 / 8),
    ("sgemm_outputs", {"TA": 32, "TB": 16, "TW": 8, "bx": 4, "by": 4}, 12 / 32),
    ("sgemm_naive", {"bx": 8, "by": 8}, 0),
])
@pytest.mark.slow
def test_words_read_are_what_the_outputs_share(kernel, tile, per_multiply_add):
    A, B, _ = inputs(32, 32, 16)
    plan = run(kernel, A, B, backend="sim", **tile)
    traced = run(kernel, A, B, backend="sim", trace=plots.every_warp(plan.grid, plan.block), **tile)
    assert plots.words_read(traced) == per_multiply_add * 32 * 32 * 16


def test_words_read_counts_wide_loads_and_active_lanes_only(fakes):
    wide = fakes.record(0, (0, 0, 0), 0, 1, "ld.shared.v4.f32", 16 * np.arange(8), width=16, space="shared")
    others = [fakes.record(1, (0, 0, 0), 0, 1, "st.shared.f32", [0], space="shared"),
              fakes.record(2, (0, 0, 0), 0, 1, "ld.global.f32", [0])]
    assert plots.words_read(SimpleNamespace(trace=[wide, *others])) == 32


def test_words_read_wants_a_trace():
    with pytest.raises(CourseError, match="trace=every_warp"):
        plots.words_read(SimpleNamespace(trace=()))


def test_one_thread_of_a_two_dimensional_tile():
    share = one_thread("sgemm_2d_tile", BM=32, BN=64, BK=8, TM=2, TN=4)         # 16 × 16 threads
    assert (share.rows, share.cols) == (32, 64)
    assert share.outputs == tuple((row, col) for row in (0, 16) for col in (3, 19, 35, 51))
    assert (share.a_rows, share.b_cols, share.words) == ((0, 16), (3, 19, 35, 51), 6.0)


@pytest.mark.slow
@pytest.mark.parametrize(("tile", "outputs", "words"), [
    ({"TA": 32, "TB": 32, "TW": 8, "bx": 8, "by": 8}, 16, 8), ({"TA": 64, "TB": 16, "TW": 4, "bx": 16, "by": 8}, 8, 9)])
def test_one_thread_of_wang_and_jins_kernel(tile, outputs, words):
    share = one_thread("sgemm_outputs", **tile)
    assert (len(share.outputs), share.words) == (outputs, words)
    assert len({row for row, _ in share.outputs}) + len({col for _, col in share.outputs}) == words


def test_one_thread_of_a_block_with_two_columns_of_threads():
    assert one_thread("sgemm_2d_tile", BM=16, BN=8, BK=4, TM=1, TN=4).outputs == ((0, 1), (0, 3), (0, 5), (0, 7))


def test_a_share_is_of_one_block_and_a_traced_warp():
    A, B, _ = inputs(32, 32, 8)
    several = run("sgemm_2d_tile", A, B, backend="sim", trace=[(0, 0)], BM=16, BN=16, TM=2, TN=2)
    with pytest.raises(CourseError, match="2 × 2 blocks"):
        plots.thread_share(several)
    one = run("sgemm_2d_tile", A, B, backend="sim", trace=[(0, 0)], BM=32, BN=32, TM=2, TN=2)
    with pytest.raises(CourseError, match="trace its warp, 2"):
        plots.thread_share(one, (0, 4))


def test_the_widgets_picture_is_of_the_position():
    result = run("sgemm_2d_tile", *inputs(64, 64, 64)[:2], backend="sim", BM=32, BN=32, BK=8, TM=4, TN=2)
    ax, alt = share_picture(result)
    assert "A thread: 8 outputs, 6 words" in ax.get_title(loc="left")
    assert "tile of 32 × 32 elements one thread computes 8" in alt
    words = [text.get_text() for text in ax.texts if text.get_text().startswith(("row", "column"))]
    assert len(words) == 4 + 2, "a box for each word"
    assert len(ax.lines[0].get_xdata()) == 8, "a dot for each multiply-add"
