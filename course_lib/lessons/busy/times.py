"""What was recorded on an H200: one kernel with whole tiles, split along K and with even shares, and the race against the library."""

from pathlib import Path
from typing import Any

from course_lib import data
from course_lib.bench.sharing import HANDED_OVER, LIBRARY, NOT_LEFT, NOT_WAITED, SPLITS, TWO
from course_lib.model.busiest_work import Balance, balance_of
from course_lib.model.stream_k import sharing
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture

FILE = Path(__file__).with_name("even.cu")
SHOWN = (513, 1025, 1409, 2048)
RACED = (513, 1025, 2049, 4096, 8192)
STEP = {"128 × 128": (128, 8), "64 × 64": (64, 16)}
MULTIPROCESSORS = 132
CUT = (1025, 960)                # N, also of M, and K that all of SPLITS cut evenly


def time_of(N: int, share: str, tile: str = "128 × 128", K: int | None = None, *, alone: bool = True,
            sums: str = HANDED_OVER) -> dict[str, Any]:
    """Return the recorded row of a product.

    Parameters
    ----------
    share
        Blocks per tile as a text, or "even".
    alone
        Whether a multiprocessor has one block at a time, or as many as fit.
    sums
        What becomes of partial sums, as in `course_lib.bench.sharing`.
    """
    row, = data.readings("sharing").find(kind="time", N=N, K=K or N, tile=tile, share=share, alone=alone, sums=sums)
    return row


def micros(*which: Any, **more: Any) -> float:
    """Return the recorded µs of `time_of`."""
    return 1e6 * float(time_of(*which, **more)["median_s"])


def raced(N: int) -> dict[str, Any]:
    """Return the row of square float32 matrices in the race."""
    row, = data.readings("race").find(dtype="float32", M=N, N=N, K=N, beta=0, TRANSA=0, TRANSB=0)
    return row


def recorded_balance(N: int, blocks: int, tile: str = "128 × 128", K: int | None = None) -> Balance:
    """Return how even the work of a recorded launch is, by the model of the picture and cut as the kernel cuts it.

    >>> recorded_balance(513, 25).busiest, recorded_balance(513, 132).busiest
    (65, 13)
    """
    side, depth = STEP[tile]
    found = sharing(N, N, K or N, (side, side, depth), blocks)
    return balance_of(found.by_block, found.steps, MULTIPROCESSORS)


def shares_recorded() -> Table:
    """Return a table of one kernel with whole tiles and with even shares: k-steps of the busiest multiprocessor, and times."""
    rows = []
    for N in SHOWN:
        steps = (recorded_balance(N, time_of(N, share)["blocks"]).busiest for share in ("1", "even"))
        times = [_change(*(micros(N, share, alone=even == "even") for share in ("1", even))) for even in ("even", TWO)]
        rows.append((N, _change(*steps), *times))
    return Table(("N", "k-steps of the busiest", "µs, one block at a time", "µs, two blocks at a time"), rows,
                 "whole tiles of 128 × 128 → even shares, in brackets their ratio; sgemm_stream_k; k-steps computed for one block at a "
                 f"time, times {data.readings('sharing').label}")


def splits_recorded() -> Table:
    """Return a table of one size with several blocks for each tile: what is computed of each, and times with and without handing over."""
    N, K = CUT
    rows = []
    for share in (*map(str, SPLITS), "even"):
        blocks = time_of(N, share, K=K)["blocks"]
        balance = recorded_balance(N, blocks, K=K)
        times = (micros(N, share, K=K, sums=sums) for sums in (HANDED_OVER, NOT_WAITED, NOT_LEFT))
        rows.append((share, blocks, balance.busiest, balance.left, *(f"{time:.0f}" for time in times)))
    header = ("blocks per tile", "blocks", "k-steps of the busiest", "partial sums", "µs", "µs, sums not waited for", "µs, sums not left")
    return Table(header, rows, f"{N} × {N} × {K} (M × N × K), tiles of 128 × 128, cut as in the picture; sgemm_stream_k, one block on a "
                               f"multiprocessor at a time; k-steps and partial sums computed, times {data.readings('sharing').label}")


def five_times(N: int = 513) -> dict[str, float]:
    """Return the recorded µs of `sgemm_stream_k`, with large and small tiles, whole and in even shares, and of the library.

    The library's are those of the turns with small tiles; in the turns before, with large ones, it took 54 µs, as in no other recording.
    """
    found = {f"{tile}, {said}": micros(N, share, tile) for tile in STEP for share, said in (("1", "whole tiles"), ("even", "even shares"))}
    return found | {LIBRARY: micros(N, LIBRARY, "64 × 64", alone=False)}


@style.styled
def back_to_513() -> Picture:
    """Draw `five_times` as bars, each with its share of the library's speed."""
    found = five_times()
    said = [f"{time:.1f} µs" + f", {100 * found[LIBRARY] / time:.0f} % of cuBLAS" * (name != LIBRARY) for name, time in found.items()]
    ax = style.axes(width=8.0, height=3.4)
    drawn = ax.barh(list(found), list(found.values()), color=[style.CYCLE[0]] * (len(found) - 1) + [style.GREY], height=0.68)
    ax.bar_label(drawn, said, padding=5, fontsize=13)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.75 * max(found.values()))
    note = f"sgemm_stream_k, one block on a multiprocessor at a time,\nand cuBLAS, {data.readings('sharing').label}"
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
