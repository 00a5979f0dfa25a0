"""Lessons for those who use no mouse or do not see: the keyboard alone goes through lesson 04, and axe-core goes over lessons."""
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
ALWAYS = {"04", "11"}                    # the others in `make test-exhaustive`
OURS = [[".jp-OutputArea-output"], [".jp-RenderedMarkdown"]]
# Where a table is wider than its cell, JupyterLab makes the area of the output scroll, and gives it no stop of the Tab key.
# The area is JupyterLab's; our tables are nowhere in a box of their own that scrolls.
JUPYTERLABS = {"scrollable-region-focusable": ".jp-OutputArea-output"}


class Keys:
    """The keyboard of an open lesson."""

    def __init__(self, lesson):
        self.lesson, self.page, self.press = lesson, lesson.page, lesson.page.keyboard.press
        self.type = lesson.page.keyboard.type

    def asked(self, what):
        return self.page.evaluate(f"{self.lesson.PANEL}.{what}")

    def cell(self):
        return self.asked("content.activeCellIndex")

    def run_all_by_shift_enter(self):
        for number in range(self.asked("content.widgets.length") - 1):
            assert self.cell() == number
            self.press("Shift+Enter")
            self.page.wait_for_function(f"{self.lesson.PANEL}.content.activeCellIndex === {number + 1}")
        self.press("Shift+Enter")
        return self.lesson.ran()

    def go_to(self, text):
        """Choose the cell with this text, by the arrow keys."""
        cells = self.asked("content.model.sharedModel.cells.map(cell => cell.getSource())")
        target, = (number for number, source in enumerate(cells) if source.startswith(text))
        self.press("Escape")
        while (now := self.cell()) != target:
            self.press("ArrowUp" if now > target else "ArrowDown")

    def tab_to(self, selector, most=20):
        """Press Tab until the focus is on an element that matches; return its accessible name or text."""
        for _ in range(most):
            self.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return self.page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent.trim()")
        raise AssertionError(f"no Tab leads to {selector}")

    def leave(self, most=20):
        """Press Tab until the focus has left the output of the chosen cell."""
        start = self.cell()
        for _ in range(most):
            self.press("Tab")
            if self.cell() != start:
                return
        raise AssertionError("no Tab leads out of this output")


def test_the_keyboard_alone_goes_through_lesson_04():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "04_tiling.ipynb") as lesson:
        keys, page = Keys(lesson), lesson.page
        assert keys.run_all_by_shift_enter() == []

        keys.go_to("from course_lib.lessons import tiling")                       # the picture
        keys.tab_to(".wbw-ask input")
        keys.type("8")
        keys.press("Enter")
        page.locator(".wbw-says", has_text="You say 8. Space plays").wait_for()
        keys.press("Space")
        page.locator(".wbw-says", has_text="k = 0. Naive").wait_for()
        keys.press("End")
        page.locator(".wbw-says", has_text="You said 8: right.").wait_for()
        assert keys.tab_to(".wbw-controls input").startswith("row of C")
        keys.press("ArrowRight")
        page.locator(".wbw-controls input[aria-valuetext='6']").wait_for()
        keys.leave()

        keys.go_to("guess = predict(")                                            # the prediction
        keys.tab_to("input.widget-input")
        keys.type("262,144")
        keys.press("Enter")
        page.get_by_text("Your prediction: 262,144 sectors, understood as 262144.").wait_for()
        keys.leave()

        keys.go_to("sides = (8, 16, 32, 64)")                                  # the sliders
        assert keys.tab_to("[role=slider]").startswith("BM: ")
        keys.press("ArrowRight")
        page.locator("[role=slider][aria-label^=BN][aria-valuetext='16']").wait_for()
        page.get_by_text("BK = 16, BM = 16, BN = 16:").wait_for()
        keys.leave()

        keys.go_to("quiz(")
        keys.tab_to("input.widget-input")
        keys.type("3/256")
        keys.press("Enter")
        page.get_by_role("status").filter(has_text="1 of 5 answered, 1 right").wait_for()
        keys.tab_to(".wbw-option")
        keys.press("Space")
        page.get_by_role("status").filter(has_text="2 of 5 answered").wait_for()
        keys.leave(most=40)
        assert lesson.errors == []


@pytest.mark.parametrize("notebook", [pytest.param(path, id=path.stem, marks=() if path.stem[:2] in ALWAYS else pytest.mark.exhaustive)
                                      for path in LESSONS])
def test_axe_finds_nothing_serious_in_a_lesson(notebook):
    from axe_playwright_python.sync_playwright import Axe

    from tools.browser import open_lesson

    with open_lesson(notebook) as lesson:
        assert lesson.run_all() == []
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            lesson.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
            lesson.page.wait_for_timeout(1500)
            found = Axe().run(lesson.page, context={"include": OURS}).response["violations"]
            assert [(theme, v["id"], n["html"][:200]) for v in found if v["impact"] in ("serious", "critical") for n in v["nodes"]
                    if not theirs(lesson.page, v["id"], n)] == []


def theirs(page, rule, node):
    """Return whether what hinders is JupyterLab's own element."""
    return rule in JUPYTERLABS and page.locator(node["target"][0]).first.evaluate("(e, css) => e.matches(css)", JUPYTERLABS[rule])
