"""What padded columns did for a GPU of 2008 and what they do today: wanted share of the bytes that a warp moves."""

from course_lib import model
from course_lib.plots import Table

LEADING = (64, 65, 68, 72, 80)         # floats from one column to the next: 64 rows and some padding


def old_and_new() -> Table:
    """Return, for several paddings, the wanted share of what a warp moves that reads 32 floats of each column."""
    rows = [(lda, *(f"{float(model.effective_bandwidth(lda, today=today)):.4f}" for today in (False, True))) for lda in LEADING]
    return Table(("lda", "GT200", "sectors, today"), rows, "Wanted share of the moved bytes, on average over the columns; computed")
