"""Controls on a function: what is asked for, what is shown, without a front end."""

import threading
import time

import pytest

from course_lib.errors import CourseError
from course_lib.plots import bars
from course_lib.widgets import waiting
from course_lib.widgets.explore import Control, Explore

CONTROLS = (Control("word", "which", ("a", "b"), "a"), Control("n", "how many", (1, ("two", 2), 3), 1))


@pytest.fixture
def asked():
    """Return the list of the positions that were computed."""
    return []


@pytest.fixture
def box(asked):
    def compute(word, n):
        asked.append((word, n))
        time.sleep(0.002)
        if n == 3:
            raise CourseError("three is too many, because there are two")
        return word * n

    made = Explore(CONTROLS, compute, facts=lambda text: {"text": text, "always": "same"},
                   picture=lambda text: (bars({text: len(text)}, unit="letters"), f"shows {text}"), done="counted by hand")
    yield made
    made.close()


def test_it_opens_with_table_picture_and_words(box, asked):
    assert asked == [("a", 1)]
    assert "<td" in box.table.value
    assert ">a<" in box.table.value
    assert 'alt="shows a"' in box.image.value
    assert "word = a, n = 1: counted by hand in" in box.status.value
    assert 'role="status"' in box.status.value


def test_a_move_shows_now_and_before_and_its_picture(box, wait_s):
    box.boxes["n"].value = 2
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert "n = two" in box.status.value
    assert "before" in box.table.value
    assert ">aa<" in box.table.value
    assert box.table.value.count("▶") + box.table.value.count("#fdeacc") > 0
    assert 'alt="shows aa"' in box.image.value


def test_the_next_move_is_known(box, asked, wait_s):
    box.boxes["n"].value = 2
    assert box.engine.settle(wait_s)
    assert set(asked) == {("a", 1), ("a", 2), ("a", 3), ("b", 2)}
    box.boxes["word"].value = "b"
    assert "known already" in box.status.value
    assert ">bb<" in box.table.value


def test_what_is_measured_is_not_computed_ahead(asked, wait_s):
    made = Explore(CONTROLS, lambda *p: asked.append(p) or p, facts=lambda p: {"n": str(p)}, ahead=False)
    made.boxes["n"].value = 2
    assert made.engine.settle(wait_s)
    assert asked == [("a", 1), ("a", 2)]
    made.close()


def test_an_impossible_choice_is_explained_and_hides_old_numbers(box, wait_s):
    box.boxes["n"].value = 3
    assert box.engine.settle(wait_s)
    assert "three is too many" in box.status.value
    assert 'role="alert"' in box.status.value
    assert box.table.value == box.image.value == ""
    assert "three is too many" in box.static_html()
    box.boxes["n"].value = 1
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert 'alt="shows a"' in box.image.value


def test_it_may_open_with_an_error():
    def never(n):
        raise CourseError("there is nothing here")

    made = Explore(CONTROLS[1:], never, facts=lambda x: {}, picture=lambda x: 1 / 0)
    assert "there is nothing here" in made.static_html()
    made.close()


def test_stale_moves_are_dropped_and_a_slow_one_shows_progress(monkeypatch, wait_s):
    gate, asked, shown = threading.Event(), [], threading.Event()

    def slow(n):
        asked.append(n)
        if n:
            assert gate.wait(wait_s)
        return n

    monkeypatch.setattr(waiting, "SLOW_S", 0.0)
    made = Explore([Control("n", "number", tuple(range(9)), 0)], slow, facts=lambda n: {"n": str(n)}, ahead=False)
    made.progress.layout.observe(lambda change: shown.set() if change["new"] == "visible" else None, "visibility")
    for n in (1, 2, 3, 4, 5, 8):
        made.boxes["n"].value = n
        if n == 1:
            assert shown.wait(wait_s)
    gate.set()
    assert made.engine.settle(wait_s)
    assert ">8<" in made.table.value
    assert made.progress.layout.visibility == "hidden"
    assert asked[-1] == 8
    assert len(asked) <= 4
    made.close()


def test_without_a_front_end_table_and_picture_are_there(box):
    bundle = box._repr_mimebundle_()
    assert "<table" in bundle["text/html"]
    assert "<img" in bundle["text/html"]
    assert "run this cell" in bundle["text/plain"]


def test_every_control_has_a_name_and_a_tooltip(box):
    for control in box.boxes.values():
        assert control.description
        assert control.tooltip
