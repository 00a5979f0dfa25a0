"""Self-checks: every file keeps to the form and its numbers are computed; answers are judged, told, kept and counted."""

import json
import math

import numpy as np
import pytest

from course_lib import arch, data, kernels, model
from course_lib.errors import CourseError
from course_lib.lessons.any_size.guards import guarded
from course_lib.run import count_lines, run, run_cpu, tolerance
from course_lib.toolchain import whole_step
from course_lib.widgets import questions, quiz
from course_lib.widgets.answers import Answers
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.pictures import one_thread, who_writes
from course_lib.widgets.self_check import Quiz

LESSONS = sorted(questions.lessons())
KNOWN = {"np": np, "math": math, "arch": arch, "data": data, "kernels": kernels, "model": model, "run": run, "run_cpu": run_cpu,
         "count_lines": count_lines, "evaluate": evaluate, "inputs": inputs, "one_thread": one_thread,
         "who_writes": who_writes, "whole_step": whole_step, "guarded": guarded, "tolerance": tolerance}
CHECKED = [pytest.param(q, id=f"{lesson}-{q.key}") for lesson in LESSONS for q in questions.load(lesson) if q.check]

TINY = """
[[question]]
key = "pick"
kind = "choice"
text = "Which of `a < b`?"
option = [{text = "one", feedback = "One is too few."}, {text = "two", feedback = "Two it is.", right = true},
          {text = "three", feedback = "Three is too many."}]
[[question]]
key = "share"
kind = "number"
text = "What share?"
unit = "%"
answer = 50
check = "100 / 2"
right = "Half."
wrong = "No."
""" + "".join(f"""
[[question]]
key = "n{i}"
kind = "number"
text = "What is {i} + 10?"
unit = "lanes"
answer = {i + 10}
check = "{i} + 10"
right = "So it is."
wrong = "Count again."
mistake = [{{value = {i}, feedback = "Add ten."}}]
""" for i in (1, 2, 3))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARP_BY_WARP_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    return tmp_path / "own"


@pytest.fixture
def tiny(tmp_path):
    """Return a function that makes the self-check of a text."""
    def make(text=TINY):
        (tmp_path / "tiny").mkdir(exist_ok=True)
        (tmp_path / "tiny" / "questions_77.toml").write_text(text, encoding="utf-8")
        return Quiz("77", folder=tmp_path)
    return make


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_file_keeps_to_the_form(lesson):
    found = questions.load(lesson)
    choices = [q for q in found if isinstance(q, questions.ChoiceQuestion)]
    assert 1 <= len(choices) <= 4, "a self-check has both kinds"
    access_sites = {[option.right for option in q.options].index(True) for q in choices}
    assert len(access_sites) > 1 or len(choices) == 1, "the right answer always stands in the same place"
    longest = [max(q.options, key=lambda option: len(option.text)).right for q in choices]
    assert not all(longest) or len(choices) == 1, "the right answer is always the longest"


@pytest.mark.sampled(test=2, slow=20)
@pytest.mark.parametrize("question", CHECKED)
def test_every_number_is_what_its_expression_computes(question):
    value = eval(question.check, dict(KNOWN))       # our own files
    if isinstance(question, questions.ChoiceQuestion):
        assert value
    else:
        assert value == pytest.approx(question.answer, rel=min(question.tolerance, 1e-3), abs=1e-12)


@pytest.mark.parametrize(("old", "new", "says"), [
    ('right = true', 'right = false', "question 1 has 3 options, 0 of them right"),
    ('feedback = "One is too few."', 'right = true, feedback = "One."', "2 of them right"),
    ('feedback = "One is too few."', 'feedback = ""', "question 1, option 1: feedback is missing"),
    ('check = "100 / 2"', "", "question 2: check is missing"),
    ('kind = "choice"', 'kind = "essay"', "'essay'"),
    ('answer = 50', 'answer = "50"', "not a number"),
    ('unit = "%"', 'units = "%"', "'units' is none of"),
    ('key = "n1"', 'key = "n2"', "two questions with one key"),
    ('{value = 1,', '{value = 11,', "the mistake 11 counts as right"),
    ('text = "one"', 'text = "two"', "the same answer twice"),
    ('text = "one"', 'text = "`one`"', "plain text"),
    ('feedback = "One is too few."', 'feedback = "*One* is too few."', r"option 1: feedback has \*One\*, whose marks would be seen"),
    ('text = "What share?"', 'text = "What **share of all** is it?"', "whose marks would be seen"),
    ('text = "What share?"', 'text = ""', "question 2: text is missing"),
    ('[[question]]\nkey = "share"', '[[other]]\nkey = "share"', "has 4 questions"),
    ('key = "pick"', 'key = pick', "is no TOML"),
])
def test_a_file_that_does_not_keep_to_the_form_is_refused(tiny, old, new, says):
    assert old in TINY
    with pytest.raises(CourseError, match=says):
        tiny(TINY.replace(old, new, 1))


def test_a_lesson_without_questions():
    with pytest.raises(CourseError, match="no self-check for lesson '99', only for 00, "):
        quiz("99")


def press(asked, text):
    """Press the button of an option."""
    next(button for button in asked.buttons if button.description == text).click()


def test_a_wrong_option_is_told_its_own_feedback_and_may_be_changed(tiny):
    asked = tiny().asked[0]
    press(asked, "three")
    assert "Not yet" in asked.says.value
    assert "Three is too many." in asked.says.value
    assert [button.icon for button in asked.buttons] == ["", "", "times"]
    press(asked, "two")
    assert "Right." in asked.says.value
    assert "Two it is." in asked.says.value
    assert [button.icon for button in asked.buttons] == ["", "check", ""]


@pytest.mark.parametrize(("given", "says"), [
    ("11", "So it is."), ("11.02", "So it is."), ("11.1", "Count again."), ("22/2", "So it is."), ("1", "Add ten."),
    ("-11", "Count again."), ("eleven", "is not a number")])
def test_numbers_are_judged_within_their_tolerance(tiny, given, says):
    asked = tiny().asked[2]
    asked.field.value = given
    assert says in asked.says.value


@pytest.mark.parametrize(("given", "right"), [("50", True), ("50 %", True), ("0.5", False)])
def test_a_share_is_written_with_or_without_its_sign(tiny, given, right):
    asked = tiny().asked[1]
    asked.field.value = given
    assert asked.judged.right is right


def test_answers_outlive_the_kernel_and_are_counted(tiny, own_folder):
    first = tiny()
    assert "0 of 5 answered, 0 right." in first.progress.value
    assert not own_folder.exists(), "nothing is written until a reader answers"
    first.asked[0].answer("three")
    first.asked[2].field.value = "11"
    assert "2 of 5 answered, 1 right." in first.progress.value
    assert json.loads((own_folder / "answers.json").read_text()) == {"quiz-77-n1": 11, "quiz-77-pick": "three"}
    again = tiny()
    assert [button.icon for button in again.asked[0].buttons] == ["", "", "times"]
    assert "Three is too many." in again.asked[0].says.value
    assert again.asked[2].field.value == "11"
    assert "2 of 5 answered, 1 right." in again.progress.value
    for asked, given in zip(again.asked, ["two", "50", "11", "12", "13"], strict=True):
        asked.answer(given)
    assert "5 of 5 answered, 5 right. That is all of them." in again.progress.value


def test_an_answer_that_is_offered_no_more_is_forgotten(tiny):
    tiny().asked[0].answer("three")
    again = tiny(TINY.replace('text = "three"', 'text = "a third one"'))
    assert again.asked[0].judged is None
    assert "0 of 5 answered" in again.progress.value


def test_what_a_notebook_stores_does_not_depend_on_the_reader_and_tells_no_answer(tiny):
    check = tiny()
    before = check._repr_mimebundle_()
    check.asked[0].answer("two")
    after = tiny()._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert before[kind] == after[kind]
        assert "too many" not in after[kind]
    assert "( ) three" in after["text/plain"]
    assert "____ lanes" in after["text/plain"]
    assert "<code>a &lt; b</code>" in after["text/html"]


def test_a_screen_reader_hears_what_changes(tiny):
    check = tiny()
    for asked in check.asked:
        asked.answer("two" if asked is check.asked[0] else "1")
        assert 'role="status" aria-live="polite"' in asked.says.value
        controls = getattr(asked, "buttons", None) or [asked.field, asked.button]
        assert all(control.tooltip.startswith("Question ") for control in controls)
    assert 'role="status" aria-live="polite"' in check.progress.value


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "questions_77.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "file").write_text("")
    check = Quiz("77", folder=tmp_path, answers=Answers(tmp_path / "file" / "answers.json"))
    press(check.asked[0], "two")
    assert "could not be saved" in check.asked[0].says.value
    assert "1 of 5 answered, 1 right." in check.progress.value
