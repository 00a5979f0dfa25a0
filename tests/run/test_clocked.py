"""Cycles of the microbenchmarks as recorded, and the pipes that their ends describe, held to the points in between."""

import dataclasses

import pytest

from course_lib.arch import WARP, device
from course_lib.data import documents, readings
from course_lib.run import clocked
from course_lib.run.clocked import Pipe, load_clocks, measured_cycles, pipes, recorded_cycles, then_and_now


def test_recorded_cycles_are_the_rows():
    both = recorded_cycles("micro_fma", REGISTERS=2), recorded_cycles("micro_fma", REGISTERS=None)
    assert both[0].keys() == both[1].keys()
    assert both[0] != both[1]
    row, = readings("micro").find(kernel="micro_fma", threads=768, REGISTERS=2)
    assert both[0][768] == row["high"]
    assert recorded_cycles("micro_fma", "low", REGISTERS=2)[768] == row["low"]


@pytest.mark.slow
def test_without_a_gpu_nothing_is_measured(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    assert measured_cycles("micro_fma") == {}
    found = pipes()
    for name, pipe in found.items():
        for independent in (1, 2, 4, 8):
            result = pipe.run(2, independent)
            assert (result is not None) == (name.startswith("FMA") and (independent == 1 or "2 registers" in name)), (name, independent)
            assert result is None or (result.right and result.begin.shape == (1, 2)), (name, independent)
    assert found["FMA, 2 registers"].run(1, 8).counts_per_step[0] > 4 * found["FMA, 2 registers"].run(1, 1).counts_per_step[0]


def test_with_a_gpu_it_is_measured(monkeypatch):
    """As if there were one: what is asked for, and that the slowest warp counts."""
    asked = []

    def run_micro(name, **options):
        asked.append((name, options))
        return type("Result", (), {"cycles_per_step": (3, 5), "gantt": lambda self: ((0, 0, 9),), "label": "measured on a GPU"})()
    monkeypatch.setattr(clocked, "choose_backend", lambda: "gpu")
    monkeypatch.setattr(clocked, "run_micro", run_micro)
    assert measured_cycles("micro_global", "footprint", (4096, 8192), jump=33) == {4096: 5, 8192: 5}
    assert asked[1] == ("micro_global", {"backend": "gpu", "footprint": 8192, "jump": 33})
    pipes()["FMA, 2 registers"].run(6, 1)
    assert asked[-1] == ("micro_fma", {"threads": 192, "REGISTERS": 2})
    pipes()["FMA, 3 registers"].run(6, 1)
    assert asked[-1] == ("micro_fma", {"threads": 192})
    pipes()["load, DRAM"].run(6, 4)
    assert asked[-1] == ("micro_loads", {"threads": 192, "LOADS": 4} | clocked.DRAM)
    assert load_clocks(8) == (((0, 0, 9),), "measured on a GPU")
    assert asked[-1][1]["LOADS"] == 8


def test_the_clocks_of_loads_are_recorded_ones(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    for loads in (1, 8):
        bars, label = load_clocks(loads)
        assert label == readings("micro").label
        assert len(bars) == 16
        assert max(end for _, _, end in bars) == recorded_cycles("micro_loads", "window", LOADS=loads, **clocked.DRAM)[512]


@pytest.mark.parametrize(("name", "most"), [("FMA, 2 registers", 0.09), ("FMA, 3 registers", 0.26), ("FMA, shared operand", 0.13),
                                            ("GT200: MAD, shared operand", 0.10), ("GT200: MAD, 3 registers", 0.14)])
def test_taking_turns_gives_what_was_measured(name, most):
    """The points between the ends, which the two numbers were not taken from."""
    pipe = pipes()[name]
    for threads, cycles in pipe.known[1].items():
        modelled = pipe.timeline(-(-threads // WARP), 1).round_cycles
        assert modelled == pytest.approx(cycles, rel=most), threads


def test_todays_pipes_are_whole_cycles_near_the_record():
    found = pipes()
    assert [found[name].issue for name in ("FMA, 2 registers", "FMA, 3 registers", "FMA, shared operand")] == [1, 2, 1]
    assert found["FMA, 2 registers"].shares == 4
    loads = found["load, DRAM"]
    assert loads.latency == recorded_cycles("micro_loads", "window", LOADS=1, **clocked.DRAM)[32]
    assert loads.latency + 7 * loads.issue == pytest.approx(recorded_cycles("micro_loads", "window", LOADS=8, **clocked.DRAM)[32], abs=4)


def test_chiens_pipes_are_table_5():
    rows = {row[0]: row[1:] for row in documents.CHIEN_5.rows}
    found = pipes()
    for name, instruction in (("GT200: load", "MOV reg, [gmem]"), ("GT200: MAD, 3 registers", "MAD dest, src1, src2, src3"),
                              ("GT200: MAD, shared operand", "MAD dest, [smem], src2, src3")):
        assert (found[name].latency, found[name].issue, found[name].gpu) == (*rows[instruction], "Tesla C1060")


def test_warps_are_divided_among_the_pipes():
    pipe = Pipe("a GPU", 1, 4, 4, 3, {}, "")
    assert [pipe.timeline(warps, 2).warps for warps in (1, 4, 5, 32)] == [1, 1, 2, 8]
    line = pipe.timeline(4, 2)
    assert (len(line.steps), line.chains) == (6, 2)
    assert dataclasses.replace(pipe, shares=1).timeline(5, 1).warps == 5


def test_then_and_now():
    found = {row.what: row for row in then_and_now()}
    fma, dram = found["multiply-add, registers"], found["DRAM"]
    assert (fma.then, fma.then_issue, dram.then, dram.now_issue) == (31.5, 4, 530, None)
    assert fma.now == recorded_cycles("micro_fma", REGISTERS=2)[1]
    assert fma.nanoseconds == pytest.approx((31.5 / 1.296, fma.now / 1.98))
    assert device("Tesla C1060").clock_mhz == 1296
    then, now = dram.nanoseconds
    assert now < then < 1.5 * now                   # the lesson says that it hardly became quicker
    then, now = fma.nanoseconds
    assert then > 10 * now
