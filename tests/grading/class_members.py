"""Who is in a class that is made to be graded: honest, wrong and hostile submissions of one exercise, and the marks they must get."""

import copy
import json
import random
import re
from dataclasses import dataclass, field

from answer_files import TESTS, answer, files, header, solved_cells, without_regions
from hostile_class import FOLDERS
from hostile_kernels import KERNELS, NOTEBOOKS
from hostile_notebook import Case

from course_lib.grading.classroom.normalise import questions

HOSTILE_EXERCISE = "04_tiling"            # the cases are made of its second kernel
HOSTILE = {**NOTEBOOKS, **KERNELS, **FOLDERS}
SHARES = {"hostile": 0.18, "wrong": 0.2, "starter": 0.04}       # of the class; the others are honest
AS_IT_IS = Case("nothing", lambda nb: nb, 0)
# Tile sizes with which the worked solutions pass, and how deep a tile may be: (exercise, part) -> BM and BN
SIZES = {("04_tiling", "tile"): ((16, 16), (16, 32), (32, 16), (32, 32)), ("04_tiling", "wide"): ((64, 64), (64, 32), (32, 64))}
DEPTHS = (8, 16, 32)
NAMES = ("acc", "tx", "ty", "row", "col", "k0", "block_row", "block_col", "As", "Bs")      # that kernels have inside


@dataclass(frozen=True)
class Member:
    """A submission: whose, of which kind, what it is, its notebook and what is then done to it, points, and how late it is."""

    student: str
    kind: str
    what: str
    notebook: dict = field(repr=False)
    points: float
    case: Case = AS_IT_IS
    hours: float = 0
    factor: float = 1


def members(exercise, count, seed):
    """Return a class, the same for the same numbers.

    Parameters
    ----------
    exercise : str
    count : int
        Submissions; at least one is honest.
    seed : int
        Draws who hands in what.

    Returns
    -------
    list of Member
        In the order of their names, kinds mixed; hostile ones in `HOSTILE_EXERCISE` only.
    """
    rng = random.Random(f"{exercise} {seed}")
    kinds = [kind for kind, share in SHARES.items() if kind != "hostile" or exercise == HOSTILE_EXERCISE
             for _ in range(round(share * count))]
    kinds += ["honest"] * (count - len(kinds))
    rng.shuffle(kinds)
    book = Book(exercise, rng)
    return [book.member(f"s{number:03}", kind) for number, kind in enumerate(kinds, 1)]


class Book:
    """The exercise's notebook, and the answers that there are for it."""

    def __init__(self, exercise, rng):
        self.exercise, self.rng = exercise, rng
        self.released = _read(exercise)
        self.asked = {question.part: question for question in questions(json.dumps(self.released).encode())}
        solved = solved_cells(exercise)
        self.right = {part: [("worked solution", without_regions(solved[question.grade_id]))] for part, question in self.asked.items()}
        for path in files("right_kernels", exercise):
            if (part := header(path)[0]) in self.asked:
                self.right[part].append((path.name, self._cell(path, part)))
        wrong = [path for path in files("wrong_kernels", exercise) if header(path)[0] in self.asked]
        self.turns = {"wrong": _turns(wrong, rng), "hostile": _turns(HOSTILE, rng)}

    def member(self, student, kind):
        """Return a submission of a kind: "honest", "wrong", "starter" or "hostile"."""
        return getattr(self, f"_{kind}")(student)

    def _honest(self, student):
        chosen = {part: self.rng.choice(answers) for part, answers in self.right.items()}
        texts = {part: self.varied(part, text, student, sizes=what == "worked solution") for part, (what, text) in chosen.items()}
        return Member(student, "honest", ", ".join(what for what, _ in chosen.values()), self._notebook(texts), self._points())

    def _wrong(self, student):
        path = next(self.turns["wrong"])
        part = header(path)[0]
        texts = {name: self.varied(name, answers[0][1], student) for name, answers in self.right.items()}
        texts[part] = self.varied(part, self._cell(path, part), student)
        return Member(student, "wrong", path.name, self._notebook(texts), self._points() - self.asked[part].points)

    def _starter(self, student):
        return Member(student, "starter", "nothing done", self._notebook({}), 0)

    def _hostile(self, student):
        name = next(self.turns["hostile"])
        texts = {part: answers[0][1] for part, answers in self.right.items()}
        return Member(student, "hostile", name, self._notebook(texts), HOSTILE[name].points, HOSTILE[name])

    def varied(self, part, cell, student, sizes=False):
        """Return an answer in a student's own words: other names, a comment, and other tiles where `SIZES` has some."""
        if not cell.startswith("%%cuda"):
            return f"{cell}\n{'//' if cell.startswith('%%c ') else '#'} by {student}"
        first, text = cell.split("\n", 1)
        suffix = f"_{student}"
        for name in self.rng.sample(NAMES, 5):
            text = re.sub(rf"(?<![\w.]){name}\b", name + suffix, text)
        if sizes and (shapes := SIZES.get((self.exercise, part))):
            BM, BN = self.rng.choice(shapes)
            for name, value in (("BM", BM), ("BN", BN), ("BK", self.rng.choice(DEPTHS))):
                text = re.sub(rf"(#define {name}) \d+", rf"\1 {value}", text)
        return f"{first}\n{text}\n// by {student}"

    def _points(self):
        return sum(question.points for question in self.asked.values())

    def _cell(self, path, part):
        """Return a file's answer as a cell, without the header that says what it is."""
        lines = answer(path).split("\n")
        text = "\n".join(line for line in lines[1:] if not re.match(r"(//|#) *(Part|Must fail for) |(//|#)$", line))
        question = self.asked[part]
        return text if question.language == "python" else f"%%{question.language} {question.name}\n{text}"

    def _notebook(self, texts):
        """Return the released notebook with answers."""
        nb = copy.deepcopy(self.released)
        for cell in nb["cells"]:
            part = cell["id"].removesuffix("-answer")
            if part != cell["id"] and part in texts:
                cell["source"] = texts[part]
        return nb


def _read(exercise):
    nb = json.loads((TESTS.parent / "exercises" / exercise / f"{exercise}.ipynb").read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    return nb


def _turns(things, rng):
    """Yield all things in a drawn order, again and again."""
    order = list(things)
    while order:
        rng.shuffle(order)
        yield from order
