"""Pictures of an answer beside its verdict: the accesses that a gate counts, the banks they meet in, who writes which element of C.

Each runs the kernel once more on the simulator. A kernel that cannot run gets a sentence instead, because a wrong answer shall
not end the notebook twice.
"""

from collections import defaultdict
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, cast

from course_lib import simt
from course_lib.check.case import Case
from course_lib.check.conflicts import joined_accesses
from course_lib.check.counters import grouped
from course_lib.check.sgemm import Sgemm
from course_lib.errors import CourseError
from course_lib.grading.judge.spec import REQUESTS_LOADED, REQUESTS_STORED, SECTORS_LOADED, SECTORS_STORED, Spec, tile_problem
from course_lib.kernels.user import written_values
from course_lib.plots import (
    Picture,
    Table,
    bank_counts,
    bank_map,
    describe_banks,
    describe_sectors,
    every_warp,
    lane_sectors,
    owners,
    render,
    requests,
    source_listing,
    thread_grid,
)
from course_lib.plots.banks import counted
from course_lib.run.traces import Owners, is_load, name_of

NUMBERS = {2: "two", 4: "four"}          # how many loads the compiler may make one of


def worst_request(answer: str, spec: Spec, *, load: bool = True) -> Picture | str:
    """Draw one request of the source line with the most sectors per request: lanes over sectors.

    Parameters
    ----------
    answer
        CUDA C, as `%%cuda` stores it.
    spec
        Its input for counters is run.
    load
        Loads, or stores.

    Returns
    -------
    Picture or str
        A sentence when the kernel does not run, or has no such access.
    """
    traced = _traced(answer, spec, spec.gate_case, lambda grid, block: [((0, 0, 0), 0)])
    if isinstance(traced, str):
        return traced
    each = {line: count for line, count in per_line(traced, load).items() if requests(traced, line=line, load=load)}
    if not each:
        return f"The first warp of {spec.entry} has no global {'load' if load else 'store'} to draw."
    line = max(each, key=lambda number: each[number])
    request = max(requests(traced, line=line, load=load), key=lambda record: len(set(record.addresses // 32)))
    about = f"{'load' if load else 'store'} of {name_of(traced, request)}"
    title = f"line {line}, {about}: {answer.splitlines()[line - 1].strip()}"
    return render(lane_sectors(request, title=title if len(title) <= 80 else f"{title[:79]}…"), f"{about}. {describe_sectors(request)}")


def counted_lines(answer: str, spec: Spec) -> Table | str:
    """Return the source as a table, with the requests and the sectors per request of each line on the input for counters.

    Parameters
    ----------
    answer
        CUDA C, as `%%cuda` stores it.

    Returns
    -------
    Table or str
        A sentence when the kernel does not run.
    """
    report = _traced(answer, spec, spec.gate_case, lambda grid, block: ())
    if isinstance(report, str):
        return report
    caption = f"{spec.entry}, {spec.gate_case(_tile(answer, spec))}, simulated"
    return source_listing(answer, report.lines, columns=("global requests", "sectors / request"), caption=caption)


def per_line(report: simt.Report, load: bool = True) -> dict[int, float]:
    """Return the sectors per request of every source line that loads (or stores): line -> number."""
    sectors, asked = (SECTORS_LOADED, REQUESTS_LOADED) if load else (SECTORS_STORED, REQUESTS_STORED)
    return {line: values[sectors] / values[asked] for line, values in report.lines.items() if values.get(asked)}


def worst_banks(answer: str, spec: Spec) -> Picture | str:
    """Draw the access to shared memory that takes most wavefronts, in the first block: its words over the 32 banks.

    Parameters
    ----------
    answer
        CUDA C, as `%%cuda` stores it.
    spec
        Its input for counters is run.

    Returns
    -------
    Picture or str
        A sentence when the kernel does not run, or has no such access.
    """
    traced = _traced(answer, spec, spec.gate_case, lambda grid, block: every_warp((1, 1), block))
    if isinstance(traced, str):
        return traced
    worst = worst_access(traced)
    if worst is None:
        return f"No picture: {spec.entry} does not use shared memory yet."
    many = worst.width // next(record.width for record in traced.trace if _moment(record) == _moment(worst))
    if many == 1:
        return render(bank_map(worst), describe_banks(worst))
    joined = f"{NUMBERS[many]} loads are joined into one"
    title = f"line {worst.line}: {joined}, {counted(worst)}"
    return render(bank_map(worst, title=title), f"{joined.capitalize()}. {describe_banks(worst)}")


def worst_access(report: simt.Report) -> simt.TraceRecord | None:
    """Return the traced access to shared memory that takes most wavefronts, loads before stores; None when there is none.

    Loads that the compiler joins into a wider one are one access, as in the counters.
    """
    lines: dict[tuple[int, str], dict[str, list[simt.TraceRecord]]] = defaultdict(dict)
    for (line, kind, array, _, space), found in grouped(report).items():
        if space == "shared":
            lines[line, kind].setdefault(array, []).extend(record for record, _ in found)
    known = {_moment(record) for arrays in lines.values() for found in arrays.values() for record in found}
    shared = [record for (line, kind), arrays in lines.items() for record in joined_accesses(report, arrays, line, kind)]
    shared += [record for record in report.trace
               if record.space == "shared" and (record.addresses >= 0).any() and _moment(record) not in known]
    return max(shared, key=lambda record: (bank_counts(record)[0], is_load(record)), default=None)


def _moment(record):
    """Return what tells an access of a trace from all others."""
    return record.block, record.warp, record.step, record.line, record.operation


def who_writes(answer: str, spec: Spec, M: int = 32, N: int = 64) -> Picture | str:
    """Draw which warp of which block writes each element of an M × N matrix C.

    Parameters
    ----------
    answer
        CUDA C, as `%%cuda` stores it.
    spec
        Of an operation with a C of M × N elements.
    M, N
        Rows and columns.

    Returns
    -------
    Picture or str
        A sentence when the kernel does not run.
    """
    traced = _traced(answer, spec, lambda tile: Case("picture", M, N, max(M, N)), every_warp)
    if isinstance(traced, str):
        return traced
    who = owners_in(traced, spec, M, N)
    left = int((who.warp < 0).sum())
    missing = f"{left} of its elements are written by nobody, and grey" if left else "all of its elements are written"
    return render(thread_grid(who, title=f"{spec.entry}: who writes which element"),
                  f"C of {M} × {N} elements and who writes each: {missing}; {int(who.warp.max()) + 1} warps a block.")


def owners_in(traced: simt.Report, spec: Spec, M: int, N: int) -> Owners:
    """Return the `Owners` of an M × N matrix C, also where it is stored column by column."""
    transposed = "C" in cast(Sgemm, spec.operation).transposed
    rows, cols = (N, M) if transposed else (M, N)
    result: Any = SimpleNamespace(trace=traced.trace, arrays=traced.arrays, M=rows, N=cols)       # all that is read of a RunResult
    who = owners(result)
    return Owners(*(getattr(who, field.name).T for field in fields(who))) if transposed else who


def _tile(answer, spec):
    """Return the sizes that an answer sets, which `tile_problem` has looked at."""
    values = written_values(answer)
    return {name: values[name] for name in spec.tile}


def _traced(answer, spec, case, warps):
    """Return the report of a launch with a trace, or a sentence on why there is none."""
    problem = tile_problem(spec, written_values(answer))
    if problem:
        return f"No picture: {spec.entry} does not run: {problem}"
    try:
        tile = _tile(answer, spec)
        case = case(tile)
        grid, block = spec.grid(case, tile), spec.block(tile)
        trial = spec.operation.trial(case)
        return simt.launch(answer, spec.entry, grid, block, trial.args, trace=warps(grid, block), max_steps=spec.max_steps,
                           constants=getattr(trial, "constants", None))
    except CourseError as error:
        return f"No picture: {spec.entry} does not run: {str(error).splitlines()[0]}"
