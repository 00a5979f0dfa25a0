"""The pure side of a live widget: rules in words, facts of a result, the table."""

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.widgets import compute
from course_lib.widgets.facts import facts, facts_table


def test_inputs_are_the_same_each_time_and_cannot_be_spoilt():
    A, B, C = compute.inputs(3, 4, 5)
    assert (A.shape, B.shape, C.shape, A.dtype) == ((3, 5), (5, 4), (3, 4), np.float32)
    assert compute.inputs(3, 4, 5)[0] is A
    with pytest.raises(ValueError, match="read-only"):
        A[0, 0] = 1


def test_a_broken_rule_is_named_with_its_reason():
    said = compute.explain(kernels.get("sgemm_tiled"), {"BM": 64, "BN": 64, "BK": 64})
    assert "4096 threads" in said
    assert "at most 1024" in said
    assert "Every NVIDIA GPU since 2010 stops at 1024 threads per block." in said
    assert compute.explain(kernels.get("sgemm_tiled"), {"BM": 32, "BN": 32, "BK": 32}) is None


def test_every_broken_rule_is_named():
    said = compute.explain(kernels.get("sgemm_tiled"), {"BM": 64, "BN": 64, "BK": 128})
    assert "shared memory is the on-chip memory" in said
    assert said.count("Why:") == 1, "of the threads there is only a fact to tell"


def test_an_unknown_parameter_needs_no_hardware_reason():
    said = compute.explain(kernels.get("sgemm_tiled"), {"BMM": 16})
    assert "BMM" in said
    assert "Why" not in said


def test_evaluate_explains_before_it_runs(front_door):
    with pytest.raises(CourseError, match="at most 1024"):
        compute.evaluate("sgemm_naive", 64, {"bx": 64, "by": 32})
    assert front_door == []
    compute.evaluate("sgemm_naive", 64, {"bx": 16, "by": 8})
    assert front_door == [("sgemm_naive", 64, {"bx": 16, "by": 8})]


def test_facts_of_a_result(front_door):
    found = facts(compute.evaluate("sgemm_naive", 64, {"bx": 16, "by": 8}))
    assert found["threads a block × blocks"] == "128 × 32"
    assert found["sectors a load request"] == "16"
    assert found["load sectors / multiply-add"] == "0.061"
    assert [v for k, v in found.items() if k.startswith("occupancy, modelled for ")] == ["50 %"]
    assert found["occupancy limited by"] == "threads"
    assert not any("time" in label for label in found)


def test_time_has_its_label(front_door):
    simulated = compute.evaluate("sgemm_naive", 64, {"bx": 16, "by": 8})
    result = replace(simulated, time=SimpleNamespace(median_s=1e-5), label="measured on NVIDIA X")
    found = facts(result)
    assert found["time, measured on NVIDIA X"] == "0.01 ms"
    assert found["GFLOP/s, measured on NVIDIA X"] == "52"


def test_the_table_marks_what_changed():
    table = facts_table({"a": "1", "b": "2"}, {"a": "1", "b": "3"})
    assert table.rows == [("a", "1", "1"), ("b", "2", "3")]
    assert table.marked == {1}
    assert facts_table({"a": "1"}).header == ("", "now")


@pytest.mark.parametrize(("backend", "at_once"), [("gpu", 1), ("sim", 2)])
def test_kernels_are_timed_one_at_a_time(front_door, monkeypatch, backend, at_once):
    inside, most, fast = [], [], compute.run

    def slow(*arguments, **options):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.05)
        inside.pop()
        return fast(*arguments, **options)

    monkeypatch.setattr(compute, "run", slow)
    monkeypatch.setattr(compute, "choose_backend", lambda asked: backend)
    threads = [threading.Thread(target=compute.evaluate, args=("sgemm_naive", 64, {"bx": bx, "by": 8})) for bx in (8, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert max(most) == at_once
