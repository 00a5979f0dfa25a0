"""A class in which most cheat or break something: nobody gains a mark, nobody costs another one, everybody is told why.

Every submission is made from the worked solution, so that whatever it does not break earns its marks.
"""

import json
from pathlib import Path

import hostile_class
import pytest
from hostile_class import EVERYBODY, OTHERS_SECRET, SECRET, SOLUTIONS_SECRET
from hostile_notebook import EXERCISE, RIGHT, kernel, solved

from course_lib import magic
from course_lib.grading.classroom import judging
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.grade import grade
from course_lib.grading.classroom.grades import grades
from course_lib.toolchain import disk
from tools import required
from tools.page import hostile

pytestmark = required.bubblewrap


@pytest.fixture(autouse=True)
def _enrolled(monkeypatch):
    hostile_class.enrol(monkeypatch)


def test_the_class_is_large_enough():
    assert len(EVERYBODY) + len(hostile_class.ARCHIVES) - len(hostile_class.HONEST) >= 35
    assert len({case.tries for case in EVERYBODY.values()}) > 90


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nobody_gains_nobody_loses_everybody_is_told(tmp_path):
    classroom = hostile_class.classroom_in(tmp_path)
    classroom.seed()
    before = hostile_class.kept_alone(classroom)
    results = grade(classroom, EXERCISE, seconds=60, quiet=True)
    assert hostile_class.kept_alone(classroom) == before, "a submission changed a file"
    assert not hostile_class.surprises(results)
    assert not [result for result in results.values() if not result["key"]], "somebody broke the grader"
    assert SECRET not in json.dumps(results)
    assert SOLUTIONS_SECRET not in json.dumps(results)
    assert [student for student, result in results.items() if OTHERS_SECRET in json.dumps(result)] == ["honest_ada"]
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in feedback(classroom, EXERCISE)}
    assert pages.keys() == EVERYBODY.keys()
    forbidden = ("<script", "drawn input", str(classroom.seed()), SECRET, SOLUTIONS_SECRET)
    assert not [(name, words) for name, page in pages.items() for words in forbidden if words in page]
    grades(classroom, EXERCISE)
    table = (classroom.folder / f"grades_{EXERCISE}.csv").read_text(encoding="utf-8")
    assert len(table.splitlines()) == len(EVERYBODY) + 1
    lines = hostile_class.collected(classroom, tmp_path)
    assert not [name for name, (*_, words) in hostile_class.ARCHIVES.items() if words not in "".join(lines[name])]
    assert hostile.TABLE.split(hostile.PAGE.read_text(encoding="utf-8"))[1].strip() == hostile_class.table(results, lines), (
        "docs/grading.md has another table: run python -m tools page hostile")


def test_archives_are_not_taken(tmp_path):
    classroom = hostile_class.Classroom(tmp_path / "class")
    classroom.root.mkdir()
    lines = hostile_class.collected(classroom, tmp_path)
    assert not [name for name, (*_, words) in hostile_class.ARCHIVES.items() if words not in "".join(lines[name])]
    assert not (classroom.folder / "submitted").exists()


@pytest.mark.slow
def test_the_compiler_sees_no_file_and_the_other_part_is_judged(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    _, text = magic.from_cell(kernel("solutions"))
    cache = disk.cache_folder().parent.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    for path in (secret, Path("/course/course_lib/grading/checks.py")):
        results = judging.judge({"tile": f'%:include "{path}"\n{text}', "loads": RIGHT}, EXERCISE, seed=7, cache=cache)
        assert {name: result["passed"] for name, result in results.items()} == {"tile": False, "loads": True}
        assert "cannot open source file" in results["tile"]["told"]
        assert SECRET not in str(results)


def test_a_few_of_each_kind(tmp_path):
    """The quick part of the class; the slow test has all of it."""
    cases = {name: EVERYBODY[name] for name in ("exits", "forks", "imports_the_checks", "writes_the_reply", "equal_to_all", "known_cases")}
    for name, case in cases.items():
        text = next(cell["source"] for cell in case.make(solved())["cells"] if cell["id"] == "loads-answer")
        result = judging.judge({"loads": text}, EXERCISE, seed=7)["loads"]
        assert not result["passed"], name
        assert case.says in result["told"], name
    assert judging.judge({"loads": RIGHT}, EXERCISE, seed=7)["loads"]["passed"]
