"""A slip in one index: `tx` where `ty` belongs."""

import re

from course_lib.lessons.coalescing.products import line_29_changed
from course_lib.unwritten import NOT_REPAIRED, Unwritten

LOAD_OF_B = re.compile(r"\bB\s*\[([^\[\];]*)\]")
ROW = re.compile(r"\b(threadIdx\.y|ty)\b")
DOWN = re.compile(r"\(\s*k0\s*\+\s*tx\s*\)\s*\*\s*ldb")           # as in the kernel that the reader repairs


def with_slip(text: str) -> str | Unwritten:
    """Return a kernel's text in which the row of B comes from `tx`, like its column: `B[(k0 + tx) * ldb + col]`.

    The load may be written in any order, as long as `ty` (or `threadIdx.y`) stands once in its index. Of a kernel without one such load
    the slip goes into the lesson's own, and a sentence says so.

    A kernel that still goes down a column of B gives an `Unwritten`, which says so wherever it is used.

    >>> with_slip("Bs[ty][tx] = B[(k0 + ty) * ldb + col];")
    'Bs[ty][tx] = B[(k0 + tx) * ldb + col];'
    >>> with_slip("Bs[ty][tx] = B[col + ldb * (ty + k0)];")
    'Bs[ty][tx] = B[col + ldb * (tx + k0)];'
    """
    text = f"{text}"                                             # a kernel that is not written yet says so here
    found = [load for load in LOAD_OF_B.finditer(text) if len(ROW.findall(load[1])) == 1]
    if not found and any(DOWN.search(load[1]) for load in LOAD_OF_B.finditer(text)):
        return Unwritten("repaired", NOT_REPAIRED, text)
    if len(found) != 1:
        print("No single load of B in your kernel has ty in its index, so the slip is made in the kernel of the listing, line 29 repaired.")
        return with_slip(line_29_changed())
    first, end = found[0].span(1)
    return text[:first] + ROW.sub(lambda name: name[0].replace("y", "x"), text[first:end]) + text[end:]
