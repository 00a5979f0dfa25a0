"""CUDA C with colours and line numbers, for a cell's text: JupyterLab colours a `%%cuda` cell as Python."""

import html

from pygments import lex
from pygments.lexers import CudaLexer
from pygments.styles import get_style_by_name

STYLE = get_style_by_name("default")      # each colour that CUDA gets stands out from white by more than 4.5 (WCAG)


class Highlighted:
    """A text with line numbers; coloured in a notebook."""

    def __init__(self, source: str, caption: str = "") -> None:
        self.source, self.caption = source, caption

    def __repr__(self):
        lines = [f"{number:>4}  {line}".rstrip() for number, line in enumerate(self.source.splitlines(), 1)]
        return "\n".join([self.caption] * bool(self.caption) + lines)

    def _repr_html_(self):
        caption = f"<p><b>{html.escape(self.caption)}</b></p>" if self.caption else ""
        lines = "\n".join(f'<span style="color:#666666;user-select:none">{number:>4}  </span>{line}'
                          for number, line in enumerate(coloured(self.source.rstrip("\n")).split("\n"), 1))
        return (f'{caption}<pre style="background-color:#ffffff;color:#000000;padding:6px;line-height:1.35;overflow-x:auto">'
                f"{lines}</pre>")


def coloured(source: str) -> str:
    """Return CUDA C as HTML with colours, line for line.

    >>> print(coloured("int x;  // a < b"))
    <span style="color:#B00040">int</span> x;  <span style="color:#3D7B7B;font-style:italic">// a &lt; b</span>
    """
    parts = []
    for kind, text in lex(source + "\n", CudaLexer(stripnl=False)):     # a comment ends with its line
        style = _css(kind)
        for number, line in enumerate(text.split("\n")):
            parts += ["\n"] * bool(number)
            shown = html.escape(line, quote=False)
            parts.append(f'<span style="{style}">{shown}</span>' if style and line.strip() else shown)
    return "".join(parts)[:-1]


def _css(kind):
    """Return the style of a kind of word; plain ones, punctuation and operators have none."""
    look = STYLE.style_for_token(kind)
    if str(kind).startswith(("Token.Operator", "Token.Punctuation", "Token.Text")):
        return ""
    wanted = [f"color:#{look['color']}"] * bool(look["color"]) + ["font-weight:bold"] * bool(look["bold"])
    return ";".join(wanted + ["font-style:italic"] * bool(look["italic"]))


def highlighted(source: str, caption: str = "") -> Highlighted:
    """Show CUDA C with colours and the line numbers that messages and counters speak of.

    Returns
    -------
    Highlighted
        Shows itself in a notebook; in a terminal, the text with numbers.

    >>> highlighted("int x;\\nint y;", "two lines")
    two lines
       1  int x;
       2  int y;
    """
    return Highlighted(source, caption)
