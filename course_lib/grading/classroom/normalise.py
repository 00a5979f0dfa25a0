"""Read the answers out of a submission, whatever happened to the notebook around them.

Only the text of the answer cells counts. Tests, metadata and everything else come from the released notebook, so that nothing a
student does to them changes a mark.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib import magic
from course_lib.errors import CourseError

MOST_BYTES = 20 << 20        # of a notebook; a released one has 20 kB
MOST_TEXT = 100_000          # characters of an answer; the longest kernel of the course has 8,000
_DEFINES = re.compile(r"^def +(\w+) *\(", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    """A part of an exercise as the released notebook asks for it: part, grade_id of the answer, points, the starter's cell."""

    part: str
    grade_id: str
    points: float
    starter: str

    @property
    def language(self) -> str:
        """Return "cuda" or "c", by the cell's first line, or "python"."""
        return _language(self.starter)

    @property
    def name(self) -> str:
        """Return what the kernel, the loops or the function are called."""
        if self.language == "python":
            return _DEFINES.findall(self.starter)[0]
        return magic.from_cell(self.starter)[0]


@dataclass(frozen=True)
class SubmittedAnswers:
    """What was found: part -> text of the answer, and part -> sentence for its author where there is none; notes on what was repaired."""

    texts: dict[str, str]
    missing: dict[str, str]
    notes: tuple[str, ...] = ()


def questions(released: bytes) -> tuple[Question, ...]:
    """Return the parts of an exercise, in order.

    Parameters
    ----------
    released
        The notebook that students got; an answer cell `tile-answer` belongs to a check `tile-check`, which has the points.

    Raises
    ------
    CourseError
        When a check has no answer cell.
    """
    cells = json.loads(released)["cells"]
    marked = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}
    found = []
    for name, cell in marked.items():
        if cell["metadata"]["nbgrader"]["grade"]:
            part = name.removesuffix("-check")
            if f"{part}-answer" not in marked:
                raise CourseError(f"the check {name} has no answer cell {part}-answer: name both after the part")
            found.append(Question(part, f"{part}-answer", cell["metadata"]["nbgrader"]["points"], _text(marked[f"{part}-answer"])))
    return tuple(found)


def answers(data: bytes, asked: Sequence[Question]) -> SubmittedAnswers:
    """Find the answers in a submitted notebook.

    Parameters
    ----------
    data
        The file as it was submitted.

    Raises
    ------
    CourseError
        When this is no notebook at all; the message is for its author.
    """
    cells, notes = _cells(data)
    texts, missing = {}, {}
    for question in asked:
        try:
            texts[question.part], remarks = _answer(cells, question)
            notes += remarks
        except CourseError as error:
            missing[question.part] = str(error)
    return SubmittedAnswers(texts, missing, tuple(notes))


def _cells(data):
    """Return the code cells as (metadata, text), and notes."""
    if len(data) > MOST_BYTES:
        raise CourseError(f"the notebook has {len(data) >> 20} MB, at most {MOST_BYTES >> 20} are read: choose "
                          "'Clear Outputs of All Cells' and submit it again")
    text, notes = _decoded(data)
    try:
        nb = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CourseError(f"the file is no notebook: it cannot be read as JSON ({str(error)[:100]}). "
                          "Open it in JupyterLab, save it and submit that file") from None
    cells = nb.get("cells") if isinstance(nb, dict) else None
    if not isinstance(cells, list):
        raise CourseError("the file is no notebook of format 4: it has no list of cells. Submit the .ipynb file that you worked in")
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return [(cell.get("metadata"), _text(cell)) for cell in code], notes


def _decoded(data):
    """Return a file's text, and a note when it is not in UTF-8."""
    for marks, encoding in (((b"\xff\xfe", b"\xfe\xff"), "utf-16"), ((b"",), "utf-8-sig"), ((b"",), "latin-1")):
        if data.startswith(marks):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            return text, [] if encoding == "utf-8-sig" else [f"The file was not in UTF-8; it was read as {encoding}."]
    raise AssertionError("latin-1 decodes everything")


def _text(cell):
    """Return a cell's source, which the format allows to be a text or a list of lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _answer(cells, question):
    """Return the text of an answer, and notes."""
    notes = []
    found = [text for metadata, text in cells if _grade_id(metadata) == question.grade_id]
    if not any(text.strip() for text in found):
        found = [text for _, text in cells if _begins(text, question)]
        if found:
            notes.append(f"The mark of the answer cell {question.grade_id} was lost; the cell was found by its first line.")
    begin = f"def {question.name}(" if question.language == "python" else f"%%{question.language} {question.name}"
    if not found:
        raise CourseError(f"the answer cell {question.grade_id} is missing, and so is any cell with {begin}: "
                          "download the exercise again and copy your answer into that cell")
    answers_ = [text for text in found if _language(text) == question.language] or found
    own = [text for text in answers_ if text.strip() != question.starter.strip()] or answers_
    if len(set(own)) > 1:
        notes.append(f"There are {len(own)} different answer cells {question.grade_id}; the last one was graded.")
    if len(own[-1]) > MOST_TEXT:
        raise CourseError(f"the answer has {len(own[-1]):,} characters; at most {MOST_TEXT:,} are read")
    if question.language == "python":
        return own[-1], notes
    name, text = magic.from_cell(own[-1].lstrip())
    if name != question.name:
        notes.append(f"The cell's first line says %%{question.language} {name} where the exercise has {begin}; "
                     "what is inside was graded.")
    return text, notes


def _language(text):
    """Return "cuda" or "c" for a cell that begins with its magic, or "python"."""
    first = text.split(maxsplit=1)[:1]
    return first[0][2:] if first and first[0] in ("%%cuda", "%%c") else "python"


def _begins(text, question):
    """Return whether a cell is the answer by its words."""
    if question.language == "python":
        return _language(text) == "python" and question.name in _DEFINES.findall(text)
    return text.split()[:2] == [f"%%{question.language}", question.name]


def _grade_id(metadata):
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
