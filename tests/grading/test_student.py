"""The released notebook in a student's hands: it runs, the starter is told what is missing, the right answers pass."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib.grading.classroom.preprocessors import clear_regions

ROOT = Path(__file__).parents[2]
EXERCISES = sorted(path.name for path in (ROOT / "solutions").iterdir())
CHECKS = ["stage-check", "tile-check", "wide-check"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that executes a notebook's cells and returns the errors by cell id."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))

    def execute(nb):
        NotebookClient(nb, timeout=120, allow_errors=True, resources={"metadata": {"path": tmp_path}}).execute()
        return {cell.id: out for cell in nb.cells for out in cell.get("outputs", ()) if out.output_type == "error"}

    return execute


@pytest.mark.slow
def test_the_starter_fails_each_check_in_one_short_block(run):
    nb = nbformat.read(ROOT / "exercises/04_tiling/04_tiling.ipynb", 4)
    errors = run(nb)
    assert list(errors) == CHECKS
    for error in errors.values():
        assert error.ename == "NotPassedError"
        assert "0.1250" in (shown := "\n".join(error.traceback))
        assert len(shown.splitlines()) < 10
        assert "course_lib" not in shown


@pytest.mark.slow
def test_the_right_answers_pass_and_nothing_goes_to_stderr(run):
    nb = nbformat.read(ROOT / "exercises/04_tiling/04_tiling.ipynb", 4)
    solved = {cell.id: cell for cell in nbformat.read(ROOT / "solutions/04_tiling/04_tiling.ipynb", 4).cells}
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = solved[cell.id].source
    assert run(nb) == {}
    assert not [out for cell in nb.cells for out in cell.get("outputs", ()) if out.get("name") == "stderr"]
    shown = {cell.id: cell.outputs[0].data["text/plain"] for cell in nb.cells if cell.id in CHECKS}
    assert all(": passed: " in text for text in shown.values()), shown


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("exercise", EXERCISES)
def test_with_every_starter_only_the_checks_fail_and_pictures_are_drawn(run, exercise):
    nb = nbformat.read(ROOT / f"solutions/{exercise}/{exercise}.ipynb", 4)      # cells of all variants
    marked = [cell for cell in nb.cells if "nbgrader" in cell.metadata]
    for cell in marked:
        if cell.metadata.nbgrader.solution:
            cell.source = clear_regions(cell.source)[0]
    errors = run(nb)
    assert list(errors) == [cell.id for cell in marked if cell.metadata.nbgrader.grade]
    assert {error.ename for error in errors.values()} == {"NotPassedError"}
