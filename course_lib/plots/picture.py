"""Put a figure into a notebook so that everyone can read it: with alternative text, in light and dark themes, full screen.

JupyterLab gives an image output no alternative text, whatever its metadata says; an HTML `<img>` keeps its
`alt` in JupyterLab (trusted or not), in nbconvert's pages and in the .ipynb, so that is what `show` emits.
"""

import base64
import hashlib
import html
import io
import itertools
import os
import re
from dataclasses import dataclass

import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from course_lib.plots import style, themes

Drawn = tuple[Axes | Figure, str]       # a drawing and its alternative text

COLOURS = 64            # flat drawings need few colours; a palette makes the PNG a third of the size
MOST_BYTES = 150_000    # of an SVG; a map of thousands of elements has more, and becomes a PNG
NUMBERS = itertools.count(1)             # of the pictures of this process: the same picture may be on a page twice
FIGURES = "COURSE_FIGURES"              # "png" where notebooks are committed: GitHub shows no SVG, and a PNG is smaller

# An SVG in an `<img>` takes the theme from the element's `color-scheme`. Full screen needs no program: the picture lies in a popover that
# is shown in its place until its button opens it; Escape and a click beside it close it. A PNG keeps its white paper in every theme.
STYLE = ("<style>.wbw-zoom{color-scheme:light}[data-jp-theme-light=false] .wbw-zoom,.vscode-dark .wbw-zoom{color-scheme:dark}"
         ".wbw-zoom:not(:popover-open){display:inline-block;position:relative;inset:auto;max-width:100%;margin:0;padding:0;border:0;"
         "overflow:visible;background:none}"
         ".wbw-zoom:popover-open{display:flex;inset:0;width:100%;height:100%;box-sizing:border-box;padding:1vmin;border:0;background:Canvas}"
         '.wbw-zoom:popover-open img{width:100%;height:100%;object-fit:contain}.wbw-figure[src^="data:image/p"]{background:#fff}'
         ".wbw-enlarge{position:absolute;right:2px;top:2px;font-size:18px;opacity:0}"
         ".wbw-zoom:hover .wbw-enlarge,.wbw-enlarge:focus-visible{opacity:1}@media(hover:none){.wbw-enlarge{opacity:1}}</style>")


@dataclass(frozen=True)
class Picture:
    """A drawn figure: an SVG or a PNG, its size in pixels and the alternative text."""

    data: bytes
    kind: str               # "svg+xml" or "png"
    size: tuple[int, int]
    alt: str

    def _repr_html_(self):
        return STYLE + img_tag(self.data, self.kind, self.alt, self.size)

    def __repr__(self):
        return f"[figure: {self.alt}]"


@style.styled
def render(ax: Axes | Figure, alt: str, *, small: bool = True) -> Picture:
    """Draw an Axes' (or a Figure's) figure to a `Picture`.

    Parameters
    ----------
    alt
        What a reader who cannot see the figure needs to know: the finding, not the colours.
    small
        Take more time for fewer bytes of a PNG (for a committed notebook); a slider's picture does without.

    Raises
    ------
    ValueError
        When `alt` is empty: a figure without words is of no use to some readers.
    """
    if not alt or not alt.strip():
        raise ValueError("a figure needs alternative text: say in a sentence what it shows")
    figure = style.figure_of(ax)
    figure.canvas.draw()                     # the layout needs it; axes that change their ticks, too
    width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
    data, kind = (b"", "png") if os.environ.get(FIGURES) == "png" else (_svg(figure), "svg+xml")
    if not data or len(data) > MOST_BYTES:
        data, kind = _png(figure, small), "png"
    return Picture(data, kind, (width, height), " ".join(alt.split()))


def _svg(figure):
    """Return the figure as an SVG that knows both themes, without what only programs read; the same figure gives the same bytes."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
    text = re.sub(r"\b[1-9]\d*\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), text)
    text = re.sub(r' d="[^"]*"', lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found[0][4:-1]).join((' d="', '"')), text)
    return themes.themed(re.sub(r">\s+<", "><", re.sub(r"\s+", " ", text)).strip()).encode()


def _png(figure, small):
    """Return the pixels that were drawn last."""
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    buffer = io.BytesIO()
    image = _with_palette(pixels) if small else Image.fromarray(pixels)
    image.save(buffer, "PNG", optimize=small, compress_level=9 if small else 1)
    return buffer.getvalue()


def _with_palette(pixels):
    """Return an image of the most frequent colours: areas keep theirs exactly, edges of letters are rounded."""
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, where, counts = np.unique(packed, return_inverse=True, return_counts=True)
    rgb = (colours[:, None] >> np.array([16, 8, 0])).astype(np.int32) & 255
    chosen = rgb[np.argsort(-counts, kind="stable")[:COLOURS]]
    nearest = ((rgb[:, None] - chosen) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    image = Image.fromarray(nearest[where.reshape(packed.shape)])
    image.putpalette(chosen.astype(np.uint8).tobytes())
    return image


def img_tag(data: bytes, kind: str, alt: str, size: tuple[int, int]) -> str:
    """Return an HTML image with the picture inside it and a button for full screen; it shrinks where there is no space for its width.

    >>> print(img_tag(b"abc", "png", 'C is "red"', (2, 1)).partition("<img")[2])   # doctest: +NORMALIZE_WHITESPACE, +ELLIPSIS
     alt="C is &quot;red&quot;" class="wbw-figure" width="2" style="max-width:100%" src="data:image/png;base64,YWJj"><button
    class="wbw-enlarge"
    popovertarget="wbw-a9993e364706-..." aria-label="Picture in full screen, or back" title="Full screen, or back">⤢</button></span>
    """
    name = f"wbw-{hashlib.sha1(data, usedforsecurity=False).hexdigest()[:12]}-{next(NUMBERS)}"
    look = f'class="wbw-figure" width="{size[0]}" style="max-width:100%"'
    image = f'<img alt="{html.escape(alt)}" {look} src="data:image/{kind};base64,{base64.b64encode(data).decode("ascii")}">'
    words = 'aria-label="Picture in full screen, or back" title="Full screen, or back"'
    button = f'<button class="wbw-enlarge" popovertarget="{name}" {words}>⤢</button>'
    return f'<span class="wbw-zoom" id="{name}" popover>{image}{button}</span>'


def show(ax: Axes | Figure, alt: str) -> None:
    """Show a figure in the notebook with alternative text."""
    display(render(ax, alt))
