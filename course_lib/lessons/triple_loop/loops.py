"""The reader's own loops: are they right, and which cache lines do they fetch? They run in the simulator, so no C compiler is needed."""

import dataclasses
from html import escape

import numpy as np

from course_lib.check.case import Case
from course_lib.check.finding import Finding, finding_html
from course_lib.check.loops import Loops
from course_lib.errors import CourseError
from course_lib.explorables.orders import FLOAT, LINE_BYTES
from course_lib.grading.judge.engine import Here
from course_lib.grading.judge.loops_check import Count, check_loops, plain, run_loops, text_findings
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.model.cache_lines import MATRICES, CacheShape, count_steps, loop_steps
from course_lib.plots import Table

LINES = 16                            # of the cache, as in the picture
SIZES = ((32, 32, 32), (16, 48, 32), (17, 16, 16), (16, 33, 16), (16, 16, 17), (1, 1, 1), (1, 17, 37), (17, 1, 3), (37, 53, 29))
SQUARE, OBLONG = 24, (24, 16, 40)     # M, N, K of the tests of a swapped index


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a check of loops found: on how many inputs they were right, and what is wrong with them."""

    name: str
    inputs: int
    right: int
    findings: tuple[Finding, ...]

    def sentence(self) -> str:
        """Return the result in one line."""
        if not self.findings:
            return f"{self.name}: right on all {self.inputs} inputs"
        return f"{self.name}: right on {self.right} of {self.inputs} inputs" if self.inputs else f"{self.name}: did not run"

    def __repr__(self) -> str:
        return "\n".join([self.sentence(), *(f"  {finding}".replace("\n", "\n  ") for finding in self.findings)])

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.sentence())}</b></p>" + "".join(finding_html(finding) for finding in self.findings)


def _spec(name: str, lines: int = LINES) -> LoopsSpec:
    """Return the specification of loops for C = A B."""
    cases = tuple(Case("square" if len(set(sizes)) == 1 else "oblong", *sizes) for sizes in SIZES)
    return LoopsSpec("01", "write", name, name, Loops(), lambda tile: cases, lambda tile: cases[0], CacheShape(LINE_BYTES * lines),
                     drawn=lambda tile, rng: ())


def name_of(text: str) -> str:
    """Return what a cell's first line calls its loops.

    >>> name_of("// %%c mine\\nfor (;;);")
    'mine'
    """
    first = text.partition("\n")[0].split()
    return first[2] if first[1:2] == ["%%c"] and len(first) > 2 else "your loops"


def check(text: str) -> Checked:
    """Run loops on nine inputs, square and oblong ones, and say what is wrong with them.

    Parameters
    ----------
    text : str
        Of a cell `%%c NAME`: loops that add A B to a C of zeros.
    """
    name = name_of(text)
    verdict = check_loops(text, _spec(name), None, Here())
    return Checked(name, len(verdict.cases), sum(case.passed is True for case in verdict.cases), verdict.findings)


def count(text: str, N: int, lines: int = LINES) -> Count:
    """Count the cache lines that loops fetch on N × N matrices; `fetched` has those of A, B and C.

    Parameters
    ----------
    text : str
    N : int
        Up to 64: the simulator runs every multiply-add.
    lines : int
        How many lines the cache holds; the one used longest ago goes first.

    Raises
    ------
    CourseError
        When the loops cannot run, or N is too large.
    """
    if not 1 <= N <= 64:
        raise CourseError(f"N = {N}: take 1 to 64, because the simulator runs every multiply-add")
    spec = _spec(name_of(text), lines)
    findings = text_findings(text, spec, Here())
    if findings:
        raise CourseError(str(findings[0]))
    return run_loops(plain(text), spec.operation.trial(Case("", N, N, N)), spec, Here()).count


def fetched(mine: Count, N: int, lines: int = LINES) -> Table:
    """Return a table of the lines that the reader's loops fetched, beside those of ijk."""
    counts = count_steps(loop_steps("ijk", N, N, N), [(N, N, N)] * 3, FLOAT, CacheShape(LINE_BYTES * lines))
    other = dict(zip(MATRICES, counts, strict=True))
    rows = [(name, f"{other[name]:,}", f"{mine.fetched[name]:,}") for name in MATRICES]
    totals = sum(other.values()), sum(mine.fetched.values())
    rows.append(("all three", *(f"{total:,}" for total in totals)))
    rows.append(("per multiply-add", *(f"{total / N**3:.4f}" for total in totals)))
    header = ("lines fetched of", "ijk", "your loops")
    return Table(header, rows, f"{N} × {N} matrices, a cache of {lines} lines of {LINE_BYTES} bytes, simulated")


def tried(text: str) -> Table:
    """Return a table of what four tests say about loops: two whose matrices have a pattern, and two without one."""
    square = (SQUARE,) * 3
    tests = (("B full of ones", square, np.ones_like), ("B symmetric, its own transpose", square, lambda X: X + X.T),
             ("random numbers", square, None), ("random numbers", OBLONG, None))
    rows = [(what, f"{M} × {K}, {K} × {N}", _outcome(text, (M, N, K), change)) for what, (M, N, K), change in tests]
    return Table(("matrices", "sizes of A and B", "what comes out"), rows, f"{name_of(text)}, four tests")


def _outcome(text, sizes, change):
    """Return in words how loops do on one input, whose B a function may change."""
    spec = _spec(name_of(text))
    findings = text_findings(text, spec, Here())
    if findings:
        return str(findings[0])
    trial = spec.operation.trial(Case("", *sizes))
    if change is not None:
        trial = dataclasses.replace(trial, B=np.ascontiguousarray(change(trial.view("B", trial.B))).ravel())
    try:
        run_loops(plain(text), trial, spec, Here())
    except CourseError as error:
        return f"line {error.line}: {error}"
    wrong = spec.operation.judge(trial)
    return "right" if wrong is None else f"{int(wrong.mask.sum())} of {wrong.mask.size} elements of C are wrong"
