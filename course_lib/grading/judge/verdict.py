"""What a check found, as a student reads it."""

from dataclasses import dataclass, field
from html import escape

from course_lib.check.finding import Finding, finding_html
from course_lib.check.trials import MARKS, TrialOutcome, outcomes_html
from course_lib.errors import CourseError


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
        head, told = f"{self.title}: {self._summary()}", list(map(str, self.findings))
        lines = [head, *told] if self.passed else [*told[:1], head, *told[1:]]
        lines += [f"{MARKS[outcome.passed]} {outcome.name}: {outcome.detail}" for outcome in self._unfolded()]
        return "\n  ".join(line.replace("\n", "\n  ") for line in lines)

    def _repr_html_(self) -> str:
        found = [finding_html(finding) for finding in self.findings]
        first = "" if self.passed else "".join(found[:1])
        head = f"<p><b>{escape(self.title)}: {escape(self._summary())}</b></p>{''.join(found[not self.passed:])}"
        folded = outcomes_html(self.cases, "input")
        if folded:
            folded = f"<details><summary>Details: each input</summary>{folded}</details>"
        return f"{first}{head}{outcomes_html(self._unfolded(), 'gate' if self.passed else 'not passed')}{folded}"

    def _unfolded(self) -> tuple[TrialOutcome, ...]:
        """Return the gates, and the inputs that are not right: those that are right would fill a screen and say nothing."""
        return tuple(outcome for outcome in self.cases if not outcome.passed) + self.gates

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
