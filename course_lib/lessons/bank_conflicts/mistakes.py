"""A mistake in padding, made of the reader's own kernel."""

import re

from course_lib.unwritten import NotWritten, Unwritten

DECLARED = re.compile(r"__shared__\s+float\s+(?P<tile>\w+)\s*\[(?P<rows>[^][]+)\]\s*\[(?P<words>[^][]+)\]\s*;")
PADDED = re.compile(r"(?P<words>.*\S)\s*\+\s*PAD|PAD\s*\+\s*(?P<after>.+)")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ADVICE = "make the change in your own cell"


def more_rows(text: str) -> str:
    """Return a kernel's text whose tile has PAD more rows, in place of longer ones.

    Raises
    ------
    NotWritten
        When the text declares no such tile; a notebook shows the sentence and goes on.

    >>> more_rows("__shared__ float tile[TILE][TILE + PAD];")
    '__shared__ float tile[TILE + PAD][TILE];'
    """
    found = DECLARED.search(bare(text))
    padded = found and PADDED.fullmatch(found["words"].strip())
    if not found or not padded:
        raise not_found("tile[TILE][TILE + PAD]")
    changed = f"[{found['rows'].strip()} + PAD][{(padded['words'] or padded['after']).strip()}]"
    return text[:found.end("tile")] + changed + text[found.end("words") + 1:]


def bare(text: str) -> str:
    """Return a kernel's text with its comments blanked, character for character; one that is not written says so.

    >>> bare("a; // b")
    'a;     '
    """
    return COMMENT.sub(lambda comment: " " * len(comment[0]), text + "")


def not_found(what: str) -> NotWritten:
    """Return the exception that says what the kernel does not have."""
    return NotWritten(f"I cannot find {what} in your kernel: {ADVICE}.", root=Unwritten("my_transpose"))
