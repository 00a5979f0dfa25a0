"""Figures in JupyterLab: the dark theme has dark paper, and colours as they are named; they shrink with the window, and fill the screen."""
import io

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
BLUE, ORANGE = (0, 0x72, 0xB2), (0xE6, 0x9F, 0)
CELLS = ("from course_lib.plots import bars, show\nfrom course_lib.lessons import tiling\ntiling.asked()",
         "show(bars({'naive': 8.5, 'tiled': 2, 'neither': 5}, unit='sectors', title='Two kernels'), 'three bars')")


def pixels(figure):
    from PIL import Image

    return Image.open(io.BytesIO(figure.screenshot())).convert("L")


def found(figure, colour):
    """Say whether a hundredth of a figure has a colour, by its red, green and blue."""
    from PIL import Image

    image = Image.open(io.BytesIO(figure.screenshot())).convert("RGB")
    return sum(count for count, each in image.getcolors(1 << 24) if each == colour) > image.width * image.height / 100


def full_screen(lesson, figure):
    """Open a figure by the keyboard, see it fill the window, and close it."""
    page, before = lesson.page, figure.bounding_box()
    button = page.locator(".wbw-enlarge").last
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    box, window = figure.bounding_box(), page.viewport_size
    assert box["width"] > 0.95 * window["width"] or box["height"] > 0.95 * window["height"]
    assert pixels(figure).getpixel((4, 4)) < 30
    page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert figure.bounding_box()["width"] == before["width"]


def test_a_figure_is_dark_in_the_dark_theme_and_never_wider_than_its_cell(tmp_path):
    from pictures import SHOTS

    from tools.browser import open_lesson

    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS]), tmp_path / "t.ipynb")
    with open_lesson(tmp_path / "t.ipynb") as lesson:
        assert lesson.run_all() == []
        figures = lesson.page.locator(".jp-OutputArea img")
        assert figures.count() == 2
        lesson.shots(SHOTS, "figures-light", whole=False)
        assert pixels(figures.last).getpixel((2, 2)) == 255
        assert pixels(figures.last).getextrema()[0] < 60, "dark letters"
        assert all(found(figures.last, colour) for colour in (BLUE, ORANGE))
        lesson.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
        lesson.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        lesson.page.wait_for_timeout(500)
        lesson.shots(SHOTS, "figures-dark", whole=False)
        for figure in figures.all():
            seen = pixels(figure)
            assert seen.getpixel((2, 2)) < 30, "the notebook's own paper"
            assert seen.getextrema()[1] > 210, "light letters"
        assert all(found(figures.last, colour) for colour in (BLUE, ORANGE)), "what a text calls blue and orange is so here"
        full_screen(lesson, figures.last)
        lesson.page.set_viewport_size({"width": 600, "height": 800})
        lesson.page.wait_for_timeout(500)
        for figure in figures.all():
            box, cell = figure.bounding_box(), figure.locator("xpath=ancestor::*[contains(@class, 'jp-Cell')][1]").bounding_box()
            assert box["x"] + box["width"] <= cell["x"] + cell["width"] + 1
        lesson.shots(SHOTS, "figures-narrow", whole=False)
        assert lesson.errors == []
