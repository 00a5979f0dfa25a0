"""Exercise 17, beyond what every exercise is tested for: what its gates read of a trace, and which mistakes of part 1 are named."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.grading import check, part
from course_lib.grading.exercises.e17_stages import DMMA, OF_LANES, PARTS, by_lanes, bytes_off
from tools.record.exercises import worked

EXERCISE = "17_stages"
WORK = 32 * 32 * 256
SOLUTION = next(text for spec, text in worked(EXERCISE))


def counted(matrix, **lanes):
    counters = {name: next((n for op, n in lanes.items() if f"_{op}_" in name), 0) for name in OF_LANES} | {DMMA: matrix}
    return SimpleNamespace(counters=counters, lines={7: counters})


@pytest.mark.parametrize(("matrix", "lanes", "value"), [
    (WORK // 1024, {}, 0), (WORK // 1024, {"dfma": WORK // 256}, 1 / 256), (0, {"dfma": WORK}, 1), (0, {}, 1), (WORK // 4096, {}, 0.5),
    (WORK // 1024, {"ffma": WORK // 2}, 0.5)])
def test_the_gate_on_lanes_counts_what_no_tensor_core_did(matrix, lanes, value):
    assert by_lanes(counted(matrix, **lanes), WORK).value == pytest.approx(value)


@pytest.mark.parametrize(("copies", "value"), [(0, 1.0), (32, 0.5), (64, 0.0), (96, 0.5)])
def test_the_bytes_are_bounded_on_both_sides(copies, value):
    record = SimpleNamespace(operation="cp.async.ca.shared.global", space="global", width=8, addresses=np.arange(32))
    arrays = [SimpleNamespace(name=name, nbytes=32 * 8 * 32) for name in "ABC"]
    assert bytes_off(SimpleNamespace(trace=[record] * copies, arrays=arrays), WORK).value == pytest.approx(value)


@pytest.mark.slow
def test_the_worked_kernel_by_another_name_of_its_stages_still_shows_what_it_does():
    """The gate reads the trace, and no macro: a text that says one and has three passes, one that says three and has two does not."""
    text, spec = SOLUTION, part(EXERCISE, "main")
    assert text.count("#define STAGES 3") == 1
    named = text.replace("STAGES", "ROOM")
    assert check("#define STAGES 1\n" + named, spec).passed
    verdict = check("#define STAGES 3\n" + named.replace("#define ROOM 3", "#define ROOM 2"), spec)
    assert not verdict.passed
    assert any("fewer than two steps" in finding.message for finding in verdict.findings)


@pytest.mark.parametrize(("answer", "says"), [
    ((2, 41520.0), "one more is being multiplied"), ((3, 22144.0 / 8), "each has 8 bytes"), ((3, 32768.0), "whole steps"),
    ((3, 16384.0), "one step's tiles"), ((3, 0), "Look at the bytes"), ((7, 1.0), "Look at the stages"), (3, "")])
def test_mistakes_of_part_1_are_named(answer, says):
    plan = PARTS[0]
    assert plan.expected(64, 64, 16, 692) == (3, 22144.0)
    assert says in plan.guess((64, 64, 16, 692), answer)
    assert bool(says) == bool(plan.guess((64, 64, 16, 692), answer))
