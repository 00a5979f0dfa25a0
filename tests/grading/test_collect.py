"""Collecting submissions: every platform's names and times are read, and tricks in archives are refused."""

import io
import os
import stat
import zipfile
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.errors import CourseError
from course_lib.grading.classroom import plain
from course_lib.grading.classroom.collect import collect
from course_lib.grading.classroom.folders import Classroom

EXERCISE = "04_tiling"
RELEASED = (Path(__file__).parents[2] / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
SOLVED = RELEASED + b"\n"


@pytest.fixture
def classroom(tmp_path):
    return Classroom(tmp_path)


def archive(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize(("path", "student"), [
    ("ada/04_tiling/04_tiling.ipynb", "ada"),
    ("ada/04_tiling.ipynb", "ada"),
    ("ada_04_tiling.ipynb", "ada"),
    ("ada+04_tiling+2030-11-20 10:11:12 UTC+x7/04_tiling.ipynb", "ada"),
    ("ada_2030-11-20T10:11:12Z_04_tiling.ipynb", "ada"),
    ("ada_2030-11-20-10-11-12_04_tiling.ipynb", "ada"),
    ("Ada Lovelace_12345_assignsubmission_file_/04_tiling.ipynb", "ada"),
    ("lovelaceada_LATE_123_456_04_tiling.ipynb", "ada"),
    ("123-456 - Ada Lovelace - Nov 20, 2030 1011 AM/04_tiling.ipynb", "ada"),
    ("ada/my_course/exercises/04_tiling/04_tiling.ipynb", "ada"),
    ("ada/warp-by-warp/my_course/exercises/04_tiling/04_tiling (new edition).ipynb", "ada"),
])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_platforms_names_are_read(classroom, tmp_path, path, student, zipped):
    (classroom.folder / "roster.csv").write_text("student,name,platform\nada,Ada Lovelace,lovelaceada\nbob,Bob,\n", encoding="utf-8")
    source = tmp_path / "in"
    source.mkdir()
    if zipped:
        (source / "all of 04_tiling.zip").write_bytes(archive(**{path: RELEASED}))
    else:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(RELEASED)
    line, = collect(classroom, source)
    assert line.startswith(f"{student} {EXERCISE} ")
    stamp = classroom.submission(student, EXERCISE).with_name("timestamp.txt").read_text(encoding="utf-8").strip()
    assert datetime.fromisoformat(stamp).tzinfo is not None
    if "2030" in path and "Nov" not in path:
        assert stamp == "2030-11-20T10:11:12+00:00"
    assert classroom.submission(student, EXERCISE).read_bytes() == RELEASED


@pytest.mark.parametrize("path", ["ada/my_course/exercises/04_tiling/04_tiling.ipynb", "ada/exercises/04_tiling/04_tiling.ipynb"])
def test_a_folder_of_the_course_is_no_student(classroom, tmp_path, path):
    """Also without a roster, which would say that nobody is called my_course."""
    (tmp_path / "class.zip").write_bytes(archive(**{path: RELEASED}))
    line, = collect(classroom, tmp_path / "class.zip")
    assert line.startswith("ada 04_tiling ")


@pytest.mark.parametrize("name", ["../ada/04_tiling.ipynb", "/etc/ada/04_tiling.ipynb", "ada/../../04_tiling.ipynb",
                                  "C:\\ada\\04_tiling.ipynb", "..\\ada\\04_tiling.ipynb"])
def test_a_path_that_leads_out_of_its_archive_is_refused(classroom, tmp_path, name):
    (tmp_path / "class.zip").write_bytes(archive(**{name: RELEASED, "bob/04_tiling.ipynb": RELEASED}))
    before = {path for path in tmp_path.rglob("*") if "grading" not in path.parts}
    lines = list(collect(classroom, tmp_path / "class.zip"))
    assert [line.split()[0] for line in lines] == ["NOT", "bob"]
    assert "leads out of the archive" in lines[0]
    assert {path for path in tmp_path.rglob("*") if "grading" not in path.parts} == before
    assert os.listdir(classroom.folder / "submitted") == ["bob"]


def test_links_swollen_and_broken_archives_are_refused(classroom, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    link = zipfile.ZipInfo("ada/04_tiling.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(source / "a.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(link, "/etc/passwd")
        file.writestr("big/04_tiling.ipynb", bytes(30 << 20))
        file.writestr("bob/04_tiling.ipynb", RELEASED)
        file.writestr("__MACOSX/bob/._04_tiling.ipynb", b"x")
    (source / "b.zip").write_bytes(b"PK\x03\x04 this is none")
    (source / "c.zip").write_bytes(archive(**{"x.zip": archive(**{"y.zip": b""}),
                                                 "cyd_04_tiling.zip": archive(**{"04_tiling.ipynb": RELEASED})}))
    (source / "dan_04_tiling.ipynb").symlink_to("/etc/passwd")
    lines = list(collect(classroom, source))
    refused = [line for line in lines if line.startswith("NOT TAKEN")]
    assert not [words for words in ("is a link", "30 MB", "no zip file", "zip file in a zip file") if words not in "\n".join(refused)]
    assert sorted(os.listdir(classroom.folder / "submitted")) == ["bob", "cyd"]


def test_the_newest_counts_and_unknown_students_are_named(classroom, tmp_path):
    (classroom.folder / "roster.csv").write_text("student,name\nada,Ada\n", encoding="utf-8")
    (tmp_path / "class.zip").write_bytes(archive(**{
        "ada_2030-11-21T10:00:00+01:00_04_tiling.ipynb": b"new", "ada_2030-11-20T10:00:00Z_04_tiling.ipynb": b"old",
        "eve_04_tiling.ipynb": b"x"}))
    lines = list(collect(classroom, tmp_path / "class.zip"))
    assert classroom.submission("ada", EXERCISE).read_bytes() == b"new"
    assert "2030-11-21T09:00:00+00:00" in lines[-1]
    assert "nobody on the roster is called 'eve'" in lines[0]
    (tmp_path / "ada_2030-11-20T10:00:00Z_04_tiling.ipynb").write_bytes(b"old")
    assert "a newer one is there" in next(collect(classroom, tmp_path / "ada_2030-11-20T10:00:00Z_04_tiling.ipynb"))


def in_exchange(source, student, *, secret="5eC3et0", name="04_tiling.ipynb"):
    """Make what nbgrader leaves in its exchange's inbound folder."""
    path = source / f"{student}+{EXERCISE}+2030-11-20 10:11:12.123456 UTC+aZ-_09x=" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(RELEASED)
    path.with_name("timestamp.txt").write_text("2030-11-20 10:11:12.123456 UTC", encoding="ascii")
    if secret is not None:
        path.with_name("submission_secret.txt").write_text(secret, encoding="ascii")
    return path


def test_the_exchanges_secret_is_kept_with_its_submission(classroom, tmp_path):
    in_exchange(tmp_path / "in", "ada")
    line, = collect(classroom, tmp_path / "in")
    kept = classroom.submission("ada", EXERCISE)
    assert kept.with_name("submission_secret.txt").read_text(encoding="ascii") == "5eC3et0"
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail/ada_2031-01-01T00:00:00Z_04_tiling.ipynb").write_bytes(SOLVED)
    line, = collect(classroom, tmp_path / "mail")
    assert kept.read_bytes() == SOLVED
    assert kept.with_name("submission_secret.txt").read_text(encoding="ascii") == "", "the secret is an older submission's"


@pytest.mark.parametrize("secret", ["../../x", "a" * 2000, "\n", ""])
def test_a_secret_that_nbgrader_did_not_make_is_none(classroom, tmp_path, secret):
    in_exchange(tmp_path / "in", "ada", secret=secret)
    list(collect(classroom, tmp_path / "in"))
    assert classroom.submission("ada", EXERCISE).with_name("submission_secret.txt").read_text(encoding="ascii") == ""


def test_a_secret_that_is_a_link_or_a_pipe_is_none(classroom, tmp_path):
    (tmp_path / "mine").write_text("instructors", encoding="ascii")
    in_exchange(tmp_path / "in", "ada", secret=None).with_name("submission_secret.txt").symlink_to(tmp_path / "mine")
    os.mkfifo(in_exchange(tmp_path / "in", "bob", secret=None).with_name("submission_secret.txt"))
    assert len(list(collect(classroom, tmp_path / "in"))) == 2
    for student in ("ada", "bob"):
        assert classroom.submission(student, EXERCISE).with_name("submission_secret.txt").read_text(encoding="ascii") == ""


@pytest.mark.parametrize("name", ["04_tiling.ipynb", "all of 04_tiling.zip"])
def test_in_the_exchange_nobody_hands_in_for_somebody_else(classroom, tmp_path, name, monkeypatch):
    """Everybody may write there: what counts is whose the file is. Here user 1001 is ada, and hands in as bob."""
    owners, now = {1001: "ada", 1002: "bob"}, {}
    monkeypatch.setattr("course_lib.grading.classroom.collect.pwd.getpwuid", lambda number: SimpleNamespace(pw_name=owners[number]))
    monkeypatch.setattr("course_lib.grading.classroom.plain.os.fstat",
                        lambda _: os.stat_result((stat.S_IFREG, 0, 0, 1, now["uid"], 0, 0, 0, 0, 0)))
    path = in_exchange(tmp_path / "in", "bob", name=name)
    if name.endswith(".zip"):
        path.write_bytes(archive(**{"04_tiling.ipynb": RELEASED}))
    for now["uid"] in (1001, 1003):
        line, = collect(classroom, tmp_path / "in")
        assert line.startswith("NOT TAKEN")
        assert f"it says that it is of bob, and it belongs to {owners.get(now['uid'], 'user 1003')}" in line
        assert not (classroom.folder / "submitted").exists()
    for now["uid"] in (1002, os.getuid()):
        line, = collect(classroom, tmp_path / "in")
        assert line.startswith("bob")


def test_a_file_that_becomes_a_link_meanwhile_is_not_read(tmp_path):
    (tmp_path / "in/ada").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("the instructor's", encoding="ascii")
    for link, target in (("in/ada/file", "mine/file"), ("in/bob", "mine")):
        (tmp_path / link).symlink_to(tmp_path / target)
        with pytest.raises(CourseError, match="link"):
            plain.read(tmp_path / "in", tmp_path / "in" / link.split("/")[1] / "file", 100)
    os.mkfifo(tmp_path / "in/ada/pipe")
    with pytest.raises(CourseError, match="no plain file"):
        plain.read(tmp_path / "in", tmp_path / "in/ada/pipe", 100)
    assert plain.read(tmp_path / "mine", tmp_path / "mine/file", 3).data == b"the "
    assert plain.read(tmp_path / "mine/file", tmp_path / "mine/file", 30).owner == os.getuid()
