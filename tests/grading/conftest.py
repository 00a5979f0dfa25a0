"""The kernels that the checks are tried with: from files, and from the cells of solutions/ and exercises/."""

from pathlib import Path

import nbformat
import pytest

from course_lib import magic

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def answers():
    """Return a function: folder and exercise -> kernel texts by name."""
    def read(folder, exercise):
        nb = nbformat.read(ROOT / folder / exercise / f"{exercise}.ipynb", 4)
        return dict(magic.from_cell(cell.source) for cell in nb.cells if cell.source.startswith("%%cuda"))

    return read
