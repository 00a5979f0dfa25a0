"""A lesson with a blank kernel, and the reader's copy of it. Cells that need the kernel begin with `# needs mine`."""

from pathlib import Path

import nbformat

from tools import my_course

CELLS = [cell.strip("\n") for cell in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n# %%\n")[1:]]


def copy_of(cells: list[str]) -> nbformat.NotebookNode:
    """Return a reader's copy of a lesson made of these cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text, id=f"cell-{i}") for i, text in enumerate(cells)])
    return nbformat.reads(my_course.reader_copy(nbformat.writes(notebook).encode(), "notebooks/04.ipynb")[0].decode(), as_version=4)
