"""How evenly a kernel of the reader's shares out its work, from what its blocks load in the simulator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib import data
from course_lib.bench.sharing import ARRIVAL, FIRST_ENDS, FLAG_UP, variants
from course_lib.check import check
from course_lib.kernels import UserKernel
from course_lib.lessons.busy.observed import observed_pieces
from course_lib.model.busiest_work import Balance, balance_of, dispatch
from course_lib.model.stream_k import Piece, Sharing
from course_lib.plots import Table
from course_lib.run import run
from course_lib.run.traces import every_warp
from course_lib.widgets.compute import inputs

M, N, K = 48, 48, 40             # of the lesson's launch: 9 tiles of 16 × 16, 5 k-steps each


@dataclass(frozen=True)
class Shares:
    """What the blocks of a launch computed: the pieces of each block; tiles of C, and k-steps of a tile."""

    shared: Sequence[Sequence[Piece]]
    tiles: int
    steps: int

    def balance(self) -> Balance:
        """Return how even that is, with a multiprocessor for each block."""
        return balance_of(self.shared, self.steps, len(self.shared))


def shares_of(kernel: str, M: int = M, N: int = N, K: int = K) -> Shares:
    """Run a kernel in the simulator, and return what each of its blocks computed.

    Parameters
    ----------
    kernel
        CUDA text that sets BM, BN, BK and BLOCKS with `#define`; each thread computes one element of a tile, with plain loads.
    """
    described = UserKernel.from_source(kernel)
    p = described.check()
    A, B, _ = inputs(M, N, K)
    grid, block = described.grid(M, N, **p), described.block(**p)
    options: dict[str, Any] = {"trace": every_warp(grid, block)}
    found = observed_pieces(run(described, A, B, backend="sim", **options), p["BM"], p["BN"], p["BK"])
    return Shares(found, -(-M // p["BM"]) * -(-N // p["BN"]), -(-K // p["BK"]))


def busiest_block(kernel: str) -> int:
    """Return the k-steps of the busiest block in the lesson's launch of a kernel."""
    return shares_of(kernel).balance().busiest


def whole_or_even(kernel: str) -> Table:
    """Return a table of the lesson's launch: if the blocks took whole tiles, and as the reader's kernel did it."""
    found = shares_of(kernel)
    blocks = len(found.shared)
    whole = dispatch(Sharing(found.tiles, found.steps, found.tiles).by_block, blocks)
    by_block = [[p.piece for p in whole if p.multiprocessor == block] for block in range(blocks)]
    rows = []
    both = {"whole tiles, computed": balance_of(by_block, found.steps, blocks), "your kernel, simulated": found.balance()}
    for name, balance in both.items():
        rows.append((name, balance.busiest, f"{balance.ratio:.2f}", balance.left))
    return Table(("shared out as", "k-steps of the busiest block", "busiest / mean", "partial sums"), rows,
                 f"{found.tiles} tiles of {found.steps} k-steps on {blocks} blocks, with a multiprocessor for each")


def even_with(change: str) -> str:
    """Return the worked kernel with one thing left out or done in another way: "collect without waiting", "first block ends", …"""
    return dict(variants())[change]


def left_out() -> Table:
    """Return a table of the worked kernel, whole and with something left out: what `check` says, and what a GPU made of it.

    Each cell of a GPU's column says in how many launches an element was wrong, and how many different results there were.
    """
    readings = data.readings("sharing")
    rows = readings.find(kind="runs")
    shapes = list(dict.fromkeys((row["M"], row["N"], row["K"]) for row in rows))
    table = []
    for name, text in variants():
        if name == FIRST_ENDS:                                                  # right, and slow
            continue
        found = [f"{row['wrong_launches']} wrong, {_results(row['results'])}" for row in rows if row["variant"] == name]
        if name == FLAG_UP:                                                     # wrong from the second launch on; each was made a first one
            found = ["cannot show"] * len(shapes)
        report = None if name == ARRIVAL else check(text)                       # which adds to C, and check fills it with NaN
        said = "not tried" if report is None else "right" if report.right else report.findings[0].kind
        table.append((name, said, *(found or ["not tried"] * len(shapes))))     # in the order of the shapes
    return Table(("kernel", "check, simulated", *(" × ".join(f"{n:,}" if n > 9999 else str(n) for n in shape) for shape in shapes)), table,
                 f"By M × N × K: how many of {rows[0]['launches']} launches were wrong, and how many different results they gave; "
                 f"{rows[0]['blocks']} blocks; {readings.label}")


def _results(number: int) -> str:
    return f"{number} result{'s' * (number != 1)}"
