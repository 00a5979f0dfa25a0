"""Inner loops as lists, whole steps as stacked bars: every number in the picture is the count."""

import pytest

from course_lib.plots import describe_steps, step_bars
from course_lib.toolchain import whole_step


@pytest.fixture(scope="module")
def steps():
    return {f"UNROLL = {u}": whole_step("sgemm_unrolled", UNROLL=u) for u in (1, 4, 16)}


def test_the_bars_end_where_the_counts_say(steps):
    ax = step_bars(steps)
    assert len(ax.patches) == 4 * len(steps)
    for place, (label, step) in enumerate(steps.items()):
        pieces = [p for p in ax.patches if round(p.get_y() + p.get_height() / 2) == place]
        assert [p.get_width() for p in pieces] == pytest.approx(list(step.shares().values()))
        assert max(p.get_x() + p.get_width() for p in pieces) == pytest.approx(step.per_multiply_add)
        written = [t.get_text() for t in ax.texts if t.get_position()[1] == place]
        assert written == [f"{value:.3g}" for value in (*step.shares().values(), step.per_multiply_add) if value]
        assert ax.get_yticklabels()[place].get_text() == label
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(step.shares())


def test_the_words_say_the_numbers_and_leave_out_what_is_gone(steps):
    said = describe_steps(steps)
    assert "UNROLL = 1: 9.94 (multiply-adds 1, loads from shared memory 2, the inner loop itself 5, once per tile 1.94)." in said
    assert said.count("the inner loop itself") == 2, "at 16 it is gone"
