"""What Wang and Jin would have tried next, recorded on an H200: other loads from global memory, other orders of the loops."""

from course_lib import data
from course_lib.plots import Table

IDEAS = {"outputs": "their last kernel", "readonly": "through the read-only cache", "rank1": "a column times a row for each k",
         "dots": "a dot product for each output"}
SIZES = (1024, 1025, 4096)


def tried_next() -> Table:
    """Return their last kernel and three changes of it, in float32 and float64, at three sizes."""
    rows = []
    for idea, words in IDEAS.items():
        records = data.load("wang" if idea == "outputs" else "orders")
        found = [records.find(f"{letter}gemm_{idea}", N)[0].gflops or 0.0 for letter in "sd" for N in SIZES]
        rows.append((words, *(f"{speed:,.0f}" for speed in found)))
    header = ("kernel", *(f"{number}, N = {N}" for number in ("float32", "float64") for N in SIZES))
    return Table(header, rows, f"GFLOP/s, {data.load('orders').label}")
