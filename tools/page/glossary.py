"""Link words of lessons to the glossary.

The first use of each word, in the lessons that are named or in all, becomes a link to its entry.

Only prose changes, so the outputs stay as they are. The title's cell, headings, code and other links are left alone, and
`notebooks/glossary.md` says which words there are: its headings are the anchors, what is bold in an entry is looked for.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import nbformat

from tools import ROOT
from tools.options import NOTEBOOKS

GLOSSARY = ROOT / "notebooks" / "glossary.md"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*glossary\.md)#([^)\s]*)\)")
# What is not prose: fenced code, code, links and pictures, HTML, headings.
SKIPPED = re.compile(r"```.*?```|`[^`\n]*`|!?\[[^\]]*\]\([^)]*\)|<[^>\n]+>|^#+ [^\n]*", re.DOTALL | re.MULTILINE)


def entries(text: str | None = None) -> list[tuple[str, str]]:
    """Return the entries of the glossary in their order, as pairs of heading and body.

    >>> [heading for heading, _ in entries()][:3]
    ['alignment', 'amdahls law', 'arithmetic intensity']
    """
    text = GLOSSARY.read_text(encoding="utf-8") if text is None else text
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def anchor(heading: str) -> str:
    """Return the anchor that JupyterLab and GitHub both give a heading.

    >>> anchor("bank conflict")
    'bank-conflict'
    """
    return heading.replace(" ", "-")


def names(text: str | None = None) -> dict[str, str]:
    """Return the words that are looked for, as a mapping of word to anchor."""
    return {word: anchor(heading) for heading, body in entries(text) for word in re.findall(r"\*\*([^*]+)\*\*", body)}


def pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return an expression that finds these words as a text may write them: longest first, capitals and plurals.

    >>> [m.group() for m in pattern(["bank", "bank conflict", "latency", "SM"]).finditer("Bank conflicts, latencies, sm, 32 banks")]
    ['Bank conflicts', 'latencies', 'banks']
    """
    forms = []
    for word in sorted(words, key=len, reverse=True):
        first = re.escape(word[0]) if word[1:2].isupper() else f"[{word[0].upper()}{word[0].lower()}]"
        rest = re.escape(word[1:-1]) + "(?:y|ies)" if word.endswith("y") else re.escape(word[1:]) + "s?"
        forms.append(first + re.sub(r"(\\ )+", r"\\s+", rest))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


def first_uses(sources: Sequence[str], known: Mapping[str, str] | None = None) -> list[tuple[int, int, int, str]]:
    """Find the first use of each word in prose that is no link, where no link to the entry comes before.

    Parameters
    ----------
    sources : sequence of str
        The lesson's prose cells in order, the title's left out.
    known : mapping of word to anchor, optional
        Default: the glossary's.

    Returns
    -------
    list of (index of the source, start, end, anchor)
    """
    known = names() if known is None else known
    anchors = {word.lower(): there for word, there in known.items()}
    words, linked, found = pattern(known), set(), []
    for index, source in enumerate(sources):
        prose = SKIPPED.sub(lambda m: "\0" * len(m.group()), source)
        uses: list[tuple[int, int | None, str]] = [(m.start(), m.end(), _anchor_of(m.group(), anchors)) for m in words.finditer(prose)]
        links = [(m.start(), None, m.group(3)) for m in LINK.finditer(source)]
        for start, end, there in sorted(uses + links, key=lambda use: use[0]):
            if there not in linked and end is not None:
                found.append((index, start, end, there))
            linked.add(there)
    return found


def _anchor_of(use: str, anchors: Mapping[str, str]) -> str:
    plain = " ".join(use.lower().split())
    return next(anchors[form] for form in (plain, plain.removesuffix("s"), plain.removesuffix("ies") + "y") if form in anchors)


def link(sources: Iterable[str]) -> list[str]:
    """Return the sources with their first uses linked.

    >>> link(["A `warp` and a warp.", "Warps have *lanes*."])
    ['A `warp` and a [warp](glossary.md#warp).', 'Warps have *[lanes](glossary.md#lane)*.']
    """
    sources = list(sources)
    for index, start, end, there in reversed(first_uses(sources)):
        text = sources[index]
        sources[index] = f"{text[:start]}[{text[start:end]}](glossary.md#{there}){text[end:]}"
    return sources


def broken(source: str) -> list[str]:
    """Return the links into the glossary that lead nowhere.

    >>> broken("[a](glossary.md#warp) [b](glossary.md#wrap)")
    ['wrap']
    """
    anchors = {anchor(heading) for heading, _ in entries()}
    return [m.group(3) for m in LINK.finditer(source) if m.group(3) not in anchors]


def prose(cells: Iterable[Any]) -> list[Any]:
    """Return a notebook's prose cells, the first one, its title, left out."""
    return [cell for cell in cells if cell["cell_type"] == "markdown"][1:]


@click.command()
@NOTEBOOKS
def command(notebooks: tuple[Path, ...]) -> None:
    """Write those that change."""
    link_notebooks(notebooks)


def link_notebooks(notebooks: Sequence[Path]) -> None:
    """Link the notebooks that are named, or all lessons; write those that change."""
    for path in notebooks or sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        cells = prose(notebook.cells)
        before = [cell.source for cell in cells]
        for cell, source in zip(cells, link(before), strict=True):
            cell.source = source
        changed = len(first_uses(before))
        if changed:
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        print(f"{path}: {changed} links added")
