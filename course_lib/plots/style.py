"""The one look of every figure: colours, type sizes, and axes that belong to no global state.

Colours are Okabe and Ito's, which stay distinct under the common colour blindnesses; type is large enough for
the last row of a lecture room. A figure is a plain `Figure` outside pyplot, so nothing shows twice, nothing is
held alive, and a background thread may draw.
"""

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import matplotlib
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from course_lib.plots import themes

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, INK, GREY, PALE = "#56B4E9", "#CC79A7", "#F0E442", "#222222", "#9A9A9A", "#EDEDED"
CYCLE = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DPI = 100

RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "axes.titlesize": 15,
    "axes.titlelocation": "left",
    "axes.labelsize": 14,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 12,
    "legend.frameon": False,
    "axes.prop_cycle": cycler(color=CYCLE),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "lines.linewidth": 2.5,
    "lines.markersize": 8,
    "axes.grid": False,
    "grid.color": "#D0D0D0",
    "svg.fonttype": "path",             # other machines have other letters
    "svg.hashsalt": "the same figure, the same names of its parts",
}

P = ParamSpec("P")
T = TypeVar("T")
_drawing = threading.RLock()     # rcParams are global to the process: one figure is drawn at a time


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Decorate a drawing function so that it runs under the course's look, one thread at a time."""
    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        with _drawing, matplotlib.rc_context(RC):
            return draw(*args, **kwargs)
    return wrapper


@styled
def axes(ax: Axes | None = None, width: float = 9.0, height: float = 4.5) -> Axes:
    """Return `ax`, or the only Axes of a new figure of `width` by `height` inches.

    >>> axes(width=4, height=3).figure.get_size_inches().tolist()
    [4.0, 3.0]
    """
    if ax is not None:
        return ax
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def figure_of(ax: Axes | Figure) -> Figure:
    """Return the figure of an Axes, or the figure itself.

    >>> figure_of(axes(width=4, height=3)).get_size_inches().tolist()
    [4.0, 3.0]
    """
    return ax if isinstance(ax, Figure) else cast(Figure, ax.figure)      # the library makes no figures inside figures


def marker(i: int) -> str:
    """Return the marker of entry `i` beside colour `CYCLE[i % 8]`: no pair comes twice among 64 entries.

    >>> len({(marker(i), i % 8) for i in range(64)}), marker(0), marker(8)
    (64, 'o', 's')
    """
    return MARKERS[(i + i // len(CYCLE)) % len(MARKERS)]


def legend_beside(ax: Axes, handles: Sequence[Artist] | None = None) -> Legend:
    """Set the legend to the right of the drawing, where it covers nothing; small type when it is long."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    return ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.3,
                     fontsize=12 if len(handles) < 14 else 11)


def text_on(colour: str) -> str:
    """Return black or white, whichever reads better on `colour`; in every theme, even where `colour` is another one there.

    >>> text_on("#0072B2"), text_on("#F0E442"), text_on("#BFDDF0")
    ('#fefefe', '#010101', 'black')
    """
    r, g, b = matplotlib.colors.to_rgb(colour)
    black = 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.45
    if themes.flips(matplotlib.colors.to_hex(colour)):
        return "black" if black else "white"
    return themes.FIXED_BLACK if black else themes.FIXED_WHITE
