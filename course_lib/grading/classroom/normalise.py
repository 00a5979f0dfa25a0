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
from course_lib.grading.classroom.cells import Cell, cells_of
from course_lib.grading.classroom.variants import variants_of

MOST_BYTES = 20 << 20        # of a notebook; a released one has 20 kB
LOST = "\ufffd"              # stands for bytes that are no text
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
    """What was found: part -> text of the answer, and part -> sentence for its author where there is none; notes on what was repaired.

    `variants` are those that some cell is marked for.
    """

    texts: dict[str, str]
    missing: dict[str, str]
    notes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()


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
            starter = "".join(marked[f"{part}-answer"]["source"])
            found.append(Question(part, f"{part}-answer", cell["metadata"]["nbgrader"]["points"], starter))
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
    cells, notes = read_cells(data)
    code = [cell for cell in cells if cell.cell_type == "code"]
    texts, missing = {}, {}
    for question in asked:
        try:
            texts[question.part], remarks = _answer(code, question)
            notes += remarks
        except CourseError as error:
            missing[question.part] = str(error)
    return SubmittedAnswers(texts, missing, tuple(notes),
                            tuple(variants_of({"metadata": {"tags": cell.tags}} for cell in cells)))


def read_cells(data: bytes) -> tuple[list[Cell], list[str]]:
    """Return the cells of a submitted notebook, and notes for its author.

    Raises
    ------
    CourseError
        When this is no notebook at all; the message is for its author.
    """
    if len(data) > MOST_BYTES:
        raise CourseError(f"the notebook has {len(data) >> 20} MB, at most {MOST_BYTES >> 20} are read: choose "
                          "'Clear Outputs of All Cells' and submit it again")
    text, notes = _decoded(data)
    try:
        found = cells_of(text)
    except ValueError as error:
        raise CourseError(f"the file is no notebook: {error}. "
                          "Open it in JupyterLab, save it and submit that file") from None
    if found is None:
        raise CourseError("the file is no notebook of format 4: it has no list of cells. Submit the .ipynb file that you worked in")
    return found, notes


def _decoded(data):
    """Return a file's text, and a note when it is not in UTF-8."""
    guessed = json.detect_encoding(data)               # by the zeros of UTF-16 and UTF-32, or a mark at the beginning
    for encoding in (guessed, "utf-8"):
        try:
            return data.decode(encoding), [] if encoding.startswith("utf-8") else [f"The file was not in UTF-8; it was read as {encoding}."]
        except UnicodeDecodeError:
            continue
    text = data.decode("utf-8", "replace")
    lost = text.count(LOST)
    if lost <= sum(character > "\x7f" for character in text) - lost:
        return text, [f"{lost} bytes of the file are not UTF-8, as all others are; each was read as {LOST}."]
    return data.decode("latin-1"), ["The file was not in UTF-8; it was read as latin-1."]


def _answer(cells, question):
    """Return the text of an answer, and notes."""
    notes = []
    found = [cell.text for cell in cells if cell.grade_id == question.grade_id]
    if not any(text.strip() for text in found):
        found = [cell.text for cell in cells if _begins(cell.text, question)]
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
    if len(own[-1]) > magic.MOST_TEXT:
        raise CourseError(f"the answer has more than {magic.MOST_TEXT:,} characters: at most so many are read")
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
