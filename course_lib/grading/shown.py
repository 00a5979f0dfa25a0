"""What a check speaks of, to look at: a kernel's lines and loops with what they cost, on the input on which the gates are read."""

from itertools import groupby
from typing import cast

import numpy as np

from course_lib import simt
from course_lib.check.sgemm import Sgemm
from course_lib.errors import CourseError
from course_lib.grading.judge.in_order import between_barriers, traced_warps
from course_lib.grading.judge.machine_code import FFMA, counts_of
from course_lib.grading.judge.spec import Spec, tile_problem
from course_lib.kernels.user import written_values
from course_lib.model.number_formats import FORMATS
from course_lib.plots import Table, source_listing
from course_lib.run import accuracy
from course_lib.toolchain import executed, loops, purposes


def line_table(answer: str, spec: Spec) -> Table:
    """List the source lines of a kernel with the machine instructions that loops execute in each, per multiply-add of a warp.

    Parameters
    ----------
    answer
        CUDA C text; it may be wrong: then the table says why there is nothing to count.

    Returns
    -------
    Table
        The line with most is marked.
    """
    report, why = _launched(answer, spec)
    if report is None:
        return why
    found = executed(report.sass, counts_of(report))
    work = max(found.total(opcode="FFMA", looped=True), 1)
    lines, text = found.per_line(looped=True), answer.splitlines()
    rows = [(str(n), f"{times / work:.4f}", text[n - 1]) for n, times in lines.items() if n <= len(text)]
    most = max(range(len(rows)), key=lambda n: float(rows[n][1]), default=None)
    total = sum(lines.values()) / work
    return Table(("line", "instructions / multiply-add", "source"), rows, f"{spec.entry}, machine code for sm_90: {total:.4f} in all",
                 mono=(2,), marked=() if most is None else (most,))


def loop_table(answer: str, spec: Spec) -> Table:
    """List the machine code of the loop in which most multiply-adds are executed, and what each instruction is there for.

    Parameters, returns
        As `line_table`; the multiply-adds are marked.
    """
    report, why = _launched(answer, spec)
    if report is None:
        return why
    times = executed(report.sass, counts_of(report)).times
    busy = {loop: sum(times.get(i.offset, 0) for i in loop.instructions if i.base == "FFMA") for loop in loops(report.sass)}
    if not any(busy.values()):
        return Table(("what",), [("No loop of the machine code holds a multiply-add.",)])
    loop = max(busy, key=lambda one: (busy[one], -len(one.instructions)))
    rows = [(str(i.line or ""), i.text, what) for i, what in zip(loop.instructions, purposes(loop), strict=True)]
    caption = f"{spec.entry}: a turn of the loop that multiplies most: {len(rows)} instructions, {loop.counts['FFMA']} multiply-adds"
    return Table(("line", "machine instruction", "what for"), rows, caption, mono=(1,),
                 marked=[n for n, row in enumerate(rows) if row[2] == "multiply-add"])


def shared_table(answer: str, spec: Spec) -> Table:
    """List the source of a kernel with the accesses to shared memory of each line: instructions, wavefronts, conflicts.

    Parameters, returns
        As `line_table`; lines with bank conflicts are marked.
    """
    report, why = _launched(answer, spec)
    if report is None:
        return why
    work = report.counters[FFMA] // 32
    columns = ("shared accesses", "shared wavefronts", "wavefronts / access", "bank conflicts")
    conflicts = {line for line, counts in report.lines.items() if any("bank_conflicts" in name and n for name, n in counts.items())}
    return source_listing(answer, report.lines, columns=columns, mark=conflicts, caption=f"{spec.entry}: loads and stores of warps, for "
                          f"{work:,} multiply-adds of warps; {report.resources.registers} registers a thread, "
                          f"{report.resources.local_bytes} bytes in local memory")


def error_table(answer: str, spec: Spec) -> Table:
    """Compare the largest error of a kernel for C = alpha A B + beta C with the bounds of float32, TF32 and bfloat16.

    Parameters, returns
        As `line_table`; the bound that the check holds the kernel to is marked.
    """
    _, why, trial = _run(answer, spec)
    if trial is None:
        return why
    A, B, before, C = trial.matrices()
    case, asked = trial.case, cast(Sgemm, spec.operation).inputs
    found = accuracy.max_error(C, A, B, before, alpha=case.alpha, beta=case.beta, inputs=asked)
    names = {name: name if form.dropped else "" for name, form in FORMATS.items()}
    rows = [(spec.entry, f"{found:.1e}"), *((f"bound of {FORMATS[name].name}", f"{accuracy.limit(A, inputs):.1e}")
                                           for name, inputs in names.items())]
    return Table(("what", "largest error"), rows, f"{spec.entry}, {case}, simulated: errors as shares of Σ |a| |b|",
                 marked=(1 + list(names.values()).index(asked),))


def order_table(answer: str, spec: Spec) -> Table:
    """List what one warp of a kernel does from barrier to barrier, in its own order.

    Parameters, returns
        As `line_table`; `spec` names the warp (`trace`). Rows that are the same are one, with their number.
    """
    report, why = _launched(answer, spec)
    if report is None:
        return why
    rows = [(str(len(list(same))), span) for span, same in groupby(between_barriers(next(iter(traced_warps(report)), [])))]
    return Table(("times", "from one barrier to the next"), rows, f"{spec.entry}: one warp, PTX, {spec.gate_case(written_values(answer))}")


def _launched(answer, spec):
    """Return the report of a launch on the gates' input and None, or None and a table that says why there is none."""
    return _run(answer, spec)[:2]


def _run(answer, spec):
    """Return what `_launched` does, and the trial as the kernel left it, or None."""
    try:
        values = written_values(answer)
        if problem := tile_problem(spec, values):
            raise CourseError(problem)
        case = spec.gate_case(values)
        trial = spec.operation.trial(case)
        report = simt.launch(answer, spec.entry, spec.grid(case, values), spec.block(values), trial.args, max_steps=spec.max_steps,
                             constants=getattr(trial, "constants", None), trace=spec.trace(case, values, np.random.default_rng(0)))
        return report, None, trial
    except CourseError as error:
        return None, Table(("why there is nothing to count",), [(str(error).splitlines()[0],)]), None
