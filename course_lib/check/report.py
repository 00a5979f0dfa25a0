"""What a check says: the findings, the inputs, and the source with its counters and marks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from course_lib.check.finding import Finding, finding_html
from course_lib.check.trials import TrialOutcome
from course_lib.run.listing import source_listing
from course_lib.run.table import Table

# What the columns of the listing count, in words, for whoever has not met them yet.
MEANINGS = {
    "global requests": "a request is one load or store instruction of one warp to global memory",
    "sectors / request": "a sector is 32 bytes, the least that a request can get (lesson 05)",
    "shared wavefronts": "a wavefront is one pass of shared memory over a warp's words: one per access at best (lesson 06)",
    "bank conflicts": "a bank conflict is a wavefront above the best (lesson 06)",
    "instructions, PTX level": "instructions are those of PTX, which the compiler makes of CUDA C before it makes machine code (lesson 07)",
}


@dataclass(frozen=True)
class CheckReport:
    """What `check` found.

    Attributes
    ----------
    title
        The kernel, and how it was launched.
    source
        Its text.
    findings
        What is wrong, in the order in which to repair it (severity "error"), then counters that look bad ("warning").
    inputs
        Every input, and whether the result was right and free of hazards.
    lines
        Source line to counters; empty when the kernel is not right.
    """

    title: str
    source: str = field(repr=False)
    findings: tuple[Finding, ...] = ()
    inputs: tuple[TrialOutcome, ...] = ()
    lines: Mapping[int, Mapping[str, int]] = field(default_factory=dict, repr=False)

    @property
    def right(self) -> bool:
        """Return whether nothing is wrong; counters may still look bad."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def marks(self) -> dict[int, str]:
        """Return the lines that findings speak of, as a mapping of line to words."""
        found: dict[int, list[str]] = {}
        for finding in self.findings:
            lines = [finding.line, getattr(finding.facts.get("error"), "other_line", None)]
            lines += [line for h in finding.facts.get("hazards", ()) for line in (h.first_line, h.second_line)]
            for line in {line for line in lines if line}:
                words = found.setdefault(line, [])
                words += [finding.kind] * (finding.kind not in words)
        return {line: ", ".join(words) for line, words in sorted(found.items())}

    def listing(self) -> Table:
        """Return the source as a `Table`: counters, marks, text."""
        return source_listing(self.source, self.lines, notes=self.marks, caption=f"{self.title}, simulated")

    def summary(self) -> str:
        """Return the outcome in a sentence."""
        wrong = sum(finding.severity == "error" for finding in self.findings)
        bad = len(self.findings) - wrong
        done = sum(outcome.passed is True for outcome in self.inputs)
        inputs = f"right on {done} of {len(self.inputs)} inputs" if self.inputs else "it was not run"
        if wrong:
            again = ". Repair the first and check again: others may go with it" if wrong > 1 else ""
            return f"{_things(wrong, 'thing is', 'things are')} wrong; {inputs} (simulated){again}"
        looks = f"; {_things(bad, 'counter looks', 'counters look')} bad" if bad else ", and no counter looks bad"
        return f"{'' if bad else 'nothing wrong: '}{inputs}, no hazard{looks} (simulated)"

    def failed(self) -> list[str]:
        """Return lines that name the inputs that are not right, and those that were not run."""
        names = {passed: [o.name for o in self.inputs if o.passed is passed] for passed in (False, None)}
        return [f"{words}: {'; '.join(names[passed])}" for passed, words in ((False, "not right"), (None, "not run")) if names[passed]]

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self.summary()}", *map(str, self.findings), *self.failed()]
        return "\n  ".join(line.replace("\n", "\n  ") for line in lines)

    def _repr_html_(self) -> str:
        found = "".join(map(finding_html, self.findings))
        failed = "".join(f"<p>{escape(line)}</p>" for line in self.failed())
        return f"<p><b>{escape(self.title)}: {escape(self.summary())}</b></p>{found}{failed}{self._listing_html()}"

    def _listing_html(self) -> str:
        """Return the listing and what its columns mean; folded away while there is nothing to repair."""
        if not (self.marks or self.lines):
            return ""
        listing = self.listing()
        told = [MEANINGS[column] for column in listing.header if column in MEANINGS]
        words = f"<p>Counted by the simulator for each line: {'; '.join(told)}.</p>" if told else ""
        if self.findings:
            return listing._repr_html_() + words
        return f"<details><summary>What each line did: counters beside your source</summary>{words}{listing._repr_html_()}</details>"


def _things(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
