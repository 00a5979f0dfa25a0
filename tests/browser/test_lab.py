"""What only a browser shows: JupyterLab opens a lesson, runs it, and a slider moved by key runs the kernel again."""
import re
from pathlib import Path

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "build" / "screenshots"

SLIDER = """\
import ipywidgets
slider, text = ipywidgets.IntSlider(value=3, max=9), ipywidgets.HTML("square 9")
slider.observe(lambda change: setattr(text, "value", f"square {change.new ** 2}"), "value")
ipywidgets.VBox([slider, text])"""


def counter(text, label="global load sectors"):
    """Read a row of the live table.

    >>> counter("global load requests\\t64\\nglobal load sectors\\t16,384\\t65,536")
    16384
    """
    found = re.search(rf"^{label}\s+([\d,]+)", text, re.MULTILINE)
    return int(found.group(1).replace(",", "")) if found else None


def test_the_harness_sees_what_happens(tmp_path):
    """A notebook with a slider, an error that is meant and one that is not: the tests below could fail."""
    from tools.browser import open_lesson

    cells = [nbformat.v4.new_code_cell(SLIDER), nbformat.v4.new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}),
             nbformat.v4.new_code_cell("{}['BM']"), nbformat.v4.new_code_cell("'never'")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "tiny.ipynb")
    with open_lesson(tmp_path / "tiny.ipynb") as lesson:
        assert lesson.run_all() == [(2, "KeyError: 'BM'"), (3, "was not run")]
        before, after = lesson.move(lesson.sliders().first, done=lambda text: "square 9" not in text)
        assert "square 9" in before
        assert "square 16" in after


ACTIVE = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"


def leave_full_screen(page, canvas, how):
    """Fill the screen with a picture and leave it by a key, or by the button."""
    canvas.click(position={"x": 5, "y": 5})
    page.keyboard.press("f")
    page.locator(".wbw-projector").wait_for()
    if how == "Escape" and page.evaluate("document.fullscreenElement !== null"):
        page.evaluate("document.exitFullscreen()")                 # what Escape does in a window that somebody looks at
    elif how == "button":
        page.locator(".wbw-projector button", has_text="Leave").click()
    else:
        page.keyboard.press(how)
    page.wait_for_function("!document.querySelector('.wbw-full') && !document.fullscreenElement")
    page.wait_for_timeout(100)


def prompts(page, highest):
    """Wait until a cell has been run as the `highest` one, and return all prompts."""
    found = page.locator(".jp-CodeCell .jp-InputPrompt")
    page.wait_for_function(f"[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].some(p => p.textContent.includes('{highest}'))")
    return [re.sub(r"\D", "", text) for text in found.all_inner_texts()]


def test_whoever_leaves_the_full_screen_is_at_the_pictures_own_cell(tmp_path):
    """Twice in each of two pictures, so that each has been used when the other is left."""
    from tools.browser import open_lesson

    one = "from course_lib.lessons import tiling\ntiling.side_by_side()"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (one, "'between'", one, "'last'")]),
                   tmp_path / "tiny.ipynb")
    with open_lesson(tmp_path / "tiny.ipynb", height=1200) as lesson:
        assert lesson.run_all() == []
        page, pictures = lesson.page, lesson.page.locator(".wbw canvas")
        for how in ("Escape", "f", "button"):
            for picture, cell in ((0, 0), (1, 2), (0, 0)):
                leave_full_screen(page, pictures.nth(picture), how)
                assert page.evaluate(ACTIVE) == cell, (how, picture)
                assert page.evaluate(f"{ACTIVE.replace('.activeCellIndex', '.mode')}") == "command"
        leave_full_screen(page, pictures.nth(0), "Escape")
        page.keyboard.press("Shift+Enter")
        assert prompts(page, 5) == ["5", "2", "3", "4"], "at its cell, Shift+Enter runs the picture again, as in any cell"
        assert page.evaluate(ACTIVE) == 1


@pytest.mark.parametrize("leave", ["f", "Shift+Enter", ""])
def test_shift_enter_in_a_picture_runs_the_next_cell_and_not_the_picture_again(tmp_path, leave):
    """`leave`: the key that leaves the full screen; "": it was never entered."""
    from tools.browser import open_lesson

    cells = [nbformat.v4.new_code_cell("from course_lib.lessons import tiling\ntiling.side_by_side()"), nbformat.v4.new_code_cell("'next'"),
             nbformat.v4.new_code_cell("'last'")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "tiny.ipynb")
    with open_lesson(tmp_path / "tiny.ipynb", height=1200) as lesson:
        assert lesson.run_all() == []
        page, canvas = lesson.page, lesson.page.locator(".wbw canvas")
        if leave:
            leave_full_screen(page, canvas, leave)
        else:
            canvas.click(position={"x": 5, "y": 5})
        if leave != "Shift+Enter":
            page.keyboard.press("Shift+Enter")
        assert prompts(page, 4) == ["1", "4", "3"]


def test_lesson_04_runs_and_its_tile_slider_moves_the_counter():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "04_tiling.ipynb") as lesson:
        assert lesson.run_all() == []
        lesson.shots(SHOTS, "04_tiling")
        slider = lesson.sliders().first
        value = slider.get_attribute("aria-valuetext")
        stood = counter(lesson.text_around(slider))
        before, after = lesson.move(slider, "ArrowRight", done=lambda text: counter(text) not in (None, stood))
        lesson.shots(SHOTS, "04_tiling-moved", whole=False)
        assert slider.get_attribute("aria-valuetext") != value
        assert counter(after) < counter(before) == stood, "a larger tile loads each element less often"


def test_lesson_01_runs_and_a_larger_cache_fetches_fewer_lines():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "01_triple_loop.ipynb") as lesson:
        assert lesson.run_all() == []
        lesson.shots(SHOTS, "01_triple_loop")
        picture = lesson.page.locator("section.wbw").first
        chosen = [picture.get_by_role("group", name=side).get_by_role("radio", checked=True) for side in ("Left", "Right")]
        assert [radio.count() for radio in chosen] == [1, 1], "the second picture of the lesson has controls of its own"
        picture.locator("canvas").press("End")
        picture.get_by_text("ijk has fetched 34,880 lines, ikj 2,176").wait_for()
        cache = picture.get_by_label("How many lines the cache holds")
        for lines in (24, 32, 40):
            cache.press("ArrowRight")
            picture.get_by_text(f"{lines} lines", exact=True).wait_for()
        picture.locator("canvas").press("End")
        picture.get_by_text("ijk has fetched 2,176 lines, ikj 2,176").wait_for()
        lesson.shots(SHOTS, "01_triple_loop-moved", whole=False)


@pytest.mark.exhaustive
def test_lesson_05_runs():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "05_coalescing.ipynb") as lesson:
        assert lesson.run_all() == []
        lesson.shots(SHOTS, "05_coalescing")


@pytest.mark.exhaustive
def test_lesson_08_runs_and_a_taller_thread_has_more_outputs():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "08_register_blocking.ipynb") as lesson:
        assert lesson.run_all() == []
        lesson.shots(SHOTS, "08_register_blocking")
        rows = lesson.page.locator(".wbw").get_by_role("slider").count()
        TM = lesson.sliders().first
        assert counter(lesson.text_around(TM), "outputs a thread") == 8
        lesson.move(TM, done=lambda text: counter(text, "outputs a thread") == 16)
        lesson.shots(SHOTS, "08_register_blocking-moved", whole=False)
        assert rows == 1, "time"


def test_lesson_06_runs_and_padding_takes_the_wavefronts_away():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "06_bank_conflicts.ipynb") as lesson:
        assert lesson.run_all() == []
        lesson.shots(SHOTS, "06_bank_conflicts")
        counted = re.compile(r"wavefronts a shared load\s+(\d+)")
        before, _ = lesson.move(lesson.sliders().nth(1), done=lambda text: counted.findall(text)[:1] == ["1"])
        assert counted.findall(before)[:1] == ["8"]
        lesson.shots(SHOTS, "06_bank_conflicts-moved", whole=False)


def test_a_self_check_answers_to_the_keyboard_and_a_word_opens_the_glossary():
    from tools.browser import open_lesson

    with open_lesson(ROOT / "notebooks" / "00_start_here.ipynb") as lesson:
        assert lesson.run_all() == []
        check, keys = lesson.page.locator(".wbw-quiz"), lesson.page.keyboard
        check.scroll_into_view_if_needed()
        field = check.get_by_role("textbox").first
        field.focus()
        keys.type("10000")
        keys.press("Enter")
        status = check.get_by_role("status")
        status.filter(has_text="1 of 5 answered, 0 right").wait_for()
        for key in ("Tab", "Tab", "Space"):             # over the field's button to the first option
            keys.press(key)
        status.filter(has_text="2 of 5 answered, 1 right").wait_for()
        keys.press("Tab")
        keys.press("Enter")
        status.filter(has_text="2 of 5 answered, 0 right").wait_for()
        lesson.shots(SHOTS, "00_self-check", whole=False)
        lesson.page.evaluate(f"() => {lesson.PANEL}.sessionContext.session.kernel.restart()")
        assert lesson.run_all() == []
        status.filter(has_text="2 of 5 answered, 0 right").wait_for()
        assert field.input_value() == "10000", "an answer outlives the kernel"
        lesson.page.locator(".jp-Notebook a", has_text="threads").first.click()
        heading = lesson.page.locator(".jp-MarkdownViewer h2", has_text=re.compile("^thread"))
        heading.wait_for()
        lesson.settle()
        assert heading.bounding_box()["y"] < 300, "the glossary did not scroll to the word"
