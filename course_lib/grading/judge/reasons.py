"""Why a gate is missed: what its counter would read without bank conflicts, or with neighbouring elements in neighbouring lanes.

One number can be too high for several reasons, and each asks for something else. So a note tells a reason only where taking that away
is seen to be enough; where it is not, it tells both.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib import simt
from course_lib.check.counters import SLACK, accesses
from course_lib.grading.judge.spec import Gate, Reading
from course_lib.run import counter_name

NEIGHBOURS = "Let neighbouring lanes take elements that are neighbours in memory"


@dataclass(frozen=True)
class Reason:
    """One reason for which a count is too high.

    Attributes
    ----------
    excess
        Source line -> how much of its count this reason adds.
    says
        Source line -> what is seen there, and "%s" for what the line is called.
    otherwise
        "without any conflict".
    advice
        What to do about it.
    """

    excess: Mapping[int, float]
    says: Mapping[int, str]
    otherwise: str
    advice: str
    line: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", max(self.excess, key=lambda line: self.excess[line]))

    def without(self, reading: Reading) -> float:
        """Return what a gate would read if this reason were not there."""
        return reading.value * (1 - sum(self.excess.values()) / sum(reading.shares.values()))

    def told(self, reading: Reading, where: str) -> str:
        """Return what is seen in the line that has most of it, and what the gate would read."""
        return f"{self.says[self.line] % where}; {self.otherwise} it would be {self.without(reading):.4f}"


def bank_conflicts(gate: Gate, reading: Reading, report: simt.Report) -> Reason | None:
    """Return bank conflicts as a reason, None where there are none."""
    if not reading.conflicts:
        return None
    says = {line: (f"{count} of the {reading.shares[line]} wavefronts of %s are bank conflicts, in which lanes want different words of "
                   "one bank") for line, count in reading.conflicts.items()}
    reason = Reason(reading.conflicts, says, "without any conflict", "")
    loads, stores = (report.lines[reason.line].get(counter_name("conflicts", kind), 0) for kind in ("load", "store"))
    return Reason(reading.conflicts, says, reason.otherwise, (gate.store_banks if stores > loads else "") or gate.banks or gate.advice)


def lanes_apart(kind: str, reading: Reading, report: simt.Report) -> Reason | None:
    """Return lanes that want elements far apart as a reason for many sectors; None where all of them touch as few as neighbours fill.

    Parameters
    ----------
    kind
        "load" or "store".
    report
        Of a launch that traces the warps of a block.
    """
    touched: dict[int, float] = defaultdict(float)
    needed: dict[int, float] = defaultdict(float)
    says: dict[int, str] = {}
    for access in accesses(report):
        if access.kind == kind and access.sectors:
            fill = access.width * access.requests                # sectors that 32 neighbours fill
            touched[access.line] += access.sectors
            needed[access.line] += min(access.sectors, fill)
            if access.sectors > SLACK * fill:
                says[access.line] = (f"{access.array}: a {kind} request of %s touches {access.sectors / access.requests:.1f} sectors, and "
                                     f"32 neighbouring elements fill {access.width}")
    excess = {line: reading.shares[line] * (1 - needed[line] / touched[line]) for line in says if line in reading.shares}
    return Reason(excess, says, "if neighbouring lanes took neighbours", NEIGHBOURS) if excess else None


def explained(gate: Gate, reading: Reading, reason: Reason | None) -> tuple[int | None, str, str]:
    """Return (line, what is to be said of it, what to do) of a gate that is missed."""
    if reason and reason.without(reading) <= gate.limit:
        return reason.line, f". {reason.told(reading, 'this line')}", reason.advice
    line = max(reading.shares, key=lambda line: reading.shares[line], default=None)
    share = 100 * reading.shares[line] / sum(reading.shares.values()) if line is not None and len(reading.shares) > 1 else 100
    most, advice = f"; this line has {share:.0f} % of them" if share < 100 else "", reading.advice or gate.advice
    if reason and SLACK * reason.without(reading) < reading.value:
        where = "this line" if reason.line == line else f"line {reason.line}"
        most += f". {reason.told(reading, where)}, which is still too much"
        advice = f"{advice}. {reason.advice}" if reason.advice != advice else advice
    elif gate.banks:
        most += "; bank conflicts are not the reason"
    return line, most, advice
