"""Whose a submission is, and when it came: the platform's entry says so, and nothing inside it, with a roster and without."""

import io
import os
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.classroom.collect import collect
from course_lib.grading.classroom.folders import Classroom

EXERCISE = "04_tiling"
RELEASED = (Path(__file__).parents[2] / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
ROSTER = "student,name,platform\nada,Ada Lovelace,lovelaceada\nbob,Bob Ross,rossbob\n"


@pytest.fixture(params=["roster", "no roster"])
def classroom(request, tmp_path):
    found = Classroom(tmp_path / "repository")
    found.root.mkdir()
    if request.param == "roster":
        (found.folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return found


def archive(members, date=(2030, 1, 2, 3, 4, 6)):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, date), content)
    return data.getvalue()


def put(folder, members):
    for name, content in members.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (2_000_000_000, 2_000_000_000))
    return folder


def given(tmp_path, how, members):
    """Lay what a platform gave: as a folder, in its one zip file, or in that file in a folder."""
    if how == "folder":
        return put(tmp_path / "in", members)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/download.zip").write_bytes(archive(members))
    return tmp_path / "in" / ("download.zip" if how == "zip" else "")


HOW = pytest.mark.parametrize("how", ["folder", "zip", "zip in a folder"])
ENTRY = pytest.mark.parametrize("entry", ["ada", "Ada Lovelace_12345_assignsubmission_file_", "ada+04_tiling+2030-11-20 10:11:12 UTC+x7",
                                          "123-456 - Ada Lovelace - Nov 20, 2030 1011 AM"])
INSIDE = pytest.mark.parametrize("inside", ["bob_04_tiling.ipynb",
                                            "bob+04_tiling+2030-11-20 10:11:12 UTC+x7/04_tiling.ipynb",
                                            "Bob Ross_99_assignsubmission_file_/04_tiling.ipynb", "04_tiling_bob.ipynb",
                                            "bob/04_tiling.ipynb", "rossbob_12345_67890_04_tiling.ipynb"])


@pytest.mark.sampled(test=6, slow=60)
@HOW
@ENTRY
@INSIDE
def test_who_names_somebody_else_inside_an_entry_is_refused_and_listed(classroom, tmp_path, how, entry, inside):
    other = {"Bob Ross_98_assignsubmission_file_/04_tiling.ipynb" if "Ada" in entry else "bob/04_tiling.ipynb": RELEASED}
    lines = list(collect(classroom, given(tmp_path, how, {f"{entry}/{inside}": b"ada's", **other})))
    refused, = (line for line in lines if line.startswith("NOT TAKEN"))
    assert inside.split("/")[0] in refused
    assert [path.read_bytes() for path in classroom.folder.glob("submitted/*/*/*.ipynb")] == [RELEASED], "bob's own, and nothing of ada's"


@pytest.mark.sampled(test=6, slow=60)
@HOW
@pytest.mark.parametrize("inside", ["bob_04_tiling.ipynb", "bob/04_tiling.ipynb", "Bob Ross_99_assignsubmission_file_/04_tiling.ipynb"])
@pytest.mark.parametrize("entry", ["lovelaceada_123_456_work.zip", "Ada Lovelace_12345_assignsubmission_file_/work.zip", "ada/bob.zip"])
def test_a_students_own_zip_file_names_nobody_else(classroom, tmp_path, how, entry, inside):
    members = {entry: archive({inside: b"ada's"}), "bob_124_457_04_tiling.ipynb" if "_" in entry else "bob/04_tiling.ipynb": RELEASED}
    lines = list(collect(classroom, given(tmp_path, how, members)))
    assert sum(line.startswith("NOT TAKEN") for line in lines) == 1
    assert all(path.read_bytes() == RELEASED for path in classroom.folder.glob("submitted/*/*/*.ipynb"))


@pytest.mark.parametrize("kind", ["folders", "zip files"])
def test_somebody_who_is_not_on_the_roster_does_not_become_a_member(tmp_path, kind):
    classroom = Classroom(tmp_path)
    (classroom.folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    if kind == "folders":
        put(tmp_path / "in", {"ada/04_tiling.ipynb": RELEASED, "mallory/bob/04_tiling.ipynb": b"m", "mallory2/bob_04_tiling.ipynb": b"m"})
    else:
        put(tmp_path / "in", {"ada.zip": archive({"04_tiling.ipynb": RELEASED}), "mallory.zip": archive({"bob/04_tiling.ipynb": b"m"}),
                              "mallory2.zip": archive({"bob_04_tiling.ipynb": b"m"})})
    lines = list(collect(classroom, tmp_path / "in"))
    assert sum("nobody on the roster is called 'mallory" in line for line in lines) == 2
    assert os.listdir(classroom.folder / "submitted") == ["ada"]


@pytest.mark.sampled(test=6, slow=60)
@HOW
@pytest.mark.parametrize("name", ["04_tiling-Copy1.ipynb", "final_04_tiling.ipynb", "my solution_04_tiling (2).ipynb", "04_tiling_v2.ipynb",
                                  "notebook.ipynb",
                                  "week 4/04_tiling.ipynb", "ada_04_tiling.ipynb", "04_tiling_ada.ipynb", "Ada Lovelace_04_tiling.ipynb",
                                  "my_course/exercises/04_tiling/04_tiling.ipynb", "work.zip"])
@pytest.mark.parametrize("entry", ["ada", "Ada Lovelace_12345_assignsubmission_file_"])
def test_what_honest_students_call_their_files_is_taken(classroom, tmp_path, how, entry, name):
    content = archive({"04_tiling/04_tiling.ipynb": RELEASED}) if name.endswith(".zip") else RELEASED
    lines = list(collect(classroom, given(tmp_path, how, {f"{entry}/{name}": content}), EXERCISE))
    assert len(lines) == 1
    assert lines[0].startswith(("ada 04_tiling ", "Ada_Lovelace 04_tiling "))


def stamp(classroom):
    path, = classroom.folder.glob("submitted/*/*/timestamp.txt")
    return datetime.fromisoformat(path.read_text(encoding="utf-8").strip())


@pytest.mark.sampled(test=6, slow=60)
@pytest.mark.parametrize(("inside", "beside"), [
    ("ada_2001-01-01T00:00:00Z_04_tiling.ipynb", {}), ("04_tiling_ada_2001-01-01T00:00:00Z.ipynb", {}),
    ("04_tiling.ipynb", {"timestamp.txt": b"2001-01-01 00:00:00 UTC"}), ("ada+04_tiling+2001-01-01 00:00:00 UTC+x/04_tiling.ipynb", {}),
    ("04_tiling/04_tiling.ipynb", {"04_tiling/timestamp.txt": b"2001-01-01 00:00:00 UTC"})])
@pytest.mark.parametrize("entry", ["ada", "Ada Lovelace_12345_assignsubmission_file_", "ada/work.zip", "lovelaceada_12345_678_work.zip"])
@HOW
def test_a_student_does_not_write_the_time(classroom, tmp_path, how, entry, inside, beside):
    """Neither in a name, nor beside the notebook, nor as a date in a zip file of their own."""
    content = {inside: RELEASED, **beside}
    own = archive(content, (2001, 1, 1, 0, 0, 0))
    members = {entry: own} if entry.endswith(".zip") else {f"{entry}/{name}": data for name, data in content.items()}
    list(collect(classroom, given(tmp_path, how, members)))
    assert stamp(classroom).year >= 2030


@HOW
def test_the_platforms_own_times_are_believed(classroom, tmp_path, how):
    for entry, when in (("ada+04_tiling+2031-11-20 10:11:12 UTC+x7", "2031-11-20T10:11:12+00:00"),
                        ("123-456 - Ada Lovelace - Nov 20, 2031 1011 PM", "2031-11-20T22:11:00+00:00")):
        folder = tmp_path / entry
        folder.mkdir()
        other = Classroom(folder)
        line, = collect(other, given(folder, how, {f"{entry}/04_tiling.ipynb": RELEASED}))
        assert line.endswith(when)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+1400", "9999-12-31T23:59:59-1400", "0001-01-01T00:00:00+14:00",
                                  "2030-13-41T99:99:99Z"])
def test_a_time_that_is_none_stops_nobody(classroom, tmp_path, time):
    source = put(tmp_path / "in", {f"ada_{time}_04_tiling.ipynb": b"x", "bob_04_tiling.ipynb": RELEASED})
    lines = list(collect(classroom, source))
    assert len(lines) == 2
    assert any("is no time" in line for line in lines)
    assert os.listdir(classroom.folder / "submitted") == ["bob"]


def damaged(method, at):
    """Return a zip file whose one member was compressed so, and one byte of which is another now."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        file.writestr("04_tiling.ipynb", RELEASED)
    spoiled = bytearray(data.getvalue())
    spoiled[at] ^= 0xFF
    return bytes(spoiled)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("step", [7])
def test_a_damaged_archive_is_one_line_of_the_report(tmp_path, method, step):
    """Every seventh byte of headers, data and directory is spoiled in turn: whatever a reader raises, bob is collected."""
    size = len(damaged(method, 0))
    places = {*range(0, 120, step), *range(size - 160, size, step), size // 2}
    members = {f"ada{at}/x.zip": damaged(method, at) for at in sorted(places)}
    classroom = Classroom(tmp_path)
    lines = list(collect(classroom, put(tmp_path / "in", {**members, "bob/04_tiling.ipynb": RELEASED})))
    assert len(lines) >= len(members)
    assert (classroom.folder / "submitted/bob/04_tiling/04_tiling.ipynb").read_bytes() == RELEASED


@pytest.mark.parametrize(("lines", "told"), [
    ("a.bc,,\nab.c,,\n", "'ab.c' of ab.c cannot be told from 'a.bc' of a.bc"),
    ("u1,Anna Müller,\nu2,Anna Müller,\n", "'Anna Müller' of u2 cannot be told from 'Anna Müller' of u1"),
    ("u1,Anna Mu\u0308ller,\nu2,Anna M\u00fcller,\n", "cannot be told from"), ("u1,u2,\nu2,Bob,\n", "cannot be told from"),
    ("ADA,,\nada,,\n", "cannot be told from"), ("ada,,\nada,,\n", "more than one line for ada"),
    ("ada,--,\n", "has no letter and no digit")])
def test_a_roster_that_does_not_tell_students_apart_is_refused_at_once(tmp_path, lines, told):
    classroom = Classroom(tmp_path)
    (classroom.folder / "roster.csv").write_text("student,name,platform\n" + lines, encoding="utf-8")
    put(tmp_path / "in", {"zoe_04_tiling.ipynb": RELEASED})
    for ask in (classroom.roster, lambda: list(collect(classroom, tmp_path / "in"))):
        with pytest.raises(CourseError, match="roster.csv") as error:
            ask()
        assert told in str(error.value)


def test_two_people_of_one_name_are_refused_until_the_roster_tells_them_apart(tmp_path):
    classroom = Classroom(tmp_path)
    put(tmp_path / "in", {f"Anna Müller_{number}_assignsubmission_file_/04_tiling.ipynb": b"%d" % number for number in (11, 12)})
    lines = list(collect(classroom, tmp_path / "in"))
    assert [line.startswith("NOT TAKEN") for line in lines] == [True, True]
    assert "11, 12" in lines[0]
    roster = "student,name,platform\na1,Anna M 1,Anna Müller 11\na2,Anna M 2,Anna Müller 12\n"
    (classroom.folder / "roster.csv").write_text(roster, encoding="utf-8")
    list(collect(classroom, tmp_path / "in"))
    assert [classroom.submission(s, EXERCISE).read_bytes() for s in ("a1", "a2")] == [b"11", b"12"]
