"""The controls on who issues when: what they compute, say and draw."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.lessons.measuring.warp_clock import INDEPENDENT, WARPS, turn_facts, turn_picture, warp_sliders, who_issues
from course_lib.run.clocked import Pipe, pipes, recorded_cycles


@pytest.mark.slow
def test_a_position_is_the_timeline_and_the_record():
    turns = who_issues("FMA, 2 registers", 32, 1)
    assert turns.timeline.warps == 8
    assert turns.cycles == 8
    assert turns.known == recorded_cycles("micro_fma", REGISTERS=2)[1024]
    assert "H200" in turns.source
    assert turns.busy == 1


def test_a_lonely_warp_leaves_three_quarters_of_the_time():
    turns = who_issues("FMA, 2 registers", 1, 1)
    assert turns.busy == 0.25
    assert not turns.timeline.hidden
    facts = turn_facts(turns)
    assert facts["needed: latency / issue"] == "4 / 1 = 4.0"
    assert facts["busy issuing"] == "25 %"


def test_loads_are_compared_once():
    turns = who_issues("load, DRAM", 16, 8)
    assert turns.cycles == 615 + (16 * 8 - 1) * 5        # the last one issues when all others have, and then waits
    assert turns.cycles == pytest.approx(turns.known, rel=0.06)
    assert "first round, modelled" in turn_facts(turns)


def test_what_nobody_measured_is_a_dash():
    unknown = who_issues("FMA, 3 registers", 4, 4)
    assert turn_facts(unknown)[f"round, {unknown.source}"] == "–"
    assert unknown.source.startswith("recorded on ")
    facts = turn_facts(who_issues("GT200: MAD, shared operand", 6, 1))
    assert facts["round, Chien, Table 2"] == "39.3 cycles"
    assert facts["round, run here"] == "–"


def test_the_kernel_runs_here_and_counts(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    found = {(name, warps, ilp): who_issues(name, warps, ilp).here for name, warps, ilp in (
        ("FMA, 2 registers", 1, 1), ("FMA, 2 registers", 32, 1), ("FMA, 2 registers", 4, 8), ("FMA, shared operand", 4, 1),
        ("load, DRAM", 4, 1), ("FMA, 3 registers", 4, 2))}
    assert list(found.values()) == ["1.0 instructions", "1.0 instructions", "8.0 instructions", "2.0 instructions", "needs a GPU", "–"]


def test_on_a_gpu_cycles_are_shown(monkeypatch):
    """As if a GPU had taken 4.25 cycles for a step, and 700 for all loads; and a chain that is not whole."""
    result = SimpleNamespace(right=True, clock="cycles", cycles_per_step=(4, 4.25), begin=np.array([[10, 20]]), end=np.array([[400, 710]]))
    monkeypatch.setattr(Pipe, "run", lambda self, warps, independent: result)
    assert who_issues("FMA, 2 registers", 4, 1).here == "4.2 cycles"
    assert who_issues("load, DRAM", 4, 1).here == "700.0 cycles"
    result.right = False
    assert who_issues("FMA, 2 registers", 4, 1).here == "a chain is not whole"


def test_the_picture_has_a_row_for_each_warp_of_the_pipe():
    ax, alt = turn_picture(who_issues("FMA, 2 registers", 16, 1))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["warp 0", "warp 1", "warp 2", "warp 3", "issued"]
    assert "never idle" in ax.get_title(loc="left")
    assert "4 warps" in alt
    assert "recorded" not in ax.get_xlabel()
    _, alone = turn_picture(who_issues("FMA, 2 registers", 1, 1))
    assert "1 cycle of issue" in alone
    assert "issues in 25 % of the time" in alone
    ax, _ = turn_picture(who_issues("FMA, shared operand", 32, 1))
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert len(names) == 33
    assert [name for name in names if name] == [*(f"warp {w}" for w in range(0, 32, 4)), "issued"]
    ax, _ = turn_picture(who_issues("GT200: load", 16, 1))
    assert "busy 12 % of the time" in ax.get_title(loc="left")
    assert "hatched" in ax.get_xlabel()


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("name", list(pipes()))
@pytest.mark.parametrize(("warps", "independent"), [(WARPS[0], INDEPENDENT[0]), (WARPS[-1], INDEPENDENT[-1])])
def test_the_ends_of_every_control_can_be_drawn(name, warps, independent, monkeypatch):
    monkeypatch.setattr(Pipe, "run", lambda self, warps, independent: None)
    turns = who_issues(name, warps, independent)
    ax, alt = turn_picture(turns)
    assert alt.startswith("Gantt picture")
    assert ax.get_xlim()[1] <= turns.timeline.cycles
    assert 0 < turns.busy <= 1


@pytest.mark.slow
def test_busy_and_idle_agree(monkeypatch):
    monkeypatch.setattr(Pipe, "run", lambda self, warps, independent: None)
    for name in pipes():
        for warps in WARPS:
            for independent in INDEPENDENT:
                turns = who_issues(name, warps, independent)
                assert (turns.busy > 0.999) == turns.timeline.hidden, (name, warps, independent)


def test_the_controls_begin_with_one_warp_a_scheduler():
    box = warp_sliders()
    assert box.position() == ("FMA, 2 registers", 4, 1)
    assert "round, modelled" in box.static_text()
