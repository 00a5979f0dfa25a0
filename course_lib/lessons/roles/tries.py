"""The reader's own kernel with two roles: tried on the simulator, and with a mistake put into it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.check import reports
from course_lib.check.finding import Finding
from course_lib.check.report import CheckReport
from course_lib.check.trials import TrialOutcome
from course_lib.errors import CourseError
from course_lib.kernels.user import kernels_in, written_values
from course_lib.model.number_formats import to_bf16
from course_lib.run import mismatch
from course_lib.tensor_maps import TensorMap
from course_lib.widgets.compute import inputs

BM, BN, BK, THREADS = 64, 128, 64, 160
STAGES, MOST_STAGES = 3, 9
MAX_STEPS = 300_000                 # instructions of a warp
LOOP = r"for\s*\(int step = 0;[^{]*\{"       # of the producer, and then of the consumer
MISTAKES = {
    "the plain parity": (r"(barrier_wait\s*\(\s*empty\(stage\)\s*,)[^;]*\);", r"\1 parity);"),
    "nothing expected": (r"barrier_expect\s*\(\s*full\(stage\)\s*,[^;]*\);", "barrier_arrive(full(stage));"),
}


@dataclass(frozen=True)
class Case:
    """One input: what is special about it, and its sizes. M and N are multiples of the tile."""

    name: str
    M: int
    N: int
    K: int

    def __str__(self) -> str:
        return f"M={self.M} N={self.N} K={self.K}"


def cases(stages: int) -> Iterator[Case]:
    """Yield inputs from plain to hard, for a kernel of so many stages."""
    yield Case("one step", BM, BN, BK)
    yield Case("a step for each stage", BM, BN, BK * stages)
    yield Case("every stage used three times", BM, BN, BK * 3 * stages)
    yield Case("four blocks, and K no multiple of BK", 2 * BM, 2 * BN, BK * stages + 40)


def launch(kernel: str, case: Case) -> tuple[simt.Report, Any]:
    """Run the reader's kernel; return the simulator's report, and the first wrong element of C or None."""
    A, B, _ = inputs(case.M, case.N, case.K)
    maps = [TensorMap(to_bf16(X), (64, 64), swizzle=128, promotion=128, element="bf16") for X in (A, B)]
    C = np.full((case.M, case.N), np.nan, np.float32)
    entry, = kernels_in(kernel)
    report = simt.launch(kernel, entry, (case.N // BN, case.M // BM), THREADS, [np.int32(case.K), *maps, C, np.int32(case.N)],
                         dynamic_shared=2 * BK * (BM + BN) * stages_of(kernel) + 1024, arch="sm_90a", racecheck=True, max_steps=MAX_STEPS)
    return report, mismatch(C, A, B, inputs="bf16")


def stages_of(kernel: str) -> int:
    """Return how many stages a kernel says that it has.

    >>> stages_of("#define STAGES 2")
    2
    """
    stages = written_values(kernel).get("STAGES", STAGES)
    if not 1 <= stages <= MOST_STAGES:
        raise CourseError(f"STAGES is {stages}: a block's shared memory has room for 1 to {MOST_STAGES}")
    return stages


def check_roles(kernel: str) -> CheckReport:
    """Try a kernel with a producer and a consumer on several inputs, and say what is wrong.

    Parameters
    ----------
    kernel
        CUDA text: what `%%cuda` keeps. It takes int K, the tensor maps of A and B, float* C and int ldc, as the lesson's does.
    """
    lines, outcomes = kernel.split("\n"), []
    found: dict[tuple[str, int | None], Finding] = {}
    for case in cases(stages_of(kernel)):
        stopped = any(kind == "endless" or kind == "launch" for kind, _ in found)
        findings, right = ([], False) if stopped else _tried(kernel, case, lines)
        outcomes.append(TrialOutcome(case.name, str(case), None if stopped else not findings, right))
        for finding in findings:
            found.setdefault((finding.kind, finding.line), finding)
    title = f"{kernels_in(kernel)[0]}, with {stages_of(kernel)} stages"
    return CheckReport(title, kernel, tuple(sorted(found.values(), key=reports.urgency)), tuple(outcomes))


def _tried(kernel: str, case: Case, lines: list[str]) -> tuple[list[Finding], bool]:
    """Return what is wrong on one input, and whether C is right."""
    try:
        report, wrong = launch(kernel, case)
    except simt.SimtError as error:
        return [reports.of_error(error, case, lines)], False
    hazards = reports.of_hazards(report, case, lines, wrong is None)
    return hazards or ([reports.of_wrong(str(wrong), "", case)] if wrong else []), wrong is None


def with_mistake(kernel: str, which: str) -> str:
    """Return a kernel's text with one of `MISTAKES` in it.

    >>> with_mistake("barrier_expect(full(stage), BYTES);", "nothing expected")
    'barrier_arrive(full(stage));'
    """
    if which not in MISTAKES:
        raise CourseError(f"{which!r} is no mistake that is known here: {', '.join(MISTAKES)}")
    changed = re.sub(*MISTAKES[which], kernel, count=1) if "barrier_" in kernel else kernel
    if changed == kernel:
        raise CourseError(f"the place for this mistake was not found in your kernel ({which}): make it by hand, and check the kernel")
    return changed


def check_late(kernel: str, loop: str) -> CheckReport:
    """Check a kernel with another loop for its consumer, which must release each stage one step late: with products_wait<1> in the loop."""
    changed = with_consumer(kernel, loop)
    report = check_roles(changed)
    start = list(re.finditer(LOOP, loop))[:1]
    body = re.sub(r"//[^\n]*", "", loop[start[0].end():_closed(loop, start[0].end())]) if start else ""
    if re.findall(r"products_wait<\s*(\d+)", body) == ["1"]:
        return report
    missing = Finding("gate", "the loop over the steps does not wait with products_wait<1>() alone, so no release is late. Keep this wait "
                      "in the loop: which stage may be released behind it, and what is still to be waited for when the loop has ended?")
    return replace(report, findings=(*report.findings, missing))


def with_consumer(kernel: str, loop: str) -> str:
    """Return a kernel's text with another loop over the steps for its consumer.

    >>> with_consumer("for (int step = 0; ;) { a(); } for (int step = 0; ;) { if (b) { c(); } } d();", "e();")
    'for (int step = 0; ;) { a(); } e(); d();'
    """
    loops = list(re.finditer(LOOP, kernel[:]))         # a kernel that is not written yet says so
    if len(loops) != 2:
        raise CourseError(f"{len(loops)} loops begin with for (int step = 0; in your kernel: the consumer's must be the second of two")
    return kernel[:loops[1].start()] + loop.strip() + kernel[_closed(kernel, loops[1].end()):]


def _closed(text: str, at: int) -> int:
    """Return where the braces end that were opened just before `at`."""
    depth = 1
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at
