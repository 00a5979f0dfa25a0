"""Pictures of cache lines, drawn from the accesses of a program that ran: which lines it fetched, and what it used of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.model.cache_lines import MATRICES, first_lines
from course_lib.plots import style

ABSENT, HELD, FETCHED = "#FFFFFF", style.SKY, style.ORANGE
INDEXED = {"A": "A(i, k)", "B": "B(k, j)", "C": "C(i, j)"}      # rows go down, columns to the right


@dataclass(frozen=True)
class Window:
    """The state of the cache after some multiply-adds, and what the last ones of them did.

    Attributes
    ----------
    step, last
        Steps until now; how many of them, the last ones, are looked at.
    line
        Elements of a line.
    held, fetched, used
        By matrix, "A", "B" or "C", for each element: is its line in the cache now; was its line fetched by the last multiply-adds;
        did one of them use the element itself.
    misses, uses
        By matrix: lines fetched by the last steps, and different elements that they used.
    unit
        What a step is.
    """

    step: int
    last: int
    line: int
    held: dict[str, NDArray[np.bool_]]
    fetched: dict[str, NDArray[np.bool_]]
    used: dict[str, NDArray[np.bool_]]
    misses: dict[str, int]
    uses: dict[str, int]
    unit: str = "multiply-adds"


class LineTrace(Protocol):
    """What `line_window` reads: a `LineCount`, or as much of one."""

    @property
    def trace(self) -> NDArray[Any]: ...

    @property
    def C(self) -> NDArray[Any]: ...

    @property
    def cache(self) -> Any: ...

    @property
    def shapes(self) -> tuple[Any, ...]: ...


def line_window(counted: LineTrace, step: int, last: int = 16, each: int = 3, unit: str = "multiply-adds") -> Window:
    """Return the `Window` after some multiply-adds, or other steps.

    Parameters
    ----------
    counted
        From `count_lines` with `trace` large enough: three accesses for each multiply-add.
    step, last
        1 and up; `last` may be larger than `step`.
    each
        Accesses of a step.
    unit
        What a step is called.

    Raises
    ------
    CourseError
        When the trace is too short.
    """
    if not 1 <= step <= len(counted.trace) // each:
        raise CourseError(f"step {step}: the trace has {len(counted.trace) // each} {unit}, counted from 1")
    itemsize = counted.C.itemsize
    per_line = counted.cache.line // itemsize
    first = first_lines(counted.shapes, itemsize, counted.cache.line)
    begin = max(0, step - last)
    trace = counted.trace[:each * step]
    held = set()
    for line, fetched, evicted in trace[:, 3:].tolist():
        if fetched:
            held.add(line)
            held.discard(evicted)
    recent = trace[each * begin:]
    lines = {int(line) for line in recent[recent[:, 4] == 1, 3]}
    where = {name: _lines_of_elements(shape, start, per_line) for name, shape, start in zip(MATRICES, counted.shapes, first, strict=True)}
    used = {name: np.zeros(lines_of.shape, bool) for name, lines_of in where.items()}
    for matrix, row, col in recent[:, :3].tolist():
        used[MATRICES[matrix]][row, col] = True
    return Window(step, step - begin, per_line,
                  {name: np.isin(at, sorted(held)) for name, at in where.items()},
                  {name: np.isin(at, sorted(lines)) for name, at in where.items()}, used,
                  {name: int(recent[recent[:, 0] == m, 4].sum()) for m, name in enumerate(MATRICES)},
                  {name: int(u.sum()) for name, u in used.items()}, unit)


def _lines_of_elements(shape, first, per_line):
    """Return the number of the line of each element."""
    rows, cols, ld = shape
    return first + (np.arange(rows)[:, None] * ld + np.arange(cols)) // per_line


@style.styled
def cache_lines(window: Window, *, title: str | None = None, indexed: Mapping[str, str] = INDEXED) -> Figure:
    """Draw A, B and C: lines that the cache holds, lines just fetched, and the elements that were used.

    Parameters
    ----------
    indexed
        What an element of each matrix is called; default A(i, k), B(k, j), C(i, j).

    Returns
    -------
    Figure
        With three Axes.
    """
    figure = Figure(figsize=(10.6, 4.5), dpi=style.DPI)     # positions by hand: to find a layout takes longer than all the drawing
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.035, right=0.99, bottom=0.16, top=0.81, wspace=0.1)
    for ax, name in zip(figure.subplots(1, 3), MATRICES, strict=True):
        _matrix(ax, name, window, indexed[name])
    figure.suptitle(title or f"after {window.step} {window.unit}", x=0.01, y=0.99, ha="left", va="top", fontsize=16)
    handles = [Line2D([], [], linestyle="none", marker="s", markersize=9, color=style.INK, label=f"used by the last {window.last}"),
               Patch(facecolor=FETCHED, edgecolor=style.GREY, label="line fetched for them"),
               Patch(facecolor=HELD, edgecolor=style.GREY, label="line in the cache"),
               Patch(facecolor=ABSENT, edgecolor=style.GREY, label="not in the cache"),
               Line2D([], [], linestyle="none", marker="|", markersize=14, color=style.INK, markeredgewidth=1.2, label="where lines meet")]
    figure.legend(handles=handles, loc="lower left", ncols=5, frameon=False, fontsize=12,
                  columnspacing=1.3, handletextpad=0.5, handlelength=1.6)
    return figure


def _matrix(ax, name, window, element):
    rows, cols = window.used[name].shape
    code = np.where(window.held[name], 1, 0)
    code = np.where(window.fetched[name], 2, code)
    palette = np.array([matplotlib.colors.to_rgb(c) for c in (ABSENT, HELD, FETCHED)])
    ax.imshow(palette[code], interpolation="nearest", aspect="equal")
    at_row, at_col = np.nonzero(window.used[name])
    ax.plot(at_col, at_row, linestyle="none", marker="s", markersize=150 / max(rows, cols), color=style.INK, markeredgewidth=0)
    ax.hlines(np.arange(rows + 1) - 0.5, -0.5, cols - 0.5, colors=style.GREY, linewidths=0.4)
    ax.vlines(np.arange(0, cols + 1, window.line) - 0.5, -0.5, rows - 0.5, colors=style.INK, linewidths=1.2)
    ticks = [0, *range(window.line, cols, window.line), cols - 1]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.set_yticks([0, rows - 1])
    fetched, used = _plural(window.misses[name], "line"), _plural(window.uses[name], "element")
    ax.set_title(f"{element}: {fetched} fetched,\n{used} used", fontsize=14)


def _plural(count, word):
    """Return "1 line", "2 lines".

    >>> _plural(1, "line"), _plural(0, "line")
    ('1 line', '0 lines')
    """
    return f"{count} {word}{'s' * (count != 1)}"


def describe_lines(window: Window) -> str:
    """Return the alternative text of `cache_lines`."""
    said = [f"{name} {_plural(window.misses[name], 'line')} fetched and {_plural(window.uses[name], 'element')} used"
            for name in MATRICES]
    return (f"A, B and C with their lines of {window.line} elements, after {window.step} {window.unit}. "
            f"In the last {window.last}: {', '.join(said)}.")
