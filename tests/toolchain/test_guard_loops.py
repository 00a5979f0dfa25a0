"""The loops along K of kernels that guard themselves: found, told apart, counted."""

import pytest

from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.toolchain import guard_loops, inner_loop

OUTER = ("sgemm_volkov", "sgemm_method1", "sgemm_method5_v1", "sgemm_method5_v2", "sgemm_method5_v3", "sgemm_method6")


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", OUTER)
def test_a_turn_does_a_whole_tile_of_every_thread(name):
    p = get(name).check()
    for kind, turn in guard_loops(name).items():
        assert turn.multiply_adds == p["VECTORS"] * p["COLS"] * (1 if kind == "last columns" else p["BK"]), kind


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", ["sgemm_outputs", "dgemm_outputs"])
@pytest.mark.parametrize("TW", [8, 16])
def test_inner_turns_are_counted_as_often_as_they_run(name, TW):
    fast, guarded = guard_loops(name, TW=TW).values()
    assert fast.multiply_adds == guarded.multiply_adds == 16 * TW
    for turn in (fast, guarded):
        assert turn.instructions >= turn.loop.counts["instructions"]
        assert turn.per_multiply_add >= inner_loop(name, TW=TW).per_multiply_add("instructions")
    if TW == 16:                             # two turns inside
        inner = inner_loop(name, TW=TW).loop.counts["instructions"]
        assert fast.instructions == fast.loop.counts["instructions"] + inner


def test_tested_is_the_loop_with_more_comparisons():
    for name in ("sgemm_method5_v3", "sgemm_outputs"):
        whole, tested, *_ = guard_loops(name).values()
        assert whole.loop.counts["ISETP"] < tested.loop.counts["ISETP"]
        assert whole.instructions < tested.instructions


def test_the_lines_of_both_loops_are_those_of_the_source():
    """The loop that asks stands first in the text, behind `if (SEL || cut)`."""
    lines = get("sgemm_method5_v3").source.splitlines()
    asking, plain = (next(i for i, text in enumerate(lines, 1) if words in text) for words in ("load(k0, cut)", "load(k0, false)"))
    found = guard_loops("sgemm_method5_v3")
    assert max(found["tested tiles"].loop.lines) < plain
    assert asking < max(found["untested tiles"].loop.lines)


def test_what_a_kernel_does_not_have_is_not_listed():
    assert list(guard_loops("sgemm_volkov")) == ["untested tiles"]
    assert list(guard_loops("sgemm_method6")) == ["tiles, with a flag", "last columns"]
    assert list(guard_loops("sgemm_method5_v1")) == ["untested tiles", "tested tiles", "last columns"]


def test_another_kernel_is_refused():
    with pytest.raises(CourseError, match="none of Chien's methods"):
        guard_loops("sgemm_tiled")
