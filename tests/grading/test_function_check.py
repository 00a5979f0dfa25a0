"""A Python function's verdict: numbers are compared whatever they are, and what is said names the call, the line and the reason."""

import dataclasses
import math

import pytest
from hostile_notebook import PARTS, RIGHT

from course_lib.grading import check
from course_lib.grading.judge.function_spec import PrintedValue
from course_lib.grading.sandbox.sandboxed import Sandboxed

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


ANY = """class Any(float):
    def __eq__(self, other):
        return True
    __le__ = __ge__ = __lt__ = __gt__ = __eq__
    __hash__ = float.__hash__

"""
ONE = dataclasses.replace(SPEC, cases=((16, 16, 16, 16), (32, 16, 16, 16)),
                          also=lambda M, *rest: PrintedValue(510, "X prints 510", 0.5) if M == 16 else None)


@pytest.mark.parametrize(("first", "second", "passes"), [
    (512, 1024, True), (510, 1024, True), (510.4, 1024, True), (510.6, 1024, False), (509, 1024, False), (512, 510, False),
    (510, 510, False)])
def test_what_a_document_prints_counts_for_its_own_inputs_alone(first, second, passes):
    verdict = check(f"def loads(M, *rest): return {first} if M == 16 else {second}", ONE)
    assert verdict.passed == passes
    told = [case.detail for case in verdict.cases if "X prints 510; exact is 512; both count" in case.detail]
    assert len(told) == (first in (512, 510, 510.4))
    if not passes:
        assert "exact" not in verdict.findings[0].message


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "10 ** 400", "Any('nan')", "Any(0)", "True", "None", "(510,)"])
def test_nothing_else_counts_because_a_document_prints_something(value):
    verdict = check(f"{ANY}def loads(M, *rest): return {value} if M == 16 else 1024", ONE)
    assert [case.passed for case in verdict.cases] == [False, True]


def test_a_number_that_the_document_does_not_print_must_be_exact():
    spec = dataclasses.replace(ONE, expected=lambda M, *rest: (M, 1), also=lambda *given: PrintedValue((None, 7), "X prints 7"))
    for value, passes in (("M, 1", True), ("M, 7", True), ("7, 7", False), ("M, None", False), ("M, 7, 7", False), ("7", False)):
        assert check(f"def loads(M, *rest): return {value}", spec).passed == passes


RETURNED = {
    "None": "None: is there a `return` with the result?", "'3'": "a text, '3'", "512 + 0j": "a complex number, (512+0j)",
    "[1]": "a list of one number, [1]",
    "(1, 2, 3)": "a tuple of three numbers, (1, 2, 3)", "[[1], 2]": "a list of a list and a number, [[1], 2]",
    "(1, None)": "a tuple of a number and None",
    "('a', 'b')": "a tuple of two texts", "[(1, 2), (3, 4), (5, 6)]": "a list of three tuples", "()": "a tuple of no items, ()",
    "True": "a bool, True",
    "np.zeros((2, 3), 'f4')": "a NumPy array of shape (2, 3) and dtype float32",
    "np.array(3)": "a NumPy array of shape () and dtype int64, array(3)",
    "(x for x in (1, 2))": "a generator, which has not computed anything yet",
    "map(int, '12')": "a map, which has not computed anything yet",
    "lambda: 3": "a function: call it", "min": "a function: call it", "{1, 2}": "a set, {1, 2}", "{'a': 1}": "a dict",
    "range(2)": "a range",
    "1 << 10 ** 5": "a whole number of some 30103 digits", "list(range(500))": "a list of 500 numbers", "b'1'": "a bytes, b'1'",
    "'x' * 10 ** 6": "a text, 'xxx"}
TWO = dataclasses.replace(SPEC, cases=((16, 16, 16, 16),), expected=lambda *given: (1, 2))


@pytest.mark.parametrize(("value", "says"), RETURNED.items())
def test_what_was_expected_and_what_came_is_said_in_words(value, says):
    for spec, wanted in ((dataclasses.replace(TWO, expected=lambda *given: 7), "a number"), (TWO, "a tuple of two numbers")):
        finding, = check(f"import numpy as np\ndef loads(*given): return {value}", spec).findings
        assert finding.message.startswith(f"loads(M=16, N=16, K=16, tile=16) must return {wanted}, and returned {says}")
        assert len(finding.message) < 500


def test_one_number_where_two_are_expected():
    assert "must return a tuple of two numbers, and returned one number, 3.5" in check("def loads(*given): return 3.5",
    TWO).findings[0].message
    assert "which is not right" in check("def loads(*given): return [2, 1]", TWO).findings[0].message


@pytest.mark.sampled(test=3, slow=12)
@pytest.mark.parametrize("value", [*RETURNED, "(2, 1)", "[2, 1]", "float('nan')"])
def test_in_a_process_of_its_own_it_is_told_the_same(value):
    text = f"import numpy as np\ndef loads(*given): return {value}"
    with Sandboxed(unsafe=True) as engine:
        here, there = check(text, TWO), check(text, TWO, engine=engine)
    assert repr(here) == repr(there)


@pytest.mark.parametrize(("error", "says"), [
    ("ValueError('\\ud800')", "raised ValueError: \\ud800"), ("Odd()", "raised Odd: its words cannot be shown (ZeroDivisionError)")])
def test_what_an_exception_says_can_be_shown(error, says):
    text = f"class Odd(Exception):\n    def __str__(self): return 1 / 0\ndef loads(*given): raise {error}"
    verdict = check(text, TWO)
    assert says in verdict.findings[0].message
    repr(verdict).encode()
