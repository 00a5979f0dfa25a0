"""One line of class.toml gives a class another variant: what is packed, graded and told."""

import json
import shutil
import zipfile
from concurrent import futures
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading import all_parts
from course_lib.grading.classroom import judging, variants
from course_lib.grading.classroom import release as release_module
from course_lib.grading.classroom.collect import collect
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.grade import grade
from course_lib.grading.classroom.grades import grades
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.grading.classroom.release import contents, leak, release
from course_lib.grading.sandbox import bubblewrap
from course_lib.toolchain import disk
from tools import required

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
SOLVED = json.loads((ROOT / f"solutions/{EXERCISE}/{EXERCISE}.ipynb").read_text(encoding="utf-8"))
MAIN = {"a": "tile", "b": "tile-b"}
needs_sandbox = required.bubblewrap


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return one folder for all classes: what was generated for one is not generated again for the next."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("exercises", "solutions", "nbgrader_config.py"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture
def classroom(root):
    yield Classroom(root)
    shutil.rmtree(root / "grading", ignore_errors=True)


def choose(classroom, text):
    (classroom.folder / "class.toml").write_text(text, encoding="utf-8")


def text_of(cell):
    return "".join(cell["source"])


def solved(released, wrong=()):
    """Return a released notebook with the worked answers in it; those of the parts in `wrong` compute something else."""
    nb = json.loads(released)
    sources = {cell["id"]: text_of(cell) for cell in SOLVED["cells"]}
    for cell in nb["cells"]:
        part = cell["id"].removesuffix("-answer")
        if part != cell["id"]:
            cell["source"] = sources[cell["id"]].replace("acc +=", "acc -=" if part in wrong else "acc +=")
    return json.dumps(nb)


@pytest.mark.slow
def test_the_released_notebook_is_of_the_class(classroom):
    first = classroom.released(EXERCISE)
    assert first == (ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
    choose(classroom, 'variant = "b"\n[late]\nper_day = 0.1\n')
    second = classroom.released(EXERCISE)
    assert [q.part for q in questions(first)] == ["stage", "tile", "wide"]
    assert [q.part for q in questions(second)] == ["stage", "tile-b", "wide"]
    cells = json.loads(second)["cells"]
    assert variants.variants_of(cells) == ["b"]
    assert "tiled_at" in "".join(map(text_of, cells))
    assert not any(mark in second.decode() for mark in ("BEGIN SOLUTION", "HIDDEN TESTS", "seed="))


def test_an_exercise_without_the_variant_is_given_as_it_is(classroom, monkeypatch):
    monkeypatch.setattr(variants, "known", lambda root: ["a", "b", "c"])
    choose(classroom, 'variant = "c"\n')
    assert classroom.released(EXERCISE) == (ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()


@pytest.mark.parametrize(("text", "says"), [
    ('variant = "z"', r"no exercise has a variant 'z'; there is 'a', 'b'"),
    ("variant = 2", "no exercise has a variant 2; there is 'a', 'b'"),
    ('[late]\nvariant = "b"', r"stands in the table \[late\]; put it in the first line"),
])
def test_a_setting_that_would_have_no_effect_is_refused(classroom, text, says):
    choose(classroom, text)
    with pytest.raises(CourseError, match=says):
        classroom.released(EXERCISE)


def test_every_part_has_its_variants_in_the_notebook():
    """A part `main-b` of the library has cells for variant b, and the variants of an exercise have as many parts, worth as much."""
    for path in sorted(ROOT.glob("solutions/*/*.ipynb")):
        cells = json.loads(path.read_bytes())["cells"]
        offered = {name: questions(json.dumps({"cells": variants.chosen(cells, name)})) for name in variants.variants_of(cells) or ["a"]}
        assert {part for exercise, part in all_parts() if exercise == path.stem} == {q.part for found in offered.values() for q in found}
        assert len({tuple(q.points for q in found) for found in offered.values()}) == 1, path.stem


def hand_in_all(classroom, folder):
    """Collect a right and a wrong answer of each variant; return the lines of `collect`."""
    inbox = folder / "inbox"
    inbox.mkdir()
    for variant, main in MAIN.items():
        choose(classroom, f'variant = "{variant}"\n')
        released = classroom.released(EXERCISE)
        (inbox / f"right_{variant}_{EXERCISE}.ipynb").write_text(solved(released), encoding="utf-8")
        (inbox / f"wrong_{variant}_{EXERCISE}.ipynb").write_text(solved(released, wrong=[main]), encoding="utf-8")
    return list(collect(classroom, inbox))


def graded(classroom, variant):
    choose(classroom, f'variant = "{variant}"\n')
    lines = []
    results = grade(classroom, EXERCISE, show=lines.append, quiet=True)
    assert lines[0] == "the instructor's own solution: 10 of 10"
    return results


@needs_sandbox
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_class_is_graded_by_its_variant(classroom, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(disk.cache_folder().parent))
    assert len(hand_in_all(classroom, tmp_path)) == 4
    for variant, other in ("ab", "ba"):
        results = graded(classroom, variant)
        assert {student: result["points"] for student, result in results.items()} == {
            f"right_{variant}": 10, f"wrong_{variant}": 4, f"right_{other}": 4, f"wrong_{other}": 4}
        kinds = {part["part"]: part["kind"] for part in results[f"wrong_{variant}"]["parts"]}
        assert kinds == {"stage": "", MAIN[variant]: "wrong", "wide": ""}
        note, = results[f"right_{other}"]["notes"]
        assert note.startswith(f"This notebook has the parts of variant {other}, and the class has variant {variant}:")
        assert results[f"right_{variant}"]["notes"] == results[f"wrong_{variant}"]["notes"] == []
        assert "4 graded" in grades(classroom, EXERCISE)[0]
        pages = {path.parent.name: path.read_text(encoding="utf-8") for path in feedback(classroom, EXERCISE)}
        assert f"the class has variant {variant}" in pages[f"right_{other}"]
        assert "the class has variant" not in pages[f"wrong_{variant}"]


@pytest.mark.slow
def test_a_change_of_the_variant_grades_anew_and_notes_say_why(classroom, tmp_path, monkeypatch):
    """As above with a judge that only looks whether an answer is the worked one: nothing is compiled."""
    asked = []

    def judge(texts, exercise, **_):
        asked.append(sorted(texts))
        return {name: {"passed": "acc -=" not in text, "kind": "", "told": "", "html": ""} for name, text in texts.items()}

    monkeypatch.setattr(judging, "judge", judge)
    monkeypatch.setattr(bubblewrap, "problem", lambda: None)
    hand_in_all(classroom, tmp_path)
    assert list(variants.variants_of(json.loads(classroom.submission("right_b", EXERCISE).read_bytes())["cells"])) == ["b"]
    monkeypatch.setattr("course_lib.grading.classroom.grade.futures.ProcessPoolExecutor", futures.ThreadPoolExecutor)
    for variant, other in ("ab", "ba"):
        results = graded(classroom, variant)
        assert asked[0] == sorted(["stage", MAIN[variant], "wide"]), "the instructor's own is of the class's variant"
        assert {student: result["points"] for student, result in results.items()} == {
            f"right_{variant}": 10, f"wrong_{variant}": 4, f"right_{other}": 4, f"wrong_{other}": 4}
        notes = {student: "".join(result["notes"]) for student, result in results.items()}
        assert f"the class has variant {variant}: download" in notes[f"right_{other}"]
        assert notes[f"right_{variant}"] == notes[f"wrong_{variant}"] == ""
        asked.clear()


@pytest.mark.parametrize("tags", [3, [1, "variant-b!<i>"], "variant-b", {"variant-b": 1}, None])
def test_strange_tags_are_of_no_variant(tags):
    data = json.dumps({"cells": [3, {"metadata": 1}, {"cell_type": "code", "metadata": {"tags": tags}}]}).encode()
    found = answers(data, ()).variants
    assert variants.mismatch(found, (ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()) == ""


@pytest.mark.slow
def test_the_bundle_has_the_exercises_of_the_variant(tmp_path):
    release(ROOT, tmp_path / "b.zip", "b")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        files = {name.removeprefix("warp-by-warp/"): archive.read(name) for name in archive.namelist()}
    plain = contents(ROOT)
    assert files.keys() == plain.keys()
    changed = {name for name in files if files[name] != plain[name]}
    assert changed
    assert all(name.startswith("exercises/") and variants.has(files[name], "b") and not variants.has(files[name], "a") for name in changed)
    assert all(variants.has(plain[name], "a") for name in changed)
    assert leak(files) is None


def test_a_bundle_holds_the_precompiled_archive_when_one_was_made(tmp_path, monkeypatch):
    made = tmp_path / "precompiled.zip"
    monkeypatch.setattr(release_module, "ARCHIVE", made.relative_to(tmp_path))
    name = "course_lib/toolchain/precompiled.zip"
    assert name not in contents(ROOT)
    monkeypatch.setattr(release_module, "ARCHIVE", made)              # an absolute path stays what it is under any root
    made.write_bytes(b"archive")
    assert contents(ROOT)[name] == b"archive"
