"""Products whose tiled kernels differ in how they load a tile of B: the line that loads it, and recorded times."""

import re
from collections.abc import Sequence
from typing import Any

from course_lib import data, kernels
from course_lib.data import Record
from course_lib.data.documents import LEE_GPU
from course_lib.lessons.coalescing import experiments
from course_lib.lessons.coalescing.experiments import product_us
from course_lib.plots import Picture, Table, bars, render, source_listing, style

N_TIMED, T = 4096, 16
SIZES = (256, 512, 1024, 2048, 4096)
PADDINGS = (0, 8, 32, 72)                                               # unused floats after each row of B, recorded with line 29
PROFILED = (1024, 4096)                                                  # where line 29 was recorded without its unused float
UNCOALESCED, FIRST, LOADS, LAST = "sgemm_uncoalesced", 18, (26, 29), 33  # the lines of its tiles, of their loads, and of its loop


def recorded_product(kernel: str, N: int = N_TIMED) -> Record:
    """Return a recorded time of a kernel with tiles, or blocks, of 16 × 16."""
    found = data.load("lee").find(kernel, N) or data.load("ladder").find(kernel, N)
    return found[0]


def label() -> str:
    """Say where and when the times were recorded."""
    return data.load("ladder").label


class _WithLanes(Table):
    """A listing in which the index of the lanes is coloured in both loads."""

    def _row_html(self, i: int, row: Sequence[Any]) -> str:
        text = super()._row_html(i, row)
        return re.sub(r"\btx\b", '<b style="color:#b9321f">tx</b>', text) if i in self.marked else text


def b_line() -> Table:
    """Return a listing of the kernel that reads a tile of B down its columns: both loads marked, tx coloured, no comment that says it."""
    source = "\n".join("" if "Lanes run along" in line else line for line in kernels.get(UNCOALESCED).source.splitlines())
    found = source_listing(source, {}, columns=(), first=FIRST, last=LAST, caption=f"{UNCOALESCED}.cu", mark=LOADS)
    return _WithLanes(found.header, found.rows, found.caption, mono=found.mono, marked=found.marked)


LADDER = (("naive", "naive"), ("tiled, B read down its columns", "down"), ("the same, line 29 changed", "along"),
          ("tiled, as in lesson 04", "tiled"))


def product_ms(variant: str) -> float:
    """Return the recorded time of a product at N = 4096 in milliseconds."""
    return product_us(variant, N_TIMED) / 1e3


def line_29_ms() -> float:
    """Return the recorded time, in tenths of a millisecond, of the kernel that reads B down its columns once its line 29 is changed."""
    return round(product_ms("along"), 1)


@style.styled
def line_29_chart() -> Picture:
    """Draw the recorded times of the products with tiles of 16 × 16, from the naive kernel to the tiled one."""
    times = {name: product_ms(variant) for name, variant in LADDER}
    ax = bars(times, unit=f"ms at N = {N_TIMED}, {experiments.label().replace('Recorded', 'recorded')}")
    for bar, (name, _) in zip(ax.patches, LADDER, strict=True):
        bar.set_facecolor(style.VERMILION if name == LADDER[1][0] else style.BLUE if name == LADDER[2][0] else style.GREY)
    ax.set_title("What one line is worth")
    return render(ax, "Bars of milliseconds. " + "; ".join(f"{name}: {ms:.1f}" for name, ms in times.items()) + ".")


def gain_table() -> Table:
    """Return the times of line 29 and of its repair at N = 4096, when unused floats after each row of B move where the rows begin."""
    ms = {(r["padding"], r["along"]): 1e3 * r["median_s"] for r in again().find(lesson="05", N=N_TIMED)}
    rows = [(padding, starts(padding), f"{ms[padding, False]:.1f}", f"{ms[padding, True]:.1f}") for padding in PADDINGS]
    header = ("unused floats per row", "bytes of a cache line at which the 16 rows begin", "old line 29, ms", "repaired, ms")
    return Table(header, rows, f"{N_TIMED} × {N_TIMED} matrices, {again().label}")


def again() -> data.Readings:
    """Return what was recorded of products whose rows of B are longer."""
    return data.readings("again")


def starts(padding: int) -> str:
    """Say at which bytes of a cache line the rows of B begin.

    >>> starts(8)
    '0, 32, 64, 96'
    """
    return ", ".join(map(str, sorted({4 * row * (N_TIMED + padding) % 128 for row in range(T)})))


def slides() -> Table:
    """Return the times on Lee's slides beside ours, without and with an unused float per row of B's tile."""
    tiling, coalescing = LEE_GPU.column("Tiling"), LEE_GPU.column("Coalescing")
    ours = ("sgemm_coalesced", UNCOALESCED, "sgemm_padded")
    rows = [(n, f"{tiling[n]:.2f}", f"{coalescing[n]:.2f}", f"{product_us('down, unpadded', n) / 1e3:.3g}" if n in PROFILED else "",
             *(f"{1e3 * recorded_product(kernel, n).seconds:.3g}" for kernel in ours)) for n in SIZES]
    header = ("N", "slides: Tiling, s", "slides: Coalescing, s", "line 29, ms", "the slides' repair, ms",
              "line 29, unused float, ms", "the slides' repair, unused float, ms")
    return Table(header, rows, f"Slides: GTX 690. Kernels with tiles of 16 × 16: {label()}; "
                               f"line 29 without an unused float: {data.readings('coalescing').date}, at two sizes only")
