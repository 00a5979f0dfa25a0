"""Run one kernel on many inputs and collect what is wrong, each thing once and at the plainest input that shows it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.check import reports
from course_lib.check.finding import Finding
from course_lib.check.operation import Operation, Tile, WrongResult
from course_lib.run.types import Extent
from course_lib.simt.report import Report

MARKS = {True: "✓", False: "✗", None: "–"}
LUCK = " (result right, but a hazard)"
ENDS_THE_CHECK = ("endless", "divergent barrier", "unsupported", "launch")


@dataclass(frozen=True)
class TrialOutcome:
    """One input that the kernel ran on, or one gate: its name, what it is, and whether it is passed (None: not run).

    `result`: it is not passed, although the result is right: only hazards were found.
    """

    name: str
    detail: str
    passed: bool | None
    result: bool = False


def outcomes_html(outcomes: Iterable[TrialOutcome], what: str) -> str:
    """Return a table of inputs or gates, or "" when there are none; `what` heads the column of their names."""
    rows = "".join(
        f"<tr><td>{MARKS[outcome.passed]}</td><td style='text-align:left'>{escape(outcome.name)}</td>"
        f"<td style='text-align:left'>{escape(outcome.detail)}{LUCK if outcome.result and not outcome.passed else ''}</td></tr>"
        for outcome in outcomes)
    head = f"<thead><tr><th></th><th style='text-align:left'>{what}</th><th></th></tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>" if rows else ""


class Trials:
    """The launches of one check, and what they showed.

    Parameters
    ----------
    operation
        What is computed, as `course_lib.check.sgemm`.
    launch
        (trial, racecheck=bool, trace=pairs, last_block_first=bool) -> the simulator's report; it raises `simt.SimtError`.
    tile
        BM, BN, BK.
    lines
        The kernel's text.
    """

    def __init__(self, operation: Operation, launch: Callable[..., Report], tile: Tile, lines: Sequence[str], seed: int = 0) -> None:
        self.operation, self.launch, self.tile, self.lines, self.seed = operation, launch, tile, lines, seed
        self.findings: dict[tuple[str, int | None, str | None], Finding] = {}
        self.outcomes: list[TrialOutcome] = []

    def run(self, cases: Iterable[Any]) -> bool:
        """Run all inputs; those after an endless loop and the like are not run. Return whether all were."""
        ended = False
        for case in cases:
            passed, result = (None, False) if ended else self._case(case)
            self.outcomes.append(TrialOutcome(case.name, str(case), passed, result))
            ended = ended or any(kind in ENDS_THE_CHECK for kind, *_ in self.findings)
        return not ended

    def run_last_block_first(self, cases: Iterable[Any]) -> None:
        """Run inputs that are right once more, an earlier block only while later ones wait for it; note the first that is now wrong."""
        for number, case in enumerate(cases):
            trial = self.operation.trial(case, self.seed)
            try:
                self.launch(trial, racecheck=False, last_block_first=True)
                wrong = self.operation.judge(trial)
            except simt.LaunchError:             # more blocks than fit onto a GPU at once
                continue
            except simt.SimtError as error:
                wrong = str(error)
            if wrong is not None:
                self.outcomes[number:] = [replace(outcome, passed=None if i else False) for i, outcome in enumerate(self.outcomes[number:])]
                self.note(reports.of_order(wrong, case))
                return

    def note(self, finding: Finding) -> None:
        """Keep a finding unless one of its kind and line is there (of gates: this gate): the first input that shows it is the plainest."""
        line = None if finding.kind == "wrong" else finding.line
        self.findings.setdefault((finding.kind, line, finding.facts.get("gate")), finding)

    def right_report(self, case: Any, **options: Any) -> Report | None:
        """Return the report of a launch that is right, for its counters, or None: then it is noted what is wrong."""
        trial = self.operation.trial(case, self.seed)
        try:
            report = self.launch(trial, racecheck=False, **options)
        except simt.SimtError as error:
            self.note(reports.of_error(error, case, self.lines))
            return None
        wrong = self.operation.judge(trial)
        if wrong is not None and not self.findings:
            self.note(reports.of_wrong(wrong, "", case))
        return report if wrong is None else None

    def _case(self, case: Any) -> tuple[bool, bool]:
        """Run one input; note what is wrong; return whether it passed, and whether the result is right and only hazards are not."""
        trial = self.operation.trial(case, self.seed)
        try:
            report = self.launch(trial)
        except simt.SimtError as error:
            self.note(reports.of_error(error, case, self.lines))
            return False, False
        wrong = self.operation.judge(trial)
        found = reports.of_hazards(report, case, self.lines, wrong is None)
        if wrong is not None and not found:        # else the hazard is the reason
            guess = "" if isinstance(wrong, str) else self._guess(trial, wrong)
            found.append(reports.of_wrong(wrong, guess, case))
        for finding in sorted(found, key=reports.urgency):
            self.note(finding)
        return not found, wrong is None and {finding.kind for finding in found} == {"hazard"}

    def _guess(self, trial: Any, wrong: WrongResult) -> str:
        def again(other):
            try:
                self.launch(other)
            except simt.SimtError:
                return None
            return other

        return self.operation.guess(trial, wrong, self.tile, again)


@dataclass(frozen=True)
class Store:
    """Who stored an element of C: source line, block and thread."""

    line: int
    block: Extent
    thread: Extent


def storing(report: Report, element: int, block: Extent, array: str = "C") -> Store | None:
    """Find in a traced launch who stored an element last.

    Parameters
    ----------
    report
        Of a launch that traces every warp.
    element
        Its index in the array.
    block
        Threads of a block.

    Returns
    -------
    The `Store`, or None when nobody did.
    """
    target = next(a for a in report.arrays if a.name == array)
    wanted, found = target.address + element * target.itemsize, None
    for record in report.trace:
        if record.space == "global" and record.operation.startswith("st."):
            here = (record.addresses >= 0) & (record.addresses <= wanted) & (wanted < record.addresses + record.width)
            for lane in np.flatnonzero(here):
                number = 32 * record.warp + int(lane)
                (x, y, _), (bx, by, bz) = block, record.block
                found = Store(record.line, (bx, by, bz), (number % x, number // x % y, number // x // y))
    return found
