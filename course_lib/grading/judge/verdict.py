"""What a check found, as a student reads it."""

from dataclasses import dataclass, field
from html import escape

from course_lib.check.finding import Finding, finding_html
from course_lib.check.trials import TrialOutcome
from course_lib.errors import CourseError

MARKS = {True: "✓", False: "✗", None: "–"}


class NotPassedError(CourseError):
    """A kernel did not pass; `verdict` says why."""


@dataclass(frozen=True)
class Verdict:
    """The result of `check`.

    Attributes
    ----------
    title
        The exercise and its part.
    findings
        In the order in which to repair them.
    cases, gates
        Every input, every counter gate.
    values
        Gate name -> measured value, for those that were reached.
    shown
        How many of `cases`, from the first on, are inputs that everyone sees; the others were drawn for grading.
    """

    title: str
    passed: bool
    findings: tuple[Finding, ...]
    cases: tuple[TrialOutcome, ...] = ()
    gates: tuple[TrialOutcome, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    shown: int = 0

    def require(self) -> None:
        """Raise `NotPassedError` when the kernel did not pass, which is how a test cell fails."""
        if not self.passed:
            errors = [finding for finding in self.findings if finding.severity == "error"]
            text = f"{self.title}: not passed, {_count(len(errors), 'finding')}"
            raise NotPassedError(f"{text}\n\n{errors[0]}", verdict=self)

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self._summary()}"]
        lines += [f"  {finding}".replace("\n", "\n  ") for finding in self.findings]
        lines += [f"  {MARKS[outcome.passed]} {outcome.name}: {outcome.detail}" for outcome in self.cases + self.gates]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        findings = "".join(finding_html(finding) for finding in self.findings)
        rows = "".join(
            f"<tr><td>{MARKS[outcome.passed]}</td><td style='text-align:left'>{escape(outcome.name)}</td>"
            f"<td style='text-align:left'>{escape(outcome.detail)}</td></tr>" for outcome in self.cases + self.gates)
        head = f"<p><b>{escape(self.title)}: {escape(self._summary())}</b></p>{findings}"
        if not rows:
            return head
        what = "input or gate" if self.gates else "input"
        return (f"{head}<table><thead><tr><th></th><th style='text-align:left'>{what}</th><th></th></tr></thead>"
                f"<tbody>{rows}</tbody></table>")

    def _summary(self):
        if self.passed:
            gates = f", {_count(len(self.gates), 'gate')} (simulated)" if self.gates else ""
            return f"passed: {_count(len(self.cases), 'input')}{gates}"
        if not self.cases:
            return f"not passed: {_count(len(self.findings), 'finding')}, not run"
        right = sum(outcome.passed is True for outcome in self.cases)
        reached = sum(outcome.passed is True for outcome in self.gates)
        gates = f", {reached} of {_count(len(self.gates), 'gate')} passed" if self.gates else ""
        return f"not passed: {right} of {_count(len(self.cases), 'input')} right{gates}"


def _count(number, noun):
    """Return "1 input", "2 inputs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
