"""The inputs on which a check tries a kernel, and on how many of them it was right."""

from course_lib.check import CheckReport
from course_lib.check.case import all_cases
from course_lib.plots import Table

TILE = {"BM": 16, "BN": 16, "BK": 1}           # as `check` launches sgemm, which has no tile along K


def inputs() -> Table:
    """Return a table of the inputs on which `check` tries a product in blocks of 16 × 16."""
    rows = [(number, case.name, case.M, case.N, case.K, "padded" if case.pad else "") for number, case in enumerate(all_cases(TILE), 1)]
    return Table(("", "input", "M", "N", "K", "rows"), rows, "The inputs: C has M rows and N columns")


def right_inputs(report: CheckReport) -> int:
    """Return on how many inputs a check found a kernel right."""
    return sum(outcome.passed is True for outcome in report.inputs)
