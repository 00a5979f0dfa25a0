"""What was recorded on an H200: one kernel with its work shared out in three ways, and the race against the library."""

from functools import cache
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

from course_lib import data
from course_lib.data import Record
from course_lib.kernels import KERNELS, get
from course_lib.model.busiest_work import Balance, balance_of
from course_lib.model.stream_k import sharing
from course_lib.plots import Table

FILE = Path(__file__).with_name("even.cu")
SHOWN = (513, 1025, 1409, 2048)
BEFORE = ("tuned", "orders", "blocks", "wang", "ladder")     # recordings of the kernels of the lessons before
RACED = (513, 1025, 2049, 4096, 8192)
STEP = {"128 × 128": (128, 8), "64 × 64": (64, 16)}
MULTIPROCESSORS = 132


def time_of(N: int, share: str, tile: str = "128 × 128") -> dict[str, Any]:
    """Return the recorded row of a size: `share` is blocks per tile as a text, or "even"."""
    row, = data.readings("sharing").find(kind="time", N=N, tile=tile, share=share)
    return row


def busiest_steps(N: int, blocks: int, tile: str = "128 × 128") -> int:
    """Return the k-steps of the busiest multiprocessor, by the model of the picture.

    >>> busiest_steps(513, 25), busiest_steps(513, 132)
    (65, 13)
    """
    return _balance(N, blocks, tile).busiest


def _balance(N: int, blocks: int, tile: str) -> Balance:
    side, depth = STEP[tile]
    found = sharing(N, N, N, (side, side, depth), blocks)
    return balance_of(found.by_block, found.steps, MULTIPROCESSORS)


def best_split(N: int, tile: str = "128 × 128") -> dict[str, Any]:
    """Return the recorded row of a size with the fastest number of blocks per tile, two or more.

    >>> best_split(513)["share"]
    '5'
    """
    rows = data.readings("sharing").find(kind="time", N=N, tile=tile)
    return min((row for row in rows if row["share"] not in ("1", "even")), key=itemgetter("median_s"))


def shares_recorded() -> Table:
    """Return a table of one kernel with whole tiles, several blocks per tile, and even shares: k-steps of the busiest, and times."""
    rows = []
    for tile, N in product(STEP, SHOWN):
        whole, split, even = time_of(N, "1", tile), best_split(N, tile), time_of(N, "even", tile)
        steps = [busiest_steps(N, row["blocks"], tile) for row in (whole, even)]
        of_whole, of_split, of_even = (f"{1e6 * row['median_s']:.0f}" for row in (whole, split, even))
        rows.append((tile, N, whole["blocks"], f"{steps[0]} → {steps[1]}", f"{steps[0] / steps[1]:.1f}", of_whole,
                     f"{of_split} ({split['share']})", of_even, f"{whole['median_s'] / even['median_s']:.1f}"))
    header = ("tile", "N", "tiles", "k-steps of the busiest", "times fewer", "whole tiles, µs", "split, µs", "even shares, µs",
              "times as fast")
    return Table(header, rows, "sgemm_stream_k, one block on a multiprocessor at a time; split: the fastest of 2, 3, 4, 5, 6 and 8 "
                 f"blocks per tile (and which); {data.readings('sharing').label}")


@cache
def speeds_before(dtype: str = "float32") -> dict[tuple[str, tuple[tuple[str, int], ...]], dict[int, float]]:
    """Return what was recorded of the kernels before: (kernel, (name, value) of each parameter) -> {N: GFLOP/s}, square matrices alone.

    >>> len(speeds_before()), round(best_before(513))
    (34, 11339)
    """
    lines: dict[tuple[str, tuple[tuple[str, int], ...]], dict[int, float]] = {}
    for r in (r for name in BEFORE for r in data.load(name).records if r.gflops and _plain(r, dtype)):
        line = lines.setdefault((r.kernel, tuple(r.parameters.items())), {})
        line[r.N] = max(r.gflops or 0.0, line.get(r.N, 0.0))
    return lines


def _plain(r: Record, dtype: str) -> bool:
    """Say whether a record is of a launch as `run` makes it, with floats multiplied as they are: no tensor core chooses itself."""
    return (r.kernel in KERNELS and not get(r.kernel).inputs and r.dtype == dtype and r.M == r.N == r.K
            and r.state == "done" and r.backend == "gpu" and r.l2 == "warm" and not r.dynamic_shared and not r.grid
            and not any(r.parameters.get(name) for name in ("TRANSA", "TRANSB")))


def best_before(N: int) -> float:
    """Return the GFLOP/s of the fastest float32 kernel before at a size; 0 where nobody recorded one.

    >>> best_before(100)
    0.0
    """
    return max((line[N] for line in speeds_before().values() if N in line), default=0.0)


def scoreboard() -> Table:
    """Return the race: the best of the kernels before, `sgemm_stream_k` and the library, in float32."""
    readings, rows = data.readings("race"), []
    for N in RACED:
        row, = readings.find(dtype="float32", M=N, N=N, K=N, beta=0, TRANSA=0, TRANSB=0)
        flops = 2 * N**3 / 1e12
        rows.append((N, f"{best_before(N) / 1e3:.1f}", f"{flops / row['ours']:.1f}", f"{flops / row['library']:.1f}",
                     f"{100 * row['ratio']:.0f} %"))
    return Table(("N", "best kernel before, TFLOP/s", "sgemm_stream_k", "cuBLAS", "of cuBLAS"), rows,
                 f"float32, {readings.label}; the kernels before {data.load('tuned').label}; "
                 "of cuBLAS: the median of the ratios, turn by turn")
