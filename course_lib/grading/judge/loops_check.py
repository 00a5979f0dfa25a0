"""Check loops for the CPU: run them as a kernel of one thread, judge results, and count the cache lines they fetch."""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.check import reports
from course_lib.check.finding import Finding
from course_lib.errors import CourseError
from course_lib.grading.judge import loops_text
from course_lib.grading.judge.engine import Engine
from course_lib.grading.judge.kernel_check import Run, plain
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.grading.judge.verdict import Verdict
from course_lib.model.cache_lines import MATRICES, CacheShape, fetches, first_lines
from course_lib.toolchain import CompileError

ITEMSIZE = 4                 # float
MOST_ACCESSES = 8            # for each multiply-add, and some more
MOST_STEPS = 400             # instructions for each multiply-add; the orders of the triple loop take some 35
_STRANGE = "What the loops are said to have reached is nothing that loops reach."      # what an engine returns is not trusted
_INDEX, _MANY = 1, 2         # why loops were ended, as loops.cuh writes it


@dataclass(frozen=True)
class Count:
    """The cache lines that loops fetched.

    Attributes
    ----------
    fetched, accesses
        For "A", "B", "C": lines fetched, and accesses.
    by_line
        Line of the text -> lines of the cache that it fetched.
    """

    fetched: dict[str, int]
    accesses: dict[str, int]
    by_line: dict[int, int]


@dataclass(frozen=True)
class LoopsRun:
    """What loops reached: of each access the line of the text, the matrix (0, 1, 2), row and column.

    Attributes
    ----------
    shapes
        (rows, columns, leading dimension) of A, B and C as they are stored.
    """

    source_lines: np.ndarray
    matrices: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    shapes: tuple[tuple[int, int, int], ...]
    cache: CacheShape
    all_hazards: tuple[simt.Hazard, ...] = field(default=(), init=False)          # one thread has none

    @functools.cached_property
    def cache_line(self) -> np.ndarray:
        """Return the number of the line that each access needs; those of A come first, then B's, then C's."""
        first, ld = first_lines(self.shapes, ITEMSIZE, self.cache.line), [shape[2] for shape in self.shapes]
        return np.array(first)[self.matrices] + (self.rows * np.array(ld)[self.matrices] + self.cols) * ITEMSIZE // self.cache.line

    @functools.cached_property
    def count(self) -> Count:
        """Return the `Count`."""
        missed = fetches(self.matrices, self.cache_line, self.cache)
        fetched, accesses = (np.bincount(found, minlength=len(MATRICES)).tolist() for found in (self.matrices[missed], self.matrices))
        lines, counts = np.unique(self.source_lines[missed], return_counts=True)
        return Count(dict(zip(MATRICES, fetched, strict=True)), dict(zip(MATRICES, accesses, strict=True)),
                     dict(zip(lines.tolist(), counts.tolist(), strict=True)))


def check_loops(source: str, spec: LoopsSpec, seed: int | None, engine: Engine) -> Verdict:
    """Return the verdict on loops; see `course_lib.grading.check`."""
    findings = text_findings(source, spec, engine)
    if findings:
        return Verdict(spec.title, False, tuple(findings))
    return _Run(plain(source), spec, seed, engine).verdict()


def text_findings(source: str, spec: LoopsSpec, engine: Engine) -> list[Finding]:
    """Return findings on a text that is not taken or does not compile."""
    text = plain(source)
    refused = loops_text.problem(text)
    if refused:
        return [refused]
    try:
        engine.compile(loops_text.kernel(text), spec.entry)
    except CompileError as error:
        return [_in_text(finding, text.rstrip().split("\n")) for finding in reports.of_compiler(error)]
    except CourseError as error:
        return [Finding("compile", str(error))]
    return []


def _in_text(finding, lines):
    """Return a finding of the compiler with the answer's line, and not one of the kernel around it."""
    line = min(finding.line, len(lines)) if finding.line else None
    return Finding(finding.kind, finding.message, line, reports.line_text(lines, line))


class _Run(Run):
    """The runs of one check."""

    def _launch(self, trial, racecheck=False, trace=(), source=""):
        return run_loops(source or self.source, trial, self.spec, self.engine)

    def _counted(self, case):
        return self.trials.right_report(case)


def run_loops(source: str, trial: Any, spec: LoopsSpec, engine: Engine) -> LoopsRun:
    """Run loops on one input, whose C is changed in place.

    Raises
    ------
    SimtError
        `OutOfBounds` for an index outside a matrix, `StepBudgetExceeded` for loops that do not end.
    """
    work, shapes = spec.operation.work(trial.case), stored_shapes(trial)
    capacity = MOST_ACCESSES * work + 1000
    log, end = np.zeros(capacity, np.uint64), np.zeros(6, np.int32)
    sizes = np.array([rows for rows, _, _ in shapes] + [cols for _, cols, _ in shapes], np.int32)
    engine.launch(loops_text.kernel(source), loops_text.ENTRY, 1, 1, [*trial.args, sizes, log, np.int32(capacity), end],
                  max_steps=MOST_STEPS * work + 100_000)
    _explain(end, shapes, work)
    if not 0 <= end[5] <= capacity:
        raise simt.LaunchError(_STRANGE)
    return _decoded(log[:end[5]], shapes, spec.cache)


def stored_shapes(trial: Any) -> tuple[tuple[int, int, int], ...]:
    """Return (rows, cols, leading dimension) of A, B and C as they are stored."""
    found = []
    for name, buffer in zip(MATRICES, (trial.A, trial.B, trial.C), strict=True):
        rows, cols = trial.view(name, buffer).shape[::-1 if name in trial.transposed else 1]
        found.append((rows, cols, cols + trial.case.pad))
    return tuple(found)


def _explain(end, shapes, work):
    """Raise the error for loops that were ended."""
    reason, matrix, row, col, line, used = (int(number) for number in end)
    if reason not in (0, _INDEX, _MANY) or not 0 <= matrix < len(MATRICES):
        raise simt.LaunchError(_STRANGE)
    if reason == _INDEX:
        name, (rows, cols, _) = MATRICES[matrix], shapes[matrix]
        raise simt.OutOfBounds(f"{name}({row}, {col}) does not exist: {name} has {rows} rows and {cols} columns.", line=line)
    if reason == _MANY:
        raise simt.StepBudgetExceeded(f"The loops were ended after {used} accesses, {used / work:.0f} for each multiply-add. "
                                      "Most likely a loop never ends, or counts past its end.", line=line)


def _decoded(log, shapes, cache):
    """Decode the entries of the log."""
    matrices = (log >> np.uint64(32) & np.uint64(3)).astype(int)
    if (matrices >= len(MATRICES)).any():
        raise simt.LaunchError(_STRANGE)
    offsets, (rows, cols, ld) = (log & np.uint64(0xFFFFFFFF)).astype(int), np.array(shapes).T[:, matrices]
    if not ((offsets // ld < rows) & (offsets % ld < cols)).all():
        raise simt.LaunchError(_STRANGE)
    return LoopsRun((log >> np.uint64(34)).astype(int), matrices, offsets // ld, offsets % ld, shapes, cache)
