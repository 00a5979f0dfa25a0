"""Check a kernel against the spec of an exercise: compile, run on every input, judge results, hazards and counters.

    >>> from course_lib.grading import check, part
    >>> check('extern "C" __global__ void tiled(int M) {}', part("04_tiling", "tile")).findings[0].kind
    'entry'

Nothing here depends on time, and a kernel that never ends is stopped by the simulator's budget of steps. The kernel
runs in this process: what comes from strangers belongs into a sandbox around this function.
"""

import re

import numpy as np

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.grading import reports
from course_lib.grading.spec import Case, tile_problem
from course_lib.grading.verdict import Finding, Outcome, Verdict
from course_lib.kernels.user import written_values
from course_lib.toolchain import CompileError, compile_cuda

_PTX_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PTX_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)")
ENDS_THE_CHECK = ("endless", "divergent barrier", "unsupported", "launch")


def check(source, spec, *, seed=None):
    """Check a kernel.

    Parameters
    ----------
    source : str
        CUDA C text.
    spec : Spec
        Which kernel it must be; `course_lib.grading.part(exercise, name)` has them.
    seed : int, optional
        Draws other numbers, and three inputs more. Default: the numbers that everyone sees.

    Returns
    -------
    Verdict
        `passed` when every input gives the right result without hazards, and every gate is passed.
    """
    title = spec.title
    try:
        compiled = compile_cuda(source, name=spec.entry)
    except CompileError as error:
        return Verdict(title, False, tuple(reports.of_compiler(error)))
    except CourseError as error:
        return Verdict(title, False, (Finding("compile", str(error)),))
    finding = _entry_problem(compiled.ptx, spec, source)
    if finding:
        return Verdict(title, False, (finding,))
    return _Run(source, spec, seed).verdict()


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


def _bits(parameter):
    """Return the size in bits, as PTX writes it, of a C parameter."""
    if "*" in parameter:
        return "64"
    return {"int": "32", "float": "32", "double": "64", "unsigned": "32"}[parameter.split()[0]]


class _Run:
    """The launches of one check, and what they showed."""

    def __init__(self, source, spec, seed):
        self.source, self.spec, self.seed = source, spec, 0 if seed is None else seed
        self.lines = source.splitlines()
        self.tile = {name: written_values(source)[name] for name in spec.tile}
        self.cases = spec.cases(self.tile) + (() if seed is None else _drawn(spec, self.tile, seed))
        self.findings, self.outcomes, self.gates, self.values = {}, [], [], {}

    def verdict(self):
        """Run all and return the verdict."""
        ended = False
        for case in self.cases:
            passed = None if ended else self._case(case)
            self.outcomes.append(Outcome(case.name, str(case), passed))
            ended = ended or any(kind in ENDS_THE_CHECK for kind, *_ in self.findings)
        self._read_gates(run=not ended)
        findings = tuple(self.findings.values())       # in the order of the inputs, from plain to hard
        passed = not any(finding.severity == "error" for finding in findings)
        return Verdict(self.spec.title, passed, findings, tuple(self.outcomes), tuple(self.gates), self.values)

    def _launch(self, trial, racecheck=True):
        grid, block = self.spec.grid(trial.case, self.tile), self.spec.block(self.tile)
        return simt.launch(self.source, self.spec.entry, grid, block, trial.args,
                           racecheck=racecheck, max_steps=self.spec.max_steps)

    def _case(self, case):
        """Run one input; note what is wrong; return whether it passed."""
        trial = self.spec.operation.trial(case, self.seed)
        try:
            report = self._launch(trial)
        except simt.SimtError as error:
            self._note(reports.of_error(error, case, self.lines))
            return False
        wrong = self.spec.operation.judge(trial)
        found = reports.of_hazards(report, case, self.lines, wrong is None)
        if wrong is not None and not found:        # else the hazard is the reason
            guess = "" if isinstance(wrong, str) else self._guess(trial, wrong)
            found.append(reports.of_wrong(wrong, guess, case))
        for finding in sorted(found, key=reports.urgency):
            self._note(finding)
        return not found

    def _note(self, finding):
        """Keep a finding unless one of its kind and line is there: the first input that shows it is the plainest."""
        self.findings.setdefault((finding.kind, None if finding.kind == "wrong" else finding.line), finding)

    def _guess(self, trial, wrong):
        def again(other):
            try:
                self._launch(other)
            except simt.SimtError:
                return None
            return other

        return self.spec.operation.guess(trial, wrong, self.tile, again)

    def _read_gates(self, run):
        """Read the counters; they mean something only when the result is right."""
        case = self.spec.gate_case(self.tile)
        trial = self.spec.operation.trial(case, self.seed)
        report = self._gate_report(trial) if run else None
        for gate in self.spec.gates:
            limit = f"at most {gate.limit:.4f} passes, {gate.achievable:.4f} is achievable"
            if report is None:
                self.gates.append(Outcome(gate.name, f"not read: the results come first ({limit})", None))
                continue
            count, work = report.counters[gate.counter], self.spec.operation.work(case)
            self.values[gate.name] = count / work
            passed = count / work <= gate.limit
            self.gates.append(Outcome(gate.name, f"{count / work:.4f} ({count} / {work}, {case}); {limit}", passed))
            if not passed:
                self._note(reports.of_gate(gate, count, work, report, self.lines))

    def _gate_report(self, trial):
        """Return the report of a right launch, or None."""
        try:
            report = self._launch(trial, racecheck=False)
        except simt.SimtError as error:
            self._note(reports.of_error(error, trial.case, self.lines))
            return None
        wrong = self.spec.operation.judge(trial)
        if wrong is None:
            return report
        if not self.findings:
            self._note(reports.of_wrong(wrong, "", trial.case))
        return None


def _drawn(spec, tile, seed):
    """Return three inputs of sizes that only the seed knows; whole tiles when the exercise asks for no others."""
    rng = np.random.default_rng([seed, 4])
    whole = all(case.M % tile["BM"] == 0 for case in spec.cases(tile))
    cases = []
    for number in range(3):
        sizes = [int(rng.integers(1, 4) * tile[name] if whole else rng.integers(1, 3 * tile[name] + 2))
                 for name in ("BM", "BN", "BK")]
        alpha, beta = (float(np.float32(x)) for x in rng.uniform(-2, 2, 2))
        cases.append(Case(f"drawn input {number + 1}", *sizes, alpha, beta if number else 0.0, int(rng.integers(0, 7))))
    return tuple(cases)
