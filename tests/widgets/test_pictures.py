"""The whole way through the real simulator: what the lessons show is what the kernels did."""

import numpy as np
import pytest

from course_lib.plots import requests, touched_sectors
from course_lib.run import run
from course_lib.widgets import live
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.pictures import describe_owners, thread_picture, tile_picture, who_writes


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def test_swapped_is_naive_turned_over():
    naive, swapped = (who_writes(name, bx=16, by=16) for name in ("sgemm_naive", "sgemm_swapped"))
    np.testing.assert_array_equal(naive.lane[:2, :16], np.arange(32).reshape(2, 16))
    np.testing.assert_array_equal(swapped.lane, naive.lane.T)
    np.testing.assert_array_equal(swapped.warp, naive.warp.T)


@pytest.mark.parametrize(("bx", "by"), [(64, 16), (1, 32), (32, 32), (5, 7)])
def test_every_element_has_an_owner_whatever_the_block(bx, by):
    who = who_writes("sgemm_naive", M=33, N=31, bx=bx, by=by)
    assert (who.lane >= 0).all()
    assert (who.block_x * bx + (who.warp * 32 + who.lane) % bx == np.arange(31)).all()


def test_words_and_picture_agree():
    ax, words = thread_picture(evaluate("sgemm_swapped", 64, {"bx": 16, "by": 16}))
    assert "rows 0 to 15, columns 0 to 1" in words
    assert "sgemm_swapped" in ax.get_title(loc="left")
    one = describe_owners(who_writes("sgemm_naive", bx=32, by=32), (32, 32))
    assert "1 block of 32 × 32 threads" in one
    assert "row 0, columns 0 to 31" in one


def test_the_tile_picture_draws_the_counter_and_the_formula():
    ax, words = tile_picture(evaluate("sgemm_tiled", 64, {"BM": 8, "BN": 8, "BK": 8}))
    assert [bar.get_width() for bar in ax.patches] == [0.125, 0.03125, 0.03125]
    assert "naive kernel 0.1250" in words


def test_one_request_of_the_swapped_kernel_touches_16_sectors_of_a_and_1_of_b():
    A, B, _ = inputs(64, 64, 64)
    traced = run("sgemm_swapped", A, B, trace=[((0, 0, 0), 0)], bx=16, by=16)
    assert [len(touched_sectors(requests(traced, array=name, load=True)[0])) for name in "AB"] == [16, 1]


def test_the_tile_slider_changes_the_counter(wait_s):
    box = live("sgemm_tiled", sliders={"BM": (8, 16), "BN": (8, 16), "BK": (8, 16)}, tie=("BM", "BN", "BK"), N=64,
               start={"BM": 8, "BN": 8, "BK": 8}, picture=tile_picture)
    assert "8,192" in box.table.value                      # 64**3 / 32 sectors
    box.sliders["BN"].value = 16
    assert box.engine.settle(wait_s)
    assert "4,096" in box.table.value
    assert box.drawings.settle(wait_s)
    assert "16 × 16 tiles 0.0156" in box.image.value
    box.close()
