"""A blank kernel in JupyterLab: "Run All" reaches the end, and the answer opens by keyboard."""

import nbformat
import pytest
from blank_lesson import CELLS, copy_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def test_run_all_reaches_the_end_and_the_answer_opens_by_keyboard(tmp_path):
    from tools.browser import open_lesson

    nbformat.write(copy_of(CELLS), tmp_path / "blank.ipynb")
    with open_lesson(tmp_path / "blank.ipynb") as lesson:
        page = lesson.page
        assert page.locator(".jp-OutputArea-output").count() == 0, "an answer before its question"
        assert lesson.run_all() == []
        missing = page.locator("[role=status]", has_text="mine is not written yet")
        assert missing.count() == 1 + sum(cell.startswith("# needs mine") for cell in CELLS)
        answer = page.locator("details", has=page.get_by_text("Show a kernel that works"))
        code = answer.locator("pre")
        assert not code.is_visible()
        for key, visible in (("Enter", True), ("Space", False), ("Enter", True)):
            answer.locator("summary").focus()
            page.keyboard.press(key)
            page.wait_for_timeout(300)
            assert code.is_visible() is visible, key
        assert code.locator("span").count() > 10, "its code has colours"
        assert lesson.errors == []
