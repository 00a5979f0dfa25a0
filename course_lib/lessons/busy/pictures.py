"""Pictures of shared work: a column for each block, with the pieces of tiles that it computes, from the first at the bottom."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from course_lib.lessons.busy.counts import shares_of
from course_lib.model.busiest_work import balance_of
from course_lib.model.stream_k import Piece, sharing
from course_lib.plots import render, style
from course_lib.plots.picture import Picture
from course_lib.run import RunResult

SMALL_TILE = {"BM": 32, "BN": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "WIDE": 1, "RESIDENT": 1}      # of the sliders
MOST_TOLD = 18                   # columns whose pieces have room for words


def draw_piece(ax: Axes, x: int, bottom: int, piece: Piece, left: bool, told: str) -> None:
    """Draw a piece in the column of its block, hatched where its sums are left to another block."""
    ax.bar(x, piece.steps, bottom=bottom, width=0.84, color=style.CYCLE[piece.tile % len(style.CYCLE)], edgecolor=style.INK, linewidth=0.7,
           hatch="///" if left else None, alpha=0.5 if left else 1.0)
    if told:
        ax.text(x, bottom + piece.steps / 2, told, ha="center", va="center", fontsize=10, color=style.INK, linespacing=1.05,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.2})


@style.styled
def draw_shares(shared: Sequence[Sequence[Piece]], steps: int, ax: Axes | None = None) -> Axes:
    """Draw what each block computes: one patch per piece, in the order of blocks and pieces.

    Parameters
    ----------
    shared
        The pieces of each block, in its order.
    steps
        k-steps of a tile. A piece that does not reach the last of them is hatched: its sums are left to a later block.
    """
    ax = style.axes(ax, width=9.6, height=3.6)
    for x, mine in enumerate(shared):
        bottom = 0
        for piece in mine:
            told = f"tile {piece.tile}\n{piece.first} … {piece.last - 1}" if piece.steps > 1 else f"tile {piece.tile}: {piece.first}"
            draw_piece(ax, x, bottom, piece, piece.last < steps, told if len(shared) <= MOST_TOLD else "")
            bottom += piece.steps
    ax.set(xlabel="block", ylabel="k-steps", xlim=(-0.6, len(shared) - 0.4))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    if len(shared) <= MOST_TOLD:
        ax.set_xticks(range(len(shared)))
    return ax


def describe_shares(shared: Sequence[Sequence[Piece]], steps: int) -> str:
    """Return the alternative text of `draw_shares`.

    >>> from course_lib.model.stream_k import Sharing
    >>> describe_shares(Sharing(1, 4, 2).by_block, 4)
    'Block 0: tile 0, k-steps 0 to 1, left to a later block. Block 1: tile 0, k-steps 2 to 3.'
    """
    said = []
    for number, mine in enumerate(shared):
        parts = [f"tile {p.tile}, k-steps {p.first} to {p.last - 1}{', left to a later block' if p.last < steps else ''}" for p in mine]
        said.append(f"Block {number}: {'; '.join(parts) or 'nothing'}.")
    return " ".join(said)


def what_blocks_did(kernel: str, M: int = 48, N: int = 48, K: int = 40) -> Picture:
    """Run a kernel of the reader's in the simulator, and draw what each of its blocks really computed.

    Parameters
    ----------
    kernel
        CUDA text of a kernel like `even`.
    M, N, K
        Of the product.
    """
    found = shares_of(kernel, M, N, K)
    return render(draw_shares(found.shared, found.steps), f"What the blocks did, simulated. {describe_shares(found.shared, found.steps)}")


def shares_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw what each block of `sgemm_stream_k` computes in a launch, with the numbers that matter, as `live` takes it."""
    p = result.parameters
    found = sharing(result.M, result.N, result.K, (p["BM"], p["BN"], p["BK"]), p["blocks"])
    shared, steps = found.by_block, found.steps
    balance = balance_of(shared, steps, p["blocks"])
    told = (f"{found.tiles} tiles of {steps} k-steps on {p['blocks']} blocks: busiest / mean {balance.ratio:.2f}, "
            f"{balance.left} partial sums, {4 * balance.left * p['BM'] * p['BN']:,} bytes")
    ax = draw_shares(shared, steps, style.axes(width=7.2, height=3.7))
    ax.set_title(told, fontsize=11)
    return ax, f"{told}. {describe_shares(shared, steps)}"
