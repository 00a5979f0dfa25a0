"""Check a kernel: compile, run on every input, judge results, hazards and counters."""

import math
import re
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.check import reports
from course_lib.check.case import Case
from course_lib.check.finding import Finding
from course_lib.check.trials import TrialOutcome, Trials
from course_lib.errors import CourseError
from course_lib.grading.judge.engine import Engine
from course_lib.grading.judge.loops_spec import LoopsSpec
from course_lib.grading.judge.made_of import Again
from course_lib.grading.judge.reasons import bank_conflicts, explained, lanes_apart
from course_lib.grading.judge.spec import Spec, tile_problem
from course_lib.grading.judge.verdict import Verdict
from course_lib.kernels.own_lines import with_own_lines
from course_lib.kernels.user import written_values
from course_lib.run.traces import every_warp
from course_lib.toolchain import CompileError

_PTX_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]{0,10000})\)")
_PTX_ATOMIC = re.compile(r"(?<![\w.$%])((?:atom|red|multimem\.red|cp\.reduce)\.[\w.:]+)")      # also behind other statements of its line
_NOT_INLINED = re.compile(r"\b__noinline__\b|\b__attribute__\s*\(\(\s*noinline\s*\)\)|\[\[gnu::noinline\]\]")
_PTX_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)")


def plain(source: str) -> str:
    r"""Return a text with \n at the end of each line.

    >>> plain("a\r\nb")
    'a\nb'
    """
    return source.replace("\r\n", "\n").replace("\r", "\n")


def check_kernel(source: str, spec: Spec, seed: int | None, engine: Engine) -> Verdict:
    """Return the verdict on a kernel; see `course_lib.grading.check`."""
    title, source = spec.title, with_own_lines(plain(source))
    try:
        compiled = engine.compile(source, spec.entry)
    except CompileError as error:
        return Verdict(title, False, tuple(reports.of_compiler(error)))
    except CourseError as error:
        return Verdict(title, False, (Finding("compile", str(error)),))
    finding = _entry_problem(compiled.ptx, spec, source) or _atomic_problem(compiled.ptx, spec)
    if finding:
        return Verdict(title, False, (finding,))
    return Run(source, spec, seed, engine).verdict(compiled.ptx)


def _entry_problem(ptx, spec, source):
    """Return a finding when the kernel has the wrong name or arguments, or tile sizes that cannot be launched."""
    found = {name: _PTX_PARAMETER.findall(parameters) for name, parameters in _PTX_ENTRY.findall(ptx)}
    wanted = [_bits(parameter) for parameter in spec.operation.signature.split(",")]
    if spec.entry not in found:
        names = ", ".join(found) or "none"
        return Finding("entry", f'the text must hold a kernel `extern "C" __global__ void {spec.entry}(…)`; '
                                f"the kernels in it: {names}")
    if found[spec.entry] != wanted:
        return Finding("entry", f"the arguments of {spec.entry} must be ({spec.operation.signature}): "
                                "the check passes these, in this order")
    problem = tile_problem(spec, written_values(source))
    return Finding("launch", problem) if problem else None


def _atomic_problem(ptx, spec):
    """Return a finding when a kernel moves data by atomic operations, which no counter of a gate has, in a part that needs none."""
    text = "\n".join(line for line in ptx.split("\n") if not line.lstrip().startswith(".file"))
    if spec.atomics or not (found := _PTX_ATOMIC.search(text)):
        return None
    return Finding("atomics", f"the kernel has an atomic operation (`{found[1]}` in PTX). This part needs none, and its gates could not "
                              "count it: let one thread own each element that is written")


def _bits(parameter):
    """Return the size in bits, as PTX writes it, of a C parameter; a tensor map is an array of bytes."""
    if "*" in parameter:
        return "64"
    if "TensorMap" in parameter:
        return "8"
    return {"int": "32", "float": "32", "double": "64", "unsigned": "32"}[parameter.split()[0]]


class Run:
    """The launches of one check, and what they showed."""

    def __init__(self, source: str, spec: Spec | LoopsSpec, seed: int | None, engine: Engine):
        self.engine = engine
        self.source, self.seed, self.seeded = source, 0 if seed is None else seed, seed is not None
        self.spec: Any = spec            # a subclass narrows what its launches need of it
        self.lines = source.split("\n")
        self.tile = {name: written_values(source)[name] for name in spec.tile}
        self.cases = spec.cases(self.tile) + (() if seed is None else _drawn(spec, self.tile, seed))
        self.trials = Trials(spec.operation, self._launch, self.tile, self.lines, self.seed)
        self.gates: list[TrialOutcome] = []
        self.values: dict[str, float] = {}

    def verdict(self, ptx: str = "") -> Verdict:
        """Run all and return the verdict; `ptx`, of a kernel, is what runs with something missing where the spec says what C is made of."""
        self._read_gates(run=self.trials.run(self.cases))
        if ptx and not self.trials.findings:
            self._look_what_it_is_made_of(ptx)
        findings = tuple(self.trials.findings.values())       # in the order of the inputs, from plain to hard
        passed = not any(finding.severity == "error" for finding in findings)
        return Verdict(self.spec.title, passed, findings, tuple(self.trials.outcomes), tuple(self.gates), self.values,
                       len(self.spec.cases(self.tile)))

    def _launch(self, trial, racecheck=True, trace=(), source=""):
        grid, block = self.spec.grid(trial.case, self.tile), self.spec.block(self.tile)
        return self.engine.launch(source or self.source, self.spec.entry, grid, block, trial.args, racecheck=racecheck,
                                  max_steps=self.spec.max_steps, trace=trace, dynamic_shared=self.spec.dynamic_shared(self.tile),
                                  constants=getattr(trial, "constants", None), strict_barriers=True)

    def _counted(self, case):
        """Return the report whose counters the gates read, or None."""
        rng = np.random.default_rng([self.seed, 6]) if self.seeded else np.random.default_rng(0)
        return self.trials.right_report(case, trace=self.spec.trace(case, self.tile, rng))

    def _look_what_it_is_made_of(self, ptx):
        """Run the kernel with something missing; note where its result does not miss it."""
        def run(text, case, trace=(), change=lambda trial: trial):
            trial = change(self.spec.operation.trial(case, self.seed))
            return trial, self._launch(trial, racecheck=False, trace=trace, source=text)

        if _NOT_INLINED.search(self.source):                  # what a kernel reads in other functions is counted with it
            ptx = self.engine.compile(_NOT_INLINED.sub("", self.source), self.spec.entry).ptx
        again = Again(run, ptx, self.spec.entry, self._gate_cases()[-1], math.prod(self.spec.block(self.tile)), self.tile, self.seed + 1)
        for problem in self.spec.made_of:
            try:
                says = problem(again)
            except simt.SimtError as error:
                says = f"The kernel does not run with something missing: {error}"
            if says:
                self.trials.note(Finding("not counted", says))
                return

    def _gate_cases(self):
        """Return the inputs of the gates: the one that everybody sees, and when grading one more, of sizes that only the seed knows."""
        cases = [self.spec.gate_case(self.tile)]
        if self.seeded and getattr(self.spec, "gate_drawn", None):
            cases.append(self.spec.gate_drawn(self.tile, np.random.default_rng([self.seed, 5])))
        return cases

    def _read_gates(self, run):
        """Read the counters; they mean something only when the result is right, and the highest of all inputs counts."""
        counted = [(case, self._counted(case)) for case in self._gate_cases()] if run else []
        right = run and all(report is not None for _, report in counted)
        for gate in self.spec.gates:
            limit = f"at most {gate.limit:.4f} passes, {gate.achievable:.4f} is achievable"
            if not right:
                self.gates.append(TrialOutcome(gate.name, f"not read: the results come first ({limit})", None))
                continue
            read = [(gate.read(report, self.spec.operation.work(case)), report, case) for case, report in counted]
            reading, report, case = max(read, key=lambda one: (not one[0].value <= gate.limit, one[0].value))
            self.values[gate.name] = reading.value
            passed = reading.value <= gate.limit
            self.gates.append(TrialOutcome(gate.name, f"{reading.value:.4f} ({reading.words}, {case}); {limit}", passed))
            if not passed:
                self.trials.note(_of_gate(gate, reading, self._reason(gate, reading, report, case), self.lines))
        if right and all(outcome.passed for outcome in self.gates):
            self._look_behind(counted)

    def _reason(self, gate, reading, report, case):
        """Return a `Reason` for which a gate is missed, None where none is seen; for sectors by a launch that traces a block."""
        if not getattr(gate, "sectors", ""):
            return bank_conflicts(gate, reading, report)
        warps = every_warp((1,), self.spec.block(self.tile))
        traced = self.trials.right_report(case, trace=warps) if reading.shares else None
        return lanes_apart(gate.sectors, reading, traced) if traced else None

    def _look_behind(self, counted):
        """Of gates that are passed, note which totals lie outside their bounds."""
        for bound in getattr(self.spec, "bounds", ()):             # loops have none
            for case, report in counted:
                if finding := bound.finding(report, case, self.tile, self.spec.operation.work(case)):
                    self.trials.note(finding)


def _drawn(spec, tile, seed):
    """Return three inputs of sizes that only the seed knows; whole tiles when the exercise asks for no others."""
    rng = np.random.default_rng([seed, 4])
    if spec.drawn:
        return tuple(spec.drawn(tile, rng))
    size = {"BK": 16} | tile
    whole = all(case.M % size["BM"] == 0 for case in spec.cases(tile))
    cases = []
    for number in range(3):
        M, N, K = (int(rng.integers(1, 4) * size[name] if whole else rng.integers(1, 3 * size[name] + 2))
                   for name in ("BM", "BN", "BK"))
        alpha, beta = (float(np.float32(x)) for x in rng.uniform(-2, 2, 2))
        cases.append(Case(f"drawn input {number + 1}", M, N, K, alpha, beta if number else 0.0, int(rng.integers(0, 7))))
    return tuple(cases)


def _of_gate(gate, reading, reason, lines):
    """Return the finding for a counter that is too high, with the reason where one is seen."""
    line, most, advice = explained(gate, reading, reason)
    text = (f"{gate.name}: {reading.value:.4f} ({reading.words}), at most {gate.limit:.4f} passes and "
            f"{gate.achievable:.4f} is achievable{most}. {advice}")
    return Finding("gate", text.strip(), line, reports.line_text(lines, line),
                   facts={"gate": gate.name, "value": reading.value, "shares": reading.shares})
