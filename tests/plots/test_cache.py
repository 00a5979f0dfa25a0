"""The picture of single cache lines: what it says is what the program did."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.model.cache_lines import CacheShape
from course_lib.plots import cache_lines, describe_lines, line_window
from course_lib.run import count_lines


def counted(order, M=32, N=32, K=32, size=2048, pads=(0, 0)):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((M, K + pads[0])).astype(np.float32)[:, :K]
    B = rng.standard_normal((K, N + pads[1])).astype(np.float32)[:, :N]
    return count_lines(f"gemm_{order}", A, B, cache=CacheShape(size), trace=3 * M * N * K, by="python")


def test_down_a_column_every_element_costs_a_line():
    seen = line_window(counted("ijk"), 48)
    assert seen.misses == {"A": 0, "B": 16, "C": 0}
    assert seen.uses == {"A": 16, "B": 16, "C": 1}
    assert seen.used["B"][:16, 1].all()
    assert seen.used["B"].sum() == 16
    assert seen.used["A"][0, :16].all()
    assert seen.used["C"][0, 1]
    assert seen.fetched["B"][:16, :16].all()
    assert not seen.fetched["B"][16:].any()
    assert not seen.fetched["B"][:, 16:].any()


def test_along_a_row_one_line_serves_sixteen():
    seen = line_window(counted("ikj"), 48)
    assert seen.misses == {"A": 0, "B": 1, "C": 0}
    assert seen.fetched["B"][1, :16].all()
    assert seen.fetched["B"].sum() == 16
    assert not seen.held["C"][1:].any()
    assert seen.held["C"][0].all()


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("pads", [(0, 0), (5, 11)])
def test_no_more_is_held_than_the_cache_has(pads):
    found = counted("kij", 5, 20, 9, size=512, pads=pads)
    total = dict.fromkeys("ABC", 0)
    for step in range(1, 5 * 20 * 9 + 1):
        seen = line_window(found, step, 1)
        assert seen.last == 1
        assert all(seen.uses[name] == 1 for name in "ABC")
        assert sum(int(held.sum()) for held in seen.held.values()) <= found.cache.lines * seen.line
        assert all((seen.held[name] | ~seen.used[name]).all() for name in "ABC"), "what is used is in the cache"
        total = {name: total[name] + seen.misses[name] for name in "ABC"}
    assert total == found.fetched
    assert line_window(found, 3, 16).last == 3


def test_a_step_that_was_not_traced():
    found = counted("ijk", 2, 2, 2)
    for step in (0, 9):
        with pytest.raises(CourseError, match="trace has 8 multiply-adds"):
            line_window(found, step)


def test_the_drawing_has_a_panel_for_each_matrix():
    seen = line_window(counted("ijk"), 48)
    figure = cache_lines(seen, title="here")
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["A(i, k): 0 lines fetched,\n16 elements used", "B(k, j): 16 lines fetched,\n16 elements used",
                      "C(i, j): 0 lines fetched,\n1 element used"]
    for ax, name in zip(figure.axes, "ABC", strict=True):
        (marks,) = [line for line in ax.lines if line.get_marker() == "s"]
        assert sorted(zip(marks.get_ydata(), marks.get_xdata(), strict=True)) == [tuple(x) for x in np.argwhere(seen.used[name])]
        image = ax.images[0].get_array()
        assert (image.reshape(-1, 3) == image[31, 31]).all(axis=1).reshape(32, 32)[~(seen.held[name] | seen.fetched[name])].all()
    assert "In the last 16: A 0 lines fetched and 16 elements used" in describe_lines(seen)
