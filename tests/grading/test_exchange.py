"""Handing out and back through nbgrader's exchange, without a hub: what lies where, and who may read it."""

import stat

import pytest
from nbgrader.utils import notebook_hash

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom.exchange import COURSE, hand_back, hand_out
from course_lib.grading.classroom.folders import SECRET, Classroom, write

EXERCISE = "04_tiling"


@pytest.fixture
def classroom(tmp_path, pytestconfig):
    for folder in ("exercises", "solutions", "nbgrader_config.py"):
        (tmp_path / folder).symlink_to(pytestconfig.rootpath / folder)
    return Classroom(tmp_path)


@pytest.fixture
def exchange(tmp_path):
    (tmp_path / "exchange").mkdir()
    (tmp_path / "exchange").chmod(0o1777)
    return tmp_path / "exchange"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def answered(classroom, student, page, secret):
    """Make a submission that was graded and has a page."""
    submitted = classroom.submission(student, EXERCISE)
    write(submitted, "{}")
    write(submitted.with_name("timestamp.txt"), "2030-11-20T10:11:12+00:00\n")
    if secret is not None:
        write(submitted.with_name(SECRET), secret)
    write(classroom.feedback(student, EXERCISE), page)


@pytest.mark.slow
def test_what_is_handed_out_is_the_classs_variant_and_nothing_else(classroom, exchange):
    (classroom.folder / "class.toml").write_text('variant = "b"\n', encoding="utf-8")
    for _ in range(2):                           # a second time replaces the first
        there = hand_out(classroom, EXERCISE, exchange)
    assert there == exchange / COURSE / "outbound" / EXERCISE
    assert [path.name for path in there.iterdir()] == [f"{EXERCISE}.ipynb"]
    assert (there / f"{EXERCISE}.ipynb").read_bytes() == classroom.released(EXERCISE)
    assert (there / f"{EXERCISE}.ipynb").read_bytes() != (classroom.root / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
    inbound = exchange / COURSE / "inbound"
    assert mode(inbound) & 0o777 == 0o733, "students put submissions in, and cannot list those of others"
    assert not list(classroom.root.rglob("*.db"))


def test_a_page_lies_where_its_student_alone_finds_it(classroom, exchange):
    answered(classroom, "ada", "<p>ada's</p>", "5eC3et0")
    answered(classroom, "bob", "<p>bob's</p>", "another")
    answered(classroom, "cyd", "<p>cyd's, by mail</p>", None)
    answered(classroom, "dan", "<p>dan's, by mail</p>", "")
    lines = list(hand_back(classroom, EXERCISE, exchange))
    assert [line.split(":")[0] for line in lines] == ["ada", "bob", "cyd", "dan"]
    assert ["NOT HANDED BACK" in line for line in lines] == [False, False, True, True]
    folder = exchange / COURSE / "feedback"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert pages == {f"{notebook_hash(secret=secret, notebook_id=EXERCISE)}.html": page
                     for secret, page in (("5eC3et0", "<p>ada's</p>"), ("another", "<p>bob's</p>"))}
    assert mode(folder) & 0o077 == 0o011, "nobody else lists the folder"
    answered(classroom, "ada", "<p>ada's, corrected</p>", "5eC3et0")
    list(hand_back(classroom, EXERCISE, exchange))
    corrected = folder / f"{notebook_hash(secret='5eC3et0', notebook_id=EXERCISE)}.html"
    assert corrected.read_text(encoding="utf-8") == "<p>ada's, corrected</p>"


def test_what_is_missing_is_said_in_a_sentence(classroom, exchange, tmp_path, capsys):
    assert main(["--root", str(classroom.root), "hand-out", EXERCISE, str(tmp_path / "nowhere")]) == 2
    assert "there is no exchange" in capsys.readouterr().err
    with pytest.raises(CourseError, match="make feedback"):
        list(hand_back(classroom, EXERCISE, exchange))
    with pytest.raises(CourseError, match="there is no exercise"):
        hand_out(classroom, "99_none", exchange)
