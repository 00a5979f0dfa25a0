"""PTX or SASS as HTML, the instructions of one source line marked; no script and no style sheet."""

import html

MOST, MOST_STATIC = 400, 30    # marked lines in a pane that scrolls, and in a committed notebook
CONTEXT = 3                # instructions of other lines that stay in sight around those that are marked
PANE = ("width:0;min-width:100%;box-sizing:border-box;max-height:440px;overflow:auto;"      # scrolls, however long its lines
        "white-space:pre;font-family:monospace;font-size:12.5px;line-height:1.4;"
        "background-color:white;color:#222222;border:1px solid #9A9A9A;padding:4px 0")
MARKED = "background-color:#fdeacc;border-left:5px solid #D55E00;padding-left:4px"
OTHER = "border-left:5px solid transparent;padding-left:4px"
GAP = "color:#595959;font-style:italic;padding-left:9px"


def in_sight(lines, chosen, context=CONTEXT):
    """Return the runs of lines to show: (first, last) pairs, the marked ones with `context` lines around.

    Parameters
    ----------
    lines : sequence of CodeLine
    chosen : int
        Source line.

    >>> from course_lib.plots.linked_code import CodeLine
    >>> in_sight([CodeLine("mov", n) for n in (1, 1, 2, 2, 7, 2, 2, 2)], 7, context=1)
    [(3, 5)]
    """
    runs = []
    for i, code in enumerate(lines):
        if code.line != chosen:
            continue
        first, last = max(0, i - context), min(len(lines) - 1, i + context)
        if runs and first <= runs[-1][1] + 2:             # a gap of one line would take as much room as the line
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
    return runs


def pane(lines, chosen, label, most=MOST):
    """Return one pane of HTML: each line with its source line's number, those of `chosen` marked, long gaps left out.

    Parameters
    ----------
    lines : sequence of CodeLine
    chosen : int
        Source line.
    label : str
        The pane's heading: "SASS, UNROLL = 1".
    most : int
        Lines that are shown; after them it says how many more there are.
    """
    rows, at, left = [], 0, most
    for first, last in in_sight(lines, chosen):
        last = min(last, first + left - 1)
        if last < first:
            break
        rows += [_gap(first - at)] + [_row(code, code.line == chosen) for code in lines[first:last + 1]]
        at, left = last + 1, left - (last + 1 - first)
    cut = sum(code.line == chosen for code in lines[at:])
    rows.append(_gap(len(lines) - at, f"more, {cut} of them of line {chosen}" if cut else "of other lines"))
    count = sum(code.line == chosen for code in lines)
    heading = f"{label}: {count} of {len(lines)} from line {chosen}"
    return (f'<div><b>{html.escape(heading)}</b><div role="region" tabindex="0" aria-label="{html.escape(heading)}" style="{PANE}">'
            f'{"".join(rows)}</div></div>')


def _gap(count, words="of other lines"):
    return f'<div style="{GAP}">⋮ {count} {words}</div>' if count else ""


def _row(code, marked):
    number = f"{code.line:>4}" if code.line else "    "
    return f'<div style="{MARKED if marked else OTHER}">{"▶" if marked else " "}{number}  {html.escape(code.text)}</div>'


def source_pane(code, chosen, first=1, last=None):
    """Return the source as a pane, the chosen line marked.

    Parameters
    ----------
    code : LinkedCode
    chosen : int
    first, last : int
        Lines to show.
    """
    rows = []
    for n, text in enumerate(code.source[first - 1:last], first):
        mark = n == chosen
        rows.append(f'<div style="{MARKED if mark else OTHER}">{"▶" if mark else " "}{n:>4}  {html.escape(text)}</div>')
    return f'<div><b>{html.escape(code.name)}</b><div style="{PANE}">{"".join(rows)}</div></div>'


def region(code):
    """Return the first and the last source line worth showing: from the kernel's head, or a function it uses, to its end."""
    heads = [n for n, text in enumerate(code.source, 1) if "__global__" in text and not text.lstrip().startswith("//")]
    return min([*code.lines[:1], *heads], default=1), max(code.lines, default=len(code.source))


def static_panes(codes, chosen):
    """Return HTML for a page without widgets: source, PTX and SASS of each compilation, side by side."""
    first, last = region(codes[0])
    panes = [source_pane(codes[0], chosen, first, last)]
    for code in codes:
        if len(codes) == 1:
            panes.append(pane(code.ptx, chosen, f"PTX, {code.words}", MOST_STATIC))
        panes.append(pane(code.sass, chosen, f"SASS, {code.words}", MOST_STATIC))
    cells = "".join(f'<td style="vertical-align:top;text-align:left;min-width:300px">{p}</td>' for p in panes)
    return f"<table><tr>{cells}</tr></table>"
