"""What the page is made of: its frame and style, and tables that a keyboard can scroll. Everything else is escaped before it comes here."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """:root { color-scheme: light dark; --ink: #222; --soft: #595959; --line: #ccc; --paper: #fff; --panel: #f5f5f5; --link: #005a9c;
  --passed: #00805c; --failed: #d55e00; --open: #b8b8b8; --rest: #ececec; --box: #9ecae9; --middle: #00507a }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b0b0; --line: #555; --paper: #181818; --panel: #242424;
  --link: #7cc4ff; --passed: #2fbf94; --failed: #f08a3c; --open: #777; --rest: #333; --box: #2c5f86; --middle: #a5d8ff } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #333; --line: #999; --paper: #fff; --panel: #fff; --link: #000;
  --passed: #00805c; --failed: #d55e00; --open: #b8b8b8; --rest: #ececec; --box: #9ecae9; --middle: #00507a }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact } .scroll { overflow: visible !important }
  tr, figure, .facts { break-inside: avoid } h2, h3, caption { break-after: avoid } nav { display: none } body { max-width: none; margin: 0 }
  table { font-size: 9pt } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 1.5rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper) }
h1 { line-height: 1.2 } h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line) } p, li { max-width: 46rem }
a { color: var(--link) } :focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0 } .facts div { background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem .9rem } .facts dt { color: var(--soft); font-size: .875rem } .facts dd { margin: 0; font-size: 1.5rem }
.scroll { overflow-x: auto; margin: .8rem 0 } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; color: var(--soft); padding: .3rem 0; max-width: min(46rem, 100vw - 2rem) }
th, td { padding: .15rem 1rem .15rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
td.n, th.n { text-align: right } td.n { white-space: nowrap } tbody th { font-weight: 400 } td.long { min-width: 16rem } tbody th { max-width: 24rem } tbody th[scope=rowgroup] { white-space: nowrap }
@media (max-width: 45rem) { tbody th[scope=rowgroup] { white-space: normal } tbody th { min-width: 10rem } td.long { min-width: 11rem } }
td.zero { color: var(--soft) } .soft { color: var(--soft) } .bar { vertical-align: middle }
.rest { fill: var(--rest) } .passed { fill: var(--passed) } .failed { fill: var(--failed) } .open { fill: var(--open) }
.key { display: inline-block; width: .9em; height: .9em; vertical-align: -.1em } figure { margin: .8rem 0 } .chart { font: 12px system-ui, sans-serif }
.chart text { fill: var(--ink) } .chart .day { fill: var(--soft); font-size: 10px } .grid { stroke: var(--line) } .box { fill: var(--box) }
.middle { stroke: var(--middle); stroke-width: 3 } .trend { fill: none; stroke: var(--middle); stroke-dasharray: 3 3 }"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"              # no script, whatever stands in the page

Cell = str | int | float | tuple[str, str]                            # (class, HTML), or a text or number that is escaped here
Groups = Iterable[tuple[Cell, Sequence[Sequence[Cell]]]]              # a cell that stands before several rows, and these


def document(title: str, body: str) -> str:
    """Return a whole page; `body` is HTML."""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{escape(title)}</title><style>{STYLE}</style></head>\n'
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
