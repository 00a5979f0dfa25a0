"""Count what the candidates of a search do.

The simulator counts them for `course_lib.bench.search`; candidates.json is written.

Two small launches for each candidate, of 128 × 128 elements of C with K = 64 and 128: every count is a straight line in K. Instructions are
those of the machine code that the compiler here makes.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.search import DEPTHS, KERNEL, SIDE, TRIED, broken, candidates
from course_lib.kernels import get
from course_lib.run import run
from course_lib.run.bound import work_of
from tools import ROOT
from tools.recordings import write_recording


def counted(values: Sequence[Any], K: int) -> dict[str, Any]:
    """Return the row of one candidate: the Work of a launch of SIDE × SIDE elements of C."""
    A, B = np.ones((SIDE, K)), np.ones((K, SIDE))
    result = run(KERNEL, A, B, backend="sim", **dict(zip(TRIED, values, strict=True)))
    return {"kernel": KERNEL, "values": list(values), "K": K, "work": dataclasses.asdict(work_of(result))}


@click.command()
def command() -> None:
    """Write the file."""
    rows = [counted(values, K) for values in candidates() if broken(KERNEL, values) is None for K in DEPTHS]
    write_recording(ROOT / "course_lib" / "data", "candidates", rows, {KERNEL: fingerprint_of(get(KERNEL))}, "record candidates",
                    "the simulator", "none")
    print(len(rows), "rows")
