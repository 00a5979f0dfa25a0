"""The class's page and the twelve questions in Chromium: sizes, colours, paper, axe-core, the keyboard, and the file that is saved."""

import json
from pathlib import Path

import pytest
from test_overview import a_class

from course_lib.grading.inventory.answers import read_answers
from course_lib.grading.inventory.form import form
from course_lib.grading.inventory.questions import load
from course_lib.grading.overview.writing import overview

pytestmark = pytest.mark.browser
PAPER = 717                    # pixels of CSS that A4 has between its margins
INVENTORY = load(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the pages: class, class_with_names, questions."""
    classroom = a_class(tmp_path_factory.mktemp("class") / "course", range(9), "Ada <img src=x onerror=alert(1)> {}")
    overview(classroom)
    overview(classroom, names=True)
    (classroom.folder / "questions.html").write_text(form(INVENTORY, "before"), encoding="utf-8")
    return {name: (classroom.folder / f"{name}.html").as_uri() for name in ("class", "class_with_names", "questions")}


@pytest.fixture
def open_page(browser, pages):
    """Return a function that opens a page; nothing may be said on the console."""
    tabs, said = [], []

    def opened(name, width=1280, **options):
        tab = browser.new_page(viewport={"width": width, "height": 900}, **options)
        tabs.append(tab)
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        tab.goto(pages[name])
        return tab

    yield opened
    for tab in tabs:
        tab.close()
    assert said == []


@pytest.mark.parametrize("name", ["class", "class_with_names", "questions"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_nothing_sticks_out_and_axe_finds_nothing_serious(open_page, name, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    tab = open_page(name, width, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in found if violation["impact"] in ("serious", "critical")] == []


def test_on_paper_tables_are_not_cut_off_and_the_paper_is_white(open_page):
    tab = open_page("class", PAPER, color_scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("Math.max(...[...document.querySelectorAll('table, .chart')].map(e => e.getBoundingClientRect().right))") <= PAPER
    assert tab.evaluate("getComputedStyle(document.querySelector('.chart')).maxWidth") == "100%"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate("[...document.querySelectorAll('.scroll')].every(e => getComputedStyle(e).overflowX === 'visible')")
    assert not tab.locator("nav").is_visible()


def test_the_questions_are_answered_by_keyboard_and_saved_as_a_file_that_can_be_collected(open_page, tmp_path):
    tab = open_page("questions")
    tab.get_by_role("button", name="Save my answers").press("Enter")
    assert "name on the learning platform first" in tab.get_by_role("status").inner_text()
    tab.keyboard.type(" lovelaceada ")
    for _ in INVENTORY.questions[:-1]:
        tab.keyboard.press("Tab")
        tab.keyboard.press("Space")
    tab.get_by_role("button", name="Save my answers").press("Enter")
    assert "Still open: question 12." in tab.get_by_role("status").inner_text()
    tab.keyboard.press("Space")
    tab.keyboard.press("ArrowUp")                        # from the first option to the last, "I do not know yet"
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Save my answers").press("Enter")
    assert download.value.suggested_filename == "questions_before.json"
    download.value.save_as(tmp_path / "saved.json")
    answered = read_answers((tmp_path / "saved.json").read_bytes(), INVENTORY)
    assert (answered.student, answered.phase) == ("lovelaceada", "before")
    assert list(answered.answers.values()) == ["a"] * 11 + ["?"]
    assert json.loads((tmp_path / "saved.json").read_bytes())["version"] == INVENTORY.version
