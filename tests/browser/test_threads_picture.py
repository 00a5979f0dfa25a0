"""Lesson 03's explorable in Chromium: played, stepped, clicked and switched; its counters against the simulator."""
import re

import pytest

from course_lib.explorables import who_computes

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PICTURE = who_computes
NAIVE = r"2 sectors of A \+ 2 of B = 4 sectors per step\..* touched 64 sectors\."
SWAPPED = r"row from x: 16 sectors of A \+ 1 of B = 17 sectors per step\. col from x in the same blocks: 2 \+ 2 = 4\."


def so_far(shown):
    """Return (sectors, requests), as a screen reader is told."""
    return tuple(map(int, re.search(r"So far (\d+) sectors in (\d+) requests", shown.described()).groups()))


def test_every_step_by_key_has_the_simulators_counters(opened):
    shown = opened(reduced_motion="reduce")
    shown.says("Predict, then play")
    for k in range(16):
        assert so_far(shown) == (4 * k, 2 * k), "tests/explorables/test_threads.py holds these to the trace"
        shown.press("ArrowRight")
        shown.when(f"^step {k + 1} of 16: k = {k}$")
    assert so_far(shown) == (64, 32)
    shown.says(NAIVE)


def test_it_plays_to_the_end_and_judges_the_prediction(opened):
    shown = opened()
    shown.prediction().fill("32")
    shown.button("Play").click()
    shown.says(r"^k = 0\. The lanes ask for A: column 0.* Then for B: row 0")
    shown.says(NAIVE + r" You said 32; it is [0-9]")


def test_what_to_press_is_said_until_it_plays(opened):
    shown = opened()
    shown.prediction().fill("32")
    shown.prediction().press("Enter")
    shown.says(r"You say 32\. Space plays")
    shown.button("Play").click()
    shown.says(r"^k = 0\.")
    assert "You say" not in shown.told()


def second():
    """Return the lesson's second picture, which has a control for the kernel."""
    return who_computes("swapped")


@pytest.mark.parametrize("page", [second], indirect=True)
def test_another_kernel_begins_anew_and_another_lane_does_not(opened):
    shown = opened()
    shown.press("End")
    shown.says(SWAPPED)
    shown.slider("Lane that is watched").press("ArrowRight")
    shown.says(SWAPPED)
    shown.radio("col from x").check(force=True)
    shown.says("Predict, then play")
    assert "computes rows 2 to 3 and columns 16 to 31 of C" in shown.described()
    answers = re.findall(r"8\.5|\d+ per|[1-9]\d* sectors?", shown.told())
    assert answers == [], "they wait for the player"
    shown.press("End")
    shown.says(NAIVE)


def test_a_click_on_an_element_watches_its_thread(opened):
    shown = opened()
    shown.press(*["ArrowRight"] * 2)
    shown.says(r"^k = 1\.")
    place = shown.at(*shown.where("""({ layout }, view) => {
        const { C, cell } = layout(view);
        return [C.x + 9.5 * cell, C.y + 12.5 * cell];
    }"""))
    shown.page.mouse.move(*place)
    shown.page.get_by_text("C[12][9]: thread (9, 12) of block (0, 0), warp 6, lane 9").wait_for()
    shown.page.mouse.click(*place)
    warp, lane = (shown.slider(f"{name} that is watched") for name in ("Warp", "Lane"))
    assert (warp.get_attribute("aria-valuetext"), lane.get_attribute("aria-valuetext")) == (
        "6 of block (0, 0)", "9: thread (9, 12)")
    shown.says(r"^k = 1\.")


def test_a_new_picture_below_a_long_text_scrolls_itself_into_the_window(browser, page):
    """Its text fills 500 of the 800 pixels, or all of them and more: then the reader is elsewhere, and nothing moves."""
    for above, moved in ((0, False), (500, True), (1500, False)):
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.add_init_script(f"new MutationObserver((_, self) => {{ if (document.body) {{ document.body.style.paddingTop = '{above}px'; "
                            "self.disconnect(); } }).observe(document, { childList: true, subtree: true });")
        tab.goto(page.as_uri())
        tab.wait_for_selector(".wbw canvas")
        tab.wait_for_timeout(500)
        box = tab.locator(".wbw").bounding_box()
        assert (tab.evaluate("scrollY") > 0) is moved
        assert (box["y"] >= 0 and box["y"] + box["height"] <= 801) is (above < 800)
        tab.close()
