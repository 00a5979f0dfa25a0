"""What a check says: in a few lines when a kernel is right; else first what is wrong. The inputs and the source are folded away."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from course_lib.check.finding import Finding, finding_html
from course_lib.check.trials import MARKS, TrialOutcome, outcomes_html
from course_lib.run.listing import source_listing
from course_lib.run.result import counter_name
from course_lib.run.table import Table

# What the columns of the listing count, in words, for whoever has not met them yet. Instructions are not among them: those of the
# simulator are not the machine's, and no finding speaks of them.
MEANINGS = {
    "global requests": "a request is one load or store instruction of one warp to global memory",
    "sectors / request": "a sector is 32 bytes, the least that a request can get",
    "shared wavefronts": "a wavefront is one pass of shared memory over a warp's words: one per access at best",
    "bank conflicts": "a bank conflict is a wavefront above the best",
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
        return source_listing(self.source, self.lines, notes=self.marks, caption=f"{self.title}, simulated", columns=tuple(MEANINGS))

    def summary(self) -> str:
        """Return the outcome in a sentence."""
        wrong = len(self.findings) - len(self._remarks())
        if not wrong:
            return "right (simulated)" if self.inputs else "it was not run"
        again = ". Repair the first and check again: others may go with it" if wrong > 1 else ""
        inputs = f"{self._right_on()} (simulated)" if self.inputs else "it was not run"
        return f"{_things(wrong, 'thing is', 'things are')} wrong; {inputs}{again}"

    def properties(self) -> list[str]:
        """Return what holds of a right kernel, a line each, and how its counters look; [] for a kernel that is not right."""
        if not (self.right and self.inputs):
            return []
        bad = len(self._remarks())
        looks = f"{MARKS[None]} {_things(bad, 'counter looks', 'counters look')} bad: no error, but worth a look" if bad else (
            f"{MARKS[True]} no counter looks bad{self._glance()}" if self.lines else f"{MARKS[None]} no counter was read")
        return [f"{MARKS[True]} {self._right_on()}", f"{MARKS[True]} no hazard: no result depends on which thread comes first",
                f"{MARKS[True]} no access out of bounds", looks]

    def failed(self) -> list[str]:
        """Return lines that name the inputs that are not right, and those that were not run."""
        kinds = {"not right": [o.name for o in self.inputs if o.passed is False and not o.result],
                 "hazard": [o.name for o in self.inputs if o.passed is False and o.result],
                 "not run": [o.name for o in self.inputs if o.passed is None]}
        return [f"{words}: {'; '.join(names)}" for words, names in kinds.items() if names]

    def _remarks(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity != "error"]

    def _right_on(self) -> str:
        passed, of = sum(outcome.passed is True for outcome in self.inputs), len(self.inputs)
        right = sum(outcome.passed is True or outcome.result for outcome in self.inputs)
        if right > passed:
            return f"the result is right on {right} of {of} inputs, on {passed} of them without a hazard"
        return f"right on {passed} of {of} inputs"

    def _glance(self) -> str:
        """Return ": 4 sectors per load request", or "" where nothing is loaded."""
        sectors, requests = (sum(counters.get(counter_name(what, "load"), 0) for counters in self.lines.values())
                             for what in ("sectors", "requests"))
        return f": {f'{sectors / requests:.2f}'.rstrip('0').rstrip('.')} sectors per load request" if requests else ""

    def __repr__(self) -> str:
        head = f"{self.title}: {self.summary()}"
        if self.right:
            lines = [head, *self.properties(), *map(str, self.findings)]
        else:
            first, *others = map(str, self.findings)
            lines = [first, head, *others, *self.failed()]
        return "\n  ".join(line.replace("\n", "\n  ") for line in lines)

    def _repr_html_(self) -> str:
        head = f"<p><b>{escape(self.title)}: {escape(self.summary())}</b>"
        found = [finding_html(finding) for finding in self.findings]
        if self.right:
            head += "".join(f"<br>{escape(line)}" for line in self.properties())
            return f"{head}</p>{''.join(found)}{self._details_html()}"
        return f"{found[0]}{head}</p>{''.join(found[1:])}{self._details_html()}"

    def _details_html(self) -> str:
        """Return the inputs, the listing and what its columns mean, folded away."""
        if not (self.inputs or self.marks or self.lines):
            return ""
        listing = self.listing()
        told = [MEANINGS[column] for column in listing.header if column in MEANINGS]
        words = f"<p>Counted by the simulator for each line: {'; '.join(told)}.</p>" if told else ""
        return (f"<details><summary>Details: your source line by line, and each input</summary>{words}{listing._repr_html_()}"
                f"{outcomes_html(self.inputs, 'input')}</details>")


def _things(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
