"""What was recorded on an H200: one kernel with whole tiles, split along K and with even shares, and the race against the library."""

from pathlib import Path
from typing import Any

from course_lib import data
from course_lib.bench.sharing import SPLITS
from course_lib.model.busiest_work import Balance, balance_of
from course_lib.model.stream_k import sharing
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

FILE = Path(__file__).with_name("even.cu")
SHOWN = (513, 1025, 1409, 2048)
RACED = (513, 1025, 2049, 4096, 8192)
STEP = {"128 × 128": (128, 8), "64 × 64": (64, 16)}
MULTIPROCESSORS = 132
LIBRARY = "cuBLAS, in the race"
MADE = "sgemm_stream_k, one block on a multiprocessor at a time"


def time_of(N: int, share: str, tile: str = "128 × 128") -> dict[str, Any]:
    """Return the recorded row of a size: `share` is blocks per tile as a text, or "even"."""
    row, = data.readings("sharing").find(kind="time", N=N, tile=tile, share=share)
    return row


def raced(N: int) -> dict[str, Any]:
    """Return the row of square float32 matrices in the race."""
    row, = data.readings("race").find(dtype="float32", M=N, N=N, K=N, beta=0, TRANSA=0, TRANSB=0)
    return row


def recorded_balance(N: int, blocks: int, tile: str = "128 × 128") -> Balance:
    """Return how even the work of a recorded launch is, by the model of the picture and cut as the kernel cuts it.

    >>> recorded_balance(513, 25).busiest, recorded_balance(513, 132).busiest
    (65, 13)
    """
    side, depth = STEP[tile]
    found = sharing(N, N, N, (side, side, depth), blocks)
    return balance_of(found.by_block, found.steps, MULTIPROCESSORS)


def shares_recorded() -> Table:
    """Return a table of one kernel with whole tiles and with even shares: k-steps of the busiest multiprocessor, and times."""
    rows = []
    for N in SHOWN:
        both = [time_of(N, share) for share in ("1", "even")]
        steps = (recorded_balance(N, row["blocks"]).busiest for row in both)
        rows.append((N, _change(*steps), _change(*(1e6 * row["median_s"] for row in both))))
    return Table(("N", "k-steps of the busiest", "time, µs"), rows, "whole tiles of 128 × 128 → even shares, in brackets their ratio; "
                 f"{MADE}; k-steps computed, times {data.readings('sharing').label}")


def splits_recorded(N: int = 1025) -> Table:
    """Return a table of one size with several blocks for each tile, and with even shares: what is computed of each, and its time."""
    rows = []
    for share in (*map(str, SPLITS), "even"):
        row = time_of(N, share)
        balance = recorded_balance(N, row["blocks"])
        rows.append((share, row["blocks"], balance.busiest, balance.left, f"{1e6 * row['median_s']:.0f}"))
    return Table(("blocks per tile", "blocks", "k-steps of the busiest", "partial sums", "time, µs"), rows,
                 f"N = {N}, tiles of 128 × 128, cut along the line of all k-steps, not each by itself as in the picture; "
                 f"{MADE}; k-steps and partial sums computed, times {data.readings('sharing').label}")


def four_times(N: int = 513) -> dict[str, float]:
    """Return the recorded µs of `sgemm_stream_k`, with large and small tiles, whole and in even shares, and of the library in the race.

    >>> {name: round(micros) for name, micros in four_times().items()}["64 × 64, even shares"]
    17
    """
    found = {f"{tile}, {said}": 1e6 * time_of(N, share, tile)["median_s"]
             for tile in STEP for share, said in (("1", "whole tiles"), ("even", "even shares"))}
    return found | {LIBRARY: 1e6 * raced(N)["library"]}


@style.styled
def back_to_513() -> Picture:
    """Draw `four_times` as bars, each with its share of the library's speed."""
    found = four_times()
    said = [f"{micros:.1f} µs" + f", {100 * found[LIBRARY] / micros:.0f} % of cuBLAS" * (name != LIBRARY) for name, micros in found.items()]
    ax = style.axes(width=8.0, height=3.4)
    drawn = ax.barh(list(found), list(found.values()), color=[style.CYCLE[0]] * (len(found) - 1) + [style.GREY], height=0.68)
    ax.bar_label(drawn, said, padding=5, fontsize=13)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.75 * max(found.values()))
    ours, theirs = (data.readings(name).label for name in ("sharing", "race"))
    note = f"{MADE},\n{ours};\ncuBLAS in another run, {theirs}"
    ax.set_xlabel(f"µs for 513 × 513 matrices, float32\n{note}", fontsize=12)
    ax.tick_params(axis="y", length=0, labelsize=13)
    return render(ax, "Bars of recorded times. " + "; ".join(map(": ".join, zip(found, said, strict=True))) + f". {note}.")


def _change(whole: float, even: float) -> str:
    """Return two numbers and their ratio.

    >>> _change(65, 13)
    '65 → 13 (5.0)'
    """
    return f"{whole:.0f} → {even:.0f} ({whole / even:.1f})"


def race_with_library() -> Table:
    """Return the race: `sgemm_stream_k` and the library, in float32."""
    rows = []
    for N in RACED:
        row, flops = raced(N), 2 * N**3 / 1e12
        rows.append((N, f"{flops / row['ours']:.1f}", f"{flops / row['library']:.1f}", f"{100 * row['ratio']:.0f} %"))
    return Table(("N", "sgemm_stream_k, TFLOP/s", "cuBLAS, TFLOP/s", "of cuBLAS"), rows,
                 f"float32, {data.readings('race').label}; of cuBLAS: the median of the ratios, turn by turn")
