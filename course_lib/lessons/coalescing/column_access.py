"""A warp reads 32 rows of one column of a column-major matrix: leading dimension and column are moved."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.lessons.coalescing.transfers import describe_transfers, transfers
from course_lib.model.coalescing import sectors
from course_lib.model.segments import SEGMENT_BYTES, bus_bytes, effective_bandwidth, transactions
from course_lib.plots import style
from course_lib.widgets.explore import Control, Explore

LEADING = (64, 65, 66, 68, 72, 80, 96)
FLOAT, WANTED = 4, 4 * WARP             # bytes


@dataclass(frozen=True)
class ColumnAccess:
    """One warp's load of the first 32 floats of a column; the matrix begins on a boundary of 128 bytes.

    >>> ColumnAccess(72, 1).addresses[:3].tolist()
    [288, 292, 296]
    """

    lda: int
    column: int

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Return the byte address of each lane."""
        return FLOAT * (self.lda * self.column + np.arange(WARP))


def column_facts(access: ColumnAccess) -> dict[str, str]:
    """Return what the table shows, as a mapping of label to text; all of it is computed, nothing runs.

    The average is that of the wanted share over all columns, as Chien takes it.

    >>> column_facts(ColumnAccess(72, 1))["bytes moved, CC 1.3"]
    '192'
    """
    at, segment = access.addresses, SEGMENT_BYTES[FLOAT]
    n, moved = sectors(at), bus_bytes(at)
    return {
        "first byte": f"{at[0] // segment} × {segment} + {at[0] % segment}",
        "transactions, CC 1.3": str(len(transactions(at))),
        "bytes moved, CC 1.3": str(moved),
        "sectors, today": str(n),
        "bytes moved, today": str(n * SECTOR_BYTES),
        "wanted share, CC 1.3": f"{WANTED / moved:.3f}",
        "wanted share, today": f"{WANTED / (n * SECTOR_BYTES):.3f}",
        "average share, CC 1.3": f"{float(effective_bandwidth(access.lda)):.4f}",
        "average share, today": f"{float(effective_bandwidth(access.lda, today=True)):.4f}",
    }


def column_picture(access: ColumnAccess) -> tuple[Axes, str]:
    """Draw what the access moves on CC 1.3 and today; return (Axes, alternative text)."""
    title = f"lda = {access.lda}, column {access.column}"
    return transfers(access.addresses, style.axes(width=5.6, height=3.8), title=title), f"{title}. {describe_transfers(access.addresses)}"


def column_sliders(lda: int = 72, column: int = 1) -> Explore:
    """Put sliders on the leading dimension and the column."""
    controls = (Control("lda", "floats from one column to the next", LEADING, lda),
                Control("column", "which column the warp reads", tuple(range(WARP)), column))
    return Explore(controls, ColumnAccess, facts=column_facts, picture=column_picture, doing="computing", done="computed")
