"""What every test of an explorable opens: its page without a kernel, and that page in Chromium. docs/explorables.md says how to use it.

The test file names its picture, `PICTURE = side_by_side`, and its functions take the fixtures `page` and `opened`.
"""

import re
from pathlib import Path

import pytest

from course_lib.explorables.explorable import module_text

SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SIZES = {360: 740, 390: 844, 768: 1024, 1280: 800, 1920: 1080}         # width to height, in pixels

# Notes where each text of the latest frame was drawn on a canvas, in pixels of the page, and how large.
NOTES = """(() => {
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    window.written = [];
    Object.assign(CanvasRenderingContext2D.prototype, {
        clearRect(...box) { window.written = []; return clearRect.apply(this, box); },
        fillText(words, x, y, most = Infinity) {
            const dots = devicePixelRatio, m = this.measureText(words), t = this.getTransform(), part = Math.min(1, most / m.width);
            const [left, right] = [x - part * m.actualBoundingBoxLeft, x + part * m.actualBoundingBoxRight];
            const [top, bottom] = [y - m.actualBoundingBoxAscent, y + m.actualBoundingBoxDescent];
            const at = [[left, top], [right, top], [left, bottom], [right, bottom]].map(([x, y]) => t.transformPoint({ x, y }));
            const xs = at.map(p => p.x / dots), ys = at.map(p => p.y / dots);
            if (this.globalAlpha > 0.15 && String(words).trim()) window.written.push({
                words: String(words), px: parseFloat(this.font.match(/([\\d.]+)px/)[1]),
                left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) });
            return fillText.apply(this, arguments);
        },
    });
})();"""


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def page(request, tmp_path_factory):
    """The page without a kernel of the file's PICTURE (or of the parameter), as `write_page` wrote it."""
    picture = getattr(request, "param", None) or request.module.PICTURE
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        return picture().write_page(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def browser(chromium):
    """One Chromium for all pages."""
    from tools.browser import FLAGS, playwright

    with playwright() as begun:
        started = begun.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, page):
    """A function that opens the page, as a file and at a size, and gives it as `Shown`. Errors in the console fail the test.

    Its options are Playwright's, such as reduced_motion="reduce".
    """
    errors, contexts = [], []

    def open_page(width=1280, scheme="light", **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme, **options))
        tab = contexts[-1].new_page()
        tab.on("console", lambda message: message.type == "error" and errors.append(message.text))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.add_init_script(NOTES)
        tab.goto(page.as_uri())
        tab.wait_for_selector(".wbw canvas")
        return Shown(tab, page.stem)

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


class Shown:
    """An explorable on a page (or in a notebook): its parts, its keys, what it says.

    Attributes
    ----------
    page, root, canvas, scrub : Playwright's Page; the explorable; its picture; the slider of time
    """

    PATIENCE_S = 30                      # with an animation that plays to its end

    def __init__(self, page, name):
        self.page, self.name, self.root = page, name, page.locator(".wbw")
        self.canvas, self.scrub = self.root.locator("canvas"), self.root.get_by_label("Time", exact=True)

    def button(self, name):
        return self.root.get_by_role("button", name=name)

    def radio(self, name):
        return self.root.get_by_role("radio", name=name)

    def slider(self, name):
        return self.root.get_by_role("slider", name=name)

    def prediction(self):
        return self.root.get_by_label("Your prediction")

    def press(self, *keys):
        """Press keys with the focus on the picture."""
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def says(self, pattern=None):
        """Wait until the sentence matches, and return it."""
        says = self.root.locator(".wbw-says")
        if pattern:
            says.filter(has_text=re.compile(pattern)).wait_for(timeout=1000 * self.PATIENCE_S)
        return says.inner_text()

    def when(self, pattern):
        """Wait until the moment, as a screen reader hears it from the slider of time, matches; return it."""
        self.page.wait_for_function("([at, pattern]) => new RegExp(pattern).test(at.getAttribute('aria-valuetext'))",
                                    arg=[self.scrub.element_handle(), pattern], timeout=1000 * self.PATIENCE_S)
        return self.scrub.get_attribute("aria-valuetext")

    def described(self):
        """Return the alternative text of the picture."""
        return self.canvas.get_attribute("aria-label")

    def told(self):
        """Return all words: of the page, the picture, its alternative text, and the names of the controls."""
        names = self.root.locator("[aria-label]").evaluate_all("all => all.map(e => e.ariaLabel + ' ' + (e.ariaValueText ?? ''))")
        return " ".join([self.root.inner_text(), self.described(), *names, *(text["words"] for text in self.written())])

    def rested(self):
        """Wait until the picture has followed its controls."""
        self.page.wait_for_timeout(200 + self.root.first.evaluate("root => root.stage?.picture.settle ?? 700"))

    def written(self):
        """Return the texts on the canvas: words, px (of the type), left, right, top, bottom in pixels of the picture."""
        return self.page.evaluate("window.written")

    def where(self, function, data=None):
        """Call a JavaScript function with (the picture's module, its view at this moment, data); return what it returns."""
        source = module_text(self.name)
        return self.root.evaluate(f"""async (root, [source, data]) => {{
            const module = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
            return ({function})(module, root.stage.view(), data);
        }}""", [source, data])

    def at(self, x, y):
        """Return a place of the picture as the mouse wants it."""
        box = self.canvas.bounding_box()
        return box["x"] + x, box["y"] + y

    def shot(self, name, whole=True):
        """Write a picture of the page to build/screenshots."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=whole)
