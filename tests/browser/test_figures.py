"""Figures in JupyterLab: transparent in the dark theme, light letters on its paper; they shrink with the window."""
import io

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
CELLS = ("from course_lib.plots import bars, show\nfrom course_lib.lessons import tiling\ntiling.plan()",
         "show(bars({'naive': 8.5, 'tiled': 2, 'neither': 5}, unit='sectors', title='Two kernels'), 'three bars')")


def pixels(figure):
    from PIL import Image

    return Image.open(io.BytesIO(figure.screenshot())).convert("L")


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
        lesson.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
        lesson.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        lesson.page.wait_for_timeout(500)
        lesson.shots(SHOTS, "figures-dark", whole=False)
        for figure in figures.all():
            seen = pixels(figure)
            assert seen.getpixel((2, 2)) < 30, "the notebook's own paper"
            assert seen.getextrema()[1] > 210, "light letters"
        lesson.page.set_viewport_size({"width": 600, "height": 800})
        lesson.page.wait_for_timeout(500)
        for figure in figures.all():
            box, cell = figure.bounding_box(), figure.locator("xpath=ancestor::*[contains(@class, 'jp-Cell')][1]").bounding_box()
            assert box["x"] + box["width"] <= cell["x"] + cell["width"] + 1
        lesson.shots(SHOTS, "figures-narrow", whole=False)
        assert lesson.errors == []
