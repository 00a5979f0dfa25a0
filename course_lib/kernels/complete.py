"""A kernel's text with its headers in it: where a `.cu` file asks for a `.cuh` file of this folder, the header's code stands instead.

So whatever takes a kernel's text takes all of it: every compiler, a listing, a program to take home, the hash of a recording. Lines of
traces and messages are lines of the complete text.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from course_lib.errors import CourseError

HEADERS = Path(__file__).parent                      # the folder that has them
ONCE = "#pragma once\n"                              # what stands below this line of a header is its code
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"(\w+\.cuh)"[ \t]*(?://.*)?\n?')


def complete(text: str) -> str:
    """Return CUDA C text in which the headers of this folder stand where they are included; every other include stays.

    >>> complete('#include "load4.cuh"\\n').startswith("// Four floats of a row"), complete('#include "mine.cuh"\\nint x;')
    (True, '#include "mine.cuh"\\nint x;')
    """
    return "".join(line for _, _, line in _lines("", text, set()))


def source_line(file: str, text: str, line: int) -> tuple[str, int]:
    """Return the file, and the line in it, from which a line of a complete text comes; both count from 1.

    `file`, `text`: name and text of the `.cu` file as it is, with its includes.

    >>> text = 'int a;\\n#include "load4.cuh"\\nint b;\\n'
    >>> source_line("b.cu", text, 2), source_line("b.cu", text, 11)
    (('load4.cuh', 5), ('b.cu', 3))
    """
    lines = [(name, number) for name, number, _ in _lines(file, text, set())]
    if not 1 <= line <= len(lines):
        raise CourseError(f"{file} with its headers has {len(lines)} lines: there is no line {line}")
    return lines[line - 1]


@functools.cache
def _header(name: str) -> str | None:
    """Return the text of a header of this folder, or None."""
    path = HEADERS / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _lines(file: str, text: str, seen: set[str], above: int = 0) -> Iterator[tuple[str, int, str]]:
    """Yield (file, line number there, line) of the complete text; a header that is included twice stands where it is first."""
    for number, line in enumerate(text.splitlines(keepends=True), start=above + 1):
        found = _INCLUDE.fullmatch(line)
        header = _header(found[1]) if found else None
        if not found or header is None:
            yield file, number, line
        elif found[1] not in seen:
            seen.add(found[1])
            head, _, code = header.rpartition(ONCE)
            yield from _lines(found[1], code, seen, (head + ONCE).count("\n") if head else 0)
