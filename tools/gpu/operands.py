"""Measure what reading operands costs on a GPU.

Outer products of registers are timed, and each is set beside the estimate that the model makes of its machine code.
"""

from collections.abc import Iterator
from typing import Any

from tools import ToolError

THREADS, BLOCKS, SCHEDULERS = 256, 132, 4          # two warps for each scheduler of every multiprocessor
SHAPES = ((8, 8), (12, 8), (16, 8), (4, 8), (8, 4))


def plan() -> Iterator[dict[str, int]]:
    """Yield the parameters of every launch of `micro_outer`: each shape, row by row and in serpentine order."""
    for TM, TN in SHAPES:
        for serpentine in (0, 1):
            yield {"threads": THREADS, "blocks": BLOCKS, "STEPS": 1024, "TM": TM, "TN": TN, "SERPENTINE": serpentine}


def row_of(options: dict[str, int], cycles_per_step: float) -> dict[str, Any]:
    """Return the row of one launch: cycles of a scheduler per multiply-add, measured, estimated, and the least and the most expected.

    The least is the model's. The estimate adds a cycle for each of the loop's other instructions, and the most what it was off by.

    Parameters
    ----------
    cycles_per_step
        Of the slowest warp, for one outer product.
    """
    from course_lib.model.operands import WITHIN
    from course_lib.run import loop_reads
    (loop, reads), = loop_reads("micro_outer", **options)
    others = loop.counts["instructions"] - reads.multiply_adds
    warps = options["threads"] // 32 / SCHEDULERS
    measured = cycles_per_step / (options["TM"] * options["TN"]) / warps
    estimated = (reads.cycles + others) / reads.multiply_adds
    return {**options, "measured": round(measured, 4), "estimated": round(estimated, 4), "at_least": round(reads.per_multiply_add, 4),
            "at_most": round((1 + WITHIN) * estimated, 4)}


def section_operands(record: dict[str, Any]) -> str:
    """Time outer products of registers; none may be faster than the model's bound."""
    from course_lib.run import run_micro
    record["rows"] = rows = []
    wrong = []
    for options in plan():
        result = run_micro("micro_outer", backend="gpu", **options)
        rows.append(row_of(options, result.cycles_per_step[1]))
        if not result.right:
            wrong.append(rows[-1])
    if wrong:
        raise ToolError(f"{len(wrong)} products are wrong: {wrong[:3]}")
    return judge(rows)


def judge(rows: list[dict[str, Any]]) -> str:
    """Say how far the estimates are off.

    Raises
    ------
    ToolError
        When a measurement is faster than its bound, or slower than the loop's own instructions explain.
    """
    fast = [row for row in rows if not row["measured"] >= row["at_least"]]
    slow = [row for row in rows if not row["measured"] <= row["at_most"]]
    if fast or slow:
        raise ToolError(f"{len(fast)} of {len(rows)} are faster than their bound, {len(slow)} slower than estimated: {(fast + slow)[:3]}")
    ratios = [row["estimated"] / row["measured"] for row in rows]
    return f"{len(rows)} outer products right; the estimate is {min(ratios):.3f} to {max(ratios):.3f} times the measured cycles"
