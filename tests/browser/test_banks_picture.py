"""Lesson 06's explorable in Chromium: every control by mouse and keyboard, what is said against the simulator, JupyterLab around it."""
import re

import nbformat
import pytest
from pictures import SHOTS, Shown

from course_lib.explorables import banks
from course_lib.explorables.banks import key_of, states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
PICTURE = banks


def pad(shown):
    """Return the slider of the padding."""
    return shown.slider("PAD: unused words at the end of each row")


def wavefronts(shown):
    """Go to the end by its key, and return the wavefronts that are said."""
    shown.press("End")
    return int(re.search(r"(\d+) wavefronts?\. Its", shown.says(r"\d+ wavefronts?\. Its"))[1])


def counted(kernel, tile, words, access="load"):
    return max(word[3] for word in states()[key_of(kernel, tile, words)]["accesses"][access]["words"])


def test_jupyterlab_shows_it_keeps_its_keys_and_python_follows(tmp_path):
    from tools.browser import open_lesson

    cell = nbformat.v4.new_code_cell("from course_lib.explorables import banks\nshown = banks()\nshown")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "t.ipynb")
    with open_lesson(tmp_path / "t.ipynb") as lesson:
        assert lesson.run_all() == []
        shown = Shown(lesson.page, "banks")
        shown.canvas.wait_for()
        pad(shown).press("ArrowRight")
        assert pad(shown).get_attribute("aria-valuetext") == "PAD 1: 33 words per row"
        assert wavefronts(shown) == 1
        assert shown.root.bounding_box()["height"] <= 600
        python = "if shown.values['pad'] == 1: shown.values = shown.values | {'pad': 7}"
        kernel = f"{lesson.PANEL}.sessionContext.session.kernel"
        lesson.page.evaluate(f"async code => {{ await {kernel}.requestExecute({{ code }}).done; }}", python)
        shown.root.get_by_text("PAD 7: 39 words per row").wait_for()
        assert wavefronts(shown) == 1
        lesson.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
        lesson.page.locator(".wbw.wbw-dark").wait_for()
        lesson.shots(SHOTS, "banks-jupyterlab-dark", whole=False)
        lesson.page.set_viewport_size({"width": 1920, "height": 1080})
        shown.button("Full screen").click()
        lesson.page.locator(".wbw-projector").wait_for()
        code = shown.root.locator(".wbw-lines code").first
        assert code.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") > 23, "JupyterLab's own style for code does not win"
        shown.rested()
        lesson.page.screenshot(path=SHOTS / "banks-jupyterlab-projector.png")
        lesson.page.set_viewport_size({"width": 1024, "height": 768})
        shown.rested()
        assert shown.root.evaluate("e => e.scrollHeight <= e.clientHeight"), "nothing to scroll"
        lesson.page.screenshot(path=SHOTS / "banks-jupyterlab-small-projector.png")
        assert lesson.errors == []


def test_the_padding_moves_by_keyboard_and_mouse_and_is_announced(opened):
    shown = opened()
    assert not re.search(r"\d+ wavefronts?\b", shown.told()), "no answer before the reader plays"
    for words in range(9):
        assert pad(shown).get_attribute("aria-valuetext") == f"PAD {words}: {32 + words} words per row"
        assert wavefronts(shown) == counted("transpose", 32, words)
        pad(shown).press("ArrowRight")
    box = pad(shown).bounding_box()
    shown.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert pad(shown).get_attribute("aria-valuetext") == "PAD 4: 36 words per row"
    assert wavefronts(shown) == 4
    pad(shown).press("Home")
    assert wavefronts(shown) == 32


def test_moving_pad_goes_back_to_the_beginning_and_space_on_it_plays(opened):
    shown = opened()
    assert wavefronts(shown) == 32
    pad(shown).press("ArrowRight")
    shown.says("Predict, then play")
    assert not re.search(r"\d+ wavefronts?\b", shown.told()), "there is a second vote"
    pad(shown).press("Space")
    shown.says("1 wavefront")
    assert pad(shown).get_attribute("aria-valuetext") == "PAD 1: 33 words per row"


def test_a_mouse_that_rests_on_the_picture_dims_nothing_while_it_plays(opened):
    shown = opened()
    hover, tip = "root => Boolean(root.stage.view().hover)", shown.root.locator(".wbw-tip")
    shown.canvas.click(position={"x": 100, "y": 100})
    assert shown.root.evaluate(hover)
    assert tip.is_visible()
    shown.page.keyboard.press("Space")
    shown.says("Wavefront 2")
    shown.page.mouse.move(*shown.at(140, 120))
    assert not shown.root.evaluate(hover)
    assert tip.is_hidden()
    shown.says("32 wavefronts")
    assert not shown.root.evaluate(hover), "until the mouse moves again"
    shown.page.mouse.move(*shown.at(100, 100))
    assert shown.root.evaluate(hover)


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
def test_the_line_is_chosen_and_neither_kernel_nor_tile_is_asked_for(opened, how):
    shown = opened()
    store = states()[key_of("transpose", 32, 0)]["lines"][1]
    if how == "mouse":
        shown.root.get_by_text(store["mark"], exact=True).click()
    else:
        shown.root.get_by_role("radio").last.focus()
        shown.page.keyboard.press("ArrowUp")
    assert f"In line {store['number']} of transpose, the 32 lanes of a warp write row 5 of tile" in shown.says()
    for words in (0, 1, 2):
        assert wavefronts(shown) == counted("transpose", 32, words, "store") == 1
        pad(shown).press("ArrowRight")
    assert shown.root.get_by_role("radio").count() == 2, "the two lines that access the tile"


def test_the_player_plays_stops_steps_and_scrubs_by_keyboard_and_mouse(opened):
    shown = opened()
    pad(shown).press("ArrowRight")
    pad(shown).press("ArrowRight")
    shown.prediction().fill("2")
    shown.button("Play").click()
    shown.says(r"2 wavefronts\. Its 32 words lie in 16 banks\. Without bank conflicts it would take one\. You said 2: right\.")
    shown.button("Again").click()
    shown.button("Pause").click()
    shown.button("Play").wait_for()
    shown.canvas.focus()
    for key, pattern in (("Home", "Predict"), ("ArrowRight", "wait at their banks"), ("ArrowRight", "Wavefront 1: 16 banks of 32"),
                         ("ArrowRight", "2 wavefronts"), ("ArrowLeft", "Wavefront 1"), ("End", "2 wavefronts"), ("Home", "Predict"),
                         ("Space", "2 wavefronts")):
        shown.page.keyboard.press(key)
        shown.says(pattern)
    shown.button("Back").click()
    shown.says("Wavefront 1")
    shown.button("Step").click()
    shown.says("2 wavefronts")
    box = shown.scrub.bounding_box()
    shown.page.mouse.click(box["x"] + 3, box["y"] + box["height"] / 2)
    shown.says("Predict")
    assert shown.scrub.get_attribute("aria-valuetext") == "before the access"
    shown.page.keyboard.press("ArrowRight")
    shown.says("wait at their banks")
    assert shown.scrub.get_attribute("aria-valuetext") == "the words wait at their banks"


@pytest.mark.parametrize("keys", [["Enter", "Space"], ["Space"]])
def test_who_has_written_a_prediction_starts_the_player_by_a_key(opened, keys):
    shown = opened()
    pad(shown).press("ArrowRight")
    pad(shown).press("ArrowRight")
    shown.prediction().fill("2")
    for key in keys:
        shown.page.keyboard.press(key)
    shown.says(r"2 wavefronts.* You said 2: right\.")
    shown.page.keyboard.press("ArrowLeft")
    shown.says("Wavefront 1")


def test_enter_writes_a_prediction_down_and_leaves_the_arrows_to_the_picture(opened):
    """A lecturer types the room's vote, presses Enter and steps: the picture must not play by itself."""
    shown = opened()
    shown.prediction().fill("32")
    shown.page.keyboard.press("Enter")
    shown.says(r"You say 32\. Space plays, → goes one step\.")
    shown.button("Play").wait_for()
    shown.page.keyboard.press("ArrowRight")
    shown.says("wait at their banks")


def test_a_lecturers_keys_step_and_many_at_once_count(opened):
    shown = opened()
    shown.press(*["PageDown"] * 12)
    shown.says("Wavefront 11")
    shown.press("PageUp")
    shown.says("Wavefront 10")


def test_the_button_of_the_full_screen_leaves_the_keys_to_the_picture(opened):
    shown = opened(1920)
    pad(shown).press("ArrowRight")
    shown.button("Full screen").click()
    shown.page.locator(".wbw-projector").wait_for()
    shown.page.keyboard.press("Space")
    shown.says("1 wavefront")
    assert shown.page.locator(".wbw-projector").count() == 1, "Space did not press the button again"


COLOURS = """({ layout }, view) => {
    const dots = devicePixelRatio, pen = document.querySelector("canvas").getContext("2d"), tile = 32, found = new Set();
    const { x, y, cell } = layout(view).tile;
    for (let row = 0; row < tile; ++row)
        found.add(pen.getImageData(Math.round((x + 20.4 * cell) * dots), Math.round((y + (row + 0.5) * cell) * dots), 1, 1).data.join());
    return found.size;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_column_of_the_tile_has_as_many_colours_as_banks(opened, scheme):
    shown = opened(scheme=scheme)
    for words in (0, 1, 2, 3, 4):
        shown.rested()
        assert shown.where(COLOURS) == 32 // counted("transpose", 32, words)
        pad(shown).press("ArrowRight")


IN_BANK = """({ layout }, view) => {
    const dots = devicePixelRatio, pen = document.querySelector("canvas").getContext("2d"), { banks } = layout(view), found = new Set();
    for (let y = banks.y + 2; y < banks.bottom - 2; ++y)
        found.add(pen.getImageData(Math.round((banks.x + 5.5 * banks.slot) * dots), Math.round(y * dots), 1, 1).data.join());
    return found.size;
}"""


def test_before_the_reader_plays_no_word_lies_at_its_bank(opened):
    shown = opened()
    shown.rested()
    assert shown.where(IN_BANK) == 1, "bank 5 is empty"
    shown.press("ArrowRight")
    shown.says("The words wait at their banks")
    shown.rested()
    assert shown.where(IN_BANK) > 1
