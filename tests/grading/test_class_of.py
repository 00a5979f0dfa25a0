"""The class that `python -m tools class-of` makes: all different, the same again, and whoever gets other marks than they must is named."""

import csv
import json
from collections import Counter

import class_members
import pytest
from click.testing import CliRunner

from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.grades import grades
from course_lib.grading.classroom.normalise import answers, questions
from tools import class_of, required

EXERCISE = "04_tiling"


def texts(member):
    return tuple(cell["source"] for cell in member.notebook["cells"] if cell["id"].endswith("-answer"))


@pytest.mark.slow
def test_a_class_has_all_kinds_no_two_honest_ones_alike_and_comes_out_the_same_again():
    found = class_of.enrolled(EXERCISE, 300, 1)
    assert Counter(member.kind for member in found) == {"honest": 174, "wrong": 60, "hostile": 54, "starter": 12}
    assert {member.what for member in found if member.kind == "hostile"} == class_members.HOSTILE.keys()
    honest = [texts(member) for member in found if member.kind == "honest"]
    assert len(set(honest)) == len(honest)
    assert not [words for answer in honest for words in answer if "SOLUTION" in words or "STARTER" in words]
    assert {member.factor for member in found} == {1, 0.9, 0.8, 0.5}
    again = class_of.enrolled(EXERCISE, 300, 1)
    assert [(member.student, member.what, texts(member), member.hours) for member in found] == [
        (member.student, member.what, texts(member), member.hours) for member in again]
    assert [member.what for member in found] != [member.what for member in class_of.enrolled(EXERCISE, 300, 2)]


@pytest.mark.parametrize("exercise", ["01_triple_loop", "08_register_blocking"])
def test_other_exercises_have_all_but_hostile_ones(exercise):
    found = class_of.enrolled(exercise, 50, 1)
    assert Counter(member.kind for member in found) == {"honest": 38, "wrong": 10, "starter": 2}
    released = (class_of.ROOT / f"exercises/{exercise}/{exercise}.ipynb").read_bytes()
    asked = questions(released)
    for member in found:
        taken = answers(json.dumps(member.notebook).encode(), asked)
        assert (taken.missing, taken.notes) == ({}, ())


@pytest.fixture
def graded(tmp_path):
    """Return a class of 8 as if graded: everybody has what they must have."""
    members = class_of.enrolled(EXERCISE, 8, 3)
    classroom = Classroom(tmp_path)
    class_of.make(classroom, EXERCISE, members, missing=1)
    for member in members:
        class_of.write(classroom.feedback(member.student, EXERCISE), "a page")
        class_of.write(classroom.result(member.student, EXERCISE), json.dumps(
            {"student": member.student, "exercise": EXERCISE, "key": "k", "graded": "2030-01-01T00:00:00+00:00", "points": member.points,
             "maximum": 10, "problem": "", "notes": [], "parts": []}))
    return classroom, members


def odd(classroom, members):
    grades(classroom, EXERCISE)
    return class_of.odd(classroom, EXERCISE, members, 1)


def test_a_class_in_which_all_is_as_it_must_be(graded):
    assert odd(*graded) == []


def test_a_mark_too_many_a_page_too_few_a_secret_and_a_lateness_are_found(graded):
    classroom, members = graded
    one, two, three, *others = [member for member in members if member.points]
    path = classroom.result(one.student, EXERCISE)
    path.write_text(path.read_text().replace('"notes": []', f'"notes": ["{class_of.SECRET}"]'))
    path = classroom.result(two.student, EXERCISE)
    path.write_text(path.read_text().replace(f'"points": {two.points}', '"points": 9'))
    classroom.feedback(three.student, EXERCISE).unlink()
    wrong = class_of.replace(others[0], factor=0.7)
    words = odd(classroom, [member if member != others[0] else wrong for member in members])
    assert [sum(told in line for line in words) for told in (
        "holds a file's secret", f"{two.student}, ", f"{three.student}: no page", f"{wrong.student}, ")] == [1, 1, 1, 1]
    assert len(words) == 4


def test_who_is_missing_has_a_row(graded):
    classroom, members = graded
    grades(classroom, EXERCISE)
    with (classroom.folder / f"grades_{EXERCISE}.csv").open(encoding="utf-8", newline="") as file:
        assert [row["student"] for row in csv.DictReader(file) if row["status"] == "missing"] == ["missing1"]


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@required.bubblewrap
def test_a_small_class_is_graded_and_everybody_gets_what_they_must():
    done = CliRunner().invoke(class_of.command, ["--students", "6", "--seed", "2"])
    assert done.exit_code == 0
    shown = done.output
    assert "6 submissions of 04_tiling" in shown
    assert "everybody got the marks" in shown
