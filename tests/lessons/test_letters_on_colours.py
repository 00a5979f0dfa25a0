"""Letters that lie on a coloured area of a lesson's picture can be read in both themes."""
import matplotlib.colors
import numpy as np
import pytest

from course_lib.lessons.bank_conflicts.in_memory import rows_in_banks
from course_lib.lessons.coalescing.layouts import layouts, pieces
from course_lib.lessons.cpu.recorded import climb
from course_lib.lessons.first_kernel.plan import plan
from course_lib.lessons.first_kernel.surplus import surplus
from course_lib.lessons.register_blocking.share import thread_share
from course_lib.lessons.start.pictures import draw_threads
from course_lib.lessons.tensor_cores.pictures import work_of_a_warp
from course_lib.lessons.unrolling.charts import by_factor
from course_lib.plots import picture, render, style, themes

LEAST = 2.8         # white on orange, the worst of `style.text_on`


def contrast(*colours):
    """Return the contrast of two colours, 1 to 21, as WCAG 2.2 defines it."""
    def luminance(colour):
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in matplotlib.colors.to_rgb(colour)]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    darker, lighter = sorted(map(luminance, colours))
    return (lighter + 0.05) / (darker + 0.05)


def vanishing(figure):
    """Return (text, fill, contrast in the light theme, in the dark one) of the letters on an opaque area that can hardly be read."""
    found = []
    for ax in figure.axes:
        for text in (text for text in ax.texts if text.get_text().strip()):
            box = text.get_window_extent()
            at = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
            below = [p for p in ax.patches if p.get_facecolor()[3] == 1 and p.contains_point(at)]
            if below:
                fill, ink = (matplotlib.colors.to_hex(c) for c in (below[-1].get_facecolor(), text.get_color()))
                both = contrast(ink, fill), contrast(themes.dark(ink), themes.dark(fill))
                found += [(text.get_text(), fill, *both)] if min(both) < LEAST else []
    return found


PICTURES = {
    "threads": lambda: render(draw_threads(16), "threads"),
    "climb": climb, "plan": plan, "surplus": surplus, "layouts": layouts, "pieces": pieces,
    "banks": rows_in_banks, "boxes": by_factor, "outputs": thread_share, "warp": work_of_a_warp,
}


@pytest.mark.parametrize("name", PICTURES)
def test_letters_on_a_coloured_area_are_read_in_both_themes(name, monkeypatch):
    monkeypatch.delenv(picture.FIGURES, raising=False)
    names = render.__wrapped__.__globals__       # of the module that the lessons use: pytest may hold another one of that name
    drawn, svg = [], names["_svg"]
    monkeypatch.setitem(names, "_svg", lambda figure: drawn.append(figure) or svg(figure))
    PICTURES[name]()
    assert [vanishing(figure) for figure in drawn] == [[]]


def test_letters_that_turn_around_on_a_hue_are_found():
    ax = style.axes()
    ax.bar([0, 1], [2, 2], width=1, color=[style.YELLOW, style.PALE])
    ax.text(0, 1, "ink", color=style.INK)
    ax.text(1, 1, "grey", color=style.INK)
    ax.figure.canvas.draw()
    assert [text for text, *_ in vanishing(ax.figure)] == ["ink"]
