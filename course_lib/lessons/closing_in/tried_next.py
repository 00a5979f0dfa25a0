"""What Wang and Jin would have tried next, recorded on an H200: other loads from global memory, other orders of the loops."""

from course_lib import data
from course_lib.plots import Table

IDEAS = {"outputs": "their last kernel", "readonly": "through the read-only cache", "rank1": "a column times a row for each k",
         "dots": "a dot product for each output"}
N = 4096


def tried_next() -> Table:
    """Return their last kernel and three changes of it, in float32 and float64."""
    rows = []
    for idea, words in IDEAS.items():
        records = data.load("wang" if idea == "outputs" else "orders")
        rows.append((words, *(f"{records.find(f'{letter}gemm_{idea}', N)[0].gflops or 0.0:,.0f}" for letter in "sd")))
    return Table(("kernel", "float32", "float64"), rows, f"GFLOP/s, N = {N}, {data.load('orders').label}")
