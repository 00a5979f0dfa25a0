"""exercises/ is what solutions/ gives, to the byte, holds no solution, and generating leaves nothing else behind."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from course_lib.errors import CourseError
from course_lib.grading.classroom import generate

ROOT = Path(__file__).parents[2]
EXERCISES = sorted(ROOT.glob("exercises/*/*.ipynb"))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a copy of the course's sources, with what running a notebook leaves beside it."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions", root / "solutions")
    shutil.copytree(ROOT / "exercises", root / "exercises")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for name in ("kernel.cu", "a.out.log", "kernel.cubin", ".ipynb_checkpoints/04_tiling-checkpoint.ipynb"):
        path = root / "solutions/04_tiling" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    return root


def _snapshot(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_exercises_are_up_to_date_and_generation_is_stable(course, capsys):
    before = _snapshot(course)
    assert generate.main(["--check", "--root", str(course)]) == 0, capsys.readouterr().out
    assert generate.main(["--root", str(course)]) == 0
    assert "up to date" in capsys.readouterr().out
    assert _snapshot(course) == before, "artefacts stay behind, and nothing is added"


def test_an_exercise_edited_by_hand_is_found_and_repaired(course, capsys, monkeypatch):
    monkeypatch.setattr(generate, "generate", lambda root, target: shutil.copytree(ROOT / "exercises", target))   # right, as above
    path = course / "exercises/04_tiling/04_tiling.ipynb"
    right = path.read_bytes()
    path.write_bytes(right.replace(b"YOUR CODE HERE", b"my code", 1))
    (course / "exercises/stray.txt").write_text("x")
    assert generate.main(["--check", "--root", str(course)]) == 1
    shown = capsys.readouterr().out
    assert "my code" in shown
    assert "stray.txt: solutions/ gives no such file" in shown
    assert "never edited by hand" in shown
    assert generate.main(["--root", str(course)]) == 0
    assert path.read_bytes() == right
    assert not (course / "exercises/stray.txt").exists()


@pytest.mark.slow
def test_a_failure_says_why_and_leaves_the_exercises(course, tmp_path, capsys):
    broken = tmp_path / "course"
    shutil.copytree(course, broken)
    path = broken / "solutions/04_tiling/04_tiling.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("// END SOLUTION", "// the end", 1), encoding="utf-8")
    before = _snapshot(broken)
    assert generate.main(["--root", str(broken)]) == 2
    said = capsys.readouterr().err
    assert "RuntimeError: the starter line `}` must begin with //" in said
    assert "04_tiling" in said
    assert "Traceback" not in said
    assert _snapshot(broken) == before


def test_a_folder_without_solutions_is_refused(tmp_path):
    with pytest.raises(CourseError, match="holds no notebook"):
        generate.drift(tmp_path)


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_students_get_no_solution(path):
    exercise = nbformat.read(path, 4)
    solution = nbformat.read(ROOT / "solutions" / path.relative_to(ROOT / "exercises"), 4)
    text = "\n".join(cell.source for cell in exercise.cells)
    for word in ("BEGIN SOLUTION", "END SOLUTION", "STARTER", "HIDDEN TESTS", "seed=", "Worked solution"):
        assert word not in text
    assert all("instructor" not in cell.metadata.get("tags", []) for cell in exercise.cells)
    assert all(not cell.outputs and cell.execution_count is None for cell in exercise.cells if cell.cell_type == "code")
    graded = [cell.metadata.nbgrader.grade_id for cell in solution.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert graded
    assert {cell.id for cell in exercise.cells} < {cell.id for cell in solution.cells}
    hidden = list(_solution_lines(solution))
    assert hidden
    assert [(number, line) for number, line in hidden if line in _lines_of(exercise, number)] == []


def _solution_lines(nb):
    """Yield (cell id, line) for each line that stands in a solution region alone: not in its starter, not outside."""
    for cell in nb.cells:
        found = {"solution": set(), "kept": set()}
        where = "kept"
        for line in cell.source.split("\n"):
            if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
                where = "solution" if "BEGIN" in line else "kept"
            elif "STARTER" in line:
                where = "kept"
            else:
                found[where].add(line.strip().removeprefix("// ").removeprefix("# ").strip())
        yield from ((cell.id, line) for line in found["solution"] - found["kept"] if len(line) > 1)


def _lines_of(nb, cell_id):
    return [line.strip() for cell in nb.cells if cell.id == cell_id for line in cell.source.split("\n")]


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert targets
    assert [target for target in targets if not (path.parent / target).exists()] == []
