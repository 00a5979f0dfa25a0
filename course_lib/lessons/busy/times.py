"""What was recorded on an H200: one kernel with whole tiles and with even shares, and the race against the library."""

from pathlib import Path
from typing import Any

from course_lib import data
from course_lib.model.busiest_work import balance_of
from course_lib.model.stream_k import sharing
from course_lib.plots import Table

FILE = Path(__file__).with_name("even.cu")
SHOWN = (513, 1025, 1409, 2048)
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
    side, depth = STEP[tile]
    found = sharing(N, N, N, (side, side, depth), blocks)
    return balance_of(found.by_block, found.steps, MULTIPROCESSORS).busiest


def shares_recorded() -> Table:
    """Return a table of one kernel with whole tiles and with even shares: k-steps of the busiest with large tiles, times with both."""
    large, small = STEP
    rows = []
    for N in SHOWN:
        steps = (busiest_steps(N, time_of(N, share)["blocks"]) for share in ("1", "even"))
        micros = ((1e6 * time_of(N, share, tile)["median_s"] for share in ("1", "even")) for tile in (large, small))
        rows.append((N, _change(*steps), *(_change(*pair) for pair in micros)))
    return Table(("N", f"{large}: k-steps of the busiest", f"{large}: time, µs", f"{small}: time, µs"), rows,
                 "sgemm_stream_k, whole tiles → even shares, in brackets their ratio; one block on a multiprocessor at a time; "
                 f"k-steps computed, times {data.readings('sharing').label}")


def _change(whole: float, even: float) -> str:
    """Return two numbers and their ratio.

    >>> _change(65, 13)
    '65 → 13 (5.0)'
    """
    return f"{whole:.0f} → {even:.0f} ({whole / even:.1f})"


def scoreboard() -> Table:
    """Return the race: `sgemm_stream_k` and the library, in float32."""
    readings, rows = data.readings("race"), []
    for N in RACED:
        row, = readings.find(dtype="float32", M=N, N=N, K=N, beta=0, TRANSA=0, TRANSB=0)
        flops = 2 * N**3 / 1e12
        rows.append((N, f"{flops / row['ours']:.1f}", f"{flops / row['library']:.1f}", f"{100 * row['ratio']:.0f} %"))
    return Table(("N", "sgemm_stream_k, TFLOP/s", "cuBLAS, TFLOP/s", "of cuBLAS"), rows,
                 f"float32, {readings.label}; of cuBLAS: the median of the ratios, turn by turn")
