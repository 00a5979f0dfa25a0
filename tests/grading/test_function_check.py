"""A Python function's verdict: numbers are compared whatever they are, and what is said names the call, the line and the reason."""

import dataclasses
import math

import pytest
from hostile_notebook import PARTS, RIGHT

from course_lib.grading import check

SPEC = PARTS[0]


def test_the_right_function_passes_and_the_drawn_inputs_are_apart():
    verdict = check(RIGHT, SPEC, seed=3)
    assert verdict.passed
    assert len(verdict.cases) == len(SPEC.cases) + 3
    assert verdict.shown == len(SPEC.cases)


@pytest.mark.parametrize("value", [
    "float('nan')", "float('inf')", "10 ** 400", "1 << 10 ** 5",
    "-512", "512.5", "True", "None", "'512'", "[512]", "(512, 512)", "512 + 0j"])
def test_what_is_not_the_number_does_not_pass(value):
    spec = dataclasses.replace(SPEC, cases=((16, 16, 16, 16),))
    assert check("def loads(*a): return 512", spec).passed
    verdict = check(f"def loads(*a): return {value}", spec)
    assert {finding.kind for finding in verdict.findings} == {"wrong"}


@pytest.mark.parametrize("guess", [lambda given, got: str(1 / 0), lambda given, got: str(int(got)), lambda given, got: math.exp(got)])
def test_a_guess_that_cannot_reckon_with_the_answer_costs_nothing(guess):
    verdict = check("def loads(*a): return float('nan') if a[3] == 16 else float('1e300')", dataclasses.replace(SPEC, guess=guess))
    assert {finding.kind for finding in verdict.findings} == {"wrong"}


@pytest.mark.parametrize(("text", "line", "words"), [
    ("def loads(M, N, K, tile):\n    return M / 0", 2, "loads(M=16, N=16, K=16, tile=16) raised ZeroDivisionError"),
    ("def loads(M, N, K, tile):\n    return helper(M)", 2, "Only the answer's own cell is graded"),
    ("x = 1\nloads = ]", 2, "SyntaxError"),
    ("def load(M, N, K, tile):\n    return 1", None, "there is no function loads"),
])
def test_an_error_says_where_it_was_raised(text, line, words):
    finding, = check(text, SPEC).findings
    assert (finding.kind, finding.line) == ("error", line)
    assert words in finding.message
