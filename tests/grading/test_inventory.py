"""The twelve questions: the page without answers, the files that students hand in, and the formulas of the item analysis."""

import csv
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.release import bundled, contents, tracked
from course_lib.grading.inventory.answers import MOST_BYTES, collected, read_answers
from course_lib.grading.inventory.form import form
from course_lib.grading.inventory.items import analyse, kr20, normalised_gain
from course_lib.grading.inventory.questions import FILE, load
from course_lib.grading.inventory.section import section

ROOT = Path(__file__).parents[2]
INVENTORY = load(ROOT)
RIGHT = {question.key: question.right for question in INVENTORY.questions}


@pytest.fixture
def classroom(tmp_path):
    root = tmp_path / "course"
    root.mkdir()
    for name in ("exercises", "solutions", "deploy"):
        (root / name).symlink_to(ROOT / name)
    return Classroom(root)


def handed_in(**changes):
    """Return the bytes of a file as the page makes it, all answers right but for what is changed."""
    made = {"questions": "warp-by-warp", "version": INVENTORY.version, "phase": "before", "student": "ada",
            "saved": "2030-10-01T10:00:00.000Z", "answers": RIGHT}
    return json.dumps(made | changes).encode()


def answers(classroom, source):
    return main(["--root", str(classroom.root), "answers", str(source)])


def test_there_are_twelve_questions_whose_right_option_stands_anywhere():
    assert len(INVENTORY.questions) == 12
    where = [question.letters.index(question.right) for question in INVENTORY.questions]
    assert set(where) == {0, 1, 2, 3}
    assert max(map(where.count, where)) <= 4
    misconceptions = [option.misconception for question in INVENTORY.questions for option in question.options if option.misconception]
    assert len(set(misconceptions)) == len(misconceptions) == 36


@pytest.mark.parametrize("phase", ["before", "after"])
def test_the_page_has_all_options_and_neither_answers_nor_misconceptions(phase):
    html = form(INVENTORY, phase)
    for question in INVENTORY.questions:
        field = re.search(rf'<fieldset[^>]*>(?:(?!</fieldset>).)*name="{question.key}".*?</fieldset>', html, re.DOTALL)[0]
        options = re.findall(r"<label.*?</label>", field, re.DOTALL)
        shapes = {re.sub(r'value="."|<span>.*?</span>', "", option) for option in options}
        assert (len(options), len(shapes)) == (5, 1), "options differ in letter and text alone"
        assert not any(option.misconception in html for option in question.options if option.misconception)
    assert "right = true" not in html
    assert "src=" not in html
    assert "http" not in html.replace("http-equiv", "")


def test_students_bundles_do_not_have_the_questions():
    names = tracked(ROOT)
    assert FILE in names
    assert FILE not in bundled(names)
    texts = [data for name, data in contents(ROOT).items() if name.endswith((".py", ".js", ".toml", ".md"))]
    assert not any(option.misconception.encode() in data for question in INVENTORY.questions for option in question.options
                   if option.misconception for data in texts)


@pytest.mark.parametrize(("data", "words"), [
    (b"{", "it is no file of answers"),
    (b"[" * 5000, "it is no file of answers"),
    (b"\xff\xfe", "it is no file of answers"),
    (handed_in(phase="during"), "it is no file of answers"),
    (handed_in(student=["ada"]), "it is no file of answers"),
    (handed_in(phase=["before"]), "it is no file of answers"),
    (handed_in(saved="2030-10-01T10:00:00"), "it is no file of answers"),
    (handed_in(more="x" * MOST_BYTES), "it is no file of answers"),
    (handed_in(version=99), "it answers version '99'"),
    (handed_in(answers=RIGHT | {"stride": "z"}), "it has other questions or answers"),
    (handed_in(answers=RIGHT | {"stride": ["a"]}), "it has other questions or answers"),
    (handed_in(answers={"stride": "a"}), "it has other questions or answers"),
], ids=str)
def test_a_file_that_is_none_is_refused(data, words):
    with pytest.raises(CourseError, match=re.escape(words)):
        read_answers(data, INVENTORY)


def test_answers_come_from_folders_and_zip_files_and_the_newest_count(classroom, tmp_path, capsys):
    (classroom.folder / "roster.csv").write_text("student,name,platform\nada,Ada Lovelace,lovelaceada\nbob,Bob,\n", encoding="utf-8")
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    with zipfile.ZipFile(inbox / "platform.zip", "w") as archive:
        archive.writestr("Ada Lovelace_1_file_/questions_before.json", handed_in(student="LovelaceAda ", answers=RIGHT | {"stride": "?"}))
        archive.writestr("__MACOSX/questions_before.json", b"\0")
    (inbox / "old.json").write_bytes(handed_in(student="ada", saved="2030-10-01T11:00:00+02:00"))
    (inbox / "bob.json").write_bytes(handed_in(student="bob", phase="after"))
    (inbox / "eve.json").write_bytes(handed_in(student="eve"))
    (inbox / "link.json").symlink_to(inbox / "bob.json")
    assert answers(classroom, inbox) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("NOT TAKEN")] == [
        "NOT TAKEN 'eve.json': nobody on the roster is called 'eve': write that into the column `platform`",
        "NOT TAKEN 'link.json': it is a link or cannot be read (Too many levels of symbolic links)"]
    found = collected(classroom, INVENTORY)
    assert found["before"]["ada"]["stride"] == "?", "10:00 in Greenwich is later than 11:00 two hours east of it"
    assert found["after"].keys() == {"bob"}
    capsys.readouterr()
    assert answers(classroom, inbox / "old.json") == 0
    assert "newer answers are there already" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../eve", "", "a/b", "canary"])
def test_without_a_roster_a_name_that_cannot_be_a_folder_is_refused(classroom, tmp_path, name, capsys):
    (tmp_path / "a.json").write_bytes(handed_in(student=name))
    assert answers(classroom, tmp_path / "a.json") == 1
    assert "cannot be a student's id" in capsys.readouterr().out
    assert not (classroom.folder / "questions").exists()


# Four students and three questions, by hand. The totals 3, 2, 1, 0 have the mean 1.5 and the variance
# (1.5² + 0.5² + 0.5² + 1.5²) / 4 = 1.25. p = 3/4, 2/4, 1/4, so
# Σ p (1 - p) = 3/16 + 4/16 + 3/16 = 0.625, and KR-20 = 3/2 · (1 - 0.625 / 1.25) = 0.75.
WORKED = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=float)


def given(scores):
    return [{"abc"[at]: "a" if score else "bc"[row % 2] for at, score in enumerate(line)} for row, line in enumerate(scores)]


def test_the_formulas_on_a_worked_example():
    found = analyse(given(WORKED), dict.fromkeys("abc", "a"))
    assert (found.count, found.mean, found.reliability) == (4, 0.5, pytest.approx(0.75))
    assert [item.right for item in found.items] == [0.75, 0.5, 0.25]
    # The second question: 1, 1, 0, 0 beside the number of the others right, 2, 1, 1, 0. Covariance (2 + 1) / 4 - 0.5 · 1 = 0.25;
    # standard deviations 0.5 and √0.5; so 0.25 / (0.5 √0.5) = √0.5.
    assert found.items[1].discrimination == pytest.approx(0.5 ** 0.5)
    # The first: 1, 1, 1, 0 beside 2, 1, 0, 0. Covariance 3/4 - 3/4 · 3/4 = 3/16; deviations √3/4 and √11/4; so 3/16 / (√33/16) = 3/√33.
    assert found.items[0].discrimination == pytest.approx(3 / 33 ** 0.5)
    assert [dict(item.chosen) for item in found.items] == [{"a": 3, "c": 1}, {"a": 2, "b": 1, "c": 1}, {"a": 1, "c": 2, "b": 1}]


def test_kr20_is_cronbachs_alpha_by_covariances():
    scores = (np.random.default_rng(1).random((40, 12)) < np.linspace(0.2, 0.9, 40)[:, None]).astype(float)
    covariances = np.cov(scores.T, bias=True)
    assert kr20(scores) == pytest.approx(12 / 11 * (1 - np.trace(covariances) / covariances.sum()))


def test_what_has_no_value_is_none():
    assert kr20(np.ones((5, 3))) is None
    assert kr20(np.array([[1.0], [0.0]])) is None
    same = analyse(given(np.ones((3, 3))), dict.fromkeys("abc", "a"))
    assert [item.discrimination for item in same.items] == [None] * 3
    assert normalised_gain(1, 0.5) is None


def test_gain_is_of_those_who_answered_both_times(classroom):
    for number in range(8):
        for phase in ("before", "after")[:1 if number >= 6 else 2]:
            path = classroom.folder / "questions" / f"s{number}" / f"{phase}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            wrong = {"stride": "?"} if phase == "before" and number != 0 else {"banks": "a"} if phase == "after" else {}
            path.write_bytes(handed_in(student=f"s{number}", phase=phase, answers=RIGHT | wrong))
    html, items = section(classroom)
    assert [found.count for found in items.phases.values()] == [8, 6]
    assert [found.count for found in items.paired.values()] == [6, 6]
    change = html[html.index("What changed"):]
    assert re.search(r"Where an element lies</th><td class=\"n\">17 %</td><td class=\"n\">100 %</td><td class=\"n\">1.00<", change)
    assert re.search(r"Banks</th><td class=\"n\">100 %</td><td class=\"n\">0 %</td><td class=\"n\">–<", change)
    assert "not validated" in html


@pytest.mark.parametrize("count", [4, 5])
def test_fewer_than_five_answers_are_not_shown(classroom, count):
    for number in range(count):
        path = classroom.folder / "questions" / f"s{number}" / "before.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(handed_in(answers=RIGHT | {"stride": "a"}))
    html, items = section(classroom)
    assert ("rows and columns" in html or "row counts fastest" in html, items is None) == (count >= 5, count < 5)


def test_the_table_has_every_option_of_every_question(classroom, tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.json").write_bytes(handed_in(student=f"s{number}", answers=RIGHT | {"banks": "c"}))
        assert answers(classroom, tmp_path / f"{number}.json") == 0
    assert main(["--root", str(classroom.root), "class"]) == 0
    with (classroom.folder / "class_questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 5
    assert [(row["option"], row["chosen"]) for row in rows if row["question"] == "banks" and row["chosen"] != "0"] == [("c", "5")]


@pytest.mark.parametrize(("old", "new", "words"), [
    ('key = "stride"', 'key = "banks"', "12 questions with 11 keys"),
    ("right = true", 'misconception = "x"', "0 of them right"),
    ("version = 1", "", "must say its version"),
    ('topic = "Banks"', 'subject = "Banks"', "question 3: topic is missing"),
    ('text = "row 9, column 0"', 'text = "row 9, column 0"\nright = true', "option 4 needs a text, and either"),
])
def test_questions_that_do_not_keep_to_the_form_are_named(tmp_path, old, new, words):
    (tmp_path / "deploy").mkdir()
    (tmp_path / FILE).write_text((ROOT / FILE).read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CourseError, match=words):
        load(tmp_path)
