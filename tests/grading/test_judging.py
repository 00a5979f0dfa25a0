"""What a student is told of an answer, and that the grader itself is never kept busy by one."""

import signal
import threading
import time
from types import SimpleNamespace

import pytest

from course_lib.check.trials import TrialOutcome
from course_lib.grading import Finding, Verdict
from course_lib.grading.classroom import judging

SHOWN = (TrialOutcome("plain", "M=2", True),)
RIGHT = Verdict("Part 2", True, (), (*SHOWN, TrialOutcome("drawn input 1", "M=917", True)), shown=1)
WRONG = Verdict("Part 2", False, (Finding("hazard", "at M=917"),), RIGHT.cases, shown=1)
ENGINE = SimpleNamespace(begin=lambda: None, seconds=0.1)


@pytest.fixture
def verdicts(monkeypatch):
    """Return a function that sets what checks with a seed and without one give."""
    def give(drawn, shown):
        monkeypatch.setattr(judging, "check", lambda text, spec, seed, engine: drawn if seed else shown)
        return judging.judged("text", SimpleNamespace(title="Part 2"), 5, ENGINE)

    return give


def test_who_passes_is_shown_the_inputs_that_everyone_sees(verdicts):
    told = verdicts(RIGHT, None)
    assert told["passed"]
    assert "M=2" in told["html"]
    assert "917" not in told["told"] + told["html"]
    assert "drawn" not in told["told"] + told["html"]


def test_a_check_that_does_not_say_which_inputs_it_drew_shows_none(verdicts):
    told = verdicts(Verdict("Part 2", True, (), RIGHT.cases), None)
    assert "M=" not in told["told"] + told["html"]


def test_who_fails_is_told_by_the_inputs_that_everyone_sees(verdicts):
    assert "at M=2" in verdicts(WRONG, Verdict("Part 2", False, (Finding("wrong", "at M=2"),), SHOWN))["told"]
    told = verdicts(WRONG, Verdict("Part 2", True, (), SHOWN))
    assert not told["passed"]
    assert told["kind"] == "hazard"
    assert "not on those drawn for grading" in told["told"]
    assert "917" not in told["told"]


@pytest.mark.parametrize("busy", [lambda: time.sleep(60), lambda: [None for _ in iter(int, 1)]])
def test_a_check_that_does_not_end_is_ended(busy, monkeypatch):
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    monkeypatch.setattr(judging, "MARGIN", 0.1)
    monkeypatch.setattr(judging, "check", lambda *_, **__: busy())
    told = judging.judged("text", SimpleNamespace(title="Part 2"), 5, ENGINE)
    assert (told["passed"], told["kind"]) == (False, "ended")
    assert signal.getsignal(signal.SIGALRM) == handler
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (timer > 0)


def test_in_a_thread_there_is_no_alarm_and_no_error(verdicts):
    found = []
    thread = threading.Thread(target=lambda: found.append(verdicts(RIGHT, None)))
    thread.start()
    thread.join()
    assert found[0]["passed"]
