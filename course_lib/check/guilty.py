"""Which line spoilt a wrong sum: from the trace of the launch, what the block never loaded, or what its thread read again and again."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.check.product_trial import ProductTrial
from course_lib.check.reports import element_name
from course_lib.check.trials import Store
from course_lib.run.types import Extent
from course_lib.simt.report import Report, TraceRecord

WARP = 32
DEEP = 4                # a sum of fewer products than this says nothing of an index that stands still


def guilty(report: Report, trial: Any, store: Store, row: int, col: int, block: Extent, lines: Sequence[str]) -> tuple[int, str] | None:
    """Find the line that a wrong element of C comes from, where the accesses show it.

    Parameters
    ----------
    report
        Of the wrong launch, all warps traced.
    trial : ProductTrial
        Its inputs.
    store
        Who stored the element.
    row, col
        Which.
    block
        Threads of a block.
    lines
        The kernel's text.

    Returns
    -------
    (int, str) or None
        The line, and what is seen there. None: nothing is known, or the matrices are not stored row by row.
    """
    if not isinstance(trial, ProductTrial) or trial.transposed:
        return None
    return _never_loaded(report, trial, store, row, col) or _stands_still(report, trial, store, block, lines)


def _never_loaded(report: Report, trial: ProductTrial, store: Store, row: int, col: int) -> tuple[int, str] | None:
    """Say which element of A or B the block did not load, although the sum needs it."""
    case = trial.case
    needed = (("A", row * (case.K + case.pad), 1, f"[{row}][{{k}}]"), ("B", col, case.N + case.pad, f"[{{k}}][{col}]"))
    for name, first, step, index in needed:
        array = next((a for a in report.arrays if a.name == name), None)
        loads = [r for r in _loads(report, "global", store) if array and _within(r, array.address, array.nbytes)]
        if array is None or not loads:
            continue
        size = array.itemsize
        got = np.unique(np.concatenate([(r.addresses[r.addresses >= 0][:, None] + np.arange(0, r.width, size)).ravel() for r in loads]))
        missing = np.flatnonzero(~np.isin(array.address + size * (first + step * np.arange(case.K)), got))
        if len(missing):
            line = Counter(r.line for r in loads).most_common(1)[0][0]
            element = name + index.format(k=missing[0])
            return line, f"C[{row}][{col}] needs {element}, and its block never loads that: it loads {name} here"
    return None


def _stands_still(report: Report, trial: ProductTrial, store: Store, block: Extent, lines: Sequence[str]) -> tuple[int, str] | None:
    """Say from which shared array the thread reads the same element for every k."""
    x, y, _ = store.thread
    number = y * block[0] + x + store.thread[2] * block[0] * block[1]
    words: dict[str, set[tuple[str, int]]] = defaultdict(set)
    line_of = {}
    for record in _loads(report, "shared", store):
        address = record.addresses[number % WARP]
        if record.warp == number // WARP and address >= 0:
            name = element_name(report, int(address), lines)
            words[name.partition("[")[0]].add((name, record.width))
            line_of[name] = record.line
    still = [found for found in words.values() if len(found) == 1 and max(width for _, width in found) == trial.C.itemsize]
    if trial.case.K < DEEP or len(words) < 2 or len(still) != 1:
        return None
    (name, _), = still[0]
    return line_of[name], f"thread ({x}, {y}) reads {name} here for every k, and no other element of {name.partition('[')[0]}"


def _loads(report: Report, space: str, store: Store) -> list[TraceRecord]:
    return [r for r in report.trace if r.space == space and tuple(r.block) == store.block and r.operation.startswith("ld.")]


def _within(record: TraceRecord, start: int, size: int) -> bool:
    active = record.addresses[record.addresses >= 0]
    return len(active) > 0 and start <= active[0] < start + size
