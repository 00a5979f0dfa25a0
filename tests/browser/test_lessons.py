"""Lessons 01 and on in JupyterLab: every cell runs, every slider and list does something by keyboard and by mouse, no error in the console.

Pictures of each lesson's main widget at 1280 and 1920 pixels, and a table of the moves, lie in build/screenshots afterwards.
"""
from pathlib import Path

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))[1:]      # all but 00
ALWAYS = {"01", "03", "06", "08"}    # on the walk from the triple loop on; the others in `make test-exhaustive`
PICTURES_ALONE = {"01", "05", "15", "18", "21"}    # no slider of ours: the tests of their pictures move those

WIDGETS = """\
import ipywidgets
fine, dead = (ipywidgets.IntSlider(value=3, max=9, description=name) for name in ("fine", "dead"))
text = ipywidgets.HTML()
show = lambda change=None: setattr(text, "value", f"<table><tr><td>{fine.value ** 2}</td></tr></table>")
fine.observe(show, "value")
show()
ipywidgets.VBox([fine, dead, ipywidgets.Dropdown(options=["a", "b"], description="deaf"), text])"""


def test_a_dead_slider_and_an_error_in_the_console_are_seen(tmp_path, monkeypatch):
    """The test below could fail."""
    from tools.lesson import moves

    monkeypatch.setattr(moves, "MOVES", 3)
    script = "from IPython.display import Javascript\nJavascript('console.error(\"by hand\")')"
    cells = [nbformat.v4.new_code_cell(text) for text in (WIDGETS, script)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "t.ipynb")
    done = moves.visit(tmp_path / "t.ipynb", tmp_path)
    assert done.failed == []
    assert [(m.control, m.how, m.start, m.end) for m in done.moves if m.seconds is not None] == [
        ("fine", "keyboard", "3", "4"), ("fine", "mouse", "4", "3")]
    assert [(m.control, m.start, m.end) for m in done.moves if m.seconds is None] == [
        ("dead", "3", "4"), ("dead", "4", "3"), ("deaf", "a", "b"), ("deaf", "b", "a")]
    assert any("by hand" in error for error in done.errors)
    assert [path.name for path in done.shots] == ["t-widget-1280.png", "t-widget-1920.png"]


@pytest.mark.parametrize("notebook", [pytest.param(path, id=path.stem, marks=() if path.stem[:2] in ALWAYS else pytest.mark.exhaustive)
                                      for path in LESSONS])
def test_everything_in_a_lesson_moves(notebook):
    from tools.lesson.moves import visit

    done = visit(notebook)
    assert done.failed == []
    assert done.moves or notebook.stem[:2] in PICTURES_ALONE
    assert [str(move) for move in done.moves if move.seconds is None or move.start == move.end] == []
    assert done.errors == []
    assert len(done.shots) == 2 or not done.moves
