"""The glossary: in order, in its form, and linked from where a lesson uses a word first."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from tools.page import glossary

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PAGES = [*LESSONS, *sorted((ROOT / "solutions").glob("*/*.ipynb"))]


def cells(path):
    """Return a notebook's cells with their sources joined."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{"cell_type": cell["cell_type"], "source": "".join(cell["source"])} for cell in found]


def test_entries_are_in_order_and_short():
    headings = [heading for heading, _ in glossary.entries()]
    assert headings == sorted(headings)
    assert len(headings) == len(set(headings)) >= 36
    for heading, body in glossary.entries():
        sentences = [s for s in re.split(r"(?<=[.:;])\s+", body) if s.endswith(".")]
        assert 1 <= len(sentences) <= 3, heading
        assert body.startswith("**"), f"{heading} does not begin with the word itself"


def test_jupyterlab_and_github_make_the_same_anchor_of_each_heading():
    """JupyterLab keeps capitals and signs, GitHub makes small letters and drops signs: so there are none of either."""
    for heading, _ in glossary.entries():
        assert re.fullmatch(r"[a-z]+([ -][a-z]+)*", heading), heading


def test_no_word_stands_for_two_entries():
    words = [word.lower() for _, body in glossary.entries() for word in re.findall(r"\*\*([^*]+)\*\*", body)]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_to_entries(path):
    assert not [there for cell in cells(path) for there in glossary.broken(cell["source"])]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_first_use_of_a_word_is_linked(path):
    sources = [cell["source"] for cell in glossary.prose(cells(path))]
    missing = [(there, sources[index][start:end]) for index, start, end, there in glossary.first_uses(sources)]
    assert not missing, f"run python -m tools page glossary {path.relative_to(ROOT)}"


@pytest.mark.parametrize(("source", "missing"), [
    ("a warp", ["warp"]), ("a [warp](glossary.md#warp), a warp", []), ("a warp, a [warp](glossary.md#warp)", ["warp"]),
    ("`warp`", []), ("# Warps", []), ("[04 Tile](04.ipynb)", []), ("a bank conflict", ["bank-conflict"]),
    ("bank\nconflicts of banks", ["bank-conflict", "bank"]), ("Little's law", ["littles-law"]), ("blocking, re-tile", []),
    ("an H200 has 132 SMs", ["multiprocessor"]), ("the sm", []), ("```\nwarp\n```", []), ("<b title='warp'>x</b>", [])])
def test_what_counts_as_a_use(source, missing):
    assert [there for *_, there in glossary.first_uses([source])] == missing
    linked = glossary.link([source])
    assert glossary.first_uses(linked) == []
    assert glossary.link(linked) == linked


def test_a_link_in_an_earlier_cell_is_enough():
    assert glossary.first_uses(["[warps](glossary.md#warp)", "a warp"]) == []
    assert glossary.first_uses(["a grid", "[grid](glossary.md#grid)"]) == [(0, 2, 6, "grid")]


def test_the_tool_changes_links_and_nothing_else(tmp_path, capsys):
    notebook, path = nbformat.read(LESSONS[0], as_version=4), tmp_path / "lesson.ipynb"
    for cell in notebook.cells[1:]:
        cell.source = glossary.LINK.sub(r"\1", cell.source)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    glossary.link_notebooks([path])
    assert "links added" in capsys.readouterr().out
    linked = nbformat.read(path, as_version=4)
    assert linked != notebook
    for cell in linked.cells[1:]:
        cell.source = glossary.LINK.sub(r"\1", cell.source)
    assert linked == notebook
    glossary.link_notebooks([path])
    assert ": 0 links added" in capsys.readouterr().out
