"""The class at a glance: its counts, its table of misconceptions, and that nobody can be recognised in the page without names."""

import ast
import csv
import itertools
import json
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from course_lib.check.finding import Finding
from course_lib.check.reports import _KINDS, ORDER
from course_lib.grading.__main__ import main
from course_lib.grading.classroom import judging
from course_lib.grading.classroom.corrections import correct
from course_lib.grading.classroom.folders import Classroom, read_notebook
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.inventory.questions import load
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.grading.judge.verdict import Verdict
from course_lib.grading.overview.misconceptions import BY_HAND, DRAWN, IDEAS, KINDS, NUMBER, OF_EXERCISE, UNTOUCHED, misconception
from course_lib.grading.overview.page import page
from course_lib.grading.overview.reading import read_class
from course_lib.grading.overview.writing import overview
from course_lib.grading.registry import all_parts

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
LIBRARY = ROOT / "course_lib"
DRAWN_TOLD = "T: passed on every input of the exercise, but not on those drawn for grading, which have other sizes and numbers (wrong)."


@pytest.fixture
def classroom(tmp_path):
    return made(tmp_path)


def made(folder, students=("ada", "bob", "cyd", "dee"), name="{}"):
    folder.mkdir(exist_ok=True)
    for name_ in ("exercises", "solutions", "deploy", "nbgrader_config.py"):
        (folder / name_).symlink_to(ROOT / name_)
    found = Classroom(folder)
    lines = "".join(f'{student},"{name.format(student)}",\n' for student in students)
    (found.folder / "roster.csv").write_text(f"student,name,platform\n{lines}", encoding="utf-8")
    return found


def hand_in(classroom, student, exercise=EXERCISE, when="2030-01-01T00:00:00+00:00"):
    path = classroom.submission(student, exercise)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", encoding="utf-8")
    path.with_name("timestamp.txt").write_text(when, encoding="utf-8")


def result(classroom, student, kinds, exercise=EXERCISE, told="told", text="a kernel", key="k"):
    """Store a result with these kinds of its parts, "" for passed; the submission is there too."""
    asked = questions(read_notebook(ROOT / "exercises", exercise))
    parts = [{"part": question.part, "name": question.name, "maximum": question.points, "points": 0 if kind else question.points,
              "text": text, "passed": not kind, "kind": kind, "told": told, "html": ""} for question, kind in zip(asked, kinds)]
    path = classroom.result(student, exercise)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({
        "student": student, "exercise": exercise, "key": key, "graded": "", "points": sum(part["points"] for part in parts), "maximum": 10,
        "problem": "", "notes": [], "parts": parts}), encoding="utf-8")
    hand_in(classroom, student, exercise)


def kinds_of_the_judge():
    """Return every kind that the code gives a finding or a judgement: literal first arguments, and the tables of names."""
    found = {*ORDER, *(kind for _, kind in _KINDS)}
    others = ("check/reports.py", "check/trials.py", "grading/classroom/judging.py", "grading/classroom/grade.py")
    files = [*(LIBRARY / "grading/judge").glob("*.py"), *(LIBRARY / name for name in others)]
    for node in itertools.chain.from_iterable(ast.walk(ast.parse(file.read_text(encoding="utf-8"))) for file in files):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Finding", "_told"):
            argument = node.args[1 if node.func.id == "_told" else 0]
            found |= {argument.value} if isinstance(argument, ast.Constant) else set()
        if isinstance(node, ast.Dict):
            found |= {value.value for key, value in zip(node.keys, node.values)
                      if isinstance(key, ast.Constant) and key.value == "kind" and isinstance(value, ast.Constant)}
    return found - {""}


def kinds_that_were_met():
    """Return the kinds in the headers of the wrong kernels, and those that hostile answers are told."""
    kernels = (path.read_text(encoding="utf-8") for path in ROOT.glob("tests/wrong_kernels/*/*") if path.is_file())
    headers = [re.search(r"Must fail for ([a-z ]+)", text) for text in kernels]
    text = (ROOT / "docs/grading.md").read_text(encoding="utf-8")
    told = re.findall(r"\| \d+ \| (\w+: [a-z ]+(?:; \w+: [a-z ]+)*) \|", text)
    return {header[1].strip() for header in headers if header} | {one.split(": ")[1].strip() for line in told for one in line.split("; ")}


@pytest.mark.parametrize("kinds", [kinds_of_the_judge, kinds_that_were_met], ids=lambda source: source.__name__)
def test_every_kind_of_finding_has_a_row(kinds):
    found = kinds()
    assert len(found) > 12
    assert not found - {*KINDS, *OF_EXERCISE}


def test_every_exercise_of_a_lesson_whose_idea_is_checked_has_a_row():
    specs = all_parts()
    checked = {exercise for (exercise, _), spec in specs.items() if (ROOT / f"notebooks/{exercise}.ipynb").exists()
               if isinstance(spec, FunctionSpec) or spec.gates or getattr(spec, "bounds", ()) or getattr(spec, "made_of", ())}
    assert checked == set(IDEAS)


@pytest.mark.parametrize("row", [row for row in (*KINDS.values(), *(misconception(name, "gate") for name in IDEAS)) if row.lesson],
                         ids=lambda row: f"{row.lesson}-{row.seen}")
def test_every_section_that_answers_a_finding_exists(row):
    cells = json.loads((ROOT / f"notebooks/{row.lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert any(f"## {row.section}" in "".join(cell["source"]).split("\n") for cell in cells if cell["cell_type"] == "markdown")


def test_counts_are_those_of_the_results(classroom):
    starter = answers(read_notebook(ROOT / "exercises", EXERCISE), questions(read_notebook(ROOT / "exercises", EXERCISE))).texts["wide"]
    result(classroom, "ada", ["", "", ""])
    result(classroom, "bob", ["hazard", "wrong", ""], told=DRAWN_TOLD)
    result(classroom, "cyd", ["", "gate", "gate"], text=starter)
    view = read_class(classroom)
    exercise, = view.exercises
    assert [(part.part, part.passed, part.findings) for part in exercise.parts] == [
        ("stage", 2, Counter({DRAWN: 1})), ("tile", 1, Counter({DRAWN: 1, "gate": 1})), ("wide", 2, Counter({UNTOUCHED: 1}))]
    assert (exercise.graded, len(exercise.submitted), view.not_begun) == (3, 3, ("dee",))
    assert exercise.marks == {"ada": 1, "bob": 0.2, "cyd": 0.2}


def test_a_wrong_number_of_a_function_belongs_to_its_exercise(classroom):
    result(classroom, "ada", ["wrong", "wrong", ""], exercise="06_bank_conflicts")
    exercise, = read_class(classroom).exercises
    assert [part.findings for part in exercise.parts] == [Counter({NUMBER: 1}), Counter({"wrong": 1}), Counter()]
    assert misconception("06_bank_conflicts", NUMBER).lesson == "06_bank_conflicts"


def test_corrections_and_lateness_count(classroom):
    result(classroom, "ada", ["", "gate", "gate"])
    result(classroom, "bob", ["", "", ""])
    (classroom.folder / "class.toml").write_text(f"[due]\n{EXERCISE} = 2029-12-31T12:00:00Z\n[late]\nper_day = 0.5\n", encoding="utf-8")
    correct(classroom, EXERCISE, "ada", "tile", 6, "right, but slow", "N. N.")
    correct(classroom, EXERCISE, "bob", "stage", 0, "copied", "N. N.")
    exercise, = read_class(classroom).exercises
    assert exercise.marks == {"ada": 0.4, "bob": 0.4}
    assert exercise.parts[0].findings == Counter({BY_HAND: 1})
    assert exercise.parts[1].passed == 2


def test_what_belongs_to_nobody_or_is_damaged_is_said_and_not_counted(classroom, capsys):
    result(classroom, "eve", ["", "", ""])
    result(classroom, "ada", ["", "", ""])
    result(classroom, "bob", ["", "", ""], key="")                     # the grader broke
    classroom.result("cyd", EXERCISE).parent.mkdir(parents=True)
    classroom.result("cyd", EXERCISE).write_text("{", encoding="utf-8")
    view = read_class(classroom)
    assert (view.others, len(view.damaged), view.exercises[0].graded) == (1, 1, 1)
    html = page(view, "", "today")
    assert "not on the roster, which are not counted here: 1." in html
    assert "damaged, and left out: 1." in html
    assert main(["--root", str(classroom.root), "class"]) == 0
    assert "delete it, and `make grade` makes it anew" in capsys.readouterr().out


def test_a_kernel_that_is_wrong_on_drawn_sizes_is_recognised_by_what_it_is_told(classroom, monkeypatch):
    finding = Finding("wrong", "C[0][0] is wrong")
    monkeypatch.setattr(judging, "_timed", lambda text, spec, seed, engine:
                        Verdict(spec.title, seed is None, () if seed is None else (finding,)))
    told = judging.judged("", all_parts()[EXERCISE, "tile"], 1, None)["told"]
    result(classroom, "ada", ["", "wrong", ""], told=told)
    assert read_class(classroom).exercises[0].parts[1].findings == Counter({DRAWN: 1})


def a_class(folder, order, name="{}"):
    """Make a class in which who did what is fixed, and the students have their ids in this order."""
    ids = [f"id{number}" for number in order]
    rng, found = random.Random(1), made(folder, ids, name)
    for student in ids[:-1]:
        for exercise in (EXERCISE, "06_bank_conflicts", "12_measuring"):
            result(found, student, [rng.choice(["", "", "hazard", "gate", "wrong", "compile"]) for _ in range(3)], exercise=exercise)
    inventory = {"questions": "warp-by-warp", "version": 1, "saved": "2030-01-01T00:00:00+00:00"}
    keys = [question.key for question in load(ROOT).questions]
    for phase, student in itertools.product(("before", "after"), ids):
        path = found.folder / "questions" / student / f"{phase}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        answered = {"phase": phase, "student": student, "answers": {key: rng.choice("abcd?") for key in keys}}
        path.write_text(json.dumps(inventory | answered), encoding="utf-8")
    return found


def written(classroom, names=False):
    assert main(["--root", str(classroom.root), "class", *["--names"] * names]) == 0
    files = {path.name: path.read_text(encoding="utf-8") for path in classroom.folder.glob("class*") if path.suffix != ".toml"}
    return {name: re.sub(r"Made on [^<]*", "", text) for name, text in files.items()}


def test_without_names_a_class_with_other_ids_and_names_gets_the_same_bytes(tmp_path):
    one = written(a_class(tmp_path / "one", range(9), "Ada {}"))
    other = written(a_class(tmp_path / "other", [4, 8, 1, 0, 7, 2, 6, 3, 5], "Zoe {}"))
    assert sorted(one) == ["class.csv", "class.html", "class_findings.csv", "class_questions.csv"]
    assert one == other


def test_names_are_on_a_page_of_their_own_that_says_so(tmp_path):
    files = written(a_class(tmp_path / "one", range(9), "Ada <script>alert({})</script>"), names=True)
    assert "class.html" not in files
    html = files["class_with_names.html"]
    assert "This page names students. It is not for a projector." in html
    assert "Ada &lt;script&gt;alert(id3)&lt;/script&gt;" in html
    assert "<script" not in html


@pytest.mark.parametrize("names", [False, True])
def test_nothing_that_a_student_or_a_result_says_becomes_html(classroom, names):
    mark = "<img src=x onerror=alert(1)>"
    result(classroom, "ada", [mark, mark, mark], told=mark, text=mark)
    path = classroom.result("ada", EXERCISE)
    path.write_text(path.read_text(encoding="utf-8").replace('"tile"', json.dumps(mark)), encoding="utf-8")
    html = next(text for name, text in written(classroom, names).items() if name.endswith(".html"))
    assert "<img" not in html
    assert "&lt;img" in html


def test_marks_of_fewer_than_five_are_not_shown(classroom):
    for student in ("ada", "bob", "cyd", "dee"):
        result(classroom, student, ["", "", "gate"])
    html = page(read_class(classroom), "", "today")
    assert '<svg class="chart"' not in html
    assert "80 %" not in html


def test_a_class_of_which_nothing_is_there_gets_a_page_that_says_what_to_do(tmp_path):
    for name in ("exercises", "solutions", "deploy"):
        (tmp_path / name).symlink_to(ROOT / name)
    html = written(Classroom(tmp_path))["class.html"]
    assert "Nothing has been graded yet. <code>make collect</code>" in html
    assert "There is no grading/roster.csv" in html


def test_a_table_has_a_caption_and_heads_that_a_screen_reader_can_follow(tmp_path):
    html = written(a_class(tmp_path / "one", range(9)))["class.html"]
    tables = re.findall(r"<table>.*?</table>", html, re.DOTALL)
    assert len(tables) > 8
    for table in tables:
        assert re.match(r"<table><caption>[^<]+</caption><thead><tr><th scope=\"col\"", table)
        assert "<tbody><tr><th scope=\"row" in table
    assert html.count("<h1>") == 1
    assert all(f'id="{target}"' in html for target in re.findall(r'href="#(\w+)"', html))
    assert re.findall(r"<svg(?![^>]*(?:aria-hidden|role=\"img\"))", html) == []


def test_the_tables_as_csv_hold_what_the_page_shows(classroom):
    result(classroom, "ada", ["", "hazard", "gate"])
    overview(classroom)
    with (classroom.folder / "class.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["part"], row["students"], row["passed"]) for row in csv.DictReader(file)] == [
            ("stage", "4", "1"), ("tile", "4", "0"), ("wide", "4", "0")]
    with (classroom.folder / "class_findings.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["finding"], row["students"], row["section"]) for row in csv.DictReader(file)] == [
            ("hazard", "1", "Break it: a mistake on purpose"), ("gate", "1", "Idea: load a tile together")]


@pytest.mark.slow
def test_three_hundred_students_with_all_exercises_take_seconds_and_less_than_a_megabyte(tmp_path):
    ids, rng = [f"s{number}" for number in range(300)], random.Random(1)
    found = made(tmp_path / "class", ids)
    for exercise, student in itertools.product(dict.fromkeys(exercise for exercise, _ in all_parts()), ids):
        result(found, student, [rng.choice(["", "", *KINDS]) for _ in range(5)], exercise=exercise, text="x" * 3000, told="y" * 3000)
    begun = time.process_time()
    overview(found)
    assert time.process_time() - begun < 10
    assert (found.folder / "class.html").stat().st_size < 1_000_000
