"""Nothing is lost: corrections by hand outlive grading anew and leave a trace; a full disk or a damaged file costs one sentence."""

import csv
import errno
import json
import os
import threading
from concurrent import futures

import pytest
import test_class as graded

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.folders import write
from course_lib.grading.classroom.grades import grades

classroom, judged = graded.classroom, graded.judged        # fixtures
EXERCISE = graded.EXERCISE


def rows(classroom):
    grades(classroom, EXERCISE)
    with (classroom.folder / f"grades_{EXERCISE}.csv").open(encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def correct(classroom, *arguments):
    return main(["--root", str(classroom.root), "correct", EXERCISE, *arguments])


@pytest.fixture
def class_of_two(classroom, judged):
    graded.hand_in(classroom, "ada", "WRONG")
    graded.hand_in(classroom, "bob")
    graded.run(classroom)
    return classroom


def test_a_correction_outlives_grading_anew(class_of_two):
    before = rows(class_of_two)
    assert float(before["ada"]["points"]) < float(before["bob"]["points"])
    stored = json.loads(class_of_two.result("ada", EXERCISE).read_text(encoding="utf-8"))
    failed, = (part["part"] for part in stored["parts"] if not part["passed"])
    assert correct(class_of_two, "ada", "--part", failed, "--points", "1.5", "--why", "right idea, <b>one</b> slip", "--by", "N. N.") == 0
    graded.hand_in(class_of_two, "ada", "WRONG again")
    graded.run(class_of_two)
    after = rows(class_of_two)
    assert float(after["ada"]["points"]) == float(before["ada"]["points"]) + 1.5
    assert f"{failed} 1.5/" in after["ada"]["parts"]
    assert f"{failed}: 1.5 points instead of 0, by N. N., 20" in after["ada"]["note"]
    assert after["bob"] == before["bob"]
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in feedback(class_of_two, EXERCISE)}
    assert "right idea, &lt;b&gt;one&lt;/b&gt; slip" in pages["ada"]
    assert "N. N." not in pages["bob"]


def test_the_newest_correction_counts_and_can_be_taken_back(class_of_two):
    before = rows(class_of_two)["ada"]["points"]
    for points in ("1", "2"):
        assert correct(class_of_two, "ada", "--points", points, "--why", "talked with her", "--by", "N. N.") == 0
    assert float(rows(class_of_two)["ada"]["points"]) == 2
    assert correct(class_of_two, "ada", "--why", "it was another student's", "--by", "M. M.") == 0
    assert rows(class_of_two)["ada"]["points"] == before
    with (class_of_two.folder / "corrections.csv").open(encoding="utf-8") as file:
        kept = list(csv.DictReader(file))
    assert [(line["by"], line["points"]) for line in kept] == [("N. N.", "1"), ("N. N.", "2"), ("M. M.", "")]
    assert all(line["when"].startswith("20") for line in kept)


def test_who_submitted_elsewhere_gets_points_by_hand(class_of_two):
    (class_of_two.folder / "roster.csv").write_text("student\nada\nbob\ncyd\n", encoding="utf-8")
    assert rows(class_of_two)["cyd"]["status"] == "missing"
    assert correct(class_of_two, "cyd", "--points", "3", "--why", "shown at the blackboard", "--by", "N. N.") == 0
    assert float(rows(class_of_two)["cyd"]["grade"]) == 3


@pytest.mark.parametrize(("arguments", "told"), [
    (("eve", "--points", "1", "--why", "x", "--by", "y"), "nobody is called 'eve'"),
    (("ada", "--part", "tail", "--points", "1", "--why", "x", "--by", "y"), "no part 'tail'"),
    (("ada", "--points", "11", "--why", "x", "--by", "y"), "11 points are not possible"),
    (("ada", "--points", "nan", "--why", "x", "--by", "y"), "nan points are not possible"),
    (("ada", "--points", "1", "--by", "y"), "needs a reason"),
    (("ada", "--points", "1", "--why", "x", "--by", " "), "needs a reason and a name")])
def test_a_correction_that_cannot_be_meant_is_refused(class_of_two, capsys, arguments, told):
    assert correct(class_of_two, *arguments) == 2
    assert told in capsys.readouterr().err
    assert not (class_of_two.folder / "corrections.csv").exists()


@pytest.mark.parametrize("line", ["nonsense\n", "2030-01-01,me,ada,04_tiling,,many,why\n", "2030-01-01,me,ada,04_tiling,,-1,why\n"])
def test_a_damaged_file_of_corrections_is_named_with_its_line(class_of_two, line):
    correct(class_of_two, "ada", "--points", "1", "--why", "x", "--by", "y")
    with (class_of_two.folder / "corrections.csv").open("a", encoding="utf-8") as file:
        file.write(line)
    with pytest.raises(CourseError, match="corrections.csv, line 3, is no correction"):
        rows(class_of_two)


DAMAGE = pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"student": "ada"}', b"[" * 100_000,
                                            b'{"key": "x", "parts": 5}'])


@DAMAGE
def test_a_damaged_result_is_one_sentence_and_costs_nobody_else_anything(class_of_two, damage):
    path = class_of_two.result("ada", EXERCISE)
    before = rows(class_of_two)
    path.write_bytes(damage)
    *_, told = grades(class_of_two, EXERCISE)
    assert str(path) in told
    assert "delete it" in told
    after = rows(class_of_two)
    assert after["bob"] == before["bob"]
    assert after["ada"]["status"] == "not graded yet"
    with pytest.raises(CourseError, match="is damaged"):
        list(feedback(class_of_two, EXERCISE))


@DAMAGE
def test_grading_makes_a_damaged_result_anew(class_of_two, damage):
    before = rows(class_of_two)
    class_of_two.result("ada", EXERCISE).write_bytes(damage)
    graded.run(class_of_two)
    assert rows(class_of_two) == before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_cannot_be_written_is_one_sentence_and_what_was_there_stays(tmp_path, monkeypatch, number, step):
    write(tmp_path / "result.json", "old")

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(CourseError, match=f"cannot be written \\({os.strerror(number)}\\)"):
        write(tmp_path / "result.json", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("result.json", "old")]


def test_two_who_write_one_file_at_once_leave_one_of_both(tmp_path):
    texts = ["a" * 100_000, "b" * 100_000]
    ready = threading.Barrier(2)

    def work(text):
        ready.wait()
        for _ in range(30):
            write(tmp_path / "result.json", text)
            assert (tmp_path / "result.json").read_text() in texts

    with futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, texts)) == [None, None]
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_result_that_is_read_is_what_was_graded(class_of_two):
    stored = json.loads(class_of_two.result("bob", EXERCISE).read_text(encoding="utf-8"))
    stored["surprise"] = 1
    class_of_two.result("bob", EXERCISE).write_text(json.dumps(stored), encoding="utf-8")
    assert rows(class_of_two)["bob"]["status"] == "not graded yet"
