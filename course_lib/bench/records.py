"""What was measured, one row for each figure, and the file that holds the rows."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from course_lib.bench.machine import Machine
from course_lib.bench.timing import Spread


@dataclass(frozen=True)
class Measurement:
    """One measured figure.

    Attributes
    ----------
    what
        "run", "compile", "load", "translate", "nvrtc", …: what was timed.
    kernel, parameters, N
        The kernel of the catalog, its tile or block sizes, and the size of the square matrices; N is 0 where none matters.
    clock
        "cpu" (the process's threads on cores) or "wall".
    work
        Floating-point operations, or multiply-adds, of one run; 0 where none are counted.
    how
        What else was chosen: workers, racecheck.
    """

    what: str
    kernel: str
    parameters: dict[str, int]
    N: int
    seconds: Spread
    clock: str
    work: float = 0.0
    how: dict[str, Any] = field(default_factory=dict)

    @property
    def gflops(self) -> float:
        """Return 10⁹ operations a second, of the median time."""
        return self.work / self.seconds.median / 1e9


@dataclass(frozen=True)
class Result:
    """Everything that one call of a benchmark measured."""

    benchmark: str
    date: str
    machine: Machine
    conditions: dict[str, Any]
    measurements: tuple[Measurement, ...]

    def find(self, what: str, kernel: str | None = None, parameters: dict[str, int] | None = None, **how: Any) -> list[Measurement]:
        """Return the measurements of that kind, of any kernel or one, whose `how` holds these values."""
        return [m for m in self.measurements
                if m.what == what and kernel in (None, m.kernel) and parameters in (None, m.parameters)
                and all(m.how.get(k) == v for k, v in how.items())]


def dumps(result: Result) -> str:
    """Write a result as JSON text, one measurement a line."""
    raw = asdict(result)
    rows = raw.pop("measurements")
    head = json.dumps(raw, ensure_ascii=False)[:-1]
    return head + ', "measurements": [\n' + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]}\n"


def loads(text: str) -> Result:
    """Read what `dumps` wrote.

    >>> from course_lib.bench import Machine, Result
    >>> result = Result("simt", "2026-11-21", Machine("a CPU", 2, "Linux", {}), {}, ())
    >>> loads(dumps(result)) == result
    True
    """
    raw = json.loads(text)
    rows = tuple(Measurement(**{**row, "seconds": Spread(**row["seconds"])}) for row in raw.pop("measurements"))
    return Result(**{**raw, "machine": Machine(**raw["machine"])}, measurements=rows)
