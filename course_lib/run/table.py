"""Small accessible HTML tables with a plain-text twin; no style sheet, so an untrusted notebook shows them too."""

import html
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

MONO = "white-space:pre;font-size:13px;background-color:transparent;color:inherit"
RAISED = str.maketrans("⁻·⁰¹²³⁴⁵⁶⁷⁸⁹", "−.0123456789")
EXPONENT = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+·[⁰¹²³⁴⁵⁶⁷⁸⁹]+")      # raised digits with a raised point, too small to read in HTML


def shown(cell: Any) -> str:
    """Return a cell's text as HTML, an exponent with a point as a superscript.

    >>> shown("2⁻¹⁰·⁵ < 1"), shown("10⁻³")
    ('2<sup>−10.5</sup> &lt; 1', '10⁻³')
    """
    return EXPONENT.sub(lambda found: f"<sup>{found[0].translate(RAISED)}</sup>", html.escape(str(cell)))


class Table:
    """A table with a caption, headers and rows of strings; shows itself in a notebook and in a terminal.

    Parameters
    ----------
    rows
        Cells; numbers are written as they are, right-aligned.
    mono
        Columns set in a fixed-width face.
    marked
        Rows drawn on a coloured ground, with "▶" before their first cell.
    note
        How the numbers were made, in small letters below the caption, or below the table in a terminal.

    >>> Table(("kernel", "sectors"), [("naive", 2), ("swapped", 8.5)], "loads")
    loads
    kernel   sectors
    -------  -------
    naive          2
    swapped      8.5
    """

    def __init__(self, header: Iterable[str], rows: Iterable[Iterable[Any]], caption: str = "", *, mono: Collection[int] = (),
                 marked: Collection[int] = (), note: str = "") -> None:
        self.header, self.rows = tuple(map(str, header)), [tuple(row) for row in rows]
        self.caption, self.mono, self.marked, self.note = caption, frozenset(mono), frozenset(marked), note

    def _is_number(self, cell: Any) -> bool:
        return not isinstance(cell, str) or (cell[:1] != "" and not cell.strip("0123456789.,-%× "))

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" style="text-align:{self._align(j)}">{html.escape(h)}</th>'
                       for j, h in enumerate(self.header))
        body = "\n".join(f"<tr>{self._row_html(i, row)}</tr>" for i, row in enumerate(self.rows))
        note = f"<br><small>{html.escape(self.note)}</small>" if self.note else ""
        caption = (f'<caption style="text-align:left;padding:4px"><b>{html.escape(self.caption)}</b>{note}</caption>'
                   if self.caption else "")
        return (f'<table style="font-size:14px;line-height:1.3">{caption}\n<thead><tr>{head}</tr></thead>\n'
                f'<tbody>\n{body}\n</tbody></table>')

    def _row_html(self, i: int, row: Sequence[Any]) -> str:
        ground = ";background-color:#fdeacc;color:black" if i in self.marked else ""
        cells = []
        for j, cell in enumerate(row):
            text = shown(cell)
            if j in self.mono:
                text = f'<code style="{MONO}">{text}</code>'
            cells.append(f'<td style="text-align:{self._align(j)};padding:1px 10px{ground}">{text}</td>')
        return "".join(cells)

    def _align(self, j: int) -> str:
        """Return where column `j` is aligned: right when most of its filled cells are numbers."""
        filled = [row[j] for row in self.rows if row[j] != ""]
        return "right" if 2 * sum(map(self._is_number, filled)) > len(filled) else "left"

    def __repr__(self) -> str:
        rows = [[str(cell) for cell in row] for row in self.rows]
        widths = [max(len(line[j]) for line in [self.header, *rows]) for j in range(len(self.header))]
        lines = [self._line(self.header, widths, [False] * len(widths)), "  ".join("-" * w for w in widths)]
        for row, cells in zip(self.rows, rows, strict=True):
            lines.append(self._line(cells, widths, [self._is_number(cell) for cell in row]))
        return "\n".join([self.caption] * bool(self.caption) + lines + [self.note] * bool(self.note))

    @staticmethod
    def _line(cells: Iterable[str], widths: Iterable[int], right: Iterable[bool]) -> str:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)]
        return "  ".join(padded).rstrip()
