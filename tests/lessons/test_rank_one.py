"""The film of the outer product: what each step reads, what C holds after it, and the drawing."""

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.lessons import outer_product
from course_lib.lessons.outer_product.rank_one import PHASES, rank_player
from course_lib.run import run

ROWS, COLS, DEPTH, BK = 32, 16, 16, 8


def made(name="sgemm_volkov", depth=DEPTH, **parameters):
    """Run one block on whole numbers, which have exact sums; return what `rank_frames` takes."""
    rng = np.random.default_rng(4)
    values = {"THREADS": ROWS, "COLS": COLS, "BK": BK} | parameters
    rows = values["THREADS"] * get(name).check(**values)["VECTORS"]
    A, B = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((rows, depth), (depth, values["COLS"])))
    plan = run(name, A, B, backend="sim", **values)
    return run(name, A, B, backend="sim", trace=plots.every_warp(plan.grid, plan.block), **values), A, B


@pytest.fixture(scope="module")
def film():
    return outer_product.rank_frames(*made())


@pytest.mark.slow
def test_a_tile_is_filled_then_used_column_by_column(film):
    tile = ["fill", "barrier"] + ["update"] * BK + ["barrier"]
    assert [frame.phase for frame in film] == tile * 2 + ["store"]
    updates = [frame for frame in film if frame.phase == "update"]
    assert [frame.k for frame in updates] == list(range(DEPTH))
    assert {frame.rows for frame in updates} == {tuple(range(ROWS))}
    assert {frame.cols for frame in updates} == {tuple(range(COLS))}
    assert [frame.held for frame in updates] == [tuple(range(8))] * 8 + [tuple(range(8, 16))] * 8


def test_c_grows_by_rank_1_and_ends_as_the_kernels(film):
    result, A, B = made()
    assert [np.linalg.matrix_rank(frame.C) for frame in film if frame.phase == "update"] == list(range(1, 17))
    for frame in film:
        by_hand = sum((np.outer(A[:, s], B[s]) for s in range(frame.summed)), np.zeros((ROWS, COLS)))
        assert np.array_equal(frame.C, by_hand)
    assert np.array_equal(film[-1].C, result.C)


@pytest.mark.slow
def test_several_warps_and_vectors_make_one_film():
    result, A, B = made("sgemm_method1", THREADS=64)
    film = outer_product.rank_frames(result, A, B)
    updates = [frame for frame in film if frame.phase == "update"]
    assert [frame.k for frame in updates] == list(range(DEPTH))
    assert {frame.rows for frame in updates} == {tuple(range(128))}
    assert np.array_equal(film[-1].C, result.C)


def test_the_film_is_of_what_the_kernel_reads(monkeypatch):
    """A kernel that reads a part of row 3 of its tile only gives another film, in each tile."""
    kernel = get("sgemm_volkov")
    text = kernel.source.replace("c[v][j] += x[v] * b[k][j];", "if (k != 3 || j < 5) c[v][j] += x[v] * b[k][j];")
    assert text != kernel.source
    monkeypatch.setattr(type(kernel), "source", property(lambda self: text))
    film = outer_product.rank_frames(*made())
    assert {f.k: f.cols for f in film if f.phase == "update" and len(f.cols) < COLS} == {3: tuple(range(5)), 11: tuple(range(5))}


@pytest.mark.parametrize("bad", ["no trace", "two blocks"])
def test_what_cannot_be_a_film_is_refused(bad):
    A, B = np.ones((64, 16), np.float32), np.ones((16, 16), np.float32)
    values = {"THREADS": 32, "COLS": 16, "BK": 8}
    trace = plots.every_warp((2, 1), (32,)) if bad == "two blocks" else ()
    with pytest.raises(CourseError, match="one block"):
        outer_product.rank_frames(run("sgemm_volkov", A, B, backend="sim", trace=trace, **values), A, B)


def test_the_drawing_shows_a_b_and_the_sum_so_far(film):
    ax = outer_product.rank_step(film, 6)
    A, B, C = (image.get_array() for image in ax.images)
    assert np.array_equal(C, film[6].C)
    assert (A.shape, B.shape) == ((ROWS, DEPTH), (DEPTH, COLS))
    assert "k = 4: C += column 4 of A × row 4 of B" in ax.get_title(loc="left") + ax.get_title()
    assert "5 of 16 products summed" in ax.get_title(loc="left") + ax.get_title()
    strip = [p.get_facecolor()[:3] for p in ax.patches if p.get_height() == 1.6]
    assert len(strip) == len(film)
    assert len(set(strip)) == len(PHASES)
    watched = [p for p in ax.patches if (p.get_width(), p.get_height()) == (1.4, 1.4)]
    assert [p.get_fill() for p in watched] == [False], "the element's own colour says what it is"


def test_the_words_say_what_is_drawn(film):
    said = outer_product.describe_rank(film, 2)
    assert "32 elements of A and 16 of the shared tile are read" in said
    assert "C is the sum of 1 of 16 products" in said
    assert "Shared memory holds rows 8 to 15 of B" in outer_product.describe_rank(film, len(film) - 1)
    assert outer_product.describe_rank(film, 0) in rank_player(film).static_text()
