"""Count, on the simulator, what each candidate of the search does that `course_lib.bench.search` shows.

    python tools/candidates.py           write course_lib/data/candidates.json

Two small launches for each candidate, of 128 × 128 elements of C with K = 64 and 128: every count is a straight line in K. Instructions are
those of the machine code that the compiler here makes.
"""

import dataclasses
import datetime
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]
os.environ["COURSE_BACKEND"] = "sim"

from course_lib.bench.fingerprint import fingerprint_of  # noqa: E402
from course_lib.bench.search import DEPTHS, KERNEL, SIDE, TRIED, broken, candidates  # noqa: E402
from course_lib.data.readings import Readings, dumps  # noqa: E402
from course_lib.kernels import get  # noqa: E402
from course_lib.run import run  # noqa: E402
from course_lib.run.bound import work_of  # noqa: E402


def counted(values, K):
    """Return the row of one candidate: the Work of a launch of SIDE × SIDE elements of C."""
    A, B = np.ones((SIDE, K)), np.ones((K, SIDE))
    result = run(KERNEL, A, B, backend="sim", **dict(zip(TRIED, values, strict=True)))
    return {"kernel": KERNEL, "values": list(values), "K": K, "work": dataclasses.asdict(work_of(result))}


def main():
    """Write the file."""
    rows = tuple(counted(values, K) for values in candidates() if broken(KERNEL, values) is None for K in DEPTHS)
    made = Readings("the simulator", "none", datetime.date.today().isoformat(), "tools/candidates.py", rows,
                    {KERNEL: fingerprint_of(get(KERNEL))})
    (ROOT / "course_lib" / "data" / "candidates.json").write_text(dumps(made), encoding="utf-8")
    print(len(rows), "rows")


if __name__ == "__main__":
    main()
