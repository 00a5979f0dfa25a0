"""What one thread computes and reads: in the kernel that the reader is to write, and in a running kernel with a square of outputs."""

from matplotlib.axes import Axes

from course_lib.plots import describe_share, render, style, thread_share_picture
from course_lib.plots.picture import Picture
from course_lib.plots.registers import Share
from course_lib.run import RunResult
from course_lib.widgets.pictures import one_thread

BM, BN, TM = 64, 64, 8         # of the kernel that the reader writes


def column_share(tx: int = 3, ty: int = 2) -> Share:
    """Return what thread (tx, ty) of the reader's kernel is to compute, and what it needs: TM rows of one column, one below the other."""
    rows = tuple(TM * ty + i for i in range(TM))
    return Share(BM, BN, tuple((row, tx) for row in rows), rows, (tx,), TM + 1.0)


@style.styled
def thread_share() -> Picture:
    """Draw a block's tile of C with the outputs of one thread and what it needs for one k, in a column and in a square of 4 × 4."""
    shares = {"the kernel that you will write: 8 × 1": column_share(),
              "a square: 4 × 4": one_thread("sgemm_2d_tile", BM=64, BN=64, BK=16, TM=4, TN=4)}
    first = style.axes(width=11.0, height=5.2)
    figure = first.figure
    first.remove()
    for ax, (title, share) in zip(figure.subplots(1, len(shares)), shares.items(), strict=True):
        thread_share_picture(share, ax, title=title)
    column, square = shares.values()
    told = (f"In the kernel that you will write, a thread computes rows {column.a_rows[0]} to {column.a_rows[-1]} of column "
            f"{column.b_cols[0]}, and needs these rows of A's tile and this column of B's. A square: {describe_share(square)}")
    return render(ax, told)


def share_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw the outputs of one thread, and what it reads, with the kernel and the tile of `result`."""
    share = one_thread(result.kernel, **result.parameters)
    return thread_share_picture(share, style.axes(width=5.6, height=3.7)), describe_share(share)
