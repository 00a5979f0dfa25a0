"""Check any kernel for C = alpha A B + beta C, or for a transposition: what is wrong, where it comes from, and which counters look bad."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from course_lib import simt, toolchain
from course_lib.check import reports
from course_lib.check.counters import notes
from course_lib.check.finding import Finding
from course_lib.check.guilty import guilty
from course_lib.check.lessons import lesson_of
from course_lib.check.report import CheckReport
from course_lib.check.tasks import CheckTask, task_of
from course_lib.check.trials import TrialOutcome, Trials, storing
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, UserKernel
from course_lib.kernels.user import is_source
from course_lib.run import resolve
from course_lib.run.traces import every_warp
from course_lib.run.types import Extent, KernelLike
from course_lib.toolchain import CompileError, compile_cuda

MAX_STEPS = 300_000      # instructions of a warp; a right kernel needs a few thousand on these inputs
TRACED = 32              # warps of the first block whose accesses are looked at
TELLS = re.compile(r"^\s*(@\S+\s+)?(atom|red|ld\.volatile|ld\.acquire)\b(?!\S*\.shared)", re.M)      # blocks tell each other something


def check(kernel: KernelLike, *, like: str | None = None, entry: str | None = None, whole_tiles: bool = False, seed: int = 0,
          counters: bool = True, **parameters: int) -> CheckReport:
    """Check a kernel on the simulator, on a dozen inputs from plain to hard.

    Parameters
    ----------
    kernel
        Your own: CUDA text (what `%%cuda` keeps) or the path of a `.cu` file; or a name of the catalog. It takes SGEMM's
        arguments, float32 and row-major, or those of `sbgemm_tma`, with tensor maps of A and B; or it transposes a matrix: int rows,
        int cols, const float* in, int ld_in, float* out, int ld_out.
    like
        The catalog kernel that yours is launched like; found from the text when it is left out.
    entry
        Which of several `__global__` functions.
    whole_tiles
        The kernel is only for sizes that its tile divides: leave the other inputs out.
    seed
        Other numbers in A, B and C.
    counters
        Whether to look at the counters of a right kernel, and say which look bad.
    **parameters
        Block or tile sizes; those that the text sets with `#define` need not be given.

    Returns
    -------
    CheckReport
        Shows itself; `right` is True when nothing is wrong, `findings` has what there is.

    Raises
    ------
    CourseError
        For a kernel that computes something else, a file or a name that is not there, a parameter that is none.

    >>> from course_lib import kernels
    >>> text = kernels.get("sgemm_naive").source
    >>> check(text.replace("if (row >= M || col >= N) return;", "")).findings[0].kind
    'out of bounds'
    """
    demand_seed(seed)
    text = kernel if isinstance(kernel, str) and is_source(kernel) and not kernel.endswith((".cu", ".cuh")) else None
    try:
        if isinstance(kernel, str | Path) and is_source(kernel):
            checked: Kernel = UserKernel.from_source(kernel, entry=entry, like=like)
        else:
            checked = resolve(kernel)
        values = checked.check(**parameters)
    except CourseError as error:
        if text is None or parameters or like or entry:
            raise
        return _ended("your kernel", text, [Finding("entry", str(error))])
    task = task_of(checked, values, whole_tiles=whole_tiles)
    return _Check(checked, values, _title(checked, values), seed, task).report(counters)


def demand_seed(seed: Any) -> None:
    """Raise `CourseError` unless a seed is a whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise CourseError(f"seed = {seed!r:.60} is none: take a whole number from 0 on")


def _title(kernel: Kernel, values: Mapping[str, int]) -> str:
    """Say what was launched how: a kernel of the reader's own that has no tile parameters by its blocks alone."""
    if isinstance(kernel, UserKernel) and list(values) == ["bx", "by"]:
        return f"{kernel.name}, in blocks of {values['bx']} × {values['by']} threads"
    how = f", launched like {kernel.like}" if isinstance(kernel, UserKernel) else ""
    return f"{kernel.name}{how} with {', '.join(f'{name} = {value}' for name, value in values.items())}"


def _ended(title: str, source: str, findings: Iterable[Finding], inputs: Iterable[TrialOutcome] = (),
           lines: Mapping[int, Mapping[str, int]] | None = None) -> CheckReport:
    findings = tuple(dataclasses.replace(finding, lesson=lesson_of(finding)) for finding in findings)
    return CheckReport(title, source, findings, tuple(inputs), lines or {})


class _Check:
    """The launches of one check."""

    def __init__(self, kernel: Kernel, values: dict[str, int], title: str, seed: int, task: CheckTask) -> None:
        self.kernel, self.values, self.title, self.source, self.task = kernel, values, title, kernel.source, task
        self.lines = self.source.split("\n")
        self.trials = Trials(task.operation, self._launch, task.tile, self.lines, seed)

    def report(self, counters: bool) -> CheckReport:
        """Compile, run on all inputs, and read the counters if that is wanted."""
        try:
            compiled = compile_cuda(self.source, name=self.kernel.name, defines=self.kernel.defines(**self.values))
        except CompileError as error:
            return _ended(self.title, self.source, reports.of_compiler(error))
        resources = toolchain.resources(compiled)[self.kernel.entry]
        cases = [case for case in self.task.cases(self.task.tile) if self._takes(case)]
        self.trials.run(cases)
        if not self.trials.findings and TELLS.search(compiled.ptx):
            self.trials.run_last_block_first(cases)
        findings = [self._with_place(finding) for finding in self.trials.findings.values()]
        case = self.task.gate_case(self.task.tile)
        block = self.kernel.block(**self.values)
        report = None
        if counters and not findings and self._takes(case):
            report = self.trials.right_report(case, trace=every_warp((1, 1), block)[:TRACED])
            findings = list(self.trials.findings.values())
        if report is not None:
            findings += notes(report, resources, case, self.task.tile if self.task.reuses else None, self.lines)
        return _ended(self.title, self.source, findings, self.trials.outcomes, report.lines if report else None)

    def _takes(self, case: Any) -> bool:
        return not self.kernel.sizes_of(*self.task.shape(case), self.values)

    def _grid(self, case: Any) -> Extent:
        rows, columns, _ = self.task.shape(case)
        return self.kernel.grid(rows, columns, **self.values)

    def _launch(self, trial: Any, racecheck: bool = True, **options: Any) -> simt.Report:
        case = trial.case
        return simt.launch(self.source, self.kernel.entry, self._grid(case), self.kernel.block(**self.values), trial.args,
                           defines=self.kernel.defines(**self.values), dynamic_shared=self.kernel.dynamic_bytes(**self.values),
                           racecheck=racecheck, max_steps=MAX_STEPS, strict_barriers=True, **options)

    def _with_place(self, finding: Finding) -> Finding:
        """Say in the first sentence which thread stored a wrong element, and in which line."""
        if finding.kind != "wrong" or "row" not in finding.facts:
            return finding
        case, block = finding.facts["case"], self.kernel.block(**self.values)
        trial = self.trials.operation.trial(case, self.trials.seed)
        try:
            traced = self._launch(trial, racecheck=False, trace=every_warp(self._grid(case), block))
        except simt.SimtError:
            return finding
        first, rest = finding.message.split(". ", 1)
        element = finding.facts["row"] * self.task.width(case) + finding.facts["col"]
        store = storing(traced, element, block, self.task.target)
        if store is None:
            how = f": it was launched like {self.kernel.like}; give like= if that is wrong" if isinstance(self.kernel, UserKernel) else ""
            return dataclasses.replace(finding, message=f"{first}, and no thread stored it{how}. {rest}")
        who = f"{first}; thread {store.thread[:2]} of block {store.block[:2]} stored it"
        found = guilty(traced, trial, store, finding.facts["row"], finding.facts["col"], block, self.lines)
        if found is not None:
            line, seen = found
            said = f"{who} in line {store.line}. {rest}. {seen[0].upper()}{seen[1:]}"
        else:
            unknown = "" if finding.facts["guess"] else ", but the mistake may lie in any line that its sum comes through"
            line, said = store.line, f"{who} here{unknown}. {rest}"
        return dataclasses.replace(finding, line=line, source_line=reports.line_text(self.lines, line),
                                   message=said)
