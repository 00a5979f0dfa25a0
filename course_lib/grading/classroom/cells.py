"""Read the cells of somebody else's notebook: source, type, part and variants, and nothing of what the file is otherwise full of.

The file is walked through once. Outputs, widgets and unknown members are passed over as text, so that they take no more memory than they
have bytes: read as JSON, a list of empty lists takes thirty times as much.
"""

import json
import re
from dataclasses import dataclass

MOST_CELLS = 10_000
MOST_SOURCE = 1_000_000      # characters of a cell's source, as the file has them; a longer one is cut, as nobody reads on there
MOST_METADATA = 100_000      # of its metadata; longer ones are taken for none
_SPACE = re.compile(r"[ \t\r\n]*+")
_PIECE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)        # a whole string, a bracket, or a string without an end
_SCALAR = re.compile(r"[-+.\w]++", re.ASCII)


@dataclass(frozen=True)
class Cell:
    """A cell: its type, text and nbgrader id, "" where the file has none or something strange, and its tags."""

    cell_type: str
    text: str
    grade_id: str = ""
    tags: tuple[str, ...] = ()


def cells_of(text: str) -> list[Cell] | None:
    """Return the cells of a notebook, None when it has no list of them.

    Raises
    ------
    ValueError
        When the text is no JSON, or has too many cells; the message says where.

    >>> cells_of('{"cells": [{"cell_type": "code", "source": ["a\\\\n", "b"], "outputs": [[], [[], 1]]}], "nbformat": 4}')
    [Cell(cell_type='code', text='a\\nb', grade_id='', tags=())]
    """
    found: list[list[Cell]] = []

    def top(name, at):
        if name != "cells" or text[at] != "[":
            return _end(text, at)
        found.append([])
        return _walked(text, at, lambda _, at: _cell(text, at, found[-1]))

    try:
        at = _next(text, 0)
        if text[at] != "{":
            raise ValueError(_where("no object begins", text, at))
        _walked(text, at, top)
    except IndexError:
        raise ValueError("it cannot be read as JSON: it ends too early") from None
    return found[-1] if found else None


def _cell(text, at, found):
    """Read the cell that begins here, append it, and return where it ends."""
    if text[at] != "{":
        return _end(text, at)
    members: dict[str, str] = {}

    def member(name, at):
        end = _end(text, at)
        if name in ("cell_type", "source", "metadata"):
            members[name] = text[at:min(end, at + MOST_SOURCE)]
        return end

    end = _walked(text, at, member)
    if len(found) >= MOST_CELLS:
        raise ValueError(f"it has more than {MOST_CELLS:,} cells")
    metadata = _value(members.get("metadata", ""), MOST_METADATA)
    nbgrader, tags = (metadata.get(name) for name in ("nbgrader", "tags")) if isinstance(metadata, dict) else (None, None)
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    found.append(Cell(_text(_value(members.get("cell_type", ""), 100)), _source(members.get("source", "")), _text(grade_id),
                      tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()))
    return end


def _source(written):
    """Return a cell's source, which the format allows to be a text or a list of lines; one that is cut as it stands in the file."""
    if len(written) >= MOST_SOURCE:
        return written.lstrip('[" \t\r\n').replace("\\n", "\n")
    found = _value(written, MOST_SOURCE)
    return "".join(line for line in found if isinstance(line, str)) if isinstance(found, list) else _text(found)


def _text(value):
    return value if isinstance(value, str) else ""


def _value(written, most):
    """Return what a short text says as JSON; None for a longer one, and for one that is none. A string may hold any character."""
    try:
        return json.loads(written, strict=False) if len(written) <= most else None
    except (ValueError, RecursionError):
        return None


def _walked(text, at, take):
    """Walk through the object or the list that begins here; return where it ends.

    `take` gets the name ("" in a list) and the beginning of each member, and returns where that ends.
    """
    named, at = text[at] == "{", _next(text, at + 1)
    while text[at] not in "]}":
        name = ""
        if named:
            end = _end(text, at)
            name, at = _text(_value(text[at:end], MOST_METADATA)), _next(text, end)
            if text[at] != ":":
                raise ValueError(_where("a : is missing", text, at))
            at = _next(text, at + 1)
        at = _SPACE.match(text, take(name, at)).end()      # type: ignore[union-attr]
        if text[at] == ",":
            at = _next(text, at + 1)
        elif text[at] not in "]}":
            raise ValueError(_where("a comma is missing", text, at))
    return at + 1


def _next(text, at):
    """Return where white space ends."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(text, at):
    """Return where the value that begins here ends."""
    if text[at] not in '[{"':
        if found := _SCALAR.match(text, at):
            return found.end()
        raise ValueError(_where("no value begins", text, at))
    depth = 0
    for found in _PIECE.finditer(text, at):
        first = text[found.start()]
        if first == '"' and found.end() - found.start() == 1:
            raise ValueError(_where("a string has no end", text, found.start()))
        depth += (first in "[{") - (first in "]}")
        if depth == 0:
            return found.end()
    raise IndexError


def _where(says, text, at):
    return f"it cannot be read as JSON: {says} in line {text.count(chr(10), 0, at) + 1}"
