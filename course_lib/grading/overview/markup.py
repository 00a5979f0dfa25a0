"""What the page is made of: its frame and style, and tables that a keyboard can scroll. Everything else is escaped before it comes here."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"              # no script, whatever stands in the page

Cell = str | int | float | tuple[str, str]                            # (class, HTML), or a text or number that is escaped here
Groups = Iterable[tuple[Cell, Sequence[Sequence[Cell]]]]              # a cell that stands before several rows, and these


def document(title: str, body: str) -> str:
    """Return a whole page; `body` is HTML."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{escape(title)}</title><style>{style}</style></head>\n'
            f"<body><main><h1>{escape(title)}</h1>\n{body}</main></body></html>\n")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: Iterable[int] = ()) -> str:
    """Return a table whose first column names its rows; `numbers` says which columns are set to the right.

    >>> "<script>" in table("<script>", ["a"], [["<script>"]])
    False
    """
    right = set(numbers)
    return _framed(caption, head, right, "".join(f"<tr>{_cells(row, right)}</tr>" for row in rows))


def grouped(caption: str, head: Sequence[str], groups: Groups, numbers: Iterable[int] = ()) -> str:
    """Return a table as `table` does, whose first column stands once before the rows of a group; the second names each row."""
    right, lines = set(numbers), []
    for name, rows in groups:
        first = _cell(name, "", "th", f' scope="rowgroup" rowspan="{len(rows)}"')
        lines += [f"<tr>{first if number == 0 else ''}{_cells(row, right, 1)}</tr>" for number, row in enumerate(rows)]
    return _framed(caption, head, right, "".join(lines))


def _framed(caption, head, right, lines):
    heads = "".join(f'<th scope="col"{_class("n" if at in right else "")}>{escape(word)}</th>' for at, word in enumerate(head))
    return (f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>\n")


def _cells(row, right, first=0):
    return "".join(_cell(cell, "n" if at in right else "", "th" if at == first else "td", ' scope="row"' if at == first else "")
                   for at, cell in enumerate(row, first))


def _cell(cell: Cell, name: str, tag: str, scope: str) -> str:
    extra, inside = cell if isinstance(cell, tuple) else ("", escape(str(cell)))
    return f"<{tag}{scope}{_class(f'{name} {extra}'.strip())}>{inside}</{tag}>"


def _class(name):
    return f' class="{name}"' if name else ""


def percent(count: float, of: float) -> str:
    """Return a share in whole per cent, or a dash where there is nothing to share.

    >>> percent(1, 3), percent(0, 0)
    ('33 %', '–')
    """
    return f"{100 * count / of:.0f} %" if of else "–"
