"""What every lesson keeps to, so that it can be read at one sitting and all of its outputs are compared."""
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))
CELLS, LINES, WORDS, KILOBYTES = 25, 15, 120, 200
NOT_A_STUDENTS = re.compile(r"/(?:home|Users|root|work|tmp|build)/[\w.-]+")


def read(path):
    """Return a notebook's cells."""
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def each(paths):
    """Parametrize a test by notebook."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def source(cell):
    """Return a cell's text."""
    return "".join(cell["source"])


def words(text):
    """Count the words a reader reads: no link targets, no tables' rules, no markup.

    >>> words("Read [the map](docs/architecture.md) **first**.")
    4
    """
    text = re.sub(r"\]\([^)]*\)|<[^>]+>|[|*_`#>-]", " ", text)
    return len([word for word in text.split() if re.search(r"\w", word)])


def problems(cells, size=0):
    """Return every rule of a lesson that is broken, in words.

    >>> problems([{"cell_type": "markdown", "source": ["word "] * 130}])
    ['cell 0: 130 words of prose; 120 are enough']
    """
    found = [f"{size / 1000:.0f} KB; {KILOBYTES} are enough"] if size > KILOBYTES * 1000 else []
    if len(cells) > CELLS:
        found.append(f"{len(cells)} cells; {CELLS} are enough")
    for number, cell in enumerate(cells):
        check = {"code": code_problems, "markdown": prose_problems}.get(cell["cell_type"], lambda cell: [])
        found += [f"cell {number}: {text}" for text in check(cell)]
    return found


def prose_problems(cell):
    """Return the rules that a prose cell breaks."""
    count = words(source(cell))
    found = [f"{count} words of prose; {WORDS} are enough"] if count > WORDS else []
    found += ["a picture without alternative text"] * len(re.findall(r"!\[\s*\]\(", source(cell)))
    return found + image_problems(source(cell))


def image_problems(text):
    """Return one problem for each HTML picture without alternative text.

    >>> image_problems('<img src="a.png"><img alt="Two bars" src="b.png">')
    ['a picture without alternative text']
    """
    images = re.findall(r"<img\b[^>]*>", text)
    drawings = re.findall(r"<svg\b[^>]*>", text)
    bad = [tag for tag in images if not re.search(r"\balt=[\"'][^\"']*\w", tag)]
    bad += [tag for tag in drawings if not re.search(r"\b(aria-label|aria-labelledby|aria-hidden)=", tag)]
    return ["a picture without alternative text"] * len(bad)


def code_problems(cell):
    """Return the rules that a code cell breaks."""
    found = []
    lines = source(cell).rstrip().count("\n") + 1
    if lines > LINES:
        found.append(f"{lines} lines of code; {LINES} are enough")
    if cell.get("execution_count") is None:
        found.append("was never run, so its output is not compared")
    for output in cell.get("outputs", ()):
        found += output_problems(output, cell.get("metadata", {}).get("tags", ()))
    return found


def output_problems(output, tags):
    """Return what is wrong with one output: an error nobody meant, a machine's path, a picture nobody can hear."""
    found = []
    if output["output_type"] == "error" and "raises-exception" not in tags:
        found.append(f"ends with {output['ename']}")
    data = output.get("data", {})
    texts = ["".join(output.get("text", ""))] + ["".join(v) for k, v in data.items() if k.startswith("text/")]
    texts += output.get("traceback", ())
    for text in texts:
        if place := NOT_A_STUDENTS.search(text):
            found.append(f"shows a path of the machine it ran on: {place.group()}")
    if any(kind.startswith("image/") for kind in data) and "text/html" not in data:
        about = [v for kind in output.get("metadata", {}).values() if isinstance(kind, dict) for k, v in kind.items() if k == "alt"]
        if not any(about):
            found.append("a picture without alternative text")
    return found + image_problems("".join(data.get("text/html", "")))


def test_there_are_lessons():
    assert LESSONS
    assert LESSONS[0].name == "00_start_here.ipynb"


@each(LESSONS)
def test_lesson(path):
    assert not (found := problems(read(path), path.stat().st_size)), "\n".join(found)


@each(SOLUTIONS)
def test_solution_shows_no_machine(path):
    bad = [text for cell in read(path) for output in cell.get("outputs", ())
           for text in output_problems(output, cell["metadata"].get("tags", ())) if "path of the machine" in text]
    assert not bad


BROKEN = {
    "cells": ({"cell_type": "markdown", "source": []}, 26, "26 cells"),
    "lines": ({"cell_type": "code", "execution_count": 1, "source": ["a = 1\n"] * 15 + ["b = 2"]}, 1, "16 lines of code"),
    "never run": ({"cell_type": "code", "execution_count": None, "source": ["1"]}, 1, "never run"),
    "error": ({"cell_type": "code", "execution_count": 1, "source": ["1"], "metadata": {},
               "outputs": [{"output_type": "error", "ename": "KeyError", "traceback": []}]}, 1, "ends with KeyError"),
    "path": ({"cell_type": "code", "execution_count": 1, "source": ["1"],
              "outputs": [{"output_type": "stream", "text": ["File /home/ada/x.py"]}]}, 1, "/home/ada"),
    "picture": ({"cell_type": "code", "execution_count": 1, "source": ["1"],
                 "outputs": [{"output_type": "display_data", "data": {"image/png": "…"}, "metadata": {}}]}, 1,
                "without alternative text"),
    "markdown picture": ({"cell_type": "markdown", "source": ["![](a.png)"]}, 1, "without alternative text"),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_rules_can_fail(rule):
    cell, times, says = BROKEN[rule]
    assert says in "\n".join(problems([cell] * times))


def test_a_cell_that_keeps_the_rules_passes():
    picture = {"output_type": "display_data", "data": {"text/html": ['<img alt="Two bars" src="data:,">']}, "metadata": {}}
    wanted = {"output_type": "error", "ename": "CourseError", "traceback": ["CourseError: BM is 48"]}
    cells = [{"cell_type": "code", "execution_count": 1, "source": ["run()"], "outputs": [picture]},
             {"cell_type": "code", "execution_count": 2, "source": ["fail()"], "outputs": [wanted],
              "metadata": {"tags": ["raises-exception"]}}]
    assert problems(cells) == []
