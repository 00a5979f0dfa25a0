"""Predictions: read as people write, kept across kernels, compared, and harmless when nobody answers."""

import json

import pytest

from course_lib.errors import CourseError
from course_lib.widgets.answers import Answers, folder
from course_lib.widgets.prediction import Prediction, compare, parse_number, predict


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARP_BY_WARP_HOME", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.mark.parametrize(("text", "value"), [
    ("8.5", 8.5), ("8,5", 8.5), ("17/2", 8.5), ("1e3", 1000), ("1,000", 1000), ("1,234.5", 1234.5), ("-2", -2),
    ("50%", 0.5)])
def test_numbers_as_people_write_them(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", "two", "1/0", "nan", "inf", "--", "1/", "8.5 sectors"])
def test_what_is_no_number_is_refused_by_name(text):
    with pytest.raises(CourseError, match="is not a number"):
        parse_number(text)


def test_an_answer_outlives_the_widget(own_folder):
    asked = predict("How many?", key="03-x", unit="sectors")
    asked.button.click()
    assert asked.value is None
    asked.field.value = "17/2"
    assert json.loads((own_folder / "answers.json").read_text()) == {"03-x": 8.5}
    again = predict("How many?", key="03-x", unit="sectors")
    assert again.value == 8.5
    assert again.field.value == "8.5"
    assert "right" in again.reveal(8.5).sentence
    assert "right" in again.says.value


def test_nobody_answers(own_folder):
    assert predict("How many?", key="k").reveal(8.5).sentence == "No prediction this time; it is 8.5."
    assert not own_folder.exists()


def test_what_a_notebook_stores_does_not_depend_on_the_reader():
    asked = predict("How many?", key="k")
    before = asked.reveal(8.5)._repr_mimebundle_()
    asked.commit("4")
    after = asked.reveal(8.5)._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert before[kind] == after[kind]
        assert "8.5" in after[kind]


def test_keys_do_not_disturb_each_other():
    first, second = predict("?", key="a"), predict("?", key="b")
    first.commit("1")
    second.commit("2")
    assert (Answers().recall("a"), Answers().recall("b")) == (1, 2)


def test_nonsense_is_explained_and_not_kept():
    asked = predict("How many?", key="k")
    asked.commit("a few")
    assert "a few" in asked.says.value
    assert asked.value is None
    assert Answers().recall("k") is None


def test_a_broken_file_counts_as_empty(own_folder):
    own_folder.mkdir()
    (own_folder / "answers.json").write_text("{broken")
    assert Answers().recall("k") is None
    (own_folder / "answers.json").write_text('{"k": "text", "m": true, "n": 3}')
    assert [Answers().recall(key) for key in "kmn"] == [None, None, 3]


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    asked = Prediction("How many?", key="k", answers=Answers(tmp_path / "file" / "answers.json"))
    asked.commit("4")
    assert asked.value == 4
    assert "could not be saved" in asked.says.value


def test_comparison_says_which_way_and_how_far():
    assert "close" in compare(8.6, 8.5)
    assert "too high" in compare(17, 8.5)
    assert "2 times too low" in compare(4.25, 8.5)
    assert "right" in compare(0, 0)
    assert "difference" in compare(1, 0)


def test_the_folder_is_jupyters_unless_told_otherwise(monkeypatch, tmp_path):
    assert folder() == tmp_path / "own"
    monkeypatch.delenv("WARP_BY_WARP_HOME")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    assert folder() == tmp_path / "jupyter" / "warp-by-warp"


def test_without_a_front_end_the_question_is_still_there():
    bundle = predict("How many <sectors>?", key="k")._repr_mimebundle_()
    assert "How many <sectors>?" in bundle["text/plain"]
    assert "How many &lt;sectors&gt;?" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
