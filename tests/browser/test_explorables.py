"""Explorables in Chromium: every control by mouse and keyboard, what is said against the simulator, sizes, themes, screen readers.

Pictures lie in build/screenshots afterwards.
"""
import re
from pathlib import Path

import nbformat
import pytest
from javascript import served

from course_lib.explorables import banks as make_banks
from course_lib.explorables.banks import key_of, states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SIZES = {360: 740, 390: 844, 768: 1024, 1280: 720, 1920: 1080}
CLOCK_S = 5                             # patience with an animation


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page without a kernel, served."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        page = make_banks().write_page(tmp_path_factory.mktemp("banks"))
    with served(page.parent) as place:
        yield f"{place}/{page.name}"


@pytest.fixture(scope="module")
def chromium_here(chromium):
    import lab_browser

    with lab_browser.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=lab_browser.FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium_here, address):
    """A function that opens the page at a size and gives it as `Shown`; errors in the console fail the test."""
    errors, contexts = [], []

    def open_page(width=1280, scheme="light", **options):
        contexts.append(chromium_here.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector(".wbw canvas")
        return Shown(page)

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


class Shown:
    """The bank picture on a page, and what it says."""

    def __init__(self, page):
        self.page, self.root = page, page.locator(".wbw")
        self.pad, self.time = (self.root.locator("input[type=range]").nth(i) for i in (0, 1))
        self.canvas = self.root.locator("canvas")

    def says(self, pattern=None):
        """Wait until the sentence matches, and return it."""
        says = self.root.locator(".wbw-says")
        if pattern:
            says.filter(has_text=re.compile(pattern)).wait_for(timeout=1000 * CLOCK_S)
        return says.inner_text()

    def ticks(self):
        """Go to the end by its key, and return the ticks that are said."""
        self.canvas.focus()
        self.page.keyboard.press("End")
        return int(re.search(r"(\d+) ticks?\. Its", self.says(r"\d+ ticks?\. Its"))[1])

    def button(self, name):
        return self.root.get_by_role("button", name=name)

    def radio(self, name):
        return self.root.get_by_role("radio", name=name)

    def rested(self):
        """Wait until the picture has followed its controls."""
        self.page.wait_for_timeout(900)


def counted(kernel, tile, pad, access="load"):
    return max(word[3] for word in states()[key_of(kernel, tile, pad)]["accesses"][access]["words"])


# This one comes first: it starts a browser of its own, and two at a time are refused.
def test_jupyterlab_shows_it_keeps_its_keys_and_python_follows(tmp_path):
    from lab_browser import open_lesson

    cell = nbformat.v4.new_code_cell("from course_lib.explorables import banks\nshown = banks()\nshown")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "t.ipynb")
    with open_lesson(tmp_path / "t.ipynb") as lesson:
        assert lesson.run_all() == []
        shown = Shown(lesson.page)
        shown.canvas.wait_for()
        shown.pad.press("ArrowRight")
        assert shown.pad.get_attribute("aria-valuetext") == "PAD 1: 33 words per row"
        assert shown.ticks() == 1
        assert shown.root.bounding_box()["height"] <= 600
        python = "if shown.values['pad'] == 1: shown.values = shown.values | {'pad': 7}"
        kernel = f"{lesson.PANEL}.sessionContext.session.kernel"
        lesson.page.evaluate(f"async code => {{ await {kernel}.requestExecute({{ code }}).done; }}", python)
        shown.root.get_by_text("PAD 7: 39 words per row").wait_for()
        assert shown.ticks() == 1
        lesson.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
        lesson.page.locator(".wbw.wbw-dark").wait_for()
        lesson.shots(SHOTS, "banks-jupyterlab-dark", whole=False)
        assert lesson.errors == []


def test_the_padding_moves_by_keyboard_and_mouse_and_is_announced(opened):
    shown = opened()
    told = shown.root.inner_text() + shown.canvas.get_attribute("aria-label")
    assert not re.search(r"\d+ ticks?\b", told), "no answer before the reader plays"
    for pad in range(9):
        assert shown.pad.get_attribute("aria-valuetext") == f"PAD {pad}: {32 + pad} words per row"
        assert shown.ticks() == counted("transpose", 32, pad)
        shown.pad.press("ArrowRight")
    box = shown.pad.bounding_box()
    shown.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert shown.pad.get_attribute("aria-valuetext") == "PAD 4: 36 words per row"
    assert shown.ticks() == 4
    shown.pad.press("Home")
    assert shown.ticks() == 32


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
def test_kernel_tile_and_line_are_chosen(opened, how):
    shown = opened()
    if how == "mouse":
        for name in ("matrix product", "16 × 16"):
            shown.root.get_by_text(name, exact=True).click()
        shown.root.get_by_text("Bs[tx][ty]", exact=True).click()
    else:
        shown.radio("transpose").first.focus()
        for name, key in (("matrix product", "ArrowLeft"), ("16 × 16", "ArrowRight"), ("Bs[tx][ty]", "ArrowUp")):
            shown.page.keyboard.press(key)
            assert shown.radio(name).is_checked()
            if name == "matrix product":
                shown.page.keyboard.press("Tab")
            else:
                shown.radio("acc +=").focus()
    assert "Line 29: the 32 lanes of a warp write columns 4 and 5 of Bs" in shown.says()
    for pad in (0, 1, 2):
        assert shown.ticks() == counted("sgemm_padded", 16, pad, "store")
        shown.pad.press("ArrowRight")
    shown.root.get_by_text("transpose, swizzled", exact=True).click()
    assert shown.pad.is_disabled()
    assert shown.ticks() == counted("transpose_swizzled", 16, None, "store") == 1


def test_the_player_plays_stops_steps_and_scrubs_by_keyboard_and_mouse(opened):
    shown = opened()
    shown.pad.press("ArrowRight")
    shown.pad.press("ArrowRight")
    shown.root.get_by_label("Your prediction").fill("2")
    shown.button("Play").click()
    shown.says(r"2 ticks\. Its 32 words lie in 16 banks\. Without bank conflicts it would take one\. You said 2: right\.")
    shown.button("Again").click()
    shown.button("Pause").click()
    shown.button("Play").wait_for()
    shown.canvas.focus()
    for key, pattern in (("Home", "Predict"), ("ArrowRight", "wait at their banks"), ("ArrowRight", "Tick 1: 16 banks of 32"),
                         ("ArrowRight", "2 ticks"), ("ArrowLeft", "Tick 1"), ("End", "2 ticks"), ("Home", "Predict"), ("Space", "2 ticks")):
        shown.page.keyboard.press(key)
        shown.says(pattern)
    shown.button("Back").click()
    shown.says("Tick 1")
    shown.button("Step").click()
    shown.says("2 ticks")
    box = shown.time.bounding_box()
    shown.page.mouse.click(box["x"] + 3, box["y"] + box["height"] / 2)
    shown.says("Predict")
    assert shown.time.get_attribute("aria-valuetext") == "before the access"
    shown.page.keyboard.press("ArrowRight")
    shown.says("wait at their banks")
    assert shown.time.get_attribute("aria-valuetext") == "the words wait at their banks"


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_who_has_written_a_prediction_starts_the_player_by_a_key(opened, key):
    shown = opened()
    shown.pad.press("ArrowRight")
    shown.pad.press("ArrowRight")
    shown.root.get_by_label("Your prediction").fill("2")
    shown.page.keyboard.press(key)
    shown.says(r"2 ticks.* You said 2: right\.")
    shown.page.keyboard.press("ArrowLeft")
    shown.says("Tick 1")


def test_a_lecturers_keys_step_and_many_at_once_count(opened):
    shown = opened()
    shown.canvas.focus()
    for _ in range(12):
        shown.page.keyboard.press("PageDown")
    shown.says("Tick 11")
    shown.page.keyboard.press("PageUp")
    shown.says("Tick 10")


def test_the_button_of_the_full_screen_leaves_the_keys_to_the_picture(opened):
    shown = opened(1920)
    shown.pad.press("ArrowRight")
    shown.button("Full screen").click()
    shown.page.locator(".wbw-projector").wait_for()
    shown.page.keyboard.press("Space")
    shown.says("1 tick")
    assert shown.page.locator(".wbw-projector").count() == 1, "Space did not press the button again"


COLOURS = """canvas => {
    const dots = devicePixelRatio, pen = canvas.getContext('2d'), tile = 32, found = new Set();
    const { x, y, cell } = window.where.tile;
    for (let row = 0; row < tile; ++row)
        found.add(pen.getImageData(Math.round((x + 20.4 * cell) * dots), Math.round((y + (row + 0.5) * cell) * dots), 1, 1).data.join());
    return found.size;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_column_of_the_tile_has_as_many_colours_as_banks(opened, scheme):
    shown = opened(scheme=scheme)
    shown.page.evaluate("""async () => {
        const { layout, picture } = await import("./banks.js"), canvas = document.querySelector("canvas");
        const { clientWidth: width, clientHeight: height } = canvas;
        window.where = layout({ width, height, text: 14, narrow: false, scene: { tile: 32 } });
    }""")
    for pad in (0, 1, 2, 3, 4):
        shown.rested()
        assert shown.canvas.evaluate(COLOURS) == 32 // counted("transpose", 32, pad)
        shown.pad.press("ArrowRight")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_it_fits_every_screen(opened, width, scheme):
    shown = opened(width, scheme)
    shown.pad.press("ArrowRight")
    shown.rested()
    shown.page.screenshot(path=SHOTS / f"banks-{width}-{scheme}.png", full_page=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth") == width, "nothing to scroll sideways"
    if width == 1280:
        assert shown.root.bounding_box()["height"] <= 600
    assert shown.canvas.bounding_box()["width"] > 0.9 * width
    for control in shown.root.locator("button, input[type=range], input[type=number], .wbw-choice label").all():
        box = control.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize(("width", "scheme"), [(1920, "light"), (1920, "dark"), (1280, "light")])
def test_a_projector_gets_large_letters_and_the_whole_screen(opened, width, scheme):
    shown = opened(width, scheme)
    shown.canvas.focus()
    shown.page.keyboard.press("f")
    shown.page.locator(".wbw-projector").wait_for()
    assert shown.root.bounding_box() == {"x": 0, "y": 0, "width": width, "height": SIZES[width]}
    assert shown.root.evaluate("root => root.scrollHeight <= root.clientHeight && root.scrollWidth <= root.clientWidth")
    assert shown.canvas.bounding_box()["height"] >= 400
    assert shown.ticks() == 32
    shown.page.screenshot(path=SHOTS / f"banks-projector-{width}-{scheme}.png")
    sizes = shown.root.evaluate("""root => [...root.querySelectorAll('*')]
        .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        .map(e => [parseFloat(getComputedStyle(e).fontSize), e.textContent])""")
    assert sizes
    assert [text for size, text in sizes if size < 24] == []
    shown.page.keyboard.press("f")
    shown.page.locator(".wbw:not(.wbw-projector)").wait_for()


def test_who_wants_no_motion_sees_whole_steps(opened):
    shown = opened(reduced_motion="reduce")
    shown.canvas.focus()
    shown.page.keyboard.press("ArrowRight")
    shown.says("wait at their banks")
    shown.pad.press("ArrowRight")
    first = shown.canvas.screenshot()
    shown.page.wait_for_timeout(200)
    assert shown.canvas.screenshot() == first, "nothing moves"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    shown = opened(width, scheme)
    for _ in range(2):
        found = Axe().run(shown.page).response["violations"]
        assert [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found] == []
        shown.root.get_by_text("transpose, swizzled", exact=True).click()
