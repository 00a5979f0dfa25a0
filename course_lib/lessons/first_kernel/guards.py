"""A kernel without its guard, or without half of it, and the inputs on which a check tries it."""

import re

from course_lib.check import Report
from course_lib.check.case import all_cases
from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.unwritten import is_unwritten, missing

TILE = {"BM": 16, "BN": 16, "BK": 1}           # as `check` launches sgemm, which has no tile along K
COLUMN = re.compile(r"\b(?!M\b)\w+\s*(?P<sign><=?|>=?)\s*N\b(?!\s*[-+*/])")
CONDITION = re.compile(r"\bif\s*\((?P<test>[^(){};]*\b[MN]\b[^(){};]*)\)")


def without_guard(text: str) -> str:
    """Return a kernel's text with its guard switched off, so that every thread computes and stores; no line moves.

    Raises
    ------
    CourseError
        When the text has no `if` that compares with M or N.
    NotWritten
        When there is no kernel yet.

    >>> without_guard("if (row >= M || col >= N) return;"), without_guard("if (row < M && col < N) C[i] = sum;")
    ('if (false) return;', 'if (true) C[i] = sum;')
    """
    if is_unwritten(text):
        raise missing(text)
    if not CONDITION.search(text):
        raise CourseError("the kernel has no guard that could be switched off: write an `if` that compares row with M and col with N first")
    return CONDITION.sub(lambda found: "if (false)" if ">" in found["test"] else "if (true)", text)


def without_column_guard(text: str) -> str:
    """Return a kernel's text with a guard of the rows alone: where it compares a column with N, the answer is that there is one.

    Raises
    ------
    CourseError
        When the text has no `if` that compares something with N in the form `col >= N` or `col < N`.
    NotWritten
        When there is no kernel yet.

    >>> without_column_guard("if (row >= M || col >= N) return;"), without_column_guard("if (row < M && col < N) C[i] = sum;")
    ('if (row >= M || false) return;', 'if (row < M && true) C[i] = sum;')
    """
    if is_unwritten(text):
        raise missing(text)
    changed = CONDITION.sub(lambda found: COLUMN.sub(lambda test: "false" if ">" in test["sign"] else "true", found[0]), text)
    if changed == text:
        raise CourseError("no comparison of the column with N was found: write it as `col >= N`, inside an `if`")
    return changed


def inputs() -> Table:
    """Return a table of the inputs on which `check` tries a product in blocks of 16 × 16."""
    rows = [(number, case.name, case.M, case.N, case.K) for number, case in enumerate(all_cases(TILE), 1)]
    return Table(("", "input", "M", "N", "K"), rows, "The inputs: C has M rows and N columns")


def right_inputs(report: Report) -> int:
    """Return on how many inputs a check found a kernel right."""
    return sum(outcome.passed is True for outcome in report.inputs)
