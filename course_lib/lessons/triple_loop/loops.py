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
SIDE = 32                             # of the matrices on which `check` counts, as in the picture
OPERATION = Loops()
SQUARE, OBLONG = 24, (24, 16, 40)     # M, N, K of the tests of a swapped index


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a check of loops found: on how many inputs they were right, and what is wrong with them."""

    name: str
    inputs: int
    right: int
    findings: tuple[Finding, ...]
    note: str = ""

    def sentence(self) -> str:
        """Return the result in one line."""
        if not self.findings:
            return f"{self.name}: right on all {self.inputs} inputs. {self.note}".rstrip()
        return f"{self.name}: right on {self.right} of {self.inputs} inputs" if self.inputs else f"{self.name}: did not run"

    def __repr__(self) -> str:
        return "\n".join([self.sentence(), *(f"  {finding}".replace("\n", "\n  ") for finding in self.findings)])

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.sentence())}</b></p>" + "".join(finding_html(finding) for finding in self.findings)


def _spec(name: str, lines: int = LINES) -> LoopsSpec:
    """Return the specification of loops for C = A B."""
    cases = tuple(Case("square" if len(set(sizes)) == 1 else "oblong", *sizes) for sizes in SIZES)
    return LoopsSpec("01", "write", name, name, OPERATION, lambda tile: cases, lambda tile: cases[0], CacheShape(LINE_BYTES * lines),
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
    text
        Of a cell `%%c NAME`: loops that add A B to a C of zeros.
    """
    name = name_of(text)
    verdict = check_loops(text, _spec(name), None, Here())
    note = "" if verdict.findings else _walks(count(text, N=SIDE))
    return Checked(name, len(verdict.cases), sum(case.passed is True for case in verdict.cases), verdict.findings, note)


def _walks(counted: Count) -> str:
    """Return in words whether loops walk down a column, which fetches a line of that matrix for nearly every multiply-add."""
    down = [name for name, lines in counted.fetched.items() if lines > SIDE**3 / 2]
    if down:
        lines = " and ".join(f"{counted.fetched[name] / SIDE**3:.2f} lines of {name}" for name in down)
        where = " and ".join(f"a column of {name}" for name in down)
        return (f"But per multiply-add they fetch {lines} ({SIDE} × {SIDE} matrices, {LINES} lines of cache): the innermost loop walks "
                f"down {where}. Choose another order.")
    if list(counted.fetched.values()) == _of_order("ikj", SIDE, LINES):
        return "The innermost loop walks down no column. But this is ikj, the order of the picture: there is another one."
    return "The innermost loop walks down no column."


def count(text: str, N: int, lines: int = LINES) -> Count:
    """Count the cache lines that loops fetch on N × N matrices; `fetched` has those of A, B and C.

    Parameters
    ----------
    N
        Up to 64: the simulator runs every multiply-add.
    lines
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
    return run_loops(plain(text), OPERATION.trial(Case("", N, N, N)), spec, Here()).count


def _of_order(order: str, N: int, lines: int) -> list[int]:
    """Return the lines of A, B and C that an order fetches on N × N matrices."""
    return count_steps(loop_steps(order, N, N, N), [(N, N, N)] * 3, FLOAT, CacheShape(LINE_BYTES * lines))


def fetched(mine: Count, N: int, lines: int = LINES) -> Table:
    """Return a table of the lines that the reader's loops fetched, beside those of ijk and ikj."""
    counts = [*(_of_order(order, N, lines) for order in ("ijk", "ikj")), [mine.fetched[name] for name in MATRICES]]
    rows = [(name, *(f"{found:,}" for found in row)) for name, row in zip(MATRICES, zip(*counts, strict=True), strict=True)]
    totals = [sum(found) for found in counts]
    rows.append(("all three", *(f"{total:,}" for total in totals)))
    rows.append(("per multiply-add", *(f"{total / N**3:.4f}" for total in totals)))
    header = ("lines fetched of", "ijk", "ikj", "your loops")
    return Table(header, rows, f"{N} × {N} matrices, a cache of {lines} lines of {LINE_BYTES} bytes, simulated")


def tried(text: str) -> Table:
    """Return a table of what four tests say about loops: two whose matrices have a pattern, and two without one."""
    square = (SQUARE,) * 3
    tests = (("B full of ones", square, np.ones_like), ("B symmetric, its own transpose", square, lambda X: X + X.T),
             ("random numbers", square, None), ("random numbers", OBLONG, None))
    rows = [(what, f"{M} × {K}, {K} × {N}", _outcome(text, (M, N, K), change)) for what, (M, N, K), change in tests]
    return Table(("matrices", "sizes of A and B", "what comes out"), rows, f"{name_of(text)}, four tests")


def failed(tests: Table) -> int:
    """Return how many of the tests of `tried` notice that something is wrong."""
    return sum(outcome != "right" for *_, outcome in tests.rows)


def _outcome(text, sizes, change):
    """Return in words how loops do on one input, whose B a function may change."""
    spec = _spec(name_of(text))
    findings = text_findings(text, spec, Here())
    if findings:
        return str(findings[0])
    trial = OPERATION.trial(Case("", *sizes))
    if change is not None:
        trial = dataclasses.replace(trial, B=np.ascontiguousarray(change(trial.view("B", trial.B))).ravel())
    try:
        run_loops(plain(text), trial, spec, Here())
    except CourseError as error:
        line = error.facts.get("line")
        return f"line {line}: {error}" if line else str(error)
    wrong = OPERATION.judge(trial)
    if isinstance(wrong, str):
        return wrong
    return "right" if wrong is None else f"{int(wrong.mask.sum())} of {wrong.mask.size} elements of C are wrong"
