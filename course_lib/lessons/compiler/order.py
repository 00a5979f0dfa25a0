"""The order of a tile's pieces of 16 bytes in shared memory: the reader's, checked, and Triton's, traced and drawn."""

import numpy as np
from matplotlib.axes import Axes

from course_lib import simt
from course_lib.kernels.triton import Setting
from course_lib.plots import Table, render, style
from course_lib.plots.picture import Picture
from course_lib.run.result import counter_name
from course_lib.run.triton import multiply
from course_lib.widgets.compute import inputs

OF_A = 19                        # line of the load of A
PIECE = 16                       # bytes that one copy brings
LINE = 8                         # pieces that all 32 banks hold: two rows of A's tile
HUES = style.CYCLE[:4]           # of pieces 0 to 3


def traced_order(stages: int = 3) -> list[tuple[int, int]]:
    """Return what Triton's copies put into each 16 bytes of A's tile, from its beginning: (row, piece).

    >>> traced_order()[8:12]
    [(2, 1), (2, 0), (2, 3), (2, 2)]
    """
    setting, (A, B, _) = Setting(stages), inputs(64, 64, 32)
    report = multiply(A, B, setting, trace=[(0, warp) for warp in range(setting.warps)]).report
    each = 2 * setting.BK // PIECE
    asked = [r for r in report.trace if r.line == OF_A and r.operation.startswith("cp.async.c") and r.width]
    found: dict[int, tuple[int, int]] = {}
    for source, target in zip(asked[::2], asked[1::2], strict=True):            # traced twice: where it reads, and where it writes
        for there, here in zip(np.asarray(source.addresses), np.asarray(target.addresses), strict=True):
            if there >= 0:
                row, piece = divmod(int(there - report.arrays[0].address) // PIECE, each)
                found[int(here // PIECE)] = (row, piece)
    return [found[place] for place in range(len(found))]


@style.styled
def draw_orders(rows: int = 8) -> list[Axes]:
    """Draw the first rows in order, and as Triton's copies put them: a column for four banks, a line for two rows, a hue for a piece."""
    orders = {"in order": [divmod(place, 4) for place in range(4 * rows)], "Triton's copies, traced": traced_order()[:4 * rows]}
    upper = style.axes(width=9.6, height=4.6)
    figure = style.figure_of(upper)
    upper.remove()
    drawn = list(figure.subplots(len(orders), 1, sharex=True))
    for ax, (title, order) in zip(drawn, orders.items(), strict=True):
        _draw_order(ax, order)
        ax.set_title(title, loc="left", fontsize=13)
    drawn[-1].set_xticks([column + 0.5 for column in range(LINE)], [f"{4 * n} to {4 * n + 3}" for n in range(LINE)], fontsize=12)
    drawn[-1].set_xlabel("banks", fontsize=12)
    return drawn


def _draw_order(ax: Axes, order: list[tuple[int, int]]) -> None:
    for place, (_, piece) in enumerate(order):
        line, column = divmod(place, LINE)
        ax.barh(line + 0.5, 1, left=column, height=0.94, color=HUES[piece], edgecolor="white")
        ax.text(column + 0.5, line + 0.5, f"piece {piece}", ha="center", va="center", fontsize=12, color=style.text_on(HUES[piece]))
    lines = len(order) // LINE
    ax.set(xlim=(0, LINE), ylim=(lines, 0))
    ax.axvline(LINE / 2, color=style.INK, linewidth=2.5)                        # between the two rows of a line
    ax.set_yticks([line + 0.5 for line in range(lines)], [f"rows {2 * n} and {2 * n + 1}" for n in range(lines)], fontsize=12)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


def pieces() -> Picture:
    """Show where Triton's copies put the first eight rows of A's tile, below the same rows in order."""
    order = traced_order()
    said = "; ".join(f"rows {n} and {n + 1}: {' '.join(str(piece) for _, piece in order[4 * n:4 * n + LINE])}" for n in range(0, 8, 2))
    return render(draw_orders()[0], "Eight rows of four pieces over the 32 banks, two rows a line. In order every line is 0 1 2 3 0 1 2 3. "
                  f"By Triton's copies: {said}. There each column of four banks has every piece once.")


def check_pieces(kernel: str) -> Table:
    """Run the reader's kernel that moves 64 rows of four pieces through shared memory; return what its order of the pieces costs.

    Parameters
    ----------
    kernel
        CUDA text: what `%%cuda` keeps. Its kernel `pieces` has 128 threads and takes `in` and `out`, 1024 floats each.
    """
    moved, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    report = simt.launch(kernel, "pieces", 1, 128, [moved, out], racecheck=True, trace=[(0, warp) for warp in range(4)])
    stores = [[r for r in report.trace if r.warp == warp and r.space == "shared" and r.operation.startswith("st.")] for warp in range(4)]
    places = {128 * turn + 32 * warp + lane: int(address) // PIECE for warp, found in enumerate(stores) for turn, r in enumerate(found)
              for lane, address in enumerate(r.addresses)}
    strays = [f"no: piece {n % 4} of row {n // 4} lies in row {place // 4}" for n, place in sorted(places.items()) if place // 4 != n // 4]
    right = "right" if (moved == out).all() and not report.hazards else "wrong"
    rows = [("wavefronts of the stores", report.counters[counter_name("wavefronts", "store")], "32"),
            ("wavefronts of the loads", report.counters[counter_name("wavefronts", "load")], "32"),
            ("each row holds its own four pieces", strays[0] if strays else "yes", "yes"), ("what arrives in out", right, "right")]
    return Table(("", "your kernel", "wanted"), rows, "pieces: one block of 128 threads, simulated")
