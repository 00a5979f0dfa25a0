"""Predictions: read as people write, kept across kernels, compared, and harmless when nobody answers."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.widgets.answers import Answers, folder
from course_lib.widgets.numbers import LARGEST, parse_number, short, understood
from course_lib.widgets.prediction import Prediction, compare, predict


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARP_BY_WARP_HOME", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.mark.parametrize(("text", "value"), [
    ("8.5", 8.5), ("8,5", 8.5), ("17/2", 8.5), ("1e3", 1000), ("1,000", 1000), ("1,234.5", 1234.5), ("-2", -2),
    ("50%", 0.5), ("0,0117", 0.0117), ("0.0117", 0.0117), (".5", 0.5), (",5", 0.5), ("0,125", 0.125), ("1,024", 1024),
    ("12,345,678", 12345678), ("1.048.576", 1048576), ("1.234,5", 1234.5), ("1234,567", 1234.567), ("1.024", 1.024),
    ("262 144", 262144), ("262\u202f144", 262144),
    ("2'097'152", 2097152), ("1_000", 1000), ("007", 7), ("12,5%", 0.125), ("2,5e3", 2500)])
def test_numbers_as_people_write_them(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize(("text", "value"), [
    ("1/64", 1 / 64), ("2**10", 1024), ("3*4", 12), ("(1/32 + 1/16) / 8", 3 / 256), ("2^10", 1024), ("16 × 16", 256), ("16·16 − 1", 255),
    ("-2**2", -4), ("7 // 2", 3), ("256**3 / 64", 262144), ("1,024 * 256", 262144), ("0,5 + 0,25", 0.75), ("1/2 + 1/2 %", 0.01)])
def test_formulas_are_computed(text, value):
    assert parse_number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", [
    "__import__('os')", "abs(1)", "x", "1 if 1 else 2", "[1]", "'a' * 9", "True", "2j", "1; 2", "lambda: 1", "(1).real", "9**9**9",
    "9**99999", "10**400", "1e999", "0**-1", "1 << 80", "1,24,5", "1,0000,000", "1.2.3", "1..2", "3 4", "1+" * 30 + "1", "(" * 40 + "1",
    "(-8)**0.5", "(-8)**0.5 // 1"])
def test_what_is_no_arithmetic_is_not_computed(text):
    with pytest.raises(CourseError, match="is not a number: write something like"):
        parse_number(text)


def test_what_a_reader_may_have_meant_otherwise_is_said():
    assert [understood(text, parse_number(text)) for text in ("16", " -0.5 ", "1,024", "0,0117", "2**10", "50%")] == [
        "", "", ", understood as 1024", ", understood as 0.0117", ", understood as 1024", ", understood as 0.5"]
    assert short(2.0**21) == "2097152"
    assert short(LARGEST) == "1e+15"
    asked = predict("How many?", key="k", unit="sectors")
    asked.commit("1,024")
    assert "Your prediction: 1,024 sectors, understood as 1024. Now run the next cells." in asked.says.value
    asked.commit("16")
    assert "Your prediction: 16 sectors. Now" in asked.says.value


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
    assert "right" not in again.says.value, "the result stands in one place"
    again.commit("9")
    said = again.says.value
    assert "Your prediction: 9 sectors." in said
    again.reveal(8.5)
    assert again.says.value == said


def test_nobody_answers(own_folder):
    assert predict("How many?", key="k").reveal(8.5).sentence == "No prediction this time; it is 8.5."
    assert not own_folder.exists()


def test_who_has_not_predicted_gets_the_answer_behind_a_click():
    asked = predict("How many?", key="k")
    shown = asked.reveal(8.5).children[0]
    before, _, after = shown.value.partition("<details>")
    assert "You have not predicted yet" in before
    assert "8.5" not in before
    assert "it is 8.5" in after
    asked.commit("4")
    shown = asked.reveal(8.5).children[0]
    assert "details" not in shown.value
    assert "it is 8.5" in shown.value


def test_what_answers_is_held_back_until_there_is_a_prediction():
    asked, table = predict("How many?", key="k"), Table(("sectors",), [(8.5,)])
    held = asked.unlocks(table)
    assert "You have not predicted yet" in held.children[0].value
    assert "8.5" not in "".join(getattr(child, "value", "") for child in held.children)
    stored = held._repr_mimebundle_()
    assert (stored["text/plain"], stored["text/html"]) == (repr(table), table._repr_html_())
    asked.commit("4")
    assert asked.unlocks(table) is table


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


def test_two_that_save_at_once_do_not_take_each_others_file(tmp_path):
    path = tmp_path / "answers.json"
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda number: Answers(path).keep(f"k{number}", number), range(200)))
    assert all(kept)
    assert [left.name for left in tmp_path.iterdir()] == ["answers.json"]


def test_comparison_asks_nothing_where_the_lesson_does():
    assert compare(4.25, 8.5, ask=False).endswith("2 times as large as your number.")
    assert compare(8.6, 8.5, ask=False).endswith(": close.")


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    asked = Prediction("How many?", key="k", answers=Answers(tmp_path / "file" / "answers.json"))
    asked.commit("4")
    assert asked.value == 4
    assert "could not be saved" in asked.says.value


def test_comparison_says_which_way_and_how_far():
    assert "close" in compare(8.6, 8.5)
    assert "your number is 2 times as large as the answer" in compare(17, 8.5)
    assert "the answer is 2 times as large as your number" in compare(4.25, 8.5)
    assert compare(18, 17, "sectors").endswith("it is 17 sectors: one too many.")
    assert compare(4, 5).endswith("one too few.")
    assert "2 times as large" in compare(2, 1)
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
