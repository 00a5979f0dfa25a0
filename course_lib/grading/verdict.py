"""What a check found, as a student reads it."""

from dataclasses import dataclass, field
from html import escape

from course_lib.errors import CourseError

MARKS = {True: "✓", False: "✗", None: "–"}


class NotPassedError(CourseError):
    """A kernel did not pass; `verdict` says why."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel.

    Attributes
    ----------
    kind : str
        "compile", "entry", "launch", "wrong", "hazard", "uninitialised", "out of bounds", "misaligned",
        "divergent barrier", "endless", "unsupported" or "gate".
    message : str
        For the student: what was seen, where, and a way out.
    line : int or None
        Line of the kernel's text, from 1.
    source_line : str
        That line, or "".
    severity : str
        "error" (does not pass) or "warning".
    facts : dict
        What a program may want: the case, row, col, counter values, threads.
    """

    kind: str
    message: str
    line: int | None = None
    source_line: str = ""
    severity: str = "error"
    facts: dict = field(default_factory=dict, repr=False, compare=False)

    def __str__(self):
        where = f"line {self.line}: " if self.line else ""
        shown = f"\n    {self.line:>4} | {self.source_line}" if self.line and self.source_line.strip() else ""
        return f"{self.kind}: {where}{self.message}{shown}"


@dataclass(frozen=True)
class Outcome:
    """One input that the kernel ran on, or one gate: its name, what it is, and whether it is passed (None: not run)."""

    name: str
    detail: str
    passed: bool | None


@dataclass(frozen=True)
class Verdict:
    """The result of `check`.

    Attributes
    ----------
    title : str
        The exercise and its part.
    passed : bool
    findings : tuple of Finding
        In the order in which to repair them.
    cases, gates : tuple of Outcome
        Every input, every counter gate.
    values : dict
        Gate name -> measured value, for those that were reached.
    """

    title: str
    passed: bool
    findings: tuple[Finding, ...]
    cases: tuple[Outcome, ...] = ()
    gates: tuple[Outcome, ...] = ()
    values: dict = field(default_factory=dict)

    def require(self):
        """Raise `NotPassedError` when the kernel did not pass, which is how a test cell fails."""
        if not self.passed:
            errors = [finding for finding in self.findings if finding.severity == "error"]
            text = f"{self.title}: not passed, {_count(len(errors), 'finding')}"
            raise NotPassedError(f"{text}\n\n{errors[0]}", verdict=self)

    def __repr__(self):
        lines = [f"{self.title}: {self._summary()}"]
        lines += [f"  {finding}".replace("\n", "\n  ") for finding in self.findings]
        lines += [f"  {MARKS[outcome.passed]} {outcome.name}: {outcome.detail}" for outcome in self.cases + self.gates]
        return "\n".join(lines)

    def _repr_html_(self):
        findings = "".join(_finding_html(finding) for finding in self.findings)
        rows = "".join(
            f"<tr><td>{MARKS[outcome.passed]}</td><td style='text-align:left'>{escape(outcome.name)}</td>"
            f"<td style='text-align:left'>{escape(outcome.detail)}</td></tr>" for outcome in self.cases + self.gates)
        return (f"<p><b>{escape(self.title)}: {escape(self._summary())}</b></p>{findings}"
                f"<table><thead><tr><th></th><th style='text-align:left'>input or gate</th><th></th></tr></thead>"
                f"<tbody>{rows}</tbody></table>")

    def _summary(self):
        if self.passed:
            return f"passed: {_count(len(self.cases), 'input')}, {_count(len(self.gates), 'gate')} (simulated)"
        if not self.cases:
            return f"not passed: {_count(len(self.findings), 'finding')}, not run"
        right = sum(outcome.passed is True for outcome in self.cases)
        reached = sum(outcome.passed is True for outcome in self.gates)
        return (f"not passed: {right} of {_count(len(self.cases), 'input')} right, "
                f"{reached} of {_count(len(self.gates), 'gate')} passed")


def _count(number, noun):
    """Return "1 input", "2 inputs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _finding_html(finding):
    where = f", line {finding.line}" if finding.line else ""
    has_text = where and finding.source_line.strip()
    shown = f"<pre>{finding.line:>4} | {escape(finding.source_line)}</pre>" if has_text else ""
    text = escape(finding.message).replace("\n", "<br>")
    return f"<p><b>{escape(finding.kind)}</b>{where}: {text}</p>{shown}"
