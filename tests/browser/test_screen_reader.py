"""What a screen reader is told of the lessons' sliders, buttons and fields: Chromium's own accessibility tree, before and after a move."""
import re

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
CELLS = ("""\
from course_lib.plots import bars
from course_lib.widgets import live, player, predict, quiz
from course_lib.widgets.pictures import tile_picture
live("sgemm_tiled", sliders={"BM": (8, 16, 32), "BK": (8, 16)}, start={"BM": 16, "BK": 16}, N=64, sizes=(64, 128),
     picture={"tiles": tile_picture, "again": tile_picture})""",
         "predict('How many sectors?', key='x', unit='sectors')",
         "player(3, lambda i: bars({'a': i + 1}, unit='u'), lambda i: f'step {i}')",
         "quiz('04')")


def tree(page):
    """Return what Chromium tells screen readers of each control: role, name, description, pressed, words (a slider's aria-valuetext).

    The words are the attribute's: the protocol gives a slider's number for them.
    """
    session = page.context.new_cdp_session(page)
    session.send("DOM.getDocument")
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        pressed = [p["value"]["value"] for p in node.get("properties", ()) if p["name"] == "pressed"]
        said = {key: node.get(key, {}).get("value", "") for key in ("name", "description")}
        made = {"role": role, **said, "pressed": pressed, "words": "", "order": node.get("backendDOMNodeId", 0)}
        if role == "slider":
            attributes = session.send("DOM.describeNode", {"backendNodeId": node["backendDOMNodeId"]})["node"]["attributes"]
            made["words"] = dict(zip(attributes[::2], attributes[1::2], strict=True)).get("aria-valuetext")
        found.append(made)
    return sorted(found, key=lambda node: node["order"])


def spoken(page, role):
    """Return (name, words) of all controls of a role."""
    return [(node["name"], node["words"]) for node in tree(page) if node["role"] == role]


@pytest.fixture(scope="module")
def lesson(tmp_path_factory, chromium):
    from tools.browser import open_lesson

    path = tmp_path_factory.mktemp("widgets") / "t.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS]), path)
    with open_lesson(path) as opened:
        assert opened.run_all() == []
        yield opened
        assert opened.errors == []


def test_sliders_have_names_and_say_their_values_before_and_after_a_move(lesson):
    rows, deep, size, step = spoken(lesson.page, "slider")
    assert rows == ("BM: rows of C a block computes", "16"), "and not 1, which is its place among the choices"
    assert deep[1] == "16"
    assert size == ("N: rows and columns of A, B and C", "64")
    assert step[1] == "0"
    lesson.move(lesson.sliders().first, "ArrowRight", done=lambda text: "BM = 32" in text)
    assert spoken(lesson.page, "slider")[0] == ("BM: rows of C a block computes", "32")
    lesson.move(lesson.sliders().first, "ArrowLeft", done=lambda text: "BM = 16" in text)
    assert spoken(lesson.page, "slider")[0][1] == "16"


def test_one_press_of_tab_leaves_a_slider(lesson):
    lesson.sliders().first.focus()
    lesson.page.keyboard.press("Tab")
    assert lesson.page.evaluate("document.activeElement.ariaLabel").startswith("BK")


def test_buttons_that_belong_together_say_so_and_which_is_pressed(lesson):
    assert ("Which picture", "") in spoken(lesson.page, "group")
    named = {node["name"]: node["pressed"] for node in tree(lesson.page) if node["role"] in ("button", "toggleButton")}
    assert (named["tiles"], named["again"]) == (["true"], ["false"])
    lesson.page.get_by_role("button", name="again", exact=True).press("Enter")
    lesson.page.locator("button[aria-pressed=true]", has_text="again").wait_for()


def test_a_player_names_its_buttons(lesson):
    names = [name for name, _ in spoken(lesson.page, "button")]
    assert {"Play", "Stop, and back to the first step", "Repeat"} < set(names)
    assert all(re.search(r"\w", name) for name in names)


def test_a_field_is_described_by_its_question_and_options_are_a_group(lesson):
    fields = [node for node in tree(lesson.page) if node["role"] == "textbox" and node["name"] in ("I predict", "answer")]
    assert [node["description"].split(".")[0] for node in fields] == ["Predict", "Question 1 of 5", "Question 2 of 5"]
    groups = [name for name, _ in spoken(lesson.page, "group")]
    assert sum(name.startswith("Question ") for name in groups) == 5
