"""A kernel without its guard, and the inputs on which a check tries it."""

import re

from course_lib.check import CheckReport
from course_lib.check.case import all_cases
from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.unwritten import is_unwritten, missing

TILE = {"BM": 16, "BN": 16, "BK": 1}           # as `check` launches sgemm, which has no tile along K
SIDE = r"[^(){};&|!<>=,?:\s](?:[^(){};&|!<>=,?:]*[^(){};&|!<>=,?:\s])?"          # of a comparison: all up to the next sign
BOUND = r"\b(?P<bound>[MN])\b(?:\s*-\s*1\b)?(?!\s*[-+*/%])"
FORMS = tuple(re.compile(form) for form in (
    rf"(?P<value>{SIDE})\s*(?P<sign><=?|>=?)\s*{BOUND}", rf"(?<![-+*/%]){BOUND}\s*(?P<sign><=?|>=?)\s*(?P<value>{SIDE})"))
CONDITION = re.compile(r"\bif\s*\((?:[^(){};]|\([^(){};]*\))*\)")


def without_guard(text: str) -> str:
    """Return a kernel's text with its guard switched off, so that every thread computes and stores; no line moves.

    Raises
    ------
    CourseError
        When the text has no `if` that compares with M, or none that compares with N.
    NotWritten
        When there is no kernel yet.

    >>> without_guard("if (row >= M || col >= N) return;"), without_guard("if (row < M && col < N) C[i] = sum;")
    ('if (false || false) return;', 'if (true && true) C[i] = sum;')
    >>> without_guard("if (M <= row) return; if (N <= col) return;")
    'if (false) return; if (false) return;'
    """
    if is_unwritten(text):
        raise missing(text)
    found: set[str] = set()

    def inside(comparison: re.Match[str], larger: str) -> str:
        found.add(comparison["bound"])
        return "false" if larger in comparison["sign"] else "true"

    def switched(condition: re.Match[str]) -> str:
        there = FORMS[0].sub(lambda comparison: inside(comparison, ">"), condition[0])
        return FORMS[1].sub(lambda comparison: inside(comparison, "<"), there)

    changed = CONDITION.sub(switched, text)
    for bound in "MN":
        if bound not in found:
            what, form = {"M": ("row with M", "row >= M"), "N": ("column with N", "col >= N")}[bound]
            raise CourseError(f"no comparison of the {what} was found: write it as `{form}`, inside an `if`")
    return changed


def inputs() -> Table:
    """Return a table of the inputs on which `check` tries a product in blocks of 16 × 16."""
    rows = [(number, case.name, case.M, case.N, case.K, "padded" if case.pad else "") for number, case in enumerate(all_cases(TILE), 1)]
    return Table(("", "input", "M", "N", "K", "rows"), rows, "The inputs: C has M rows and N columns")


def right_inputs(report: CheckReport) -> int:
    """Return on how many inputs a check found a kernel right."""
    return sum(outcome.passed is True for outcome in report.inputs)
