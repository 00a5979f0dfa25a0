"""What nbgrader does to an instructor's notebook on its way to the students, where its own steps do not fit CUDA.

A solution region may carry the text that students start from, as comments behind a line `STARTER`:

    // BEGIN SOLUTION                                    becomes      // YOUR CODE HERE
    acc += As[ty][k] * Bs[k][tx];                                     acc += A[row * lda + k] * B[k * ldb + col];
    // STARTER
    // acc += A[row * lda + k] * B[k * ldb + col];
    // END SOLUTION

Without a STARTER only the first line is left. The comment mark of a region, `//` or `#`, is the one of its first line,
because a CUDA cell lives in a Python notebook.
"""

import re
from typing import Any

from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from traitlets import Unicode

from course_lib.grading.classroom.variants import FIRST, chosen

INSTRUCTOR = "instructor"      # the tag of cells that students do not get
NEEDED_METADATA = ("deletable", "editable", "nbgrader", "tags")
_REGION = re.compile(r"(?P<indent>\s*)(?P<mark>//|#+) ?(?P<word>BEGIN SOLUTION|STARTER|END SOLUTION)\s*")


class DropInstructorCells(NbGraderPreprocessor):
    """Remove the cells tagged `instructor`: explanations of the solution, notes on what students get wrong."""

    def preprocess(self, nb: Any, resources: dict) -> tuple[Any, dict]:
        """Return the notebook without these cells."""
        nb.cells = [cell for cell in nb.cells if INSTRUCTOR not in cell.metadata.get("tags", [])]
        return nb, resources


class DropOtherVariants(NbGraderPreprocessor):
    """Remove the cells of other variants: `variant-b` marks a cell that only classes with variant b get."""

    variant = Unicode(FIRST, help="The variant that this class gets.").tag(config=True)

    def preprocess(self, nb: Any, resources: dict) -> tuple[Any, dict]:
        """Return the notebook with the cells of its variant, and those that all get."""
        nb.cells = chosen(nb.cells, self.variant)
        return nb, resources


class ClearCudaSolutions(ClearSolutions):
    """Replace solution regions, in Python and in CUDA, by the starter text."""

    def _replace_solution_region(self, cell, language):
        if cell.cell_type != "code":
            return super()._replace_solution_region(cell, language)
        cell.source, replaced = clear_regions(cell.source)
        return replaced


class StripMetadata(NbGraderPreprocessor):
    """Remove metadata that changes from one save to the next, so that generation gives the same bytes every time."""

    def preprocess(self, nb: Any, resources: dict) -> tuple[Any, dict]:
        """Return the notebook with only the metadata that students and nbgrader need."""
        kernel = nb.metadata.get("kernelspec", {})
        nb.metadata = type(nb.metadata)(kernelspec=kernel, language_info={"name": kernel.get("language", "python")})
        for cell in nb.cells:
            for name in set(cell.metadata) - set(NEEDED_METADATA):
                del cell.metadata[name]
        return nb, resources


def clear_regions(text: str) -> tuple[str, bool]:
    r"""Replace every solution region of a cell by its starter.

    Returns
    -------
    (str, bool)
        The text for students, and whether there was a region.

    Raises
    ------
    RuntimeError
        On a region that is nested, or not closed, or a starter line that is no comment; nbgrader stops at it.

    >>> print(clear_regions("a\n  // BEGIN SOLUTION\n  b\n  // STARTER\n  // c\n  // END SOLUTION\nd")[0])
    a
      // YOUR CODE HERE
      c
    d
    """
    lines: list[str] = []
    mark: str | None = None
    starter = False
    for line in text.split("\n"):
        region = _REGION.fullmatch(line)
        indent, begins, word = region.group("indent", "mark", "word") if region else ("", "", "")
        if not word and ("BEGIN SOLUTION" in line or "END SOLUTION" in line):
            raise RuntimeError(f"the line `{line.strip()}` must hold nothing but the comment")
        if word == "BEGIN SOLUTION":
            if mark:
                raise RuntimeError("a solution region begins inside another")
            mark, starter = begins, False
            lines.append(f"{indent}{mark} YOUR CODE HERE")
        elif word and not mark:
            raise RuntimeError(f"{word} stands outside a solution region")
        elif word == "STARTER":
            starter = True
        elif word == "END SOLUTION":
            mark = None
        elif mark is None:
            lines.append(line)
        elif starter:
            lines.append(_uncomment(line, mark))
    if mark:
        raise RuntimeError("a solution region has no END SOLUTION")
    return "\n".join(lines), "\n".join(lines) != text


def _uncomment(line, mark):
    match = re.fullmatch(rf"(\s*){re.escape(mark)} ?(.*)", line)
    if not match:
        raise RuntimeError(f"the starter line `{line.strip()}` must begin with {mark}")
    return (match[1] + match[2]).rstrip()
