"""What a student sees: the summary, each finding with its line, and nothing that the kernel's text could inject."""

import pytest

from course_lib.errors import CourseError
from course_lib.grading import Finding, NotPassedError, Verdict, part
from course_lib.grading.judge.verdict import TrialOutcome

FINDING = Finding("wrong", "3 of 4 elements", 7, "x = a < b;")
FAILED = Verdict("Part 2", False, (FINDING,),
                 (TrialOutcome("plain", "M=2", True), TrialOutcome("square", "M=4", False), TrialOutcome("single", "M=1", None)),
                 (TrialOutcome("sectors", "not read", None),))


def test_the_text_shows_findings_with_their_lines_and_every_input():
    assert repr(FAILED).splitlines() == [
        "Part 2: not passed: 1 of 3 inputs right, 0 of 1 gate passed", "  wrong: line 7: 3 of 4 elements",
        "         7 | x = a < b;", "  ✓ plain: M=2", "  ✗ square: M=4", "  – single: M=1",
        "  – sectors: not read"]


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
