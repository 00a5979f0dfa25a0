"""One thing that a check found in a kernel, as a reader is told it."""

from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel.

    Attributes
    ----------
    kind
        "compile", "entry", "launch", "wrong", "order", "hazard", "uninitialised", "out of bounds", "misaligned",
        "divergent barrier", "endless", "unsupported", "atomics", "gate", "bound" or "not counted"; of counters "loads", "sectors",
        "bank conflicts", "spills" or "local memory".
    message
        For the student: what was seen, where, and a way out.
    line
        Line of the kernel's text, from 1.
    source_line
        That line, or "".
    severity
        "error" (does not pass) or "warning".
    lesson
        Which lesson explains it, or "".
    facts
        What a program may want: the case, row, col, counter values, threads.
    """

    kind: str
    message: str
    line: int | None = None
    source_line: str = ""
    severity: str = "error"
    lesson: str = ""
    facts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        shown = f"\n    {self.line:>4} | {self.source_line}" if self.line and self.source_line.strip() else ""
        return f"{self.kind}: {where}{self.message}{_explained(self)}{shown}"


def finding_html(finding: Finding) -> str:
    """Return a finding as HTML: kind, line, message, the line's text."""
    where = f", line {finding.line}" if finding.line else ""
    has_text = where and finding.source_line.strip()
    shown = f"<pre>{finding.line:>4} | {escape(finding.source_line)}</pre>" if has_text else ""
    text = escape(finding.message + _explained(finding)).replace("\n", "<br>")
    return f"<p><b>{escape(finding.kind)}</b>{where}: {text}</p>{shown}"


def _explained(finding: Finding) -> str:
    """Return ". See lesson 04, Tiling", without the full stop where the message has its own."""
    stop = "" if finding.message.endswith((".", ".)", "?")) else "."
    return f"{stop} See {finding.lesson}" if finding.lesson else ""
