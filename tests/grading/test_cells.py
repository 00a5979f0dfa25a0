"""Reading a submission: what it is full of costs neither memory nor a mark, and a cell that cannot be read costs its part alone."""

import json
import tracemalloc
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.classroom.cells import MOST_SOURCE, Cell, cells_of
from course_lib.grading.classroom.normalise import answers, questions
from course_lib.magic import MOST_TEXT

ROOT = Path(__file__).parents[2]
SOLVED = (ROOT / "solutions/04_tiling/04_tiling.ipynb").read_bytes()
ASKED = questions((ROOT / "exercises/04_tiling/04_tiling.ipynb").read_bytes())
PLAIN = answers(SOLVED, ASKED).texts
SIZE = 300_000


def filled(text, where="outputs"):
    """Return the solved notebook with a text as the outputs of its first code cell, as its metadata or as a member of the notebook."""
    nb = json.loads(SOLVED)
    cell = next(cell for cell in nb["cells"] if cell["cell_type"] == "code")
    (nb if where == "widgets" else cell)[where] = "HERE"
    return json.dumps(nb).replace('"HERE"', text).encode()


FILL = {
    "a picture": '"' + SIZE * "A" + '"', "empty lists": f"[{SIZE // 3 * '[],'}[]]", "objects": f"[{SIZE // 3 * '{},'}3]",
    "lines": f"[{SIZE // 6 * json.dumps(chr(10))},3]".replace('""', '","'), "brackets": SIZE // 2 * "[" + SIZE // 2 * "]",
    "quotes": json.dumps(SIZE // 2 * '"'), "brackets in a text": '"' + SIZE * "[" + '"',
    "names": "{" + ",".join(f'"{i}":0' for i in range(SIZE // 10)) + "}",
}


@pytest.mark.slow
@pytest.mark.sampled(test=6, slow=18)
@pytest.mark.parametrize("where", ["outputs", "metadata", "widgets"])
@pytest.mark.parametrize("text", FILL.values(), ids=FILL)
def test_what_a_notebook_is_full_of_costs_its_own_bytes_alone(text, where):
    data = filled(text, where)
    tracemalloc.start()
    try:
        found = answers(data, ASKED)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.texts == PLAIN
    assert peak < 5 * len(data)


def changed(part, source):
    nb = json.loads(SOLVED)
    next(cell for cell in nb["cells"] if cell["id"] == f"{part}-answer")["source"] = source
    return json.dumps(nb)


BEGIN = "%%cuda tiled\n"
TOO_LONG = f"more than {MOST_TEXT:,} characters"
UNREADABLE = {
    "a line of 5 MB": (f"{BEGIN}int x; // {'x' * 5_000_000}", TOO_LONG), "a million lines": ([BEGIN, *(1_000_000 * ["a\n"])], TOO_LONG),
    "the longest that is read whole": (BEGIN + "x" * (MOST_SOURCE - 20), TOO_LONG), "numbers": ([1, 2, {}], "is missing"),
    "an object": ({"a": BEGIN}, "is missing"), "brackets": ("BRACKETS", "is missing"), "no name": ("%%cuda\nint x;", "needs a name"),
    "a name that is none": ("%%cuda 9lives\nint x;", "takes one name"), "another magic": ("%%bash\nls", "begins with %%cuda NAME"),
}


@pytest.mark.parametrize(("source", "says"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_cell_that_cannot_be_read_costs_its_part_alone(source, says):
    found = answers(changed("tile", source).replace('"BRACKETS"', 50_000 * "[" + 50_000 * "]").encode(), ASKED)
    assert found.texts == {part: text for part, text in PLAIN.items() if part != "tile"}
    assert says in found.missing["tile"]


ODD = {
    "NUL": b"\0", "a control character": b"\x01", "a byte that is no UTF-8": b"\xff", "half a character": b"\\ud800",
    "half of another encoding": b"\xe4", "a character cut off": "\u00d7".encode()[:1]}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_character_in_one_cell_leaves_the_others_as_they_are(odd):
    """Unescaped, as an editor leaves them that knows nothing of notebooks."""
    data = json.dumps(json.loads(SOLVED), ensure_ascii=False).encode()
    assert "×".encode() in data
    found = answers(data.replace(b"%%cuda tiled\\n", b"%%cuda tiled\\n// " + odd + b"\\n"), ASKED)
    assert found.texts["stage"] == PLAIN["stage"]
    assert found.texts["wide"] == PLAIN["wide"]
    assert len(found.texts["tile"]) == len(PLAIN["tile"]) + 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_encoding_costs_nothing(encoding):
    found = answers(SOLVED.decode().encode(encoding), ASKED)
    assert found.texts == PLAIN
    assert len(found.notes) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("options", ["--check", "BM=16 --check", "BM=" + 5000 * "9", "BM=1e400", "--lst", "--list --list", "--run A",
    "\\t"])
def test_what_the_line_of_a_cell_asks_for_is_no_matter_when_it_is_graded(options):
    found = answers(SOLVED.replace(b"%%cuda tiled", f"%%cuda tiled {options}".encode()), ASKED)
    assert found.texts == PLAIN
    assert found.notes == ()


@pytest.mark.parametrize(("data", "says"), [
    (b"", "it ends too early"), (b"{", "it ends too early"), (SOLVED[:-5], "it ends too early"), (b"3", "no object begins in line 1"),
    (b'{"cells": [] "a": 1}', "a comma is missing in line 1"), (b'{"cells"\n\n[]}', "a : is missing in line 3"),
    (b'{"cells": "' + 100_000 * b'\\"', "a string has no end"),
    (b'{"cells": [' + 20_000 * b"{}," + b"3]}", "more than 10,000 cells"), (b"[" * 100_000, "no object begins"), (b'{"cells": ?}',
    "no value"),
    (b'{"cells": [{"source": }]}', "no value begins in line 1"), (b"\xff\xfe\x00", "no notebook")])
def test_what_is_no_notebook_is_said_in_one_sentence(data, says):
    with pytest.raises(CourseError, match="Open it in JupyterLab") as error:
        answers(data, ASKED)
    assert says in str(error.value)


@pytest.mark.parametrize("data", [b'{"cells": 3}', b'{"worksheets": []}', b"{}"])
def test_a_notebook_without_a_list_of_cells(data):
    with pytest.raises(CourseError, match="no list of cells. Submit the .ipynb file that you worked in"):
        answers(data, ASKED)


def test_the_last_of_two_members_of_one_name_counts_as_in_json():
    text = ('{"cells": [], "cells": [{"source": "a", "cell_type": "raw", "source": ["b", 3, "c"], '
            '"metadata": {"nbgrader": {"grade_id": "d"}}}]}')
    assert cells_of(text) == [Cell("raw", "bc", "d")]
