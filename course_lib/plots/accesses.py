"""Picture of one warp's request to global memory: 32 lanes over 32-byte sectors."""

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from course_lib.arch import SECTOR_BYTES, WARP
from course_lib.plots import style
from course_lib.run.traces import is_load, touched_sectors
from course_lib.simt.report import TraceRecord

USED, FETCHED = style.BLUE, "#BFDDF0"


def used_bytes(record: TraceRecord) -> int:
    """Return how many distinct bytes the active lanes of a request want.

    >>> from types import SimpleNamespace
    >>> used_bytes(SimpleNamespace(addresses=np.repeat(np.arange(16), 2) * 4, width=4))
    64
    """
    first = np.asarray(record.addresses)
    return len(np.unique(first[first >= 0][:, None] + np.arange(record.width)))


def words_of(record: TraceRecord) -> str:
    """Say what one request is: "load of 4 bytes a lane, line 28"."""
    return f"{'load' if is_load(record) else 'store'} of {record.width} byte{'s' * (record.width != 1)} a lane, line {record.line}"


@style.styled
def lane_sectors(record: TraceRecord, ax: Axes | None = None, *, base: int | None = None, title: str | None = None) -> Axes:
    """Draw one request: a row per lane, a column per 4-byte word, lines between the 32-byte sectors it fetches.

    Only the sectors that the request touches are drawn, side by side; their addresses are below.

    Parameters
    ----------
    record
        Of one global load or store, up to 128 bits a lane.
    base
        Address counted as zero; default the first sector touched.

    Returns
    -------
    Axes
        Its image has the value 1 where a lane uses a word, 0.35 in the rest of the sectors fetched for it. Lines in its colour keep a word
        visible that is narrow and alone.
    """
    sectors = touched_sectors(record)
    ax = style.axes(ax, width=9.6, height=5.6)
    words, n = SECTOR_BYTES // 4, len(sectors)
    image = np.zeros((WARP, n * words))
    for lane, address in enumerate(np.asarray(record.addresses)):
        for byte in range(0, record.width if address >= 0 else 0, 4):
            column = np.searchsorted(sectors, (address + byte) // SECTOR_BYTES) * words
            image[lane, column:column + words] = np.maximum(image[lane, column:column + words], 0.35)
            image[lane, column + (address + byte) % SECTOR_BYTES // 4] = 1
    ax.imshow(image, cmap=matplotlib.colors.LinearSegmentedColormap.from_list("", ["white", FETCHED, USED]),
              vmin=0, vmax=1, aspect="auto", interpolation="nearest", extent=(0, image.shape[1], 31.5, -0.5))
    ax.vlines(np.arange(n + 1) * words, -0.5, 31.5, colors=style.GREY, linewidths=1)
    used = np.pad(image == 1, ((0, 0), (1, 1)))
    lanes, columns = np.nonzero(used[:, 1:-1] & ~used[:, :-2] & ~used[:, 2:])
    ax.vlines(columns + 0.5, lanes - 0.5, lanes + 0.5, colors=USED, linewidths=2.2, zorder=3)
    ax.hlines(np.arange(3.5, 31, 4), 0, n * words, colors=style.PALE, linewidths=0.8, zorder=0.5)
    zero = sectors[0] * SECTOR_BYTES if base is None else base
    shown = np.arange(0, n, -(-n // 9))
    ax.set_xticks(shown * words, [f"{int(s) * SECTOR_BYTES - zero:,}" for s in sectors[shown]])
    ax.set_yticks(range(0, WARP, 4))
    ax.set(xlabel=f"first byte of the sector: each box is one 32-byte sector\n{n} × 32 = {n * SECTOR_BYTES} bytes fetched, "
           f"{used_bytes(record)} used", ylabel="lane",
           title=title or f"{record.operation}, line {record.line}: one request, {n} sector{'s' * (n != 1)}")
    ax.spines[:].set_visible(False)
    return ax


@style.styled
def requests_beside(records: Mapping[str, TraceRecord], columns: int = 3, width: float = 12.6, height: float = 3.0) -> Axes:
    """Draw several requests side by side, each as `lane_sectors` does, under a title of its own, all to one scale.

    Parameters
    ----------
    records
        By their titles.
    columns
        Pictures in a row.
    width, height
        Inches: of the figure, and of each row.

    Returns
    -------
    Axes
        The first one; the others are in its figure.
    """
    rows = -(-len(records) // columns)
    first = style.axes(width=width, height=height * rows)
    figure = first.figure
    first.remove()
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (title, record) in zip(grid, records.items(), strict=False):
        lane_sectors(record, ax, title=title)
        n = len(touched_sectors(record))
        ax.set_xticks([])
        ax.set_yticks((0, 8, 16, 24, 31))
        ax.set_xlabel(f"{n} sector{'s' * (n != 1)}: {used_bytes(record)} of {n * SECTOR_BYTES} bytes used", fontsize=13)
        ax.title.set_fontsize(14)
        ax.set_xlim(0, max(len(touched_sectors(other)) for other in records.values()) * SECTOR_BYTES // 4)
    figure.supxlabel("dark: the words of a lane; pale: the rest of its sectors", fontsize=13)
    for ax in grid[len(records):]:
        ax.remove()
    for ax in grid[:len(records)]:
        ax.set_ylabel("lane" if ax.get_subplotspec().is_first_col() else "")
    return grid[0]


def describe_beside(records: Mapping[str, TraceRecord]) -> str:
    """Return the alternative text of `requests_beside`."""
    return " ".join(f"{title}: {describe_sectors(record)}" for title, record in records.items())


def describe_sectors(record: TraceRecord) -> str:
    """Return the alternative text of `lane_sectors`.

    >>> from types import SimpleNamespace
    >>> describe_sectors(SimpleNamespace(addresses=np.arange(32) * 8, width=4, line=7, operation="ld.global.f32"))
    'One request, load of 4 bytes a lane, line 7: 32 lanes, 8 bytes from each to the next, touch 8 sectors of 32 bytes; of the 256 \
bytes fetched, 128 are used.'
    """
    n, active = len(touched_sectors(record)), np.asarray(record.addresses)
    lanes = int((active >= 0).sum())
    return (f"One request, {words_of(record)}: {lanes} lane{'s' * (lanes != 1)}{_step(active[active >= 0])}, "
            f"touch{'es' * (lanes == 1)} {n} sector{'s' * (n != 1)} of 32 bytes; of the {n * SECTOR_BYTES} bytes fetched, "
            f"{used_bytes(record)} are used.")


def _step(addresses):
    """Say how far neighbouring lanes are apart, when that is the same for all."""
    steps = np.unique(np.diff(addresses))
    if len(steps) != 1:
        return ""
    return f", {steps[0]} bytes from each to the next" if steps[0] else " on one address"
