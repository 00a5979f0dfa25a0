"""The instructor's commands without a simulator: reading answers, resuming, grades, pages, the bundle."""

import csv
import json
import os
import stat
import subprocess
import sys
from concurrent import futures
from pathlib import Path

import hostile_class
import pytest

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom import judging
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.grade import grade
from course_lib.grading.classroom.grades import grades
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.classroom.release import bundled, contents, leak, tracked
from course_lib.grading.classroom.similar import similar
from course_lib.grading.sandbox import bubblewrap
from tools import my_course

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
RELEASED = (ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
SOLVED = (ROOT / f"solutions/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()


class Here(futures.Executor):
    """Works at once, in this process, and remembers whom it was asked for."""

    def __init__(self):
        self.asked = []

    def submit(self, work, job):
        self.asked.append(job.student)
        future = futures.Future()
        try:
            future.set_result(work(job))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def classroom(tmp_path):
    for folder in ("exercises", "solutions"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return Classroom(tmp_path)


@pytest.fixture
def judged(monkeypatch):
    """Replace the sandbox: a kernel passes unless it says WRONG, and breaks its grader when it says BREAK."""
    def judge(texts, exercise, *, seed, **_):
        if any("BREAK" in text for text in texts.values()):
            raise RuntimeError("the grader broke")
        return {name: {"passed": "WRONG" not in text, "kind": "wrong" * ("WRONG" in text), "told": "told", "html": ""}
                for name, text in texts.items()}

    monkeypatch.setattr(judging, "judge", judge)
    monkeypatch.setattr(bubblewrap, "problem", lambda: None)


def hand_in(classroom, student, word="", when="2030-01-01T00:00:00+00:00"):
    path = classroom.submission(student, EXERCISE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SOLVED.replace(b"#define BM 16", f"// {word}\\n\",\n    \"#define BM 16".encode(), 1) if word else SOLVED)
    path.with_name("timestamp.txt").write_text(when, encoding="utf-8")


def run(classroom, **options):
    lines = []
    results = grade(classroom, EXERCISE, show=lines.append, quiet=True, executor=options.pop("executor", Here()), **options)
    return {student: result["points"] for student, result in results.items()}, lines


def test_points_are_those_of_the_released_notebook():
    asked = questions(RELEASED)
    assert [(q.part, q.points, q.name) for q in asked] == [("stage", 2, "stage_a"), ("tile", 6, "tiled"), ("wide", 2, "wide")]


def test_an_answer_is_its_text_whatever_stands_around_it():
    asked = questions(RELEASED)
    nb = json.loads(SOLVED)
    plain = answers(SOLVED, asked)
    assert plain.notes == ()
    nb["cells"] = [cell for cell in nb["cells"] if cell["id"].endswith("-answer")][::-1]
    nb["metadata"] = {"anything": 1}
    assert answers(json.dumps(nb).encode(), asked).texts == plain.texts


def test_all_is_kept_and_an_interrupted_run_goes_on(classroom, judged):
    for student in ("ada", "bob", "cyd"):
        hand_in(classroom, student)
    lines = []

    def stop(line):
        lines.append(line)
        if len(lines) == 3:                  # the instructor's own, and two students
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(classroom, EXERCISE, show=stop, quiet=True, executor=Here())
    kept = sorted(path.parent.name for path in classroom.folder.glob("results/*/*.json"))
    assert len(kept) == 2
    again = Here()
    points, lines = run(classroom, executor=again)
    assert points == {"ada": 10, "bob": 10, "cyd": 10}
    assert sorted(again.asked + kept) == ["ada", "bob", "cyd"]
    assert f"{len(kept)} results are stored" in "\n".join(lines)


def test_a_changed_submission_seed_or_limit_is_graded_anew(classroom, judged):
    for student in ("ada", "bob"):
        hand_in(classroom, student)
    run(classroom)
    hand_in(classroom, "bob", "WRONG")
    second = Here()
    assert run(classroom, executor=second)[0] == {"ada": 10, "bob": 8}
    assert second.asked == ["bob"]
    (classroom.folder / "seed").write_text("77", encoding="ascii")
    third = Here()
    run(classroom, executor=third)
    assert third.asked == ["ada", "bob"]


def test_who_breaks_the_grader_costs_nobody_else_a_mark_and_is_tried_again(classroom, judged):
    hand_in(classroom, "ada")
    hand_in(classroom, "bad", "BREAK")
    points, lines = run(classroom)
    assert points == {"ada": 10, "bad": 0}
    assert any("tell your instructor" in line for line in lines)
    assert "1 graded, 1 not graded yet" in grades(classroom, EXERCISE)[0]
    again = Here()
    run(classroom, executor=again)
    assert set(again.asked) == {"bad"}


def test_a_link_is_nobodys_submission(classroom, judged):
    hand_in(classroom, "ada")
    for student, target in (("bob", classroom.submission("ada", EXERCISE)), ("cyd", "/dev/zero")):
        path = classroom.submission(student, EXERCISE)
        path.parent.mkdir(parents=True)
        path.symlink_to(target)
    folder = classroom.submission("dan", EXERCISE).parent
    folder.parent.mkdir()
    folder.symlink_to(classroom.submission("ada", EXERCISE).parent)
    os.mkdir(classroom.folder / "submitted/eve")
    os.mkdir(classroom.folder / "submitted/eve" / EXERCISE)
    os.mkfifo(classroom.submission("eve", EXERCISE))
    points, lines = run(classroom)
    assert points == {"ada": 10, "bob": 0, "cyd": 0, "dan": 0, "eve": 0}
    assert sum("link" in line for line in lines) == 3
    assert any("eve: 0 of 10 (the submission is no plain file)" in line for line in lines)


def test_nothing_is_graded_when_the_instructors_own_fails(classroom, judged, monkeypatch):
    hand_in(classroom, "ada")
    monkeypatch.setattr(judging, "judge", lambda texts, *_, **__: {
        name: {"passed": name != "wide", "kind": "wrong", "told": "the reason", "html": ""} for name in texts})
    with pytest.raises(CourseError, match=r"(?s)nothing was graded.*8 of 10.*the reason"):
        run(classroom)
    assert not list(classroom.folder.glob("results/*/*.json"))


def test_without_bubblewrap_nothing_is_graded(classroom, monkeypatch):
    hand_in(classroom, "ada")
    bubblewrap.problem.cache_clear()
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    try:
        with pytest.raises(CourseError, match=r"bubblewrap is missing.*--unsafe"):
            run(classroom)
        with pytest.raises(CourseError, match="bubblewrap is missing"):
            judging.judge({"tile": "int x;"}, EXERCISE, seed=1)
    finally:
        monkeypatch.undo()
        bubblewrap.problem.cache_clear()


def test_the_command_says_in_one_line_what_is_wrong(classroom, capsys):
    assert main(["--root", str(classroom.root), "grade", "99_none"]) == 2
    assert "there is no exercise '99_none'" in capsys.readouterr().err


def test_grades_have_everybody_and_what_being_late_costs(classroom, judged):
    (classroom.folder / "roster.csv").write_text("student,name\nada,=Ada()\nbob,Bob\nzoe,Zoe\n", encoding="utf-8")
    (classroom.folder / "class.toml").write_text(
        f"[due]\n{EXERCISE} = 2030-01-01T12:00:00+01:00\n[late]\nper_day = 0.1\nat_most = 0.5\ngrace_minutes = 10\n", encoding="utf-8")
    hand_in(classroom, "ada", when="2030-01-01T11:05:00+00:00")
    hand_in(classroom, "bob", "WRONG", when="2030-01-02T12:00:00+00:00")
    hand_in(classroom, "max")
    run(classroom)
    words = grades(classroom, EXERCISE)
    assert "3 graded, 1 missing" in words[0]
    with (classroom.folder / f"grades_{EXERCISE}.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows[name]["grade"] for name in ("ada", "bob", "max", "zoe")] == ["10", "6.4", "10", "0"]
    assert (rows["bob"]["points"], rows["bob"]["factor"], rows["bob"]["hours late"]) == ("8", "0.8", "25.0")
    assert rows["bob"]["parts"] == "stage 0/2; tile 6/6; wide 2/2"
    assert (rows["zoe"]["status"], rows["zoe"]["points"]) == ("missing", "0")
    assert rows["ada"]["name"] == "'=Ada()"
    assert rows["max"]["note"] == "not on the roster"
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in feedback(classroom, EXERCISE)}
    assert "25.0 hours late: 80 % of the points count" in pages["bob"]
    assert "hours late" not in pages["ada"]


def test_copied_kernels_are_reported_and_the_expected_ones_are_not():
    asked = [question for question in questions(RELEASED) if question.part == "tile"]
    solved = answers(SOLVED, asked).texts
    odd = solved["tile"].replace("k0", "start")
    odd = odd.replace("// nobody reads before both tiles are complete", "// my very own words on this barrier")
    own = odd.replace("start", "where_it_begins").replace("my very own words on this", "each of us waits here, at the")
    texts = {"ada": odd, "bob": odd.replace("\n", "\n\n"), "cyd": own, "dan": solved["tile"], "eve": solved["tile"]}
    results = {student: {"parts": [{"part": "tile", "text": text}]} for student, text in texts.items()}
    found = similar(results, asked, solved)
    assert [row[:4] for row in found] == [("tile", "ada", "bob", 1.0)]


def test_the_bundle_has_what_a_student_needs_and_nothing_of_the_instructors():
    names = bundled(tracked(ROOT))
    assert {"Makefile", "pyproject.toml", "README.md", "LICENSE", "LICENSE-lessons", "constraints.txt", "tools/setup.py",
            "tools/my_course.py", "course_lib/grading/judge/checks.py", f"exercises/{EXERCISE}/{EXERCISE}.ipynb",
            "notebooks/04_tiling.ipynb"} <= set(names)
    assert not [name for name in names if name.startswith(("solutions", "tests", "grading", ".ci"))]
    assert leak(contents(ROOT)) is None


def test_a_student_makes_copies_from_the_bundle_as_from_a_clone(tmp_path):
    for name, data in contents(ROOT).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    done = subprocess.run([sys.executable, tmp_path / "tools/my_course.py"], capture_output=True, text=True, check=True)
    assert "your own copies are in my_course/" in done.stdout
    assert (tmp_path / f"my_course/exercises/{EXERCISE}/{EXERCISE}.ipynb").exists()
    assert (tmp_path / "my_course/notebooks/glossary.md").exists()


def test_a_copy_is_judged_as_the_exercise_that_was_released():
    """What a student submits from my_course/ has one more word in its metadata, and the same answers."""
    name = f"exercises/{EXERCISE}/{EXERCISE}.ipynb"
    released = (ROOT / name).read_bytes()
    copied, _ = my_course.reader_copy(released, name)
    asked = questions(released)
    assert questions(copied) == asked
    assert answers(copied, asked) == answers(released, asked)


def test_a_bundle_with_a_solution_in_it_is_not_made():
    assert "BEGIN SOLUTION" in leak({f"exercises/{EXERCISE}/{EXERCISE}.ipynb": SOLVED})


def test_the_seed_is_drawn_once_and_nobody_else_may_read_it(classroom):
    seed = classroom.seed()
    assert classroom.seed() == seed
    assert seed > 1 << 20
    assert stat.S_IMODE((classroom.folder / "seed").stat().st_mode) == 0o600
    assert stat.S_IMODE(classroom.folder.stat().st_mode) == 0o700
    assert Classroom(classroom.root).rules() == {}


@pytest.mark.parametrize(("name", "text", "which"), [
    ("tile", "int x;", "for_kernels"), ("loads", "def loads(*a): return 0", "for_answers")])
def test_a_sandbox_that_does_not_start_gives_no_marks_but_a_reason(name, text, which, monkeypatch):
    hostile_class.enrol(monkeypatch)
    monkeypatch.setattr(bubblewrap, which, lambda *_: (["sh", "-c", "echo no room >&2"], None))
    with pytest.raises(CourseError, match="the sandbox does not start: no room"):
        judging.judge({name: text}, hostile_class.EXERCISE, seed=1, unsafe=True)
