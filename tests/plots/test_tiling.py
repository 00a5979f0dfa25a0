"""The film of the tiled kernel: its steps, what is held and touched in each, and the drawing."""

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError


@pytest.fixture(scope="module")
def film(fakes):
    return plots.frames(fakes.tiled(32, 16), watched=(5, 3))


def test_steps_of_the_two_iteration_example(film):
    once = ["load", "fill", "load", "fill", "barrier"] + ["multiply"] * 16 + ["barrier"]
    assert [frame.phase for frame in film] == once * 2 + ["store"]
    assert [frame.iteration for frame in film] == [0] * 22 + [1] * 22 + [2]


def test_the_second_iteration_takes_the_next_tiles(film):
    assert film[4].tiles == {"A": (0, 0), "B": (0, 0)}
    assert film[26].tiles == {"A": (0, 16), "B": (16, 0)}
    assert film[22].touched["A"].min(axis=0).tolist() == [0, 16]
    assert len(film[22].touched["A"]) == 256


def test_tiles_fill_before_the_barrier_and_are_dropped_after_the_second(film):
    assert not film[0].held["As"].any()
    assert film[1].held["As"].all()
    assert not film[1].held["Bs"].any()
    assert film[4].held["As"].all()
    assert film[4].held["Bs"].all()
    assert not film[22].held["As"].any()


def test_multiply_steps_read_a_column_and_a_row(film):
    k = 4
    frame = film[5 + k]
    assert frame.touched["As"].tolist() == [[row, k] for row in range(16)]
    assert frame.touched["Bs"].tolist() == [[k, col] for col in range(16)]
    assert frame.watched["As"].tolist() == [[3, k]]
    assert frame.watched["Bs"].tolist() == [[k, 5]]
    assert film[-1].watched["C"].tolist() == [[3, 5]]


def test_without_the_first_barrier_the_film_has_none_there(fakes):
    phases = [frame.phase for frame in plots.frames(fakes.tiled(32, 16, barriers=(False, True)))]
    assert phases.count("barrier") == 2
    assert phases[3:5] == ["fill", "multiply"]


def test_drawing_marks_the_watched_thread_and_the_phase(film):
    ax = plots.tiling_step(film, 9)
    assert "k = 4" in ax.get_title(loc="left")
    assert "line 40" in ax.get_title(loc="left")
    assert len(ax.images) == 5
    green = np.array([0, 158, 115]) / 255
    As = ax.images[3].get_array()
    assert np.allclose(As[:, 4], green)
    assert not np.allclose(As[:, 5], green)
    assert any("every warp waits" in t.get_text() for t in plots.tiling_step(film, 4).texts)


def test_nothing_traced_and_uneven_warps_are_explained(fakes):
    empty = fakes.tiled()
    empty.trace = ()
    with pytest.raises(CourseError, match="every_warp"):
        plots.frames(empty)
    uneven = fakes.tiled(16, 8)
    uneven.trace = uneven.trace[:-1]
    with pytest.raises(CourseError, match="different paths"):
        plots.frames(uneven)
