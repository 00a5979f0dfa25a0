"""Lesson 04's explorable in Chromium: played, stepped and clicked; its counters against the simulator; sizes, themes, screen readers.

Pictures lie in build/screenshots afterwards.
"""
import re
from pathlib import Path

import pytest
from javascript import served

from course_lib.explorables import side_by_side
from course_lib.explorables.tiling import states

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SIZES = {390: 844, 1280: 800, 1920: 1080}
LAST = r"Naive: 1,024 sectors, each one loaded 8 times\. Tiled: 128, each loaded once\."


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        page = side_by_side().write_page(tmp_path_factory.mktemp("tiling"))
    with served(page.parent) as place:
        yield f"{place}/{page.name}"


@pytest.fixture(scope="module")
def browser(chromium):
    import lab_browser

    with lab_browser.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=lab_browser.FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, address):
    """A function that opens the page; errors in the console fail the test."""
    errors, contexts = [], []

    def open_page(width=1280, scheme="light", **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector(".wbw canvas")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def says(page, pattern):
    page.locator(".wbw-says").filter(has_text=re.compile(pattern)).wait_for(timeout=30_000)


def so_far(page):
    """Return (sectors, requests) of both sides, as a screen reader is told."""
    found = re.search(r"naive (\d+) sectors in (\d+) requests, tiled (\d+) in (\d+)", page.locator("canvas").get_attribute("aria-label"))
    return tuple(map(int, found.groups()))


def test_every_step_by_key_has_the_simulators_counters(opened):
    page = opened(reduced_motion="reduce")
    page.locator("canvas").focus()
    says(page, "Predict, then play")
    assert so_far(page) == (0, 0, 0, 0)
    naive = {"requests": 0, "total": 0}
    for number, step in enumerate(states()["steps"], start=1):
        naive, tiled = step["naive"] or naive, step["tiled"]
        page.keyboard.press("ArrowRight")
        page.locator(f"input[aria-valuetext^='step {number} of 41']").wait_for()
        assert so_far(page) == (naive["total"], naive["requests"], tiled["total"], tiled["requests"])
    says(page, LAST)


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    page = opened()
    page.get_by_label("Your prediction").fill("16")
    page.get_by_role("button", name="Play").click()
    says(page, r"^k = 1\. Naive")
    page.get_by_role("button", name="Pause").click()
    stopped = page.get_by_label("Time", exact=True).get_attribute("aria-valuetext")
    page.wait_for_timeout(300)
    assert page.get_by_label("Time", exact=True).get_attribute("aria-valuetext") == stopped
    page.get_by_role("button", name="Play").click()
    says(page, LAST + r".* You said 16: not so\.")


def test_the_watched_thread_is_chosen_by_click_and_by_key_and_time_stands_still(opened):
    page = opened()
    rows, columns = (page.get_by_label(f"{name} of C that the watched thread computes") for name in ("row", "column"))
    assert (rows.input_value(), columns.input_value()) == ("5", "3")
    page.get_by_label("Your prediction").fill("8")
    rows.press("ArrowRight")
    says(page, r"thread \(3, 6\) needs row 6 of A and column 3 of B")
    page.locator("canvas").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    says(page, r"^k = 1\.")
    corner = page.evaluate("""async () => {
        const { layout, sceneOf } = await import("./tiling.js"), data = await (await fetch("./tiling.json")).json();
        const canvas = document.querySelector("canvas"),
            { clientWidth: width, clientHeight: height } = canvas, box = canvas.getBoundingClientRect();
        const scene = sceneOf(data.values, data.states), { C } = layout({ width, height, text: 14, narrow: false, scene }).tiled;
        return [box.x + C.x + 9.5 * C.cell, box.y + C.y + 12.5 * C.cell];
    }""")
    page.mouse.move(*corner)
    page.get_by_text("C[12][9], thread (9, 12): click to watch it").wait_for()
    page.mouse.click(*corner)
    assert (rows.input_value(), columns.input_value()) == ("12", "9")
    says(page, r"^k = 1\.")
    assert page.get_by_label("Your prediction").input_value() == "8"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_it_fits_every_screen(opened, width, scheme):
    page = opened(width, scheme)
    page.locator("canvas").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    says(page, r"^k = 4\.")
    page.wait_for_timeout(900)
    page.screenshot(path=SHOTS / f"tiling-{width}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width, "nothing to scroll sideways"
    if width > 1000:
        assert page.locator(".wbw").bounding_box()["height"] <= 600
    for control in page.locator(".wbw button, .wbw input").all():
        box = control.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_projector_gets_large_letters_and_the_whole_screen(opened, scheme):
    page = opened(1920, scheme)
    page.locator("canvas").focus()
    page.keyboard.press("f")
    page.locator(".wbw-projector").wait_for()
    assert page.locator(".wbw").bounding_box() == {"x": 0, "y": 0, "width": 1920, "height": 1080}
    page.keyboard.press("End")
    says(page, LAST)
    page.screenshot(path=SHOTS / f"tiling-projector-{scheme}.png")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(width, scheme)
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found] == []
