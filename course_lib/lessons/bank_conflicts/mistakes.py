"""Two mistakes in padding, made of the reader's own kernel."""

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


def by_hand(text: str) -> str:
    """Return a kernel's text that computes the word of an element itself when it reads one, and forgets the padding.

    Raises
    ------
    NotWritten
        When the text does not read an element of a tile with two indices; a notebook shows the sentence and goes on.

    >>> by_hand("__shared__ float tile[TILE][TILE + PAD]; tile[i][lane] = a; b = tile[threadIdx.x][i + 1];")
    '__shared__ float tile[TILE][TILE + PAD]; tile[i][lane] = a; b = (&tile[0][0])[threadIdx.x * TILE + (i + 1)];'
    """
    without = bare(text)
    found = DECLARED.search(without)
    name = found["tile"] if found else "tile"
    reads = list(re.finditer(rf"\b{name}\s*\[([^][]+)\]\s*\[([^][]+)\](?!\s*=[^=])", without[found.end():] if found else ""))
    if not found or not reads:
        raise not_found("tile[…][…]")
    for read in reversed(reads):
        row, column = (index if re.fullmatch(r"[\w.]+", index) else f"({index})" for index in map(str.strip, read.groups()))
        at = found.end()
        text = f"{text[:at + read.start()]}(&{name}[0][0])[{row} * TILE + {column}]{text[at + read.end():]}"
    return text


def bare(text: str) -> str:
    """Return a kernel's text with its comments blanked, character for character; one that is not written says so.

    >>> bare("a; // b")
    'a;     '
    """
    return COMMENT.sub(lambda comment: " " * len(comment[0]), text + "")


def not_found(what: str) -> NotWritten:
    """Return the exception that says what the kernel does not have."""
    return NotWritten(f"I cannot find {what} in your kernel: {ADVICE}.", root=Unwritten("my_transpose"))
