"""The exercise that the hostile class does, and how a submission is made from its worked solution: part 1 in Python, part 2 a kernel.

A case changes a notebook in which everything is answered right. Those that touch the kernel alone, or all answers alike, also fit
exercise 04, whose part has the same name: `python -m tools class-of` hands them in there.
"""

import copy
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.grading import FunctionSpec, part

ROOT = Path(__file__).parents[2]
EXERCISE = "90_hostile"
FILE, CLASS = "SECRET_FILE", "CLASS_FOLDER"         # stand for a file of the instructor's and for the folder of the class
RIGHT = "def loads(M, N, K, tile):\n    return 2 * M * N * K // tile"
STARTER = "def loads(M, N, K, tile):\n    return 0"
PARTS = (
    FunctionSpec(EXERCISE, "loads", "Part 1: count the loads", "loads", ("M", "N", "K", "tile"),
                 cases=((16, 16, 16, 16), (64, 32, 128, 16), (64, 64, 64, 32)),
                 drawn=lambda rng: [tuple(int(n) * 8 for n in rng.integers(1, 200, 3)) + (8,) for _ in range(3)],
                 expected=lambda M, N, K, tile: M * N * K // tile + M * N * K // tile),
    dataclasses.replace(part("04_tiling", "tile"), exercise=EXERCISE),
)


@dataclass(frozen=True)
class Case:
    """A submission: what it tries, how it is made of a right one, its points of 10, words its author must read, files beside the notebook."""

    tries: str
    make: Callable
    points: int
    says: str = ""
    files: dict = field(default_factory=dict)


def kernel(folder):
    """Return the source of the kernel's answer cell in `exercises` or `solutions`."""
    cells = json.loads((ROOT / folder / "04_tiling/04_tiling.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["id"] == "tile-answer"))


def notebook(loads, tiled):
    """Return the exercise's notebook with these answers."""
    cells = [_cell("setup", "%load_ext course_lib.magic\nfrom course_lib.grading import check, part")]
    for name, text, points in (("loads", loads, 4), ("tile", tiled, 6)):
        entry = "tiled" if name == "tile" else name
        cells += [_cell(f"{name}-answer", text, grade=False, solution=True),
                  _cell(f"{name}-check", f'check({entry}, part("{EXERCISE}", "{name}")).require()', grade=True, points=points)]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(name, source, **marks):
    metadata = {"nbgrader": {"grade_id": name, "schema_version": 3, **marks}} if marks else {}
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": metadata, "outputs": [], "source": source}


def solved():
    """Return the notebook with the right answers."""
    return notebook(RIGHT, kernel("solutions"))


def released():
    """Return the notebook that students get."""
    return notebook(STARTER, kernel("exercises"))


def cell_of(nb, name):
    return next(cell for cell in nb["cells"] if cell["id"] == name)


def with_text(change, name="tile-answer"):
    """Return a function that makes a submission with one changed answer."""
    def make(nb):
        cell = cell_of(nb, name)
        changed = change(cell["source"])
        assert changed != cell["source"]
        cell["source"] = changed
        return nb

    return make


def changed(change):
    """Return a function that makes a submission with a changed notebook."""
    return lambda nb: change(nb) or nb


def before_kernel(text):
    return with_text(lambda source: source.replace("#define BM 16", f"{text}\n#define BM 16", 1))


def in_kernel(text):
    """Return a submission whose kernel does something first."""
    return with_text(lambda source: source.replace("    float acc = 0.0f;", f"    {text}\n    float acc = 0.0f;", 1))


def python(text):
    """Return a submission with another cell for part 1."""
    return with_text(lambda source: text, "loads-answer")


def duplicated(nb):
    nb["cells"].append(copy.deepcopy(cell_of(nb, "tile-answer")) | {"id": "again"})


def deleted(nb):
    nb["cells"].remove(cell_of(nb, "tile-answer"))


def split(nb):
    cell = cell_of(nb, "tile-answer")
    first, second = cell["source"][:400], cell["source"][400:]
    cell["source"] = first
    nb["cells"].insert(nb["cells"].index(cell) + 1, copy.deepcopy(cell) | {"id": "rest", "source": second})


def cells_ending(nb, words):
    return [cell for cell in nb["cells"] if cell["id"].endswith(words)]


def made_wrong(nb):
    for cell in cells_ending(nb, "-answer"):
        wrong = cell["source"].replace("+= As[ty", "-= As[ty").replace(RIGHT, STARTER)
        assert wrong != cell["source"]
        cell["source"] = wrong


def points_raised(nb):
    cell_of(nb, "tile-check")["metadata"]["nbgrader"]["points"] = 600
    made_wrong(nb)


def checker_replaced(nb):
    cell_of(nb, "setup")["source"] = "class V:\n    passed = True\n    def require(self): pass\ncheck = lambda *a, **k: V()\npart = print"
    for cell in cells_ending(nb, "-check"):
        cell["source"] = "pass"
    made_wrong(nb)


def ids_swapped(nb):
    marks = [cell["metadata"]["nbgrader"] for cell in cells_ending(nb, "-answer")]
    for mark, name in zip(marks, [marks[-1]["grade_id"], *(mark["grade_id"] for mark in marks)]):
        mark["grade_id"] = name


def marks_lost(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}


def broken_metadata(nb):
    for cell in nb["cells"]:
        cell["metadata"] = ["nbgrader"] if cell["id"] != "tile-answer" else {"nbgrader": 7}


def transformed(nb):
    nb["cells"].insert(0, _cell("first", "get_ipython().input_transformers_cleanup.append(lambda lines: ['passed = True'])"))
    made_wrong(nb)


def outputs_forged(nb):
    for cell in cells_ending(nb, "-check"):
        cell["outputs"] = [{"output_type": "execute_result", "metadata": {}, "execution_count": 1,
                            "data": {"text/plain": "Part 2: passed: 12 inputs"}}]
    made_wrong(nb)
