"""What one thread computes and reads: in the kernel that the reader is to write, and in a running kernel with a square of outputs."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.plots import describe_share, render, style
from course_lib.plots.picture import Picture
from course_lib.plots.registers import Share
from course_lib.run import RunResult
from course_lib.widgets.pictures import one_thread

BM, BN, TM = 64, 64, 8         # of the kernel that the reader writes
WIDE = 2.3                     # of a word's box, in rows
OF_A, OF_B = style.GREEN, style.PURPLE             # blue and orange are loads and multiply-adds in this lesson


def column_share(tx: int = 3, ty: int = 2) -> Share:
    """Return what thread (tx, ty) of the reader's kernel is to compute, and what it needs: TM rows of one column, one below the other."""
    rows = tuple(TM * ty + i for i in range(TM))
    return Share(BM, BN, tuple((row, tx) for row in rows), rows, (tx,), TM + 1.0)


@style.styled
def thread_share() -> Picture:
    """Draw the words that one thread reads for one k, and a line from each to the outputs that use it: in a column, and in a square."""
    square = one_thread("sgemm_2d_tile", BM=64, BN=64, BK=16, TM=4, TN=4)
    shares = {"the kernel that you will write: 8 × 1": (column_share(), "? words, ? multiply-adds"),
              "a square: 4 × 4": (square, f"{len(square.a_rows)} + {len(square.b_cols)} words, {len(square.outputs)} multiply-adds")}
    first = style.axes(width=11.0, height=4.6)
    figure = first.figure
    first.remove()
    for ax, (title, (share, counts)) in zip(figure.subplots(1, len(shares)), shares.items(), strict=True):
        _lines_of_words(share, ax, title, TM, 4, counts)
        ax.set_aspect("equal")
    column = column_share()
    told = (f"In the kernel that you will write, a thread computes rows {column.a_rows[0]} to {column.a_rows[-1]} of column "
            f"{column.b_cols[0]}, and needs these rows of A's tile and this column of B's. The line of each row ends at one "
            f"output, and that of the column crosses all {len(column.outputs)}. A square: {describe_share(square)} "
            f"Each line crosses {len(square.a_rows)} outputs.")
    return render(ax, told)


def _lines_of_words(share: Share, ax: Axes, title: str, high: int, wide: int, counts: str = "") -> None:
    """Draw a box for each word of A at the left and of B at the top, a line from it through its outputs, and a dot for a multiply-add.

    There is room for `high` rows and `wide` columns, and below them for a line of counts.
    """
    rows, cols = share.a_rows, share.b_cols
    boxes = [(0.0, float(i), f"row {row}", OF_A) for i, row in enumerate(rows)]
    boxes += [(1.3 * WIDE + WIDE * j, -1.5, f"column {col}" if wide <= 4 else str(col), OF_B) for j, col in enumerate(cols)]
    boxes += [(1.3 * WIDE + WIDE * j, float(i), "", style.PALE) for j in range(len(cols)) for i in range(len(rows))]
    for x, y, words, colour in boxes:
        ax.add_patch(Rectangle((x, y), WIDE, 1, facecolor=colour, edgecolor=style.INK, linewidth=0.8))
        ax.text(x + WIDE / 2, y + 0.5, words, ha="center", va="center", fontsize=11 if high <= TM else 10, color=style.text_on(colour))
    middles = [1.3 * WIDE + WIDE * (j + 0.5) for j in range(len(cols))]
    ax.hlines([i + 0.5 for i in range(len(rows))], WIDE, middles[-1], color=OF_A, linewidth=2)
    ax.vlines(middles, -0.5, len(rows) - 0.5, color=OF_B, linewidth=2)
    ax.plot([x for x in middles for _ in rows], [i + 0.5 for _ in middles for i in range(len(rows))], "o", color=style.INK, markersize=6)
    ax.text(WIDE / 2, -1.0, "A", ha="center", va="center", fontsize=13, color=OF_A)
    ax.text(1.2 * WIDE, -1.0, "B", ha="right", va="center", fontsize=13, color=OF_B)
    ax.text(0, len(rows) + 0.5, counts or "a dot per multiply-add", va="center", fontsize=13)
    ax.set(xlim=(-0.2, 1.3 * WIDE + wide * WIDE + 0.2), ylim=(high + 0.9, -1.8), title=title)
    ax.set_axis_off()


@style.styled
def share_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw the words that one thread of `result` reads for one k, and a line from each to the outputs that use it."""
    share, ax = one_thread(result.kernel, **result.parameters), style.axes(width=6.0, height=3.7)
    outputs = len(share.outputs)
    title = f"A thread: {outputs} output{'s' * (outputs != 1)}, {share.words:g} words per k"
    _lines_of_words(share, ax, title, max(TM, len(share.a_rows)), max(4, len(share.b_cols)))
    return ax, describe_share(share)
