"""Who writes what, and what a request touches: held to launches made by hand."""

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError


def test_a_warp_of_a_16_by_16_block_owns_two_rows(fakes):
    owners = plots.owners(fakes.one_thread_per_element(32, 32, (16, 16)))
    assert (owners.warp[0:2, 0:16] == 0).all()
    assert (owners.warp[2:4, 0:16] == 1).all()
    assert owners.lane[0, :16].tolist() == list(range(16))
    assert owners.lane[1, 0] == 16
    assert owners.block_x[0, 16] == 1
    assert owners.block_y[16, 0] == 1


def test_swapped_turns_the_warp_upright(fakes):
    naive = plots.owners(fakes.one_thread_per_element(32, 32, (16, 16)))
    swapped = plots.owners(fakes.one_thread_per_element(32, 32, (16, 16), swapped=True))
    np.testing.assert_array_equal(swapped.lane, naive.lane.T)
    assert not np.array_equal(swapped.lane, naive.lane)


def test_guarded_threads_own_nothing(fakes):
    owners = plots.owners(fakes.one_thread_per_element(5, 7, (4, 4)))
    assert owners.warp.shape == (5, 7)
    assert (owners.warp >= 0).all()
    assert owners.block_x.max() == 1
    assert owners.block_y.max() == 1


def test_an_element_that_nobody_stores_is_minus_one(fakes):
    full = fakes.one_thread_per_element(8, 8, (4, 8))
    full.trace = full.trace[:1]
    assert (plots.owners(full).warp[:, 4:] == -1).all()


def test_the_grid_picture_numbers_one_warp_and_has_a_colour_per_warp(fakes):
    ax = plots.thread_grid(plots.owners(fakes.one_thread_per_element(32, 32, (16, 16))))
    placed = {(round(t.get_position()[0]), t.get_position()[1], t.get_ha(), t.get_text()) for t in ax.texts}
    assert placed == {(0, 0, "left", "0"), (15, 0, "right", "15"), (0, 1, "left", "16"), (15, 1, "right", "31")}
    assert min(t.get_fontsize() for t in ax.texts) > 8, "a projector shows no smaller numbers"
    narrow = plots.thread_grid(plots.owners(fakes.one_thread_per_element(32, 32, (2, 16))))
    placed = [(round(t.get_position()[0]), t.get_position()[1], t.get_text()) for t in narrow.texts]
    assert placed == [(0, 0, "0"), (1, 15, "31")], "numbers side by side would touch"
    image = ax.images[0].get_array()
    assert image.shape == (32, 32, 3)
    assert len(np.unique(image[:16, :16].reshape(-1, 3), axis=0)) == 8
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [f"warp {w}" for w in range(8)]


def test_the_grid_picture_draws_into_given_axes(fakes):
    mine = plots.bars({"x": 1}, unit="u")
    assert plots.thread_grid(plots.owners(fakes.one_thread_per_element(8, 8, (4, 4))), mine) is mine
    assert [t.get_text() for t in mine.texts][-16:] == [str(lane) for lane in range(16)], "a small C has room for every lane"


@pytest.mark.parametrize(("swapped", "sectors"), [(False, 4), (True, 16)])
def test_lane_sectors_counts_and_marks(fakes, swapped, sectors):
    request = plots.requests(fakes.one_thread_per_element(32, 32, (16, 16), swapped), array="C", load=False)[0]
    assert len(plots.touched_sectors(request)) == sectors
    ax = plots.lane_sectors(request)
    image = ax.images[0].get_array()
    assert image.shape == (32, 8 * sectors)
    assert (image == 1).sum() == 32
    assert f"{sectors} sectors" in ax.get_title(loc="left")


def test_inactive_lanes_and_wide_accesses(fakes):
    wide = fakes.record(0, (0, 0, 0), 0, 5, "ld.global.v4.f32", fakes.BASES["A"] + 16 * np.arange(8), width=16)
    assert len(plots.touched_sectors(wide)) == 4
    image = plots.lane_sectors(wide).images[0].get_array()
    assert (image[:8] == 1).sum() == 32
    assert not image[8:].any()


def test_requests_choose_by_array_line_and_kind(fakes):
    run = fakes.tiled()
    assert {r.line for r in plots.requests(run, array="A")} == {33}
    assert {r.line for r in plots.requests(run, line=36)} == {36}
    assert {r.operation for r in plots.requests(run, load=False)} == {"st.global.f32"}
    with pytest.raises(CourseError, match="no array 'D'"):
        plots.requests(run, array="D")
