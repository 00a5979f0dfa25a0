"""What a student sees: the summary, each finding with its line, and nothing that the kernel's text could inject."""

import pytest

from course_lib.errors import CourseError
from course_lib.grading import Finding, NotPassedError, Verdict, part
from course_lib.grading.judge.verdict import TrialOutcome

FINDING = Finding("wrong", "3 of 4 elements", 7, "x = a < b;")
FAILED = Verdict("Part 2", False, (FINDING,),
                 (TrialOutcome("plain", "M=2", True), TrialOutcome("square", "M=4", False), TrialOutcome("single", "M=1", None)),
                 (TrialOutcome("sectors", "not read", None),))


def test_the_text_begins_with_what_is_wrong_and_names_the_inputs_that_are_not_right():
    assert repr(FAILED).splitlines() == [
        "wrong: line 7: 3 of 4 elements", "         7 | x = a < b;", "  Part 2: not passed: 1 of 3 inputs right, 0 of 1 gate passed",
        "  ✗ square: M=4", "  – single: M=1", "  – sectors: not read"]


def test_what_passed_is_told_in_a_line_for_each_gate():
    passed = Verdict("Part 2", True, (), FAILED.cases[:1] * 9, (TrialOutcome("sectors", "4 per request", True),))
    assert repr(passed).splitlines() == ["Part 2: passed: 9 inputs, 1 gate (simulated)", "  ✓ sectors: 4 per request"]
    shown, folded = passed._repr_html_().split("<details>")
    assert shown.count("<tr>") == 2, "the gate and the head of its table"
    assert folded.count("plain") == 9


def test_a_text_that_does_not_compile_was_not_run():
    assert "not passed: 1 finding, not run" in repr(Verdict("Part 2", False, (FINDING,)))


def test_what_was_not_run_has_no_empty_table():
    assert "<table" not in Verdict("Part 2", False, (FINDING,))._repr_html_()
    assert "<table" in FAILED._repr_html_()


def test_html_is_escaped():
    html = FAILED._repr_html_()
    assert "a &lt; b" in html
    assert "a < b" not in html


def test_require():
    Verdict("Part 2", True, ()).require()
    with pytest.raises(NotPassedError, match="3 of 4 elements") as caught:
        FAILED.require()
    assert caught.value.verdict is FAILED


@pytest.mark.parametrize(("exercise", "name", "says"), [
    ("04_tilling", "tile", "did you mean '04_tiling'"), ("04_tiling", "tiles", "did you mean 'tile'"),
    ("04_tiling", "zzz", "there is 'stage', 'tile', 'tile-b', 'wide'")])
def test_a_part_that_is_not_there(exercise, name, says):
    with pytest.raises(CourseError, match=says):
        part(exercise, name)
