"""What holds for every explorable of `course_lib.explorables`: it fits every screen and theme, its words are whole and large enough,
the keys work, and axe-core finds nothing that hinders readers.

Pictures of all sizes lie in build/screenshots afterwards.
"""
import itertools

import pytest

from course_lib import explorables

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
NAMES = explorables.__all__
EVERY = pytest.mark.parametrize("page", [getattr(explorables, name) for name in NAMES], ids=NAMES, indirect=True)
SMALLEST = {360: 10, 390: 10, 768: 12, 1280: 12, 1920: 12}             # pixels of the type on the canvas
SIZE_OF_WORDS = """root => [...root.querySelectorAll('*')]
    .filter(e => e.getClientRects().length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => [parseFloat(getComputedStyle(e).fontSize), e.textContent])"""


def moments(shown):
    """Go to the beginning, some steps on and the end; give a name for each."""
    shown.press("Home")
    shown.rested()
    yield "begin"
    shown.press(*["ArrowRight"] * 4)
    shown.rested()
    yield "later"
    shown.press("End")
    shown.rested()
    yield "end"


def broken(shown, smallest):
    """Return the texts on the canvas that are cut off, too small, or written over each other."""
    box, texts = shown.canvas.bounding_box(), shown.written()
    wrong = [text for text in texts if text["px"] < smallest or min(text["left"], text["top"]) < -1
             or text["right"] > box["width"] + 1 or text["bottom"] > box["height"] + 1]
    return wrong + [(a["words"], b["words"]) for a, b in itertools.combinations(texts, 2) if a["words"] != b["words"] and overlap(a, b) > 3]


def overlap(a, b):
    """Return how many pixels two boxes share, along the direction in which it is less."""
    return min(min(a["right"], b["right"]) - max(a["left"], b["left"]), min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]))


@EVERY
@pytest.mark.slow
@pytest.mark.sampled(slow=36)
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (768, "light"), (1280, "light"), (1280, "dark"), (1920, "light")])
def test_it_fits_every_screen_and_its_words_are_whole(opened, width, scheme):
    shown = opened(width, scheme)
    for moment in moments(shown):
        shown.shot(f"{shown.name}-{width}-{scheme}-{moment}")
        assert broken(shown, SMALLEST[width]) == [], moment
    assert shown.page.evaluate("document.documentElement.scrollWidth") == width, "nothing to scroll sideways"
    if width == 1280:
        assert shown.root.bounding_box()["height"] <= 600, "controls and picture together"
    assert shown.canvas.bounding_box()["width"] > 0.9 * width
    for control in shown.root.locator("button, input, .wbw-choice label").all():
        box = control.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@EVERY
@pytest.mark.slow
@pytest.mark.sampled(slow=20)
@pytest.mark.parametrize(("width", "height", "scheme"), [
    (1920, 1080, "light"), (1920, 1080, "dark"), (1280, 800, "light"), (1280, 720, "light")])
def test_a_projector_gets_large_letters_and_the_whole_screen(opened, width, height, scheme):
    """1280 × 720 is what a browser that is zoomed to 150 % has of a projector of 1920 × 1080."""
    shown = opened(width, scheme)
    shown.page.set_viewport_size({"width": width, "height": height})
    shown.press("f")
    shown.page.locator(".wbw-projector").wait_for()
    assert shown.root.bounding_box() == {"x": 0, "y": 0, **shown.page.viewport_size}
    for moment in moments(shown):
        shown.shot(f"{shown.name}-projector-{width}-{height}-{scheme}-{moment}")
        assert broken(shown, 24 if width > 1500 else 15) == [], moment
    assert shown.root.evaluate("root => root.scrollHeight <= root.clientHeight && root.scrollWidth <= root.clientWidth")
    assert [text for size, text in shown.root.evaluate(SIZE_OF_WORDS) if size < 24 * height / 1080] == [], "24 pixels of 1080"
    assert "Leave" in shown.root.get_by_role("button").last.inner_text()
    shown.press("f")
    shown.page.locator(".wbw:not(.wbw-projector)").wait_for()


@EVERY
def test_the_keys_reach_both_ends_and_every_control_has_a_name_and_says_its_value(opened):
    shown = opened()
    shown.press("Home")
    shown.rested()
    first = shown.described()
    shown.press("End")
    shown.says()
    shown.rested()
    assert shown.described() != first
    shown.press("PageUp", "Home")
    shown.rested()
    assert shown.described() == first
    for control in shown.root.locator("button, input, canvas").all():
        name = control.evaluate("e => e.ariaLabel || e.textContent.trim() || [...e.labels ?? []].map(l => l.textContent.trim()).join()")
        assert name
    for slider in shown.root.get_by_role("slider").all():
        assert slider.get_attribute("aria-valuetext")


@pytest.mark.sampled(slow=11)          # what all pictures share
@EVERY
def test_space_plays_after_a_mouse_has_pressed_whatever_switch_or_button(opened):
    shown = opened()
    for pressed in [*shown.root.locator("label:has([type=radio])").all(), shown.button("Step"), shown.button("Back")]:
        pressed.click()
        shown.canvas.and_(shown.page.locator(":focus")).wait_for()
        shown.page.keyboard.press("Home")
        shown.page.keyboard.press("Space")
        shown.button("Pause").wait_for()
        shown.page.keyboard.press("Space")


@pytest.mark.sampled(slow=11)          # what all pictures share
@EVERY
def test_a_switch_keeps_its_arrow_keys_on_the_keyboard_and_space_plays_there(opened):
    shown = opened()
    if shown.root.locator("[type=radio]:checked").count():
        radio = shown.root.locator("[type=radio]:checked").first
        radio.focus()
        group = radio.get_attribute("name")
        shown.page.keyboard.press("ArrowDown")
        assert shown.page.evaluate("[document.activeElement.name, document.activeElement.checked]") == [group, True], "it has moved on"
        shown.page.keyboard.press("Space")
        shown.button("Pause").wait_for()
        assert shown.page.evaluate("document.activeElement.name") == group, "the focus stays"


@pytest.mark.sampled(slow=11)          # what all pictures share
@EVERY
def test_ctrl_with_a_key_is_the_notebooks(opened):
    """JupyterLab listens at the page, while the event is on its way down, and passes over an element that keeps its keys."""
    shown = opened()
    shown.root.evaluate("""root => {
        const cell = root.parentElement;
        cell.classList.add("jp-Cell");
        window.heard = [];
        document.addEventListener("keydown", event => {
            for (let e = event.target; e; e = e.parentElement) if (e.dataset.lmSuppressShortcuts) return;
            if (event.ctrlKey) { window.heard.push(event.code); event.preventDefault(); }
        }, true);
        window.addEventListener("keydown", event => {
            if (event.key === "b" && event.target.matches("canvas")) window.heard.push(event.defaultPrevented);
        });
    }""")
    shown.press("Control+b")
    assert shown.page.evaluate("window.heard") == ["KeyB", True]
    shown.press("Home")
    assert shown.page.evaluate("window.heard") == ["KeyB", True], "the picture's own keys are its own"


@pytest.mark.sampled(slow=11)          # what all pictures share
@EVERY
def test_who_wants_no_motion_sees_whole_steps(opened):
    shown = opened(reduced_motion="reduce")
    shown.press("ArrowRight")
    shown.page.wait_for_timeout(200)
    first = shown.canvas.screenshot()
    shown.page.wait_for_timeout(200)
    assert shown.canvas.screenshot() == first, "nothing moves"


@EVERY
@pytest.mark.slow
@pytest.mark.sampled(slow=20)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    shown = opened(width, scheme)
    found = Axe().run(shown.page).response["violations"]
    assert [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found] == []
