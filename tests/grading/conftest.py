"""The answers that the checks are tried with: from files, and from the cells of solutions/ and exercises/."""

import ast
from pathlib import Path

import nbformat
import pytest

from course_lib import magic
from course_lib.grading.classroom.preprocessors import clear_regions

ROOT = Path(__file__).parents[2]


def read_answers(folder, exercise):
    """Return the answers of a notebook by name: kernels, loops, and functions with everything in their cell."""
    found = {}
    for cell in nbformat.read(ROOT / folder / exercise / f"{exercise}.ipynb", 4).cells:
        if cell.source.startswith(("%%cuda", "%%c ")):
            name, text = magic.from_cell(cell.source)
            found[name] = text
        elif cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution"):
            found |= {node.name: cell.source for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)}
    return found


@pytest.fixture(scope="session")
def answers():
    """Return `read_answers`."""
    return read_answers


@pytest.fixture(scope="session")
def starters():
    """Return what students start from, of all variants: (exercise, part) -> text."""
    return {(exercise, name): text for exercise in sorted(path.name for path in (ROOT / "solutions").iterdir())
            for name, text in _starters(exercise).items()}


def _starters(exercise):
    """Clear the answer cells of a worked solution as nbgrader's step does."""
    cells = nbformat.read(ROOT / "solutions" / exercise / f"{exercise}.ipynb", 4).cells
    marked = {cell.metadata.nbgrader.grade_id: cell for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")}
    return {name.removesuffix("-answer"): _text(clear_regions(cell.source)[0]) for name, cell in marked.items()}


def _text(source):
    return magic.from_cell(source)[1] if source.startswith("%%") else source
