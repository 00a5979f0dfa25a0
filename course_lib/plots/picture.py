"""Put a figure into a notebook so that everyone can read it: a small PNG with alternative text.

JupyterLab gives an `image/png` output no alternative text, whatever its metadata says; an HTML `<img>` keeps its
`alt` in JupyterLab (trusted or not), in nbconvert's pages and in the .ipynb, so that is what `show` emits.
"""

import base64
import html
import io

import numpy as np
from IPython.display import display
from PIL import Image

from course_lib.plots.style import styled

COLOURS = 64      # flat drawings need few colours; a palette makes the PNG a third of the size


class Picture:
    """A drawn figure: PNG bytes, the size in pixels and the alternative text."""

    def __init__(self, png, size, alt):
        self.png, self.size, self.alt = png, size, alt

    def _repr_html_(self):
        return img_tag(self.png, self.alt, self.size)

    def __repr__(self):
        return f"[figure: {self.alt}]"


@styled
def render(ax, alt, *, small=True):
    """Draw an Axes' (or a Figure's) figure to a `Picture`.

    Parameters
    ----------
    ax : Axes or Figure
    alt : str
        What a reader who cannot see the figure needs to know: the finding, not the colours.
    small : bool
        Take more time for fewer bytes (for a committed notebook); a slider's picture does without.

    Raises
    ------
    ValueError
        When `alt` is empty: a figure without words is of no use to some readers.
    """
    if not alt or not alt.strip():
        raise ValueError("a figure needs alternative text: say in a sentence what it shows")
    figure = getattr(ax, "figure", None) or ax
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    image = _with_palette(pixels) if small else Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=small, compress_level=9 if small else 1)
    return Picture(buffer.getvalue(), image.size, " ".join(alt.split()))


def _with_palette(pixels):
    """Return an image of the most frequent colours: areas keep theirs exactly, edges of letters are rounded."""
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, where, counts = np.unique(packed, return_inverse=True, return_counts=True)
    rgb = (colours[:, None] >> np.array([16, 8, 0])).astype(np.int32) & 255
    kept = rgb[np.argsort(-counts, kind="stable")[:COLOURS]]
    nearest = ((rgb[:, None] - kept) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    image = Image.fromarray(nearest[where.reshape(packed.shape)])
    image.putpalette(kept.astype(np.uint8).tobytes())
    return image


def img_tag(png, alt, size=None):
    """Return an HTML image with the PNG inside it.

    >>> img_tag(b"abc", 'C is "red"', (2, 1))
    '<img alt="C is &quot;red&quot;" width="2" src="data:image/png;base64,YWJj">'
    """
    width = f' width="{size[0]}"' if size else ""
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="{html.escape(alt)}"{width} src="data:image/png;base64,{data}">'


def show(ax, alt):
    """Show a figure in the notebook with alternative text."""
    display(render(ax, alt))
